package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// htmlData is what the scripts draw: times in Unix seconds on the run's axis.
// The names are short because every page carries them many times.
type htmlData struct {
	Range [2]float64  `json:"range"` // all that has a time
	Core  [2]float64  `json:"core"`  // what to show first
	Mark  *htmlMark   `json:"mark"`  // the failure
	Lanes []htmlLane  `json:"lanes"`
	Time  []htmlChart `json:"time"`  // on the shared axis
	Sweep []htmlChart `json:"sweep"` // on an axis of names
	Names []string    `json:"names"`
	Label string      `json:"label"` // of the axis of names
}

type htmlMark struct {
	X     float64 `json:"x"`
	Label string  `json:"label"`
}

// htmlChart is a panel of a figure.
type htmlChart struct {
	Group   string      `json:"group"` // the htmlGraph that it belongs to
	Title   string      `json:"title"`
	Unit    string      `json:"unit"`
	Top     float64     `json:"top"` // the axis reaches at least this far
	Log     bool        `json:"log"`
	Lines   []htmlTrace `json:"lines"`
	Crosses []htmlCross `json:"crosses,omitempty"`
}

// htmlTrace is a line; null in Y breaks it. Lo and Hi are there for a band.
type htmlTrace struct {
	Label string   `json:"label"`
	Look  int      `json:"look"`
	Dots  bool     `json:"dots"`
	X     []Number `json:"x"`
	Y     []Number `json:"y"`
	Lo    []Number `json:"lo,omitempty"`
	Hi    []Number `json:"hi,omitempty"`
}

type htmlCross struct {
	X     float64 `json:"x"`
	Label string  `json:"label"`
}

// htmlGraph is a group of charts as the template shows it: the words and the
// table that stand for them.
type htmlGraph struct {
	ID, Title, Alt string
	Rows           []htmlQuantity // nil if another table has the values
}

// htmlQuantity is a line in numbers.
type htmlQuantity struct {
	Title, Label, Unit              string
	Samples                         int
	From, To, Least, Mean, Most, At string
}

// newHTMLData collects what is drawn, and describes the charts in words.
func newHTMLData(doc *Document) (*htmlData, []htmlGraph) {
	d := &htmlData{Lanes: []htmlLane{}, Time: []htmlChart{}, Sweep: []htmlChart{}, Names: []string{}}
	var graphs []htmlGraph
	for _, g := range []struct {
		id, title string
		build     func(*Document) (*figure, string)
	}{{"load", "Server load", loadFigure}, {"gpu", "GPUs", gpuFigure}} {
		if f, alt := g.build(doc); f != nil {
			charts := chartsOf(f, g.id)
			d.Time = append(d.Time, charts...)
			graphs = append(graphs, htmlGraph{g.id, g.title, alt, quantitiesOf(charts, faceOf(doc))})
		}
	}
	if f, alt := sweepFigure(doc); f != nil {
		d.Sweep, d.Label = chartsOf(f, "points"), f.axis.label
		cats, _ := categories(doc)
		d.Names = mapSlice(cats, func(c category) string { return bound(c.name, 24) })
		graphs = append(graphs, htmlGraph{"points", "Sweep", alt, nil})
	}
	if t, ok := failureTime(doc); ok {
		d.Mark = &htmlMark{float64(t.UnixMilli()) / 1000, bound("failed: "+doc.RootCause.Class, 60)}
	}
	d.Lanes = lanesOf(doc)
	d.setRange(doc)
	return d, graphs
}

// encode writes the data so that it can stand in a script element: json.Marshal
// escapes <, >, & and the line separators of JavaScript.
func (d *htmlData) encode() ([]byte, error) {
	out, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encoding the charts: %w", err)
	}
	return out, nil
}

func chartsOf(f *figure, group string) []htmlChart {
	var out []htmlChart
	for _, p := range f.panels {
		c := htmlChart{Group: group, Title: p.title, Unit: p.unit, Top: p.top, Log: p.log, Lines: []htmlTrace{}}
		for _, l := range p.lines {
			c.Lines = append(c.Lines, traceOf(l))
		}
		for _, x := range p.crosses {
			c.Crosses = append(c.Crosses, htmlCross{x.x, x.label})
		}
		out = append(out, c)
	}
	return out
}

