package report

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

// Options say what goes into a report beside the document.
type Options struct {
	// Charts are the chart files that stand beside the report.
	Charts []ChartFile
}

// ChartFile is a chart that was written to a file.
type ChartFile struct {
	Name string // the chart's name: "server-load", "sweep", "gpu"
	Alt  string // what it shows, in words
	Path string // slash separated, relative to the report
}

// WriteMarkdown writes the report that an engineer reads: the verdict first, then
// the way from the cause to the symptoms, the evidence, and what to do. Sections
// with nothing to say are left out. Text from logs cannot act as Markdown or HTML.
func WriteMarkdown(w io.Writer, doc *Document, opts Options) error {
	m := newMarkdown(doc, opts)
	m.report()
	if _, err := w.Write(m.b.Bytes()); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

// markdown writes one report. With e.term set it writes for [WriteTerminal]:
// charts as text, no HTML, quotes wrapped at width.
type markdown struct {
	b     bytes.Buffer
	doc   *Document
	e     escaper
	opts  Options
	width int
	face  clockFace
	shown map[place]bool // lines quoted so far
}

// place is a line of a file.
type place struct {
	file string
	line int
}

func newMarkdown(doc *Document, opts Options) *markdown {
	return &markdown{doc: doc, opts: opts, face: faceOf(doc), shown: map[place]bool{}}
}

func (m *markdown) report() {
	m.verdict()
	for _, s := range []struct {
		title string
		body  func()
	}{
		{"From cause to symptoms", m.chain},
		{"Evidence", m.evidence},
		{"What to do next", m.remedy},
		{"Benchmark points", m.sweep},
		{"Other symptoms", m.symptoms},
		{"Considered and rejected", m.rejected},
		{"Failures of earlier runs in the same folder", m.earlier},
		{"Timeline", m.timeline},
		{"GPUs over time", m.gpuChart},
		{"Configuration", m.config},
		{"Commands", m.commands},
		{"What is missing", m.missing},
		{"Sources", m.sources},
		{"Clocks", m.clocks},
		{"Redaction", m.redaction},
	} {
		m.section(s.title, s.body)
	}
	m.footer()
}

// section writes a heading and the body, or nothing if the body is empty.
func (m *markdown) section(title string, body func()) {
	before := m.b.Len()
	m.trimEnd()
	m.printf("\n## %s\n\n", title)
	start := m.b.Len()
	body()
	if m.b.Len() == start {
		m.b.Truncate(before)
	}
}

// trimEnd leaves one line break at the end of what is written.
func (m *markdown) trimEnd() {
	n := len(bytes.TrimRight(m.b.Bytes(), "\n"))
	m.b.Truncate(min(m.b.Len(), n+1))
}

func (m *markdown) printf(format string, args ...any) {
	fmt.Fprintf(&m.b, format, args...)
}

// at is the place of a quote as code: `server.log:120`.
func (m *markdown) at(ev Evidence) string {
	if ev.File == "" {
		return ""
	}
	if ev.Line == 0 {
		return m.e.cell(ev.File)
	}
	return m.e.cell(fmt.Sprintf("%s:%d", ev.File, ev.Line))
}

// block quotes lines in one code block and remembers them as shown.
func (m *markdown) block(indent int, evs ...Evidence) {
	var lines []string
	for _, ev := range evs {
		m.shown[place{ev.File, ev.Line}] = true
		lines = append(lines, wrapRunes(clean(ev.Text), m.width-indent-6)...)
	}
	m.b.WriteString(m.e.fenced(strings.Join(lines, "\n"), indent))
}

// wrapRunes cuts s into pieces of n runes; n <= 0 leaves it whole.
func wrapRunes(s string, n int) []string {
	if n <= 0 {
		return []string{s}
	}
	var out []string
	r := []rune(s)
	for len(r) > n {
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return append(out, string(r))
}

// chart refers to a chart file, if there is one of that name.
func (m *markdown) chart(name string) {
	for _, c := range m.opts.Charts {
		if c.Name == name && isRelative(c.Path) {
			m.printf("![%s](%s)\n\n", m.e.text(c.Alt), linkPath(c.Path))
		}
	}
}

// isRelative keeps image references inside the report's folder.
func isRelative(p string) bool {
	return p != "" && !path.IsAbs(p) && !strings.Contains(p, ":") && !strings.HasPrefix(path.Clean(p), "..")
}

// linkPath percent-encodes what could end a Markdown link destination.
func linkPath(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		if wordAt(p, i) || strings.IndexByte("-._/", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// isURL accepts the plain web addresses that may become links.
func isURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(s, "http://")
	}
	if !ok || rest == "" {
		return false
	}
	for i := 0; i < len(rest); i++ {
		if !wordAt(rest, i) && strings.IndexByte("-._~/?#&=+%:,@!", rest[i]) < 0 {
			return false
		}
	}
	return true
}

// plural counts things: "1 request", "2 requests".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(float64(n)) + " " + noun + "s"
}

// cell is a cell of a table: for Markdown, escaped, and as plain text.
type cell struct{ md, plain string }

func (m *markdown) textCell(s string) cell {
	if s == "-" { // our sign for no value; escaped it would be hard to read
		return cell{s, s}
	}
	return cell{m.e.text(s), clean(s)}
}

func (m *markdown) codeCell(s string) cell { return cell{m.e.cell(s), clean(s)} }

// table writes a table; right says which columns hold numbers. On a terminal it
// is set in a code block, since the renderer would make all columns equally wide.
func (m *markdown) table(head []string, right []bool, rows [][]cell) {
	if m.e.term {
		m.b.WriteString(m.e.fenced(alignTable(head, right, rows, m.width-6), 0))
		m.b.WriteByte('\n')
		return
	}
	m.b.WriteString("| " + strings.Join(head, " | ") + " |\n|")
	for i := range head {
		if right[i] {
			m.b.WriteString(" ---: |")
		} else {
			m.b.WriteString(" --- |")
		}
	}
	m.b.WriteByte('\n')
	for _, r := range rows {
		m.b.WriteString("|")
		for _, c := range r {
			m.b.WriteString(" " + c.md + " |")
		}
		m.b.WriteByte('\n')
	}
	m.b.WriteByte('\n')
}

// alignTable sets a table in columns of plain text. Columns that do not fit into
// width are left out from the right.
func alignTable(head []string, right []bool, rows [][]cell, width int) string {
	const gap = 2
	var cols []int
	used := -gap
	for i, h := range head {
		w := utf8.RuneCountInString(h)
		for _, r := range rows {
			w = max(w, utf8.RuneCountInString(r[i].plain))
		}
		if w = min(w, 60); used+gap+w > width && i > 0 {
			break
		}
		cols = append(cols, w)
		used += gap + w
	}
	var b strings.Builder
	line := func(text func(i int) string) {
		var l strings.Builder
		for i, w := range cols {
			s := bound(text(i), w)
			pad := strings.Repeat(" ", w-utf8.RuneCountInString(s))
			if right[i] {
				s, pad = pad, s
			}
			l.WriteString(s + pad + strings.Repeat(" ", gap))
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(func(i int) string { return head[i] })
	for _, r := range rows {
		line(func(i int) string { return r[i].plain })
	}
	return strings.TrimSuffix(b.String(), "\n")
}
