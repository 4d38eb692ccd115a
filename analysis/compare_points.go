package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/llmforensics/forensics/report"
	"golang.org/x/perf/benchmath"
)

// comparedMetrics are compared at each common point. The first is the one that a
// regression is judged by.
var comparedMetrics = []struct {
	name         string
	moreIsBetter bool
}{
	{"output_throughput", true},
	{"request_throughput", true},
	{"mean_ttft_ms", false},
	{"p99_ttft_ms", false},
	{"mean_tpot_ms", false},
	{"mean_itl_ms", false},
	{"mean_e2e_latency_ms", false},
}

// Bounds of the judgement. Without samples to test, only a loss that no usual
// noise makes counts as clear.
const (
	clearLoss  = 0.20 // of throughput at a point with one run a side
	provenLoss = 0.05 // with enough runs for a test to hold
	sameWithin = 0.02 // a smaller change is none
)

// group holds the points of one set of parameters.
type group struct {
	key    string
	points []*report.Point
}

func groups(d *report.Document) []group {
	var out []group
	at := map[string]int{}
	for i := range d.Points {
		p := &d.Points[i]
		k := pointKey(p)
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, group{key: k})
		}
		out[j].points = append(out[j].points, p)
	}
	return out
}

// pointKey names what was set for a point: concurrency, rate and lengths.
func pointKey(p *report.Point) string {
	c := "?"
	if p.MaxConcurrency != nil {
		c = fmt.Sprint(*p.MaxConcurrency)
	}
	return c + "|" + string(p.RequestRate) + "|" + lengths(p)
}

func lengths(p *report.Point) string {
	var out []string
	for _, k := range unionKeys(p.Params, nil) {
		if strings.HasSuffix(k, "_len") && p.Params[k] != "" && p.Params[k] != "None" {
			out = append(out, k+"="+p.Params[k])
		}
	}
	return strings.Join(out, " ")
}

// comparePoints matches the points and judges them.
func comparePoints(c *report.Comparison, base, head *report.Document) {
	c.Points, c.OnlyBase, c.OnlyHead = []report.PointDiff{}, []string{}, []string{}
	heads := groups(head)
	matched := map[string]bool{}
	for _, b := range groups(base) {
		i := slices.IndexFunc(heads, func(h group) bool { return h.key == b.key })
		if i < 0 {
			c.OnlyBase = append(c.OnlyBase, label(b))
			continue
		}
		matched[b.key] = true
		c.Points = append(c.Points, pointDiff(b, heads[i]))
	}
	for _, h := range heads {
		if !matched[h.key] {
			c.OnlyHead = append(c.OnlyHead, label(h))
		}
	}
	single := false
	for _, p := range c.Points {
		single = single || p.BaseRuns == 1 || p.HeadRuns == 1
		c.Regression = c.Regression || isRegression(p)
	}
	if len(c.Points) == 0 {
		c.Notes = append(c.Notes, "no point has the same concurrency, request rate and lengths in both runs")
	}
	if single {
		c.Notes = append(c.Notes, "one sample proves nothing: repeat each point (four times or more a side) before a small difference is believed")
	}
}

func label(g group) string {
	p := g.points[0]
	s := "concurrency ?"
	if p.MaxConcurrency != nil {
		s = fmt.Sprintf("concurrency %d", *p.MaxConcurrency)
	}
	if p.RequestRate != "" && p.RequestRate != "inf" {
		s += ", rate " + string(p.RequestRate)
	}
	return s
}

// isRegression tells a point at which head is clearly slower.
func isRegression(p report.PointDiff) bool {
	for _, m := range p.Metrics {
		if m.Name != comparedMetrics[0].name || !m.Change.IsSet() {
			continue
		}
		if m.P.IsSet() {
			return m.Verdict == "worse" && m.Change <= -provenLoss
		}
		return m.Change <= -clearLoss
	}
	return false
}