// traceOf writes the runs of a line one after the other, with a break between.
func traceOf(l chartLine) htmlTrace {
	t := htmlTrace{Label: l.label, Look: l.look, Dots: l.dots, X: []Number{}, Y: []Number{}}
	add := func(x, y, lo, hi float64) {
		t.X, t.Y = append(t.X, Number(math.Round(x*1000)/1000)), append(t.Y, short(y))
		if l.band {
			t.Lo, t.Hi = append(t.Lo, short(lo)), append(t.Hi, short(hi))
		}
	}
	for i, r := range l.runs {
		if i > 0 {
			before := l.runs[i-1].mean
			nan := math.NaN()
			add((before[len(before)-1].X+r.mean[0].X)/2, nan, nan, nan)
		}
		for j, xy := range r.mean {
			lo, hi := xy.Y, xy.Y
			if l.band {
				lo, hi = r.min[j], r.max[j]
			}
			add(xy.X, xy.Y, lo, hi)
		}
	}
	return t
}

// short keeps five digits, which no screen can show more of.
func short(x float64) Number {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		return Number(math.NaN())
	}
	return Number(y)
}

// quantitiesOf puts charts into numbers.
func quantitiesOf(charts []htmlChart, face clockFace) []htmlQuantity {
	clock := func(x float64) string {
		return face.show(unixTime(math.Floor(x)).Format(timeLayout))
	}
	var out []htmlQuantity
	for _, c := range charts {
		for _, l := range c.Lines {
			q := htmlQuantity{Title: c.Title, Label: orElse(l.Label, "–"), Unit: c.Unit}
			least, most, sum := math.Inf(1), math.Inf(-1), 0.0
			for i, y := range l.Y {
				if !y.IsSet() {
					continue
				}
				lo, hi := float64(y), float64(y)
				if len(l.Lo) > 0 {
					lo, hi = float64(l.Lo[i]), float64(l.Hi[i])
				}
				if q.To = clock(float64(l.X[i])); q.Samples == 0 {
					q.From = q.To
				}
				if least = min(least, lo); hi > most {
					most, q.At = hi, q.To
				}
				sum += float64(y)
				q.Samples++
			}
			q.Least, q.Mean, q.Most = number(least), number(sum/float64(q.Samples)), number(most)
			out = append(out, q)
		}
	}
	return out
}

// reachOf is the time from the first to the last thing.
type reachOf struct{ lo, hi float64 }

func (r *reachOf) add(times ...float64) {
	for _, x := range times {
		r.lo, r.hi = min(r.lo, x), max(r.hi, x)
	}
}

// padded leaves room at both ends, so that nothing stands on the border.
func (r *reachOf) padded() [2]float64 {
	if r.lo > r.hi {
		return [2]float64{}
	}
	pad := max(0.02*(r.hi-r.lo), 0.5)
	return [2]float64{r.lo - pad, r.hi + pad}
}

// setRange finds the whole axis and the part to show first. A record may reach
// hours further than the run, and nothing could be seen on such an axis.
func (d *htmlData) setRange(doc *Document) {
	all := reachOf{math.Inf(1), math.Inf(-1)}
	core := all
	if d.Mark != nil {
		all.add(d.Mark.X)
		core.add(d.Mark.X)
	}
	for _, l := range d.Lanes {
		for _, b := range l.Boxes {
			if all.add(b.Lo, b.Hi); l.Kind == laneClient {
				core.add(b.Lo, b.Hi)
			}
		}
		for _, m := range l.Marks {
			all.add(m.X)
		}
	}
	for _, q := range append(loadQuantities[:len(loadQuantities):len(loadQuantities)], gpuQuantities...) {
		for _, s := range seriesOf(doc, q.name) {
			all.add(s.extent())
		}
	}
	for _, s := range seriesOf(doc, loadQuantities[0].name) {
		core.add(s.extent())
	}
	d.Range = all.padded()
	if d.Core = d.Range; core.hi > core.lo && all.hi-all.lo > 3*(core.hi-core.lo) {
		d.Core = core.padded()
	}
}
