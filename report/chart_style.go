package report

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// maxLines is the number of lines a reader can still tell apart in one panel.
const maxLines = 8

// The palette is that of Okabe and Ito (https://jfly.uni-koeln.de/color/), made
// for readers with any kind of colour vision. Its colours are alike in grey, so
// every line also has its own dash pattern and marker.
var (
	colorFailure = color.NRGBA{R: 0xB3, G: 0x2D, B: 0x00, A: 0xFF}
	colorInk     = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xFF}
	colorFaint   = color.NRGBA{R: 0x66, G: 0x66, B: 0x66, A: 0xFF}
	colorGrid    = color.NRGBA{R: 0xDD, G: 0xDD, B: 0xDD, A: 0xFF}
	colorShade   = color.NRGBA{R: 0xF1, G: 0xF1, B: 0xEE, A: 0xFF}
	colorBox     = color.NRGBA{R: 0xE2, G: 0xE2, B: 0xDC, A: 0xFF}
)

// lineLook is how one line differs from the others.
type lineLook struct {
	color  color.NRGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

var looks = [maxLines]lineLook{
	{color.NRGBA{R: 0x00, G: 0x5F, B: 0x9E, A: 0xFF}, nil, draw.CircleGlyph{}},
	{color.NRGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, []vg.Length{6, 2}, draw.TriangleGlyph{}},
	{color.NRGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, []vg.Length{2, 2}, draw.BoxGlyph{}},
	{color.NRGBA{R: 0x8A, G: 0x3F, B: 0x72, A: 0xFF}, []vg.Length{8, 2, 2, 2}, draw.RingGlyph{}},
	{color.NRGBA{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, nil, draw.SquareGlyph{}},
	{color.NRGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, []vg.Length{4, 1}, draw.PyramidGlyph{}},
	{color.NRGBA{R: 0x00, G: 0x00, B: 0x00, A: 0xFF}, []vg.Length{1, 2}, draw.PlusGlyph{}},
	{color.NRGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xFF}, []vg.Length{10, 3}, draw.CrossGlyph{}},
}

func (l lineLook) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: vg.Points(1.3), Dashes: l.dashes}
}

func (l lineLook) marker() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: vg.Points(2.6), Shape: l.glyph}
}

// failureLine is the look of the moment of failure, on every chart.
func failureLine() draw.LineStyle {
	return draw.LineStyle{Color: colorFailure, Width: vg.Points(1.6), Dashes: []vg.Length{5, 2, 1, 2}}
}

// textStyle is the one typeface of charts.
func textStyle(size float64, c color.Color, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: c, XAlign: x, YAlign: y, Handler: text.Plain{Fonts: font.DefaultCache},
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)},
	}
}
