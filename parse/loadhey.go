package parse

import (
	"bytes"
	"strconv"
)

// opensHey accepts the heading of hey's and oha's summary. The word alone is
// common, so that nothing is emitted unless the rows follow.
func opensHey(t []byte) bool { return string(t) == "Summary:" }

// hey reads the summaries of hey and oha, which are alike: times, then the
// answers by status, then the errors by text.
func (r *loadgen) hey(t []byte, l *line, s *scan) int {
	m := &r.sum
	if opensHey(t) {
		if m.lines {
			r.flush(s)
			return 0
		}
		return 1
	}
	if t[len(t)-1] == ':' && hasAnyPrefix(t, heySections) {
		m.section = string(t)
		return 3
	}
	if t[0] == '[' && m.lines {
		return r.heyCount(t, l, s)
	}
	label, value, ok := bytes.Cut(t, []byte(":"))
	if value = bytes.TrimSpace(value); !ok || m.section != "" {
		return r.heyPercent(t)
	}
	switch string(label) {
	case "Success rate":
		m.client = "oha"
	case "Total":
		ms, ok := goDuration(value)
		if !ok {
			return 0
		}
		m.point.value("duration", ms/1e3)
	case "Average":
		m.latency("mean", value)
	case "Slowest":
		m.latency("max", value)
	case "Requests/sec":
		x, ok := number(value)
		if !ok {
			return 0
		}
		m.point.value("request_throughput", x)
		r.quote(l, s)
	case "Fastest", "Total data", "Size/request", "Size/sec":
	default:
		return 0
	}
	r.mark(l, s)
	return 3
}

var heySections = []string{
	"Response time histogram:", "Response time distribution:", "Latency distribution:", "Status code distribution:", "Error distribution:",
	"Details (average, fastest, slowest):", "Details (average, fastest, slowest)",
}

// heyCount reads "[200] 4000 responses" and "[12] Post "http://...": EOF": under
// the first heading the number is a status, under the other a count.
func (r *loadgen) heyCount(t []byte, l *line, s *scan) int {
	m := &r.sum
	i := bytes.IndexByte(t, ']')
	if i < 2 {
		return 0
	}
	n, used := count(t[1:i])
	if used != i-1 {
		return 0
	}
	rest := bytes.TrimSpace(t[i+1:])
	r.quote(l, s)
	switch m.section {
	case "Status code distribution:":
		x, used := count(rest)
		if used == 0 {
			return 0
		}
		if n >= 200 && n < 400 {
			m.done = max(m.done, 0) + x
		} else {
			m.failed = max(m.failed, 0) + x
			m.point.failed("HTTP status "+strconv.Itoa(int(n)), int(x))
		}
	case "Error distribution:":
		m.done = max(m.done, 0)
		m.failed = max(m.failed, 0) + n
		m.point.failed(string(rest), int(n))
	}
	return 10
}

// heyPercent reads "50% in 0.0501 secs" and passes over the histogram.
func (r *loadgen) heyPercent(t []byte) int {
	m := &r.sum
	if !m.lines || t[0] < '0' || t[0] > '9' {
		if m.section == "" || !bytes.Contains(t, []byte(", ")) {
			return 0
		}
		return 1 // details
	}
	pct, value, ok := bytes.Cut(t, []byte("% in "))
	if !ok {
		if bytes.IndexByte(t, '[') > 0 {
			return 1
		}
		return 0
	}
	if stat := percentiles[string(pct)]; stat != "" {
		m.latency(stat, value)
	}
	return 3
}

func opensVegeta(t []byte) bool {
	return bytes.HasPrefix(t, []byte("Requests ")) && bytes.Contains(t, []byte("[total, rate"))
}

