package parse

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/llmforensics/forensics"
)

// loadgen reads what general HTTP load generators print: k6, wrk and wrk2, ab,
// hey, oha, vegeta, h2load and locust. They know nothing of tokens, so a point of
// theirs holds counts of requests, their rate and the time they took. Sources:
// the tools' own printers (k6 internal/cmd/summary.go and ui/, wrk.c, ab.c,
// hey/requester/print.go, oha/src/printer.rs, vegeta/lib/reporters.go, h2load.cc,
// locust/stats.py) as of 2026.
//
// Every tool prints a line that only it has before or in its summary; the rows
// behind it are read by the tool's own table. A summary ends when another
// begins, or with the source.
type loadgen struct {
	tool *loadTool
	last int // number of the last line that belongs to it
	sum  loadSummary
}

// maxLoadGap is how many lines may stand between two rows of one summary: k6
// prints a line for every check and threshold, and errors while it runs.
const maxLoadGap = 40

// loadTool is a load generator.
type loadTool struct {
	name string
	// opens reports whether a line begins the tool's output; starts are the first
	// bytes that such a line may have.
	starts string
	opens  func(t []byte) bool
	// row reads a line of the output. It returns 0 for a line that is none.
	row func(r *loadgen, t []byte, l *line, s *scan) int
}

// loadTools lists the tools. Their tables are told apart by the line that opens
// them, so that labels may be alike.
var loadTools = [...]loadTool{
	{name: "k6", starts: "eshdcrWER", opens: opensK6, row: (*loadgen).k6},
	{name: "wrk", starts: "R", opens: opensWrk, row: (*loadgen).wrk},
	{name: "ab", starts: "TCB", opens: opensAB, row: (*loadgen).ab},
	{name: "hey", starts: "S", opens: opensHey, row: (*loadgen).hey},
	{name: "vegeta", starts: "R", opens: opensVegeta, row: (*loadgen).vegeta},
	{name: "h2load", starts: "frs", opens: opensH2load, row: (*loadgen).h2load},
	{name: "locust", starts: locustStarts, opens: opensLocust, row: (*loadgen).locust},
}

// locustStarts may begin the name of the host that locust's logger prints, and
// its tables.
const locustStarts = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// loadSummary collects what a tool says of one run. Counts are -1 until printed.
type loadSummary struct {
	head   forensics.Event
	client string // where it is not the tool's own name
	lines  bool   // a row of the summary was seen
	point  toolPoint
	quotes []forensics.Quote

	total, done, failed, extra float64 // requests; extra are failures beside those of failed
	section                    string  // heading that the rows stand under
	rows                       int     // locust: tables seen
	final                      bool    // the summary is the last word of the run
}

func (m *loadSummary) reset() {
	*m = loadSummary{point: toolPoint{attrs: m.point.attrs[:0], values: m.point.values[:0]}, total: -1, done: -1, failed: -1}
}

func (r *loadgen) end(s *scan) { r.flush(s) }

func (r *loadgen) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if len(t) < 3 || l.style != styleNone && l.style != styleISO && l.style != styleSGLang {
		return 0
	}
	if r.tool != nil && l.pos.Line > r.last+maxLoadGap {
		r.flush(s)
	}
	if r.tool != nil {
		if v := r.tool.row(r, t, l, s); v != 0 {
			r.last = l.pos.Line
			s.own()
			return s.quiet(l, v)
		}
	}
	for i := range loadTools {
		tool := &loadTools[i]
		if tool != r.tool && bytes.IndexByte([]byte(tool.starts), t[0]) >= 0 && tool.opens(t) {
			return r.open(tool, t, l, s)
		}
	}
	return 0
}

// open begins a tool's output with the line at hand.
func (r *loadgen) open(tool *loadTool, t []byte, l *line, s *scan) int {
	r.flush(s)
	r.tool, r.last = tool, l.pos.Line
	r.sum.reset()
	s.own()
	v := max(tool.row(r, t, l, s), 3)
	if r.tool == nil {
		return v
	}
	return s.quiet(l, v)
}

// begin emits the step that says that requests are sent.
func (r *loadgen) begin(l *line, s *scan, attrs ...forensics.Attr) {
	r.step(l, s, forensics.StepMain, attrs)
}

// step emits an event of a single line. Its signatures go with it.
func (r *loadgen) step(l *line, s *scan, step string, attrs []forensics.Attr, values ...forensics.Value) {
	e := s.event(l, forensics.KindBench)
	e.Attrs = append(append(e.Attrs, forensics.Attr{Key: "step", Value: step}, forensics.Attr{Key: "client", Value: r.tool.name}), attrs...)
	e.Values = append(e.Values, values...)
	e.Proc.Role = forensics.RoleClient
	s.emit(e)
	l.hits = l.hits[:0] // counted once
}

// failure emits the error text of a failed request.
func (r *loadgen) failure(text []byte, l *line, s *scan, attrs ...forensics.Attr) {
	r.step(l, s, forensics.StepError, append(message(string(text)), attrs...))
}

// mark notes that the line is a row of the summary.
func (r *loadgen) mark(l *line, s *scan) {
	m := &r.sum
	if !m.lines {
		m.lines = true
		hits := l.hits
		m.head = *s.event(l, forensics.KindBench).Clone()
		m.head.Hits, l.hits = nil, hits
		m.head.Format = formats[s.current].name
	}
	m.head.Lines = l.pos.Line - m.head.Pos.Line + 1
}

