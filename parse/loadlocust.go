package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// opensLocust accepts the headings of locust's tables, on the console and as
// CSV, and the lines of its logger.
func opensLocust(t []byte) bool {
	switch t[0] {
	case 'T':
		return bytes.HasPrefix(t, []byte("Type ")) && bytes.Contains(t, []byte(" # fails |")) ||
			bytes.HasPrefix(t, []byte("Type,Name,Request Count,Failure Count,"))
	case 'N':
		return bytes.HasPrefix(t, []byte("Name ")) && bytes.Contains(t, []byte(" # fails ")) // before 1.0
	case 'M':
		return bytes.HasPrefix(t, []byte("Method,Name,Error,Occurrences"))
	}
	_, _, ok := locustLog(t)
	return ok
}

// locustLog reads "host/ERROR/locust.user.task: msg", the logger's prefix behind
// the date.
func locustLog(t []byte) (level, msg []byte, ok bool) {
	head := t[:min(len(t), 100)]
	i := bytes.Index(head, []byte("/locust."))
	if i <= 0 {
		return nil, nil, false
	}
	j := bytes.LastIndexByte(head[:i], '/')
	k := bytes.Index(head[i:], []byte(": "))
	if j <= 0 || k < 0 || bytes.IndexByte(head[:i+k], ' ') >= 0 {
		return nil, nil, false
	}
	return head[j+1 : i], t[i+k+2:], true
}

// locust reads the table that locust prints every few seconds and at the end,
// its lists of percentiles and errors, and the CSV files of its results.
func (r *loadgen) locust(t []byte, l *line, s *scan) int {
	m := &r.sum
	if level, msg, ok := locustLog(t); ok {
		return r.locustMessage(level, msg, l, s)
	}
	switch {
	case bytes.HasPrefix(t, []byte("Type,Name,Request Count,")), bytes.HasPrefix(t, []byte("Method,Name,Error,")):
		m.section = "csv " + string(t[:6])
		return 10
	case strings.HasPrefix(m.section, "csv "):
		return r.locustCSV(t, l, s)
	case opensLocust(t):
		m.section = "stats"
		return 10
	case bytes.HasPrefix(t, []byte("Response time percentiles")):
		m.section, m.final = "percentiles", true
		return 10
	case bytes.HasPrefix(t, []byte("Error report")):
		m.section, m.final = "errors", true
		return 10
	case bytes.HasPrefix(t, []byte("--------|---")), bytes.HasPrefix(t, []byte("------------------|")), bytes.HasPrefix(t, []byte("# occurrences ")):
		return 3
	case m.section == "errors" && t[0] >= '0' && t[0] <= '9':
		return r.locustError(t)
	case m.section == "stats" && bytes.IndexByte(t, '|') > 0:
		return r.locustRow(t, l, s)
	case m.section == "percentiles" && l.pos.Line <= r.last+2:
		return 1
	}
	return 0
}

// locustMessage reads a line of locust's logger. A failed task is no failed
// request, but tells why there are none.
func (r *loadgen) locustMessage(level, msg []byte, l *line, s *scan) int {
	switch {
	case bytes.HasPrefix(msg, []byte("Starting Locust ")):
		if r.sum.lines {
			r.sum.final = true
			r.flush(s)
			return 0
		}
	case bytes.HasPrefix(msg, []byte("Shutting down (exit code")):
		r.sum.final = true
	case bytes.HasPrefix(msg, []byte("Ramping to ")), bytes.HasPrefix(msg, []byte("All users spawned")):
		if n, ok := countAfter(msg, "Ramping to "); ok {
			r.sum.point.attr("max_concurrency", concurrency(n).Value)
		}
		r.begin(l, s)
	case string(level) == "ERROR" || string(level) == "CRITICAL":
		r.failure(msg, l, s)
	}
	return 10
}

// locustRow reads a row of the table:
//
//	Aggregated   2160     0(0.00%) |  48120    1811  121044  41000 |    9.00        0.00
//
// Only the sum over all requests counts.
func (r *loadgen) locustRow(t []byte, l *line, s *scan) int {
	m := &r.sum
	parts := bytes.Split(t, []byte("|"))
	if len(parts) != 3 {
		return 0
	}
	name := bytes.Fields(parts[0])
	if n := len(name); n < 3 || string(name[0]) != "Aggregated" && string(name[0]) != "Total" {
		return 3
	}
	total, _ := count(name[len(name)-2])
	failed, _ := count(name[len(name)-1])
	if m.lines { // the state of a while ago
		e := m.head
		e.Attrs = []forensics.Attr{{Key: "step", Value: forensics.StepProgress}, {Key: "client", Value: "locust"}}
		e.Values = []forensics.Value{{Name: forensics.ValDone, X: m.total}}
		e.Proc.Role = forensics.RoleClient
		s.emit(&e)
	}
	m.lines, m.quotes, m.point.values = false, nil, m.point.values[:0]
	r.quote(l, s)
	m.rows++
	m.total, m.failed, m.done = total, failed, max(total-failed, 0)
	stats := bytes.Fields(parts[1])
	for i, stat := range []string{"mean", "min", "max", "median"} {
		if i < len(stats) {
			if x, ok := number(stats[i]); ok {
				m.point.value(stat+"_e2e_latency_ms", x)
			}
		}
	}
	if rate := bytes.Fields(parts[2]); len(rate) > 0 {
		if x, ok := number(rate[0]); ok {
			m.point.value("request_throughput", x)
		}
	}
	return 10
}

// locustError reads "118   POST /v1/completions: ReadTimeout(...)".
func (r *loadgen) locustError(t []byte) int {
	n, used := count(t)
	text := bytes.TrimSpace(t[used:])
	if len(text) == 0 {
		return 0
	}
	r.sum.point.failed(string(text), int(n))
	return 10
}

// locustCSV reads a row of the files that --csv writes: *_stats.csv and
// *_failures.csv.
func (r *loadgen) locustCSV(t []byte, l *line, s *scan) int {
	m := &r.sum
	f := bytes.Split(t, []byte(","))
	if m.section == "csv Method" {
		n, used := count(f[len(f)-1])
		if len(f) < 4 || used == 0 {
			return 0
		}
		text := bytes.Join(f[:len(f)-1], []byte(" "))
		r.failure(text, l, s, forensics.Attr{Key: "count", Value: strconv.Itoa(int(n))})
		return 3
	}
	if len(f) < 10 {
		return 0
	}
	if string(f[1]) != "Aggregated" {
		return 3
	}
	m.total, _ = count(f[2])
	m.failed, _ = count(f[3])
	m.done, m.final = max(m.total-m.failed, 0), true
	for i, stat := range []string{"median", "mean", "min", "max"} {
		if x, ok := number(f[4+i]); ok {
			m.point.value(stat+"_e2e_latency_ms", x)
		}
	}
	if x, ok := number(f[9]); ok {
		m.point.value("request_throughput", x)
	}
	r.quote(l, s)
	return 10
}