// vegeta reads vegeta's text report.
func (r *loadgen) vegeta(t []byte, l *line, s *scan) int {
	m := &r.sum
	if opensVegeta(t) && m.lines {
		r.flush(s)
		return 0
	}
	label, rest, _ := bytes.Cut(t, []byte("["))
	heads, cells, ok := bytes.Cut(rest, []byte("]"))
	switch {
	case ok && len(label) < 16:
		r.mark(l, s)
		r.vegetaRow(string(bytes.TrimSpace(label)), heads, bytes.TrimSpace(cells), l, s)
		return 10
	case string(t) == "Error Set:":
		m.section = "errors"
		return 3
	case m.section == "errors" && l.pos.Line == r.last+1:
		m.point.failed(string(t), 1)
		return 3
	}
	return 0
}

// vegetaRow reads "Latencies  [min, mean, 50, 90, 95, 99, max]  1ms, 2ms, ..."
// by its headings, and "Status Codes  [code:count]  0:12  200:1182".
func (r *loadgen) vegetaRow(label string, heads, cells []byte, l *line, s *scan) {
	m := &r.sum
	if label == "Status Codes" {
		r.quote(l, s)
		for _, f := range bytes.Fields(cells) {
			code, n, _ := bytes.Cut(f, []byte(":"))
			x, _ := count(n)
			if c := digits(code, 0, len(code)); c >= 200 && c < 400 {
				m.done = max(m.done, 0) + x
			} else {
				m.failed = max(m.failed, 0) + x
			}
		}
		m.done, m.failed = max(m.done, 0), max(m.failed, 0)
		return
	}
	values := bytes.Split(cells, []byte(", "))
	for i, h := range bytes.Split(heads, []byte(", ")) {
		if i >= len(values) {
			return
		}
		v := bytes.TrimSpace(values[i])
		switch label + " " + string(h) {
		case "Requests total":
			m.total, _ = count(v)
			r.quote(l, s)
		case "Requests throughput":
			if x, ok := number(v); ok {
				m.point.value("request_throughput", x)
			}
		case "Duration total":
			if ms, ok := goDuration(v); ok {
				m.point.value("duration", ms/1e3)
			}
		case "Latencies mean", "Latencies max":
			m.latency(string(h), v)
		default:
			if stat := percentiles[string(h)]; label == "Latencies" && stat != "" {
				m.latency(stat, v)
			}
		}
	}
}

func opensH2load(t []byte) bool {
	return string(t) == "starting benchmark..." || bytes.HasPrefix(t, []byte("finished in ")) && bytes.Contains(t, []byte(" req/s, ")) ||
		bytes.HasPrefix(t, []byte("requests: ")) && bytes.Contains(t, []byte(" succeeded, "))
}

// h2load reads h2load's summary.
func (r *loadgen) h2load(t []byte, l *line, s *scan) int {
	m := &r.sum
	switch {
	case bytes.HasPrefix(t, []byte("finished in ")):
		if m.lines {
			r.flush(s)
			return 0
		}
		if ms, ok := goDuration(between(t, "finished in ", ",")); ok {
			m.point.value("duration", ms/1e3)
		}
		if x, ok := number(between(t, ", ", " req/s")); ok {
			m.point.value("request_throughput", x)
		}
	case bytes.HasPrefix(t, []byte("requests: ")):
		for _, f := range bytes.Split(t[len("requests: "):], []byte(", ")) {
			n, what := cutWord(f)
			x, _ := count(n)
			switch string(what) {
			case "total":
				m.total = x
			case "succeeded":
				m.done = x
			case "failed":
				m.failed = x
			}
		}
		r.quote(l, s)
	case bytes.HasPrefix(t, []byte("time for request:")):
		if f := bytes.Fields(t[len("time for request:"):]); len(f) > 2 {
			m.latency("mean", f[2])
			m.latency("max", f[1])
		}
	case hasAnyPrefix(t, h2loadLines):
		if m.lines && t[0] == 's' && t[3] == 'r' {
			r.flush(s) // "starting benchmark..."
			return 0
		}
		return 3
	default:
		return 0
	}
	r.mark(l, s)
	return 10
}

var h2loadLines = []string{"status codes: ", "traffic: ", "time for connect:", "time to 1st byte:", "req/s ", "min  ", "progress: ", "TLS Protocol:", "starting benchmark...", "spawning thread #", "Application protocol: "}
