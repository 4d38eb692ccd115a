package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

// toolTable reads what genai-perf, aiperf and guidellm print when they are done.
//
// The first two draw one table with box characters, a metric in each row; a
// label that is too wide goes on in the next row, and so may be cut in words.
// guidellm prints several tables, a benchmark in each row, under three rows of
// headings of which one cell may span several columns: as many as "|" follow it.
// (Before version 0.4 it drew boxes as well, with other columns; those are not
// read.)
type toolTable struct {
	client string // of the table under way, "" if none is
	title  string
	last   int
	head   forensics.Event
	point  toolPoint

	stats []string // genai-perf, aiperf: the columns
	label []byte   // of the row under way
	cells []string

	heads  [][]string // guidellm: headings, expanded to columns
	points []toolPoint
	rows   int
	seen   map[string]bool // titles of the report under way
}

func (r *toolTable) end(s *scan) { r.flush(s) }

// toolTitles begin the reports. Before guidellm's stand an "ℹ" and a space.
var toolTitles = []struct{ text, client string }{
	{"NVIDIA GenAI-Perf | ", "genai-perf"},
	{"NVIDIA AIPerf | ", "aiperf"},
	{"Run Summary Info", "guidellm"},
	{"Request Latency Statistics (Completed Requests)", "guidellm"},
	{"Request Token Statistics (Completed Requests)", "guidellm"},
	{"Server Throughput Statistics (All Requests)", "guidellm"},
	{"Text Metrics Statistics (Completed Requests)", "guidellm"},
}

func (r *toolTable) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if len(t) < 4 {
		return 0
	}
	if c := t[0]; c >= 'N' && c <= 'T' || c == 0xe2 {
		if v := r.begin(t, l, s); v != 0 {
			return v
		}
	}
	if r.client == "" {
		return 0
	}
	if l.pos.Line > r.last+12 {
		r.flush(s)
		return 0
	}
	v := 0
	if r.client == "guidellm" {
		if t[0] == '|' {
			v = r.guideLine(t)
		}
	} else {
		v = r.boxLine(t)
	}
	if v == 0 {
		return 0
	}
	r.last = l.pos.Line
	s.own()
	return s.quiet(l, v)
}

// begin takes the title of a table.
func (r *toolTable) begin(t []byte, l *line, s *scan) int {
	t = bytes.TrimPrefix(t, []byte("ℹ "))
	for _, h := range toolTitles {
		if !bytes.HasPrefix(t, []byte(h.text)) || h.client == "guidellm" && len(t) != len(h.text) {
			continue
		}
		if h.client != "guidellm" || r.client != h.client || r.seen[h.text] || l.pos.Line > r.last+12 {
			r.flush(s)
			r.head = *s.event(l, forensics.KindBench).Clone()
			r.head.Format, r.head.Hits = formats[s.current].name, nil
			r.seen = map[string]bool{}
		}
		r.client, r.title, r.last = h.client, h.text, l.pos.Line
		r.seen[h.text] = true
		r.stats, r.heads, r.rows = nil, nil, 0
		s.own()
		return s.quiet(l, 10)
	}
	return 0
}

// boxLine reads a line of a box: a rule, the heading, or a row.
func (r *toolTable) boxLine(t []byte) int {
	sep := "│"
	switch {
	case bytes.HasPrefix(t, []byte("┏")), bytes.HasPrefix(t, []byte("┡")), bytes.HasPrefix(t, []byte("├")):
		r.endRow()
		return 3
	case bytes.HasPrefix(t, []byte("└")):
		r.endRow()
		return 3
	case bytes.HasPrefix(t, []byte("┃")):
		sep = "┃"
	case !bytes.HasPrefix(t, []byte("│")):
		return 0
	}
	parts := strings.Split(strings.Trim(string(t), sep), sep)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if sep == "┃" {
		if r.stats == nil {
			r.stats = parts[1:]
		}
		return 10
	}
	if len(parts) > 1 && parts[1] != "" {
		r.endRow()
		r.label, r.cells = append(r.label[:0], parts[0]...), parts[1:]
		return 3
	}
	if len(r.label) > 0 && len(r.label) < 200 {
		r.label = append(append(r.label, ' '), parts[0]...)
	}
	return 3
}

