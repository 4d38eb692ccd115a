package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"
)

// sweepPanels are the panels of the sweep chart; each line is a metric.
var sweepPanels = []struct {
	title, unit string
	log         bool // if the values spread over more than a decade and a half
	lines       []struct{ metric, label string }
}{
	{"Output throughput", "tok/s", false, []struct{ metric, label string }{{"output_throughput", "output"}}},
	{"Time to first token (TTFT)", "ms", true, []struct{ metric, label string }{{"mean_ttft_ms", "mean"}, {"p99_ttft_ms", "p99"}}},
	{"Time per output token (TPOT)", "ms", true, []struct{ metric, label string }{{"mean_tpot_ms", "mean"}, {"p99_tpot_ms", "p99"}}},
}

// category is a place on the axis of a sweep.
type category struct {
	name   string
	points []*Point
}

// sweepFigure draws the metrics of the points against what was varied. A single
// point is no sweep.
func sweepFigure(doc *Document) (*figure, string) {
	cats, label := categories(doc)
	if len(cats) < 2 {
		return nil, ""
	}
	names := mapSlice(cats, func(c category) string { return c.name })
	f := &figure{axis: categoryAxis(names, label)}
	for _, sp := range sweepPanels {
		p := panel{title: sp.title, unit: sp.unit}
		for i, l := range sp.lines {
			if line := metricLine(cats, l.metric); len(line.runs) > 0 {
				line.label, line.look = l.label, i
				p.lines = append(p.lines, line)
			}
		}
		if len(p.lines) == 0 {
			continue
		}
		p.legend = len(p.lines) > 1
		if lo, hi := valueRange(p.lines); sp.log && lo > 0 && hi/lo > 30 {
			p.log, p.unit = true, p.unit+" (log)"
		}
		p.crosses = crosses(cats, sp.lines[0].metric)
		f.panels = append(f.panels, p)
	}
	if len(f.panels) == 0 {
		return nil, ""
	}
	return f, sweepWords(cats, label)
}

// categories groups the points by what was varied: concurrency, else the rate.
// Each distinct value is one place on the axis, in order of size.
func categories(doc *Document) ([]category, string) {
	byRate := true
	for i := range doc.Points {
		byRate = byRate && doc.Points[i].MaxConcurrency == nil
	}
	label := "max concurrency (requests)"
	if byRate {
		label = "request rate (req/s)"
	}
	var out []category
	at := map[string]int{}
	for i := range doc.Points {
		p := &doc.Points[i]
		name := orElse(count(p.MaxConcurrency), "?")
		if byRate {
			name = orElse(string(p.RequestRate), "?")
		}
		j, ok := at[name]
		if !ok {
			j = len(out)
			at[name] = j
			out = append(out, category{name: clean(name)})
		}
		out[j].points = append(out[j].points, p)
	}
	slices.SortStableFunc(out, func(a, b category) int { return cmp.Compare(a.size(byRate), b.size(byRate)) })
	return out, label
}

// size is the number to sort by; unknown and unlimited ones come last.
func (c *category) size(byRate bool) float64 {
	p := c.points[0]
	if !byRate && p.MaxConcurrency != nil {
		return float64(*p.MaxConcurrency)
	}
	if x, err := strconv.ParseFloat(string(p.RequestRate), 64); byRate && err == nil {
		return min(x, 1e18)
	}
	return 1e19
}

// metricLine joins the values of a metric; a category without any breaks it.
func metricLine(cats []category, metric string) chartLine {
	l := chartLine{dots: len(cats) <= 60}
	open := false
	for i := range cats {
		sum, n := 0.0, 0
		for _, p := range cats[i].points {
			if x, ok := p.Metrics[metric]; ok && !isNoData(p, x) && x >= 0 {
				sum += float64(x)
				n++
			}
		}
		if n == 0 {
			open = false
			continue
		}
		if !open {
			l.runs, open = append(l.runs, run{}), true
		}
		r := &l.runs[len(l.runs)-1]
		r.mean = append(r.mean, plotter.XY{X: float64(i), Y: sum / float64(n)})
	}
	return l
}

func valueRange(lines []chartLine) (lo, hi float64) {
	first := true
	for _, l := range lines {
		for _, r := range l.runs {
			for _, xy := range r.mean {
				if first {
					lo, hi, first = xy.Y, xy.Y, false
				}
				lo, hi = min(lo, xy.Y), max(hi, xy.Y)
			}
		}
	}
	return lo, hi
}

// crosses marks the points that did not complete, at their value if they have one.
func crosses(cats []category, metric string) []cross {
	var out []cross
	for i := range cats {
		for _, p := range cats[i].points {
			if p.Status == "completed" || p.Status == "unknown" {
				continue
			}
			c := cross{x: float64(i), label: clean(p.Status)}
			if p.Failed != nil && *p.Failed > 0 {
				c.label = fmt.Sprintf("%s failed", number(float64(*p.Failed)))
			}
			if x, ok := p.Metrics[metric]; ok && !isNoData(p, x) {
				c.y = float64(x)
			}
			out = append(out, c)
			break
		}
	}
	return out
}

// sweepWords says what the sweep chart shows.
func sweepWords(cats []category, label string) string {
	best, at, failed := 0.0, "", []string{}
	for _, c := range cats {
		bad := false
		for _, p := range c.points {
			bad = bad || p.Status != "completed" && p.Status != "unknown"
			if x := p.Metrics["output_throughput"]; x.IsSet() && float64(x) > best {
				best, at = float64(x), c.name
			}
		}
		if bad {
			failed = append(failed, c.name)
		}
	}
	s := fmt.Sprintf("Results against %s, %s to %s", label, cats[0].name, cats[len(cats)-1].name)
	if best > 0 {
		s += fmt.Sprintf("; the highest output throughput is %s tok/s at %s", number(best), at)
	}
	if len(failed) > 0 {
		s += "; not completed: " + bound(strings.Join(failed, ", "), 80)
	}
	return s + "."
}
