package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// formats lists every way to render a document.
var formats = []struct {
	ext   string
	write func(io.Writer, *Document) error
}{
	{"json", WriteJSON},
	{"md", func(w io.Writer, doc *Document) error { return WriteMarkdown(w, doc, chartOptions(doc)) }},
	{"txt", func(w io.Writer, doc *Document) error { return WriteTerminal(w, doc, 90, false) }},
	{"ansi", func(w io.Writer, doc *Document) error { return WriteTerminal(w, doc, 90, true) }},
	{"svg", func(w io.Writer, doc *Document) error {
		return eachChart(doc, func(c Chart) error { return c.WriteSVG(w) })
	}},
	{"png", func(w io.Writer, doc *Document) error {
		return eachChart(doc, func(c Chart) error { return c.WritePNG(w) })
	}},
}

func eachChart(doc *Document, write func(Chart) error) error {
	charts, err := Charts(doc)
	if err != nil {
		return err
	}
	for _, c := range charts {
		if err := write(c); err != nil {
			return err
		}
	}
	return nil
}

// chartOptions refers to the charts as a caller does that writes them to files.
func chartOptions(doc *Document) Options {
	var o Options
	charts, err := Charts(doc)
	if err != nil {
		panic(err)
	}
	for _, c := range charts {
		o.Charts = append(o.Charts, ChartFile{Name: c.Name, Alt: c.Alt, Path: c.Name + ".svg"})
	}
	return o
}

func render(t *testing.T, doc *Document, write func(io.Writer, *Document) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for name, doc := range documents() {
		for _, f := range formats[:3] {
			got := render(t, doc, f.write)
			file := filepath.Join("testdata", name+"."+f.ext)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(want)); diff != "" {
				t.Errorf("%s (-got +want, -update writes it anew):\n%s", file, diff)
			}
		}
	}
}

// TestRenderersLeaveTheDocument renders every format and compares the document
// with a copy made before.
func TestRenderersLeaveTheDocument(t *testing.T) {
	for name, doc := range documents() {
		var before Document
		if err := json.Unmarshal(toJSON(t, doc), &before); err != nil {
			t.Fatal(err)
		}
		frozen := toJSON(t, &before)
		for _, f := range formats {
			render(t, doc, f.write)
			if diff := cmp.Diff(string(frozen), string(toJSON(t, doc))); diff != "" {
				t.Errorf("%s changed the document %s:\n%s", f.ext, name, diff)
			}
		}
	}
}

// TestDeterminism freezes and renders twice, so that the order of maps would show.
func TestDeterminism(t *testing.T) {
	for name, doc := range documents() {
		again := documents()[name]
		for _, f := range formats {
			first := render(t, doc, f.write)
			if !bytes.Equal(first, render(t, again, f.write)) {
				t.Errorf("%s: two renderings as %s differ", name, f.ext)
			}
		}
	}
}

func TestMarkdownLeavesOutEmptySections(t *testing.T) {
	text := string(render(t, documents()["empty"], formats[1].write))
	for _, want := range []string{"# Inconclusive: Nothing to read", "`evidence.truncated`", "## What is missing", "## Sources"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n## "); n != 2 {
		t.Errorf("%d sections, want 2:\n%s", n, text)
	}
	if strings.Contains(text, "\n\n\n") {
		t.Errorf("empty lines in a row:\n%s", text)
	}
}

func TestMarkdownNoData(t *testing.T) {
	doc := documents()["healthy"]
	none := 0
	doc.Points[1].Completed = &none
	doc.Points[1].Status = "never-started"
	for k := range doc.Points[1].Metrics {
		doc.Points[1].Metrics[k] = 0
	}
	for i := range doc.Points {
		delete(doc.Points[i].Metrics, "mean_itl_ms")
	}
	text := string(render(t, doc, formats[1].write))
	if want := "| 8 | 32 | **never-started** | 0 | 0 | no data | no data | no data |"; !strings.Contains(text, want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
	if strings.Contains(text, "ITL") {
		t.Error("a column without any data is shown")
	}
}

func TestTerminalWidth(t *testing.T) {
	for _, width := range []int{60, 80, 120} {
		var b bytes.Buffer
		if err := WriteTerminal(&b, documents()["crash"], width, false); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("width %d: a line of %d: %q", width, n, line)
			}
		}
	}
}

func TestTerminalWithoutColor(t *testing.T) {
	doc := documents()["crash"]
	plain := render(t, doc, formats[2].write)
	if bytes.ContainsRune(plain, '\x1b') {
		t.Error("an escape sequence without color")
	}
	if colored := render(t, doc, formats[3].write); !bytes.ContainsRune(colored, '\x1b') {
		t.Error("no escape sequence with color")
	}
	for _, want := range []string{"server.log:4109", "--cuda-graph-max-bs", "failed 10:05:31", "× died", "▁"} {
		if !bytes.Contains(plain, []byte(want)) {
			t.Errorf("no %q in:\n%s", want, plain)
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	doc := documents()["crash"]
	for b.Loop() {
		if err := WriteMarkdown(io.Discard, doc, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTerminal(b *testing.B) {
	doc := documents()["crash"]
	for b.Loop() {
		if err := WriteTerminal(io.Discard, doc, 100, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCharts(b *testing.B) {
	doc := documents()["crash"]
	for _, f := range formats[4:] {
		b.Run(f.ext, func(b *testing.B) {
			for b.Loop() {
				if err := f.write(io.Discard, doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