// endRow keeps the row under way.
func (r *toolTable) endRow() {
	if m, unit := metricByLabel(r.label); m != nil {
		for i, c := range r.cells {
			if x, ok := tableNumber([]byte(c)); ok && i < len(r.stats) {
				r.point.value(m.metricID(r.stats[i]), x*m.scale(unit))
			}
		}
	}
	r.label, r.cells = r.label[:0], nil
}

// flush emits the points of the report under way.
func (r *toolTable) flush(s *scan) {
	if r.client == "" {
		return
	}
	r.endRow()
	points := r.points
	if r.client != "guidellm" {
		points = []toolPoint{r.point}
	}
	for i := range points {
		if points[i].empty() {
			continue
		}
		e := r.head
		e.Lines = max(r.last-e.Pos.Line+1, 1)
		e.Attrs, e.Values = nil, nil
		points[i].fill(&e, forensics.StepResult, r.client)
		s.emit(&e)
	}
	r.client, r.points, r.point = "", nil, toolPoint{}
}

// guideTable maps guidellm's columns, by their three headings, to metrics.
var guideTable = map[[3]string]struct {
	id     string
	factor float64
}{
	{"Timings", "Dur", "Sec"}:            {"duration", 1},
	{"Input Tokens", "Comp", "Tot"}:      {"total_input_tokens", 1},
	{"Output Tokens", "Comp", "Tot"}:     {"total_output_tokens", 1},
	{"Request Latency", "Sec", "Mdn"}:    {"median_e2e_latency_ms", 1000},
	{"Request Latency", "Sec", "p95"}:    {"p95_e2e_latency_ms", 1000},
	{"TTFT", "ms", "Mdn"}:                {"median_ttft_ms", 1},
	{"TTFT", "ms", "p95"}:                {"p95_ttft_ms", 1},
	{"ITL", "ms", "Mdn"}:                 {"median_tpot_ms", 1},
	{"ITL", "ms", "p95"}:                 {"p95_tpot_ms", 1},
	{"Requests", "Concurrency", "Mean"}:  {"concurrency", 1},
	{"Requests", "Per Sec", "Mean"}:      {"request_throughput", 1},
	{"Input Tokens", "Per Sec", "Mean"}:  {"input_throughput", 1},
	{"Output Tokens", "Per Sec", "Mean"}: {"output_throughput", 1},
	{"Total Tokens", "Per Sec", "Mean"}:  {"total_throughput", 1},
}

// guideLine reads a line of one of guidellm's tables.
func (r *toolTable) guideLine(t []byte) int {
	if t[1] == '=' || t[1] == '-' {
		return 3
	}
	cells := spanned(string(t))
	if len(r.heads) < 3 {
		r.heads = append(r.heads, cells)
		return 3
	}
	for len(r.points) <= r.rows && r.rows < 1000 {
		r.points = append(r.points, toolPoint{})
	}
	if r.rows >= len(r.points) {
		return 3
	}
	p := &r.points[r.rows]
	r.rows++
	for i, c := range cells {
		if i >= len(r.heads[0]) || i >= len(r.heads[1]) || i >= len(r.heads[2]) {
			break
		}
		key := [3]string{r.heads[0][i], r.heads[1][i], r.heads[2][i]}
		if key[1] == "Strategy" {
			p.attr("strategy", c)
			if c == "synchronous" {
				p.attr("max_concurrency", "1")
			}
			continue
		}
		if col, ok := guideTable[key]; ok {
			if x, ok := tableNumber([]byte(c)); ok {
				p.value(col.id, x*col.factor)
			}
		}
	}
	return 3
}

// spanned cuts "| Requests  ||| Input Tokens |" into one cell for each column.
func spanned(t string) []string {
	var out []string
	for t = strings.TrimPrefix(t, "|"); t != "" && len(out) < 200; {
		i := strings.IndexByte(t, '|')
		if i < 0 {
			break
		}
		cell := strings.TrimSpace(t[:i])
		for t = t[i:]; strings.HasPrefix(t, "|") && len(out) < 200; t = t[1:] {
			out = append(out, cell)
		}
	}
	return out
}
