package report

import (
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// header writes the panel's title above its data area, and its legend if it has
// one of its own.
func (p *panel) header(c, data draw.Canvas) {
	style := textStyle(8.5, colorInk, text.XLeft, text.YCenter)
	y := data.Max.Y + headerHeight/2
	c.FillText(style, vg.Point{X: data.Min.X, Y: y}, p.title)
	if p.legend {
		x := data.Min.X + style.Width(p.title) + 18
		for _, l := range p.lines {
			x += l.legendEntry(c, vg.Point{X: x, Y: y}) + legendGap
		}
	}
}

const (
	legendSample = 22
	legendGap    = 12
)

func legendStyle() text.Style { return textStyle(7.5, colorInk, text.XLeft, text.YCenter) }

func (l *chartLine) legendWidth() vg.Length {
	return legendSample + 4 + legendStyle().Width(l.label)
}

// legendEntry draws a sample of the line and its label, and returns the width.
func (l *chartLine) legendEntry(c draw.Canvas, at vg.Point) vg.Length {
	look := looks[l.look]
	c.StrokeLine2(look.line(), at.X, at.Y, at.X+legendSample, at.Y)
	c.DrawGlyphNoClip(look.marker(), vg.Point{X: at.X + legendSample/2, Y: at.Y})
	c.FillText(legendStyle(), vg.Point{X: at.X + legendSample + 4, Y: at.Y}, l.label)
	return l.legendWidth()
}

// legendRows breaks the figure's legend into rows that fit.
func (f *figure) legendRows() [][]chartLine {
	var rows [][]chartLine
	used := vg.Length(0)
	for _, l := range f.legend {
		w := l.legendWidth() + legendGap
		if len(rows) == 0 || used+w > figureWidth-100 {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], l)
		used += w
	}
	return rows
}

// strips draws what stands above the first panel, from the top down.
func (f *figure) strips(c, data draw.Canvas) {
	y := data.Max.Y + headerHeight + f.stripsHeight() - stripHeight/2
	for _, row := range f.legendRows() {
		x := data.Min.X
		for i := range row {
			x += row[i].legendEntry(c, vg.Point{X: x, Y: y}) + legendGap
		}
		y -= stripHeight
	}
	if f.mark != nil {
		f.markLabel(c, data, y)
		y -= stripHeight
	}
	for i := range f.lanes {
		f.lane(c, data, &f.lanes[i], y)
		y -= stripHeight
	}
}

// position converts a place on the horizontal axis to the canvas.
func (f *figure) position(data draw.Canvas, x float64) vg.Length {
	x = min(max(x, f.axis.min), f.axis.max)
	return data.X((x - f.axis.min) / (f.axis.max - f.axis.min))
}

// markLabel writes beside the line of the failure, on the side with room, and
// leads the line up to the label.
func (f *figure) markLabel(c, data draw.Canvas, y vg.Length) {
	x := f.position(data, f.mark.x)
	style := textStyle(8.5, colorFailure, text.XLeft, text.YCenter)
	at := x + 4
	if x+4+style.Width(f.mark.label) > data.Max.X {
		style.XAlign, at = text.XRight, x-4
	}
	if style.XAlign == text.XRight && at-style.Width(f.mark.label) < c.Min.X {
		style.XAlign, at = text.XLeft, c.Min.X+2
	}
	c.FillText(style, vg.Point{X: at, Y: y}, f.mark.label)
	c.StrokeLine2(failureLine(), x, data.Max.Y, x, y+stripHeight/2)
}

// lane draws one strip of boxes. A label that does not fit into its box is left
// out, or cut if most of it fits.
func (f *figure) lane(c, data draw.Canvas, l *lane, y vg.Length) {
	title := textStyle(7.5, colorFaint, text.XRight, text.YCenter)
	c.FillText(title, vg.Point{X: data.Min.X - 5, Y: y}, l.title)
	style := textStyle(7.5, colorInk, text.XCenter, text.YCenter)
	for _, b := range l.boxes {
		if b.hi <= f.axis.min || b.lo >= f.axis.max {
			continue
		}
		lo, hi := f.position(data, b.lo), f.position(data, b.hi)
		r := vg.Rectangle{
			Min: vg.Point{X: lo + 0.5, Y: y - stripHeight/2 + 1.5}, Max: vg.Point{X: max(hi-0.5, lo+1), Y: y + stripHeight/2 - 1.5},
		}
		c.FillPolygon(colorBox, corners(r))
		if b.bad {
			edge := draw.LineStyle{Color: colorFailure, Width: 1}
			c.StrokeLines(edge, append(corners(r), r.Min))
		}
		if style.Width(b.label) <= r.Max.X-r.Min.X-2 {
			c.FillText(style, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: y}, b.label)
		}
	}
}
