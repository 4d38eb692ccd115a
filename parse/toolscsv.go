package parse

import (
	"bytes"
	"encoding/csv"
	"strings"

	"github.com/llmforensics/forensics"
)

// toolCSV reads the CSV exports: profile_export_genai_perf.csv and
// profile_export_aiperf.csv (a block of metrics with statistics, a blank line, a
// block of metrics with one value) and guidellm's benchmarks.csv (three rows of
// headings, then a row for each benchmark).
type toolCSV struct {
	stats []string // columns of a block of metrics, nil if none is under way
	point toolPoint
	head  forensics.Event
	last  int

	guide [][]string // headings of guidellm's file, row by row
}

func (r *toolCSV) end(s *scan) { r.flush(s) }

func (r *toolCSV) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if r.last > 0 && l.pos.Line > r.last+2 {
		r.flush(s)
	}
	switch {
	case bytes.HasPrefix(t, []byte("Metric,")):
		return r.heading(t, l, s)
	case bytes.HasPrefix(t, []byte("Run Info,")) && bytes.Contains(t, []byte(",Request Latency,")):
		r.flush(s)
		r.guide, r.last = [][]string{csvFields(t)}, l.pos.Line
		s.own()
		return s.quiet(l, 10)
	case r.guide != nil && l.pos.Line == r.last+1 && len(t) > 0:
		return r.guideRow(t, l, s)
	case r.stats != nil && len(t) > 0:
		return r.row(t, l, s)
	}
	return 0
}

// csvFields cuts one line of CSV.
func csvFields(t []byte) []string {
	cr := csv.NewReader(strings.NewReader(string(t)))
	cr.LazyQuotes, cr.FieldsPerRecord = true, -1
	fields, _ := cr.Read()
	return fields
}

// heading reads "Metric,avg,min,..." and "Metric,Value".
func (r *toolCSV) heading(t []byte, l *line, s *scan) int {
	fields := csvFields(t)
	if len(fields) < 2 || fields[1] != "avg" && fields[1] != "Value" {
		return 0
	}
	if fields[1] == "avg" {
		r.flush(s)
	}
	if r.stats == nil {
		r.head = *s.event(l, forensics.KindBench).Clone()
		r.head.Format, r.head.Hits = formats[s.current].name, nil
	}
	r.stats, r.last = r.stats[:0], l.pos.Line
	for _, f := range fields[1:] {
		r.stats = append(r.stats, strings.ToLower(f))
	}
	s.own()
	return s.quiet(l, 10)
}

// row reads `Time to First Token (ms),"1,146.31",249.48`.
func (r *toolCSV) row(t []byte, l *line, s *scan) int {
	i := bytes.IndexByte(t, ',')
	if i < 2 || len(t) > 2000 {
		return 0
	}
	fields := csvFields(t)
	if len(fields) < 2 || len(fields) > len(r.stats)+1 {
		return 0
	}
	m, unit := metricByLabel([]byte(fields[0]))
	if x, ok := tableNumber([]byte(fields[1])); !ok && m == nil {
		_ = x
		return 0
	}
	for i, f := range fields[1:] {
		if x, ok := tableNumber([]byte(f)); ok && m != nil {
			r.point.value(m.metricID(r.stats[i]), x*m.scale(unit))
		}
	}
	r.last = l.pos.Line
	s.own()
	return s.quiet(l, 3)
}

// flush emits the point under way.
func (r *toolCSV) flush(s *scan) {
	if r.stats != nil && !r.point.empty() {
		e := r.head
		e.Lines = max(r.last-e.Pos.Line+1, 1)
		e.Attrs, e.Values = nil, nil
		r.point.fill(&e, forensics.StepRecord, "aiperf or genai-perf")
		s.emit(&e)
	}
	r.point.reset()
	r.stats, r.guide, r.last = nil, nil, 0
}

// guideColumn is a column of guidellm's CSV by its three headings.
type guideColumn struct {
	group, name string
	id          string
	factor      float64
}

// guideColumns lists the columns kept. With "*" in the metric's name the third
// heading is the statistic. Source: guidellm's outputs/csv.py.
var guideColumns = []guideColumn{
	{"Timings", "Duration", "duration", 1},
	{"Server Throughput", "Successful Requests/Sec", "request_throughput", 1},
	{"Server Throughput", "Successful Concurrency", "concurrency", 1},
	{"Token Throughput", "Successful Input Tokens/Sec", "input_throughput", 1},
	{"Token Throughput", "Successful Output Tokens/Sec", "output_throughput", 1},
	{"Token Throughput", "Successful Total Tokens/Sec", "total_throughput", 1},
	{"Request Latency", "Successful Sec", "*_e2e_latency_ms", 1000},
	{"Time to First Token", "Successful ms", "*_ttft_ms", 1},
	{"Inter Token Latency", "Successful ms", "*_tpot_ms", 1},
}

// guidePercentileList are the members of a "Percentiles" cell.
var guidePercentileList = []string{"min", "", "", "", "", "", "p75", "p90", "p95", "p99", "max"}

func (r *toolCSV) guideRow(t []byte, l *line, s *scan) int {
	r.last = l.pos.Line
	s.own()
	fields := csvFields(t)
	if len(r.guide) < 3 {
		r.guide = append(r.guide, fields)
		return s.quiet(l, 10)
	}
	var p toolPoint
	for i, cell := range fields {
		if i >= len(r.guide[0]) || i >= len(r.guide[1]) || i >= len(r.guide[2]) {
			break
		}
		guideCell(&p, r.guide[0][i], r.guide[1][i], r.guide[2][i], cell)
	}
	if p.empty() {
		return -1
	}
	e := s.event(l, forensics.KindBench)
	p.fill(e, forensics.StepRecord, "guidellm")
	s.emit(e)
	return 10
}

// guideCell keeps one cell of a benchmark's row.
func guideCell(p *toolPoint, group, name, third, cell string) {
	switch {
	case group == "Benchmark" && name == "Strategy":
		p.attr("strategy", cell)
		return
	case group == "Request Counts":
		if x, ok := number([]byte(cell)); ok {
			p.count(strings.ToLower(name), x)
		}
		return
	case group == "Timings" && (name == "Start Time" || name == "End Time"):
		st, n := dateTime([]byte(cell))
		if n > 0 {
			p.attr(strings.ReplaceAll(strings.ToLower(name), " ", "_"), cell)
			p.stamp = st
		}
		return
	}
	for i := range guideColumns {
		c := &guideColumns[i]
		if c.group != group || c.name != name {
			continue
		}
		if third == "Percentiles" && c.id[0] == '*' {
			for k, v := range strings.Split(strings.Trim(cell, "[]"), ",") {
				if x, ok := number([]byte(strings.TrimSpace(v))); ok && k < len(guidePercentileList) && guidePercentileList[k] != "" {
					p.value(guidePercentileList[k]+c.id[1:], x*c.factor)
				}
			}
			return
		}
		x, ok := number([]byte(cell))
		switch third {
		case "", "Sec", "Mean":
			third = "mean"
		case "Median":
			third = "median"
		case "Std Dev":
			third = "std"
		}
		switch {
		case !ok:
		case c.id[0] == '*':
			p.value(third+c.id[1:], x*c.factor)
		case third == "mean":
			p.value(c.id, x*c.factor)
		}
		return
	}
}
