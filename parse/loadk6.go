package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// opensK6 accepts k6's description of the run, a row of its summary ("name" and
// dots), its state line, and its console's warnings.
func opensK6(t []byte) bool {
	switch t[0] {
	case 'e':
		return bytes.HasPrefix(t, []byte("execution: local")) || bytes.HasPrefix(t, []byte("execution: cloud"))
	case 's':
		return bytes.HasPrefix(t, []byte("scenarios: (")) && bytes.Contains(t, []byte(" max VUs"))
	case 'r':
		return bytes.HasPrefix(t, []byte("running (")) && bytes.Contains(t, []byte(" VUs, "))
	case 'W', 'E':
		return isLogrus(t) && bytes.Contains(t, []byte("Request Failed"))
	case 'R':
		return bytes.HasPrefix(t, []byte("Request Failed: "))
	}
	name, _ := k6Row(t)
	switch string(name) {
	case "http_reqs", "http_req_failed", "http_req_duration", "checks", "checks_total", "data_received":
		return true
	}
	return false
}

// k6Row cuts "http_req_failed................: 13.38% 118 out of 882".
func k6Row(t []byte) (name, value []byte) {
	i := bytes.Index(t[:min(len(t), 60)], []byte("..."))
	if i <= 0 || bytes.IndexByte(t[:i], ' ') >= 0 {
		return nil, nil
	}
	rest := bytes.TrimLeft(t[i:], ".")
	if len(rest) < 3 || rest[0] != ':' || rest[1] != ' ' {
		return nil, nil
	}
	return t[:i], bytes.TrimSpace(rest[2:])
}

// isLogrus accepts "WARN[0041] ", the seconds of a run in the console's form.
func isLogrus(t []byte) bool {
	return len(t) > 11 && t[4] == '[' && t[9] == ']' && t[10] == ' ' && digits(t, 5, 4) >= 0
}

func (r *loadgen) k6(t []byte, l *line, s *scan) int {
	name, value := k6Row(t)
	switch {
	case name != nil:
		r.k6Metric(string(name), value, l, s)
		return 10
	case bytes.HasPrefix(t, []byte("running (")):
		return r.k6State(t, l, s)
	case bytes.HasPrefix(t, []byte("execution: ")):
		if r.sum.lines {
			r.flush(s) // the next run's
			return 0
		}
		return 3
	case bytes.HasPrefix(t, []byte("scenarios: (")):
		var attrs []forensics.Attr
		if n, ok := countAfter(t, "scenario, "); ok {
			attrs = append(attrs, concurrency(n))
		} else if n, ok := countAfter(t, "scenarios, "); ok {
			attrs = append(attrs, concurrency(n))
		}
		r.begin(l, s, attrs...)
		return 10
	case isLogrus(t) && (t[0] == 'W' || t[0] == 'E'):
		return r.k6Failure(t[11:], l, s)
	case bytes.HasPrefix(t, []byte("Request Failed: ")):
		r.failure(t[len("Request Failed: "):], l, s)
		return 10
	case l.pos.Line <= r.last+2 && hasAnyPrefix(t, k6Lines):
		return 1
	}
	return 0
}

// k6Lines begin the lines around k6's numbers.
var k6Lines = []string{"script: ", "output: ", "* ", "default ", "✓ ", "✗ ", "↳ ", "█ ", "{ ", "HTTP", "EXECUTION", "NETWORK", "TOTAL RESULTS", "INFO["}

// k6Failure reads a warning of the console: `Request Failed   error="Post \"...\": EOF"`.
func (r *loadgen) k6Failure(t []byte, l *line, s *scan) int {
	msg := bytes.TrimSpace(t)
	if i := bytes.Index(t, []byte(` error="`)); i >= 0 {
		msg, _ = jsonText(t[i+len(` error="`):], nil)
	}
	r.failure(msg, l, s)
	return 10
}

// k6State reads "running (0m41.0s), 50/50 VUs, 120 complete and 0 interrupted
// iterations", which is printed again and again.
func (r *loadgen) k6State(t []byte, l *line, s *scan) int {
	if r.sum.lines {
		return 1
	}
	done, ok := countAfter(t, " VUs, ")
	if !ok {
		return 1
	}
	if ms, ok := goDuration(between(t, "(", ")")); ok {
		r.sum.point.values = r.sum.point.values[:0]
		r.sum.point.value("duration", ms/1e3)
	}
	r.step(l, s, forensics.StepProgress, nil, forensics.Value{Name: forensics.ValDone, X: done})
	return 3
}

// k6Metric reads a row of the summary. http_req_failed counts the requests for
// which "failed" is true first, in the old form with a tick: "✓ 118  ✗ 764".
func (r *loadgen) k6Metric(name string, value []byte, l *line, s *scan) {
	m := &r.sum
	r.mark(l, s)
	switch name {
	case "http_reqs":
		r.quote(l, s)
		m.total, _ = count(value)
		_, rate := cutWord(value)
		if x, _, ok := quantity(bytes.TrimSuffix(rate, []byte("/s"))); ok {
			m.point.value("request_throughput", x)
		}
	case "http_req_failed":
		r.quote(l, s)
		_, rest := cutWord(value)
		if n, used := count(bytes.TrimLeft(rest, "✓ ")); used > 0 {
			m.failed = n
		}
	case "http_req_duration":
		for _, f := range []struct{ label, stat string }{
			{"avg=", "mean"}, {"med=", "median"}, {"p(90)=", "p90"}, {"p(95)=", "p95"}, {"p(99)=", "p99"}, {"max=", "max"},
		} {
			if _, rest, ok := bytes.Cut(value, []byte(f.label)); ok {
				w, _ := cutWord(rest)
				m.latency(f.stat, w)
			}
		}
	case "vus_max", "vus":
		if n, ok := countAfter(value, "max="); ok && n > 0 {
			m.point.attr("max_concurrency", concurrency(n).Value)
		}
	}
}
