package report

import (
	"fmt"
	"math"
	"path"
	"slices"

	"gonum.org/v1/plot/plotter"
)

// run is an unbroken stretch of a line, with the extremes at each place if they
// are to be drawn as a band.
type run struct {
	mean     []plotter.XY
	min, max []float64
}

// chartLine is one line of a panel.
type chartLine struct {
	label string
	look  int // index into looks
	runs  []run
	band  bool // draw the extremes too
	dots  bool // a marker at every value
}

// seriesOf returns the series of a name that have at least two samples.
func seriesOf(doc *Document, name string) []*Series {
	var out []*Series
	for i := range doc.Series {
		s := &doc.Series[i]
		if s.Name == name && s.StepMs > 0 && samples(s) >= 2 {
			out = append(out, s)
		}
	}
	return out
}

func samples(s *Series) int {
	n := 0
	for _, x := range s.Mean {
		if x.IsSet() {
			n++
		}
	}
	return n
}

// bucketTime is the middle of a bucket in Unix seconds.
func (s *Series) bucketTime(i int) float64 {
	return (float64(s.StartMs) + (float64(i)+0.5)*float64(s.StepMs)) / 1000
}

// extent is the time from the first sample to the last, in Unix seconds.
func (s *Series) extent() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, x := range s.Mean {
		if x.IsSet() {
			lo, hi = min(lo, s.bucketTime(i)), max(hi, s.bucketTime(i))
		}
	}
	return lo, hi
}

// gapLimit is the distance between samples, in seconds, beyond which a line is
// broken. Buckets are finer than most logs, so that a few empty ones between two
// samples are the rhythm of the log and no gap. A gap is longer than five usual
// distances and than twice what nineteen of twenty distances stay below.
func gapLimit(s *Series) float64 {
	var d []float64
	last := -1
	for i, x := range s.Mean {
		if !x.IsSet() {
			continue
		}
		if last >= 0 {
			d = append(d, float64(i-last))
		}
		last = i
	}
	if len(d) == 0 {
		return math.Inf(1)
	}
	slices.Sort(d)
	buckets := max(5*d[len(d)/2], 2*d[(len(d)-1)*19/20], 2.5)
	return buckets * float64(s.StepMs) / 1000
}

// runsOf cuts a series into unbroken runs; scale converts units.
func runsOf(s *Series, scale float64) []run {
	var out []run
	limit, last := gapLimit(s), math.Inf(-1)
	for i, x := range s.Mean {
		if !x.IsSet() {
			continue
		}
		t := s.bucketTime(i)
		if len(out) == 0 || t-last > limit {
			out = append(out, run{})
		}
		r := &out[len(out)-1]
		r.mean = append(r.mean, plotter.XY{X: t, Y: float64(x) * scale})
		r.min = append(r.min, float64(s.Min[i])*scale)
		r.max = append(r.max, float64(s.Max[i])*scale)
		last = t
	}
	return out
}

// linesOf makes the lines of one quantity: one per series, or with too many of
// them one line of means in a band from the least to the greatest. The note says
// so. labels gives each label its look, the same in all panels.
func linesOf(list []*Series, labels []string, what string, scale float64) (lines []chartLine, note string) {
	if len(labels) > maxLines {
		if len(list) < 2 {
			return []chartLine{{runs: runsOf(list[0], scale), band: true}}, ""
		}
		all := combine(list)
		note = fmt.Sprintf("mean of %d %s, band from least to greatest", len(list), what)
		return []chartLine{{label: note, runs: runsOf(all, scale), band: true}}, note
	}
	many := len(list) > 1
	for _, s := range list {
		label := seriesLabel(s, list)
		look := max(0, slices.Index(labels, label))
		lines = append(lines, chartLine{label: label, look: look, runs: runsOf(s, scale), band: !many})
	}
	return lines, ""
}

// seriesLabel names a series among others, by its source too if labels repeat.
func seriesLabel(s *Series, list []*Series) string {
	for _, o := range list {
		if o != s && o.Label == s.Label {
			return clean(path.Base(s.Source) + " " + s.Label)
		}
	}
	return clean(s.Label)
}

// labelsOf collects the labels of several quantities in natural order.
func labelsOf(groups ...[]*Series) []string {
	var out []string
	for _, list := range groups {
		for _, s := range list {
			if l := seriesLabel(s, list); !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, naturalCompare)
	return out
}

// combine folds series into one on the coarsest grid among them: the mean of
// their means, the least and the greatest.
func combine(list []*Series) *Series {
	step, lo, hi := 0.0, math.Inf(1), math.Inf(-1)
	for _, s := range list {
		step = max(step, float64(s.StepMs))
		lo = min(lo, float64(s.StartMs))
		hi = max(hi, float64(s.StartMs)+float64(len(s.Mean))*float64(s.StepMs))
	}
	n := int(math.Ceil((hi-lo)/step)) + 1
	out := &Series{Name: list[0].Name, StartMs: Number(lo), StepMs: Number(step)}
	sum, count := make([]float64, n), make([]float64, n)
	for range n {
		out.Min = append(out.Min, Number(math.Inf(1)))
		out.Max = append(out.Max, Number(math.Inf(-1)))
	}
	for _, s := range list {
		for i, x := range s.Mean {
			if !x.IsSet() {
				continue
			}
			at := int((s.bucketTime(i)*1000 - lo) / step)
			sum[at] += float64(x)
			count[at]++
			out.Min[at], out.Max[at] = min(out.Min[at], s.Min[i]), max(out.Max[at], s.Max[i])
		}
	}
	for i := range n {
		out.Mean = append(out.Mean, Number(sum[i]/count[i])) // 0/0 is NaN, a gap
	}
	return out
}

// peak is the largest value of all series, 0 if there is none.
func peak(list []*Series) float64 {
	top := 0.0
	for _, s := range list {
		for _, x := range s.Max {
			if x.IsSet() {
				top = max(top, float64(x))
			}
		}
	}
	return top
}