// quote keeps a row that proves how the run ended.
func (r *loadgen) quote(l *line, s *scan) {
	r.mark(l, s)
	if len(r.sum.quotes) < 12 {
		r.sum.quotes = append(r.sum.quotes, forensics.Quote{Pos: l.pos, Text: string(l.raw)})
	}
}

// flush emits the summary under way.
func (r *loadgen) flush(s *scan) {
	tool := r.tool
	r.tool = nil
	if tool == nil || !r.sum.lines {
		return
	}
	m := &r.sum
	m.settle()
	if !m.point.has("completed") && !m.point.has("failed") && !m.point.has("request_throughput") {
		return
	}
	e := m.head
	m.point.fill(&e, forensics.StepResult, cmp.Or(m.client, tool.name))
	if tool.name == "locust" && m.rows > 1 && !m.final {
		// The table is printed every few seconds: without the closing one the run
		// was cut short.
		e.Attrs[0].Value = forensics.StepProgress
		e.Values = []forensics.Value{{Name: forensics.ValDone, X: m.done}}
	}
	e.Quotes = m.quotes
	s.emit(&e)
}

// settle turns the counts into those of the other clients: completed are the
// requests that were served.
func (m *loadSummary) settle() {
	if m.total < 0 && m.done >= 0 {
		m.total = m.done + max(m.failed, 0)
	}
	failed := max(m.failed, 0) + m.extra
	switch {
	case m.done >= 0:
		m.point.value("completed", m.done)
		m.point.value("failed", failed)
	case m.total >= 0:
		m.point.value("completed", max(m.total-min(failed, m.total), 0))
		m.point.value("failed", failed)
	case m.failed >= 0:
		m.point.value("failed", failed)
	}
	if rate := m.point.get("request_throughput"); rate > 0 && m.total > 0 {
		m.point.value("duration", m.total/rate)
	} else if d := m.point.get("duration"); d > 0 && m.total >= 0 {
		m.point.value("request_throughput", m.total/d)
	}
}

// get returns a measurement, 0 if there is none.
func (p *toolPoint) get(name string) float64 {
	for i := range p.values {
		if p.values[i].Name == name {
			return p.values[i].X
		}
	}
	return 0
}

// latency keeps a statistic of the time that a request took, in milliseconds.
func (m *loadSummary) latency(stat string, value []byte) {
	if ms, ok := goDuration(bytes.TrimSpace(value)); ok {
		m.point.value(stat+"_e2e_latency_ms", ms)
	}
}

// percentiles maps the percentiles that tools print to the names of statistics.
var percentiles = map[string]string{
	"50": "median", "75": "p75", "90": "p90", "95": "p95", "99": "p99", "50.000": "median", "90.000": "p90", "99.000": "p99",
	"50.00": "median", "75.00": "p75", "90.00": "p90", "95.00": "p95", "99.00": "p99", "75.000": "p75",
}

// goDuration reads a time as Go, wrk and others print it, in milliseconds:
// "21.4s", "1m0s", "635.91us", "2 secs", "12.3 ms". A bare number has no unit.
func goDuration(b []byte) (ms float64, ok bool) {
	for len(b) > 0 {
		x, unit, good := quantity(b)
		if !good {
			return ms, ok && len(bytes.TrimSpace(b)) == 0
		}
		n := 0
		for n < len(unit) && (unit[n] >= 'a' && unit[n] <= 'z' || unit[n] >= 0x80) {
			n++
		}
		f := unitMillis(string(unit[:n]))
		if f == 0 {
			return 0, false
		}
		ms, ok, b = ms+x*f, true, unit[n:]
	}
	return ms, ok
}

// unitMillis returns the milliseconds of a unit of time, 0 if it is none.
func unitMillis(unit string) float64 {
	switch unit {
	case "ns":
		return 1e-6
	case "us", "µs", "μs":
		return 1e-3
	case "ms":
		return 1
	case "s", "sec", "secs", "second", "seconds":
		return 1e3
	case "m", "min", "mins":
		return 6e4
	case "h":
		return 36e5
	}
	return 0
}

// count reads a whole number at the start of b, with or without commas between
// its digits, and returns the bytes used.
func count(b []byte) (x float64, n int) {
	for n < len(b) && n < 20 && (b[n] >= '0' && b[n] <= '9' || b[n] == ',' && n > 0 && n+1 < len(b) && b[n+1] >= '0' && b[n+1] <= '9') {
		if b[n] != ',' {
			x = x*10 + float64(b[n]-'0')
		}
		n++
	}
	return x, n
}

// countAfter reads the number behind a label.
func countAfter(t []byte, label string) (float64, bool) {
	_, rest, ok := bytes.Cut(t, []byte(label))
	if !ok {
		return 0, false
	}
	x, n := count(bytes.TrimLeft(rest, " \t"))
	return x, n > 0
}

// concurrency is the attribute of a number of clients.
func concurrency(n float64) forensics.Attr {
	return forensics.Attr{Key: "max_concurrency", Value: strconv.FormatFloat(n, 'f', -1, 64)}
}
