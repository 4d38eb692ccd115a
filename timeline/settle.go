package timeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/llmforensics/forensics"
)

// settlePoints gives points that do not tell their own end the status that the
// server's life and the neighbouring points imply, and places points on the
// server's clock.
func (t *Timeline) settlePoints() {
	l := t.LastLife()
	defer t.markEarlier()
	died := l != nil && l.Stop == "died" && l.IsReady() || l != nil && l.IsReady() && t.fatalIn(l)
	dead := false
	for i := range t.Points {
		p := &t.Points[i]
		switch {
		case p.Status == PointDied:
			dead = dead || died
		case p.Status != PointUnknown:
		case dead || l != nil && !l.IsReady() && died:
			p.Status, p.Why = PointNeverStarted, "the server had died before"
		case died && !t.completedAfter(i):
			p.Status = PointDied
			p.Why = fmt.Sprintf("the client planned its requests, the server died, and no summary follows (%s)", t.Run.At(l.StopAt.Pos))
			dead = true
		case l == nil && p.At.Pos.Line > 0 && t.refusedAfter(i):
			p.Why = "the file holds no summary; the next client could not reach the server"
		}
	}
	t.placePoints(l)
}

// fatalIn reports whether a traceback ended the life's record.
func (t *Timeline) fatalIn(l *Life) bool {
	for _, e := range t.Events {
		if e.Kind == forensics.KindTraceback && e.Pos.Source == l.Source && e.Serving && l.LastServed.Pos.Before(e.Pos) {
			return true
		}
	}
	return false
}

func (t *Timeline) completedAfter(i int) bool {
	for _, p := range t.Points[i+1:] {
		if p.Status == PointCompleted || p.Status == PointPartial {
			return true
		}
	}
	return false
}

func (t *Timeline) refusedAfter(i int) bool {
	for _, p := range t.Points[i+1:] {
		if p.Status == PointNeverStarted {
			return true
		}
	}
	return false
}

// busy is a stretch of time in which the server had requests running.
type busy struct {
	from, to int64
	peak     float64
}

// placePoints puts points without times of their own on the server's clock, by
// the load that they caused: by counting the requests that the server answered,
// else by the stretches of running requests.
func (t *Timeline) placePoints(l *Life) {
	if l == nil {
		return
	}
	t.placeByCount(l)
	spans := t.busySpans(l.Source)
	for i := range t.Points {
		p := &t.Points[i]
		if p.Start != 0 || p.Earlier {
			continue
		}
		rest := spansAfter(spans, t.endBefore(i))
		dur := int64(p.Metrics["duration"] * 1e9)
		k := -1
		switch {
		case dur > 0:
			if k = bestSpan(rest, p, dur); k >= 0 {
				p.Start, p.End = rest[k].to-dur, rest[k].to
			}
		case p.MaxConcurrency > 0 && p.Status == PointCompleted:
			if k = peakSpan(rest, p); k >= 0 {
				p.Start, p.End = rest[k].from, rest[k].to
			}
		case p.Status == PointDied && len(rest) > 0:
			p.Start, p.End = rest[0].from, max(l.End, rest[len(rest)-1].to)
		}
	}
}

// endBefore returns the end of the last placed point before point i.
func (t *Timeline) endBefore(i int) int64 {
	for k := i - 1; k >= 0; k-- {
		if t.Points[k].End != 0 {
			return t.Points[k].End
		}
	}
	return 0
}

// spansAfter returns the stretches behind a time; one that the time cuts is kept
// from there on.
func spansAfter(spans []busy, when int64) []busy {
	for k, s := range spans {
		if s.to <= when {
			continue
		}
		rest := slices.Clone(spans[k:])
		rest[0].from = max(rest[0].from, when)
		return rest
	}
	return nil
}

// placeByCount uses the order of the server's answers: a client first sends its
// warm-up request, then its prompts, and no two points overlap. The counts must
// fit, or nothing is placed.
func (t *Timeline) placeByCount(l *Life) {
	s := t.servedOf(l)
	if s == nil || l.Source < 0 {
		return
	}
	total := 0
	for i := range s.Buckets {
		total += s.Buckets[i].N
	}
	var ends []int
	sum := 0
	for i := range t.Points {
		p := &t.Points[i]
		if p.Earlier || p.Completed < 0 || p.Metrics["duration"] <= 0 {
			ends = append(ends, 0)
			continue
		}
		sum += 1 + p.Completed
		ends = append(ends, sum)
	}
	if sum == 0 || sum > total {
		return
	}
	for i, n := range ends {
		if p := &t.Points[i]; n > 0 && p.Start == 0 {
			p.End = s.timeOf(n)
			p.Start = p.End - int64(p.Metrics["duration"]*1e9)
		}
	}
}

