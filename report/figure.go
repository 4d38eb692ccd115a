package report

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// figure is a chart before drawing: panels under each other on one horizontal
// axis, and above them strips that name what the shaded stretches are.
//
//	legend         -- GPU 0  -- GPU 1
//	mark strip               x failed 10:05:31 attention.metadata
//	lanes          [c=1][c=8][ c=32 ]
//	panel header   Generation throughput
//	panel
//	...
//	ticks, axis label
type figure struct {
	axis   *xAxis
	panels []panel
	lanes  []lane
	shades []stretch   // shaded in all panels
	legend []chartLine // what the lines of all panels are, if there are several
	mark   *mark
}

// panel is one quantity.
type panel struct {
	title, unit string
	lines       []chartLine
	log         bool
	top         float64 // the axis reaches at least this far
	crosses     []cross
	legend      bool // the panel has a legend of its own
}

// cross marks a benchmark point that failed; without a value it stands at the bottom.
type cross struct {
	x, y  float64
	label string
}

// stretch is a part of the horizontal axis.
type stretch struct{ lo, hi float64 }

// lane is a strip of labelled boxes.
type lane struct {
	title string
	boxes []laneBox
}

type laneBox struct {
	stretch
	label string
	bad   bool
}

// mark is the moment of failure.
type mark struct {
	x     float64
	label string
}

// Sizes in points.
const (
	figureWidth  = 650
	panelHeight  = 118
	headerHeight = 17
	stripHeight  = 14
	axisHeight   = 38
	figureMargin = 8
)

func (f *figure) size() (w, h vg.Length) {
	h = vg.Length(len(f.panels)*(panelHeight+headerHeight) + axisHeight + 2*figureMargin)
	return figureWidth, h + f.stripsHeight()
}

func (f *figure) stripsHeight() vg.Length {
	n := len(f.lanes) + len(f.legendRows())
	if f.mark != nil {
		n++
	}
	return vg.Length(n * stripHeight)
}

// check refuses figures that the plotting library would panic on.
func (f *figure) check() error {
	if len(f.panels) == 0 {
		return errors.New("no panels")
	}
	if !(f.axis.min < f.axis.max) || math.IsInf(f.axis.min, 0) || math.IsInf(f.axis.max, 0) {
		return fmt.Errorf("horizontal range %v to %v", f.axis.min, f.axis.max)
	}
	return nil
}

func (f *figure) draw(c draw.Canvas) {
	plots := make([][]*plot.Plot, len(f.panels))
	for i := range f.panels {
		plots[i] = []*plot.Plot{f.plot(i)}
	}
	tiles := draw.Tiles{
		Rows: len(plots), Cols: 1, PadY: headerHeight, PadLeft: figureMargin, PadRight: figureMargin + 6,
		PadTop: figureMargin + f.stripsHeight() + headerHeight, PadBottom: figureMargin,
	}
	canvases := plot.Align(plots, tiles, c)
	var data draw.Canvas
	for i := range plots {
		p := plots[i][0]
		p.Draw(canvases[i][0])
		d := p.DataCanvas(canvases[i][0])
		f.panels[i].header(c, d)
		if i == 0 {
			data = d
		}
	}
	f.strips(c, data)
}

// plot builds the panel with index i for the plotting library.
func (f *figure) plot(i int) *plot.Plot {
	pan := &f.panels[i]
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Min, p.X.Max = f.axis.min, f.axis.max
	ticks := f.axis.ticks(f.axis, figureWidth-90)
	if i < len(f.panels)-1 {
		for j := range ticks {
			ticks[j].Label = ""
		}
	} else {
		p.X.Label.Text = f.axis.label
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	lo, hi, yTicks := pan.span()
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = lo, hi, plot.ConstantTicks(yTicks)
	if pan.log {
		p.Y.Scale = plot.LogScale{}
	}
	p.Y.Label.Text = pan.unit
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = draw.LineStyle{Color: colorFaint, Width: 0.6}
		a.Tick.LineStyle, a.Tick.Length = a.LineStyle, 3
		label := textStyle(8, colorFaint, text.XCenter, text.YTop)
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = label.Font, label.Color
		a.Label.TextStyle.Handler = label.Handler
	}
	p.X.Tick.Label = tickStyle()
	p.Y.Tick.Label = textStyle(7.5, colorInk, text.XRight, text.YCenter)
	p.X.Label.Padding, p.Y.Label.Padding = 3, 4
	p.Add(shading{f.shades}, grid{yTicks}, lines{pan.lines}, crossPlot{pan.crosses})
	if f.mark != nil {
		p.Add(markPlot{f.mark.x})
	}
	return p
}

// span chooses the vertical range and its ticks: from 0, or over the decades of
// a logarithmic axis.
func (p *panel) span() (lo, hi float64, ticks []plot.Tick) {
	lo, hi = math.Inf(1), p.top
	for _, l := range p.lines {
		for _, r := range l.runs {
			for i, xy := range r.mean {
				y := xy.Y
				if l.band && len(r.max) > i {
					y = max(y, r.max[i])
				}
				hi = max(hi, y)
				if xy.Y > 0 {
					lo = min(lo, xy.Y)
				}
			}
		}
	}
	if p.log {
		lo, hi = lo/1.5, hi*1.5
		return lo, hi, logTicks(lo, hi)
	}
	if hi <= 0 {
		hi = 1
	}
	return 0, hi * 1.08, niceTicks(hi*1.08, 5)
}
