package timeline

import (
	"fmt"
	"math"

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
// the load that they caused: the stretch of running requests, in order, whose
// length is nearest to the client's own duration.
func (t *Timeline) placePoints(l *Life) {
	if l == nil {
		return
	}
	spans := t.busySpans(l.Source)
	at := 0
	for i := range t.Points {
		p := &t.Points[i]
		if p.Start != 0 || at >= len(spans) {
			continue
		}
		dur := int64(p.Metrics["duration"] * 1e9)
		switch {
		case dur > 0:
			if k := bestSpan(spans[at:], p, dur); k >= 0 {
				p.Start, p.End = spans[at+k].to-dur, spans[at+k].to
				at += k + 1
			}
		case p.Status == PointDied:
			last := spans[len(spans)-1]
			p.Start, p.End = last.from, last.to
			if l.End > last.from {
				p.End = l.End
			}
			at = len(spans)
		}
	}
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