// pointDiff compares two groups of the same parameters.
func pointDiff(b, h group) report.PointDiff {
	p := b.points[0]
	out := report.PointDiff{
		Label: label(b), Concurrency: p.MaxConcurrency, RequestRate: p.RequestRate, Lengths: lengths(p),
		Metrics: []report.MetricDiff{},
	}
	good, bad := complete(b.points)
	goodHead, badHead := complete(h.points)
	out.BaseRuns, out.HeadRuns = len(good), len(goodHead)
	var notes []string
	if bad != "" {
		notes = append(notes, "left out of base: "+bad)
	}
	if badHead != "" {
		notes = append(notes, "left out of head: "+badHead)
	}
	out.Note = strings.Join(notes, "; ")
	for _, m := range comparedMetrics {
		x, y := samples(good, m.name), samples(goodHead, m.name)
		if len(x) > 0 && len(y) > 0 {
			out.Metrics = append(out.Metrics, metricDiff(m.name, m.moreIsBetter, x, y))
		}
	}
	return out
}

// complete sorts out the points with failed requests: their metrics are of another
// set of requests than was asked for.
func complete(points []*report.Point) (good []*report.Point, bad string) {
	var words []string
	for _, p := range points {
		if p.Status == "completed" && (p.Failed == nil || *p.Failed == 0) {
			good = append(good, p)
			continue
		}
		w := "a point that is " + p.Status
		if p.Failed != nil && *p.Failed > 0 {
			w = fmt.Sprintf("a point with %d failed requests", *p.Failed)
		}
		words = append(words, w)
	}
	return good, strings.Join(words, ", ")
}

func samples(points []*report.Point, name string) []float64 {
	var out []float64
	for _, p := range points {
		if x, ok := p.Metrics[name]; ok && x.IsSet() && x > 0 {
			out = append(out, float64(x))
		}
	}
	return out
}

// metricDiff compares samples as benchstat does: medians, and the Mann-Whitney
// U-test where there is more than one on each side.
func metricDiff(name string, moreIsBetter bool, x, y []float64) report.MetricDiff {
	t := benchmath.DefaultThresholds
	a, b := benchmath.NewSample(x, &t), benchmath.NewSample(y, &t)
	base, head := benchmath.AssumeNothing.Summary(a, 0.95).Center, benchmath.AssumeNothing.Summary(b, 0.95).Center
	m := report.MetricDiff{
		Name: name, Base: report.Number(base), Head: report.Number(head), Change: report.Number(head/base - 1),
		P: report.Number(math.NaN()), Verdict: "unproven",
	}
	better := "better"
	if (m.Change > 0) != moreIsBetter {
		better = "worse"
	}
	if len(x) > 1 && len(y) > 1 {
		test := benchmath.AssumeNothing.Compare(a, b)
		m.P = report.Number(test.P)
		switch {
		case test.P <= test.Alpha:
			m.Verdict = better
		case len(test.Warnings) == 0:
			m.Verdict = "same"
		}
		return m
	}
	switch size := math.Abs(float64(m.Change)); {
	case size <= sameWithin:
		m.Verdict = "same"
	case size >= clearLoss:
		m.Verdict = better
	}
	return m
}

// worstSentence names the point that lost most.
func worstSentence(c *report.Comparison) string {
	var worst report.PointDiff
	var m report.MetricDiff
	n := 0
	for _, p := range c.Points {
		if len(p.Metrics) == 0 || p.Metrics[0].Name != comparedMetrics[0].name {
			continue
		}
		n++
		if m.Name == "" || p.Metrics[0].Change < m.Change {
			worst, m = p, p.Metrics[0]
		}
	}
	return fmt.Sprintf("Head is slower than base: at %s it makes %.0f tok/s instead of %.0f (%+.0f %%), the most lost of %d common points.",
		worst.Label, float64(m.Head), float64(m.Base), 100*float64(m.Change), n)
}