// servedOf returns the series that counts the answers of a life.
func (t *Timeline) servedOf(l *Life) *Series {
	n := 0
	for i := range t.Lives {
		if o := &t.Lives[i]; o.Source == l.Source {
			if o == l {
				break
			}
			n++
		}
	}
	for i := range t.Series {
		if s := &t.Series[i]; s.Name == servedSeries && s.Source == l.Source && s.Label == strconv.Itoa(n) {
			return s
		}
	}
	return nil
}

// timeOf returns the time of the n-th sample.
func (s *Series) timeOf(n int) int64 {
	for k := range s.Buckets {
		if n -= s.Buckets[k].N; n <= 0 {
			return s.Start + int64(k+1)*s.Step
		}
	}
	return 0
}

// bestSpan returns the stretch whose length fits the duration best, within half
// of it, and whose peak is possible for the point's concurrency; -1 if none.
func bestSpan(spans []busy, p *Point, dur int64) int {
	best, bestOff := -1, math.Inf(1)
	for k, s := range spans {
		if p.MaxConcurrency > 0 && s.peak > float64(p.MaxConcurrency)*1.5+1 {
			continue
		}
		off := math.Abs(float64(s.to-s.from-dur)) / float64(dur)
		if p.MaxConcurrency > 0 {
			off += math.Abs(s.peak-float64(p.MaxConcurrency)) / float64(p.MaxConcurrency)
		}
		if off < bestOff && off < 1.2 {
			best, bestOff = k, off
		}
	}
	return best
}

// peakSpan returns the first stretch whose peak is what the point's concurrency
// would cause; -1 if none.
func peakSpan(spans []busy, p *Point) int {
	want := float64(p.MaxConcurrency)
	if p.Completed > 0 {
		want = math.Min(want, float64(p.Completed))
	}
	for k, s := range spans {
		if s.peak >= want*0.7 && s.peak <= float64(p.MaxConcurrency)*1.1 {
			return k
		}
	}
	return -1
}

// busySpans cuts the running-requests series of a source into busy stretches;
// pauses of under two steps do not cut.
func (t *Timeline) busySpans(source int) []busy {
	for i := range t.Series {
		s := &t.Series[i]
		if s.Source != source || s.Name != forensics.ValRunning {
			continue
		}
		var out []busy
		var cur *busy
		for k := range s.Buckets {
			b := &s.Buckets[k]
			if b.N == 0 {
				continue
			}
			from, to := s.Start+int64(k)*s.Step, s.Start+int64(k+1)*s.Step
			if b.Max == 0 {
				cur = nil
				continue
			}
			if cur == nil || from-cur.to > max(int64(2e9), 2*s.Step) {
				out = append(out, busy{from: from})
				cur = &out[len(out)-1]
			}
			cur.to = to
			cur.peak = max(cur.peak, b.Max)
		}
		return out
	}
	return nil
}

// markEarlier finds the points of earlier runs: a point that failed and was run
// again with success, and, if a server died in between, all points before it.
func (t *Timeline) markEarlier() {
	restarted := 0
	for i := range t.Lives {
		if !t.Lives[i].Stale {
			restarted++
		}
	}
	for i := len(t.Points) - 1; i >= 0; i-- {
		p := &t.Points[i]
		if p.Status == PointCompleted || !t.ranAgain(i) {
			continue
		}
		p.Earlier = true
		if restarted > 1 {
			for k := range t.Points[:i] {
				t.Points[k].Earlier = true
			}
			return
		}
	}
}

// ranAgain reports whether a later point with the same load was served.
func (t *Timeline) ranAgain(i int) bool {
	p := &t.Points[i]
	for k := i + 1; k < len(t.Points); k++ {
		q := &t.Points[k]
		if q.Status == PointCompleted && q.MaxConcurrency == p.MaxConcurrency && q.RequestRate == p.RequestRate &&
			(p.NumPrompts == 0 || q.NumPrompts == 0 || p.NumPrompts == q.NumPrompts) {
			return true
		}
	}
	return false
}
