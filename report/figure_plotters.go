package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shading marks stretches of the horizontal axis.
type shading struct{ stretches []stretch }

func (s shading) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	for _, b := range s.stretches {
		lo, hi := max(trX(b.lo), c.Min.X), min(trX(b.hi), c.Max.X)
		if lo < hi {
			c.FillPolygon(colorShade, corners(vg.Rectangle{
				Min: vg.Point{X: lo, Y: c.Min.Y}, Max: vg.Point{X: hi, Y: c.Max.Y},
			}))
		}
	}
}

// grid draws a faint line at each labelled vertical tick.
type grid struct{ ticks []plot.Tick }

func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	_, trY := p.Transforms(&c)
	for _, t := range g.ticks {
		if y := trY(t.Value); c.ContainsY(y) {
			c.StrokeLine2(draw.LineStyle{Color: colorGrid, Width: 0.5}, c.Min.X, y, c.Max.X, y)
		}
	}
}

// lines draws the lines of a panel, bands first.
type lines struct{ lines []chartLine }

func (ls lines) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for i := range ls.lines {
		if ls.lines[i].band {
			ls.lines[i].drawBand(&c, trX, trY)
		}
	}
	for i := range ls.lines {
		l := &ls.lines[i]
		next := c.Min.X
		for _, r := range l.runs {
			next = l.drawRun(&c, r, trX, trY, next)
		}
	}
}

// markerDistance is the usual distance of markers along a dense line.
const markerDistance = 64

// drawRun draws an unbroken stretch. Dense lines get a marker now and then, from
// the place next on; a run of one sample is a dot, since it has no length.
func (l *chartLine) drawRun(c *draw.Canvas, r run, trX, trY func(float64) vg.Length, next vg.Length) vg.Length {
	look := looks[l.look]
	pts := make([]vg.Point, len(r.mean))
	for i, xy := range r.mean {
		pts[i] = vg.Point{X: trX(xy.X), Y: trY(xy.Y)}
	}
	if !l.dots {
		// Staggered, so that markers of equal lines do not hide each other.
		next = max(next, pts[0].X+vg.Length(6+7*l.look))
	}
	if len(pts) == 1 {
		c.DrawGlyph(draw.GlyphStyle{Color: look.color, Radius: 1.6, Shape: draw.CircleGlyph{}}, pts[0])
	}
	c.StrokeLines(look.line(), c.ClipLinesXY(pts)...)
	for _, pt := range pts {
		if l.dots || pt.X >= next {
			c.DrawGlyph(look.marker(), pt)
			next = pt.X + markerDistance
		}
	}
	return next
}

// drawBand fills the area between the extremes.
func (l *chartLine) drawBand(c *draw.Canvas, trX, trY func(float64) vg.Length) {
	fill := looks[l.look].color
	fill.A = 0x38
	for _, r := range l.runs {
		if len(r.mean) < 2 || len(r.min) != len(r.mean) {
			continue
		}
		pts := make([]vg.Point, 0, 2*len(r.mean))
		for i, xy := range r.mean {
			pts = append(pts, vg.Point{X: trX(xy.X), Y: trY(r.max[i])})
		}
		for i := len(r.mean) - 1; i >= 0; i-- {
			pts = append(pts, vg.Point{X: trX(r.mean[i].X), Y: trY(r.min[i])})
		}
		c.FillPolygon(color.Color(fill), c.ClipPolygonXY(pts))
	}
}

// markPlot draws the moment of failure.
type markPlot struct{ x float64 }

func (m markPlot) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	x := min(max(trX(m.x), c.Min.X), c.Max.X)
	c.StrokeLine2(failureLine(), x, c.Min.Y, x, c.Max.Y)
}

// crossPlot marks failed benchmark points.
type crossPlot struct{ crosses []cross }

func (cp crossPlot) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	style := textStyle(7.5, colorFailure, text.XCenter, text.YBottom)
	free := c.Min.X // labels end here so far; one that would overlap is left out
	for _, x := range cp.crosses {
		at := vg.Point{X: trX(x.x), Y: c.Min.Y + 6}
		if x.y > 0 {
			at.Y = trY(x.y)
		}
		c.StrokeLines(draw.LineStyle{Color: colorFailure, Width: 1.8},
			[]vg.Point{{X: at.X - 4, Y: at.Y - 4}, {X: at.X + 4, Y: at.Y + 4}},
			[]vg.Point{{X: at.X - 4, Y: at.Y + 4}, {X: at.X + 4, Y: at.Y - 4}})
		w := style.Width(x.label)
		left := min(max(at.X-w/2, c.Min.X+1), c.Max.X-w-1)
		if left < free {
			continue
		}
		y := at.Y + 6
		if y+9 > c.Max.Y {
			y = at.Y - 16
		}
		style.XAlign = text.XLeft
		c.FillText(style, vg.Point{X: left, Y: y}, x.label)
		free = left + w + 4
	}
}
