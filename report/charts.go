package report

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a picture of the document. It can be written any number of times, and
// gives the same bytes every time.
type Chart struct {
	// Name is the base name for files: "server-load", "sweep" or "gpu".
	Name string
	// Alt says in words what the chart shows.
	Alt string

	fig *figure
}

// pngDPI makes charts about 1300 pixels wide.
const pngDPI = 144

// Charts draws what the document has data for, in a fixed order. A document
// without series and metrics has no charts.
func Charts(doc *Document) ([]Chart, error) {
	var out []Chart
	for _, c := range []struct {
		name  string
		build func(*Document) (*figure, string)
	}{
		{"server-load", loadFigure},
		{"sweep", sweepFigure},
		{"gpu", gpuFigure},
	} {
		fig, alt := c.build(doc)
		if fig == nil {
			continue
		}
		if err := fig.check(); err != nil {
			return nil, fmt.Errorf("chart %s: %w", c.name, err)
		}
		out = append(out, Chart{Name: c.name, Alt: alt, fig: fig})
	}
	return out, nil
}

// WriteSVG writes the chart as an SVG document. Text in it is escaped.
func (c Chart) WriteSVG(w io.Writer) error {
	canvas := vgsvg.New(c.fig.size())
	var b bytes.Buffer
	if err := c.write(canvas, canvas, &b); err != nil {
		return fmt.Errorf("drawing chart %s as SVG: %w", c.Name, err)
	}
	// The library writes neither a title, which screen readers read out, nor a
	// fallback for readers without its typeface.
	svg := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;",
		"font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;")
	head, body, _ := strings.Cut(svg, "<g ")
	_, err := io.WriteString(w, head+"<title>"+html.EscapeString(clean(c.Alt))+"</title>\n<g "+body)
	if err != nil {
		return fmt.Errorf("writing chart %s as SVG: %w", c.Name, err)
	}
	return nil
}

// WritePNG writes the chart as a PNG image.
func (c Chart) WritePNG(w io.Writer) error {
	width, height := c.fig.size()
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	if err := c.write(canvas, vgimg.PngCanvas{Canvas: canvas}, w); err != nil {
		return fmt.Errorf("writing chart %s as PNG: %w", c.Name, err)
	}
	return nil
}

func (c Chart) write(canvas vg.CanvasSizer, out io.WriterTo, w io.Writer) error {
	dc := draw.New(canvas)
	// A reader's dark mode must not show through.
	dc.FillPolygon(color.White, corners(dc.Rectangle))
	c.fig.draw(dc)
	_, err := out.WriteTo(w)
	return err
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
