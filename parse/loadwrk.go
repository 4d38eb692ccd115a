package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

func opensWrk(t []byte) bool {
	return bytes.HasPrefix(t, []byte("Running ")) && bytes.Contains(t, []byte(" test @ "))
}

// wrk reads wrk's and wrk2's summary. Requests that met an error of the socket
// are not among the requests counted; answers with an error status are.
func (r *loadgen) wrk(t []byte, l *line, s *scan) int {
	m := &r.sum
	switch {
	case opensWrk(t):
		if m.lines {
			r.flush(s)
			return 0
		}
		r.begin(l, s, forensics.Attr{Key: "base_url", Value: string(wordAfter(t, " @ "))})
		return 10
	case bytes.HasPrefix(t, []byte("Latency  ")):
		w, _ := cutWord(t[len("Latency"):])
		m.latency("mean", w)
	case bytes.HasPrefix(t, []byte("Socket errors: ")):
		r.quote(l, s)
		for _, kind := range []string{"connect ", "read ", "write ", "timeout "} {
			n, _ := countAfter(t, kind)
			m.extra += n
		}
	case bytes.HasPrefix(t, []byte("Non-2xx or 3xx responses: ")):
		r.quote(l, s)
		m.failed, _ = countAfter(t, "responses: ")
	case bytes.HasPrefix(t, []byte("Requests/sec:")):
		r.quote(l, s)
		if x, ok := number(bytes.TrimSpace(t[len("Requests/sec:"):])); ok {
			m.point.value("request_throughput", x)
		}
	case hasAnyPrefix(t, wrkLines):
		return 3
	case t[0] >= '0' && t[0] <= '9':
		return r.wrkCount(t, l, s)
	default:
		return 0
	}
	r.mark(l, s)
	return 10
}

var wrkLines = []string{"Thread Stats ", "Req/Sec ", "Latency Distribution", "Transfer/sec:", "Initialised ", "Thread calibration: ", "Detailed Percentile spectrum", "#[Mean ", "#[Max ", "#[Buckets "}

// wrkCount reads "2 threads and 64 connections", "880 requests in 30.02s, 1.2MB
// read" and "50%  250.00us" of the latencies.
func (r *loadgen) wrkCount(t []byte, l *line, s *scan) int {
	m := &r.sum
	n, used := count(t)
	rest := t[used:]
	switch {
	case bytes.HasPrefix(rest, []byte(" threads and ")):
		if c, ok := countAfter(t, " and "); ok {
			m.point.attr("max_concurrency", concurrency(c).Value)
		}
		return 3
	case bytes.HasPrefix(rest, []byte(" requests in ")):
		r.quote(l, s)
		m.total = n
		if ms, ok := goDuration(between(rest, " in ", ",")); ok {
			m.point.value("duration", ms/1e3)
		}
		// A rate of its own row counts, which may be rounded.
		return 10
	}
	pct, value, ok := bytes.Cut(t, []byte("%"))
	if !ok || len(pct) > 7 {
		return 0
	}
	if stat := percentiles[string(pct)]; stat != "" {
		m.latency(stat, value)
	}
	return 3
}

func opensAB(t []byte) bool {
	return bytes.HasPrefix(t, []byte("This is ApacheBench,")) || bytes.HasPrefix(t, []byte("Concurrency Level:   ")) ||
		bytes.HasPrefix(t, []byte("Benchmarking ")) && bytes.HasSuffix(t, []byte("(be patient)"))
}

// ab reads ApacheBench's report. Its complete requests include those that failed.
func (r *loadgen) ab(t []byte, l *line, s *scan) int {
	m := &r.sum
	if bytes.HasPrefix(t, []byte("apr_")) {
		r.failure(t, l, s)
		return 10
	}
	if bytes.HasPrefix(t, []byte("This is ApacheBench,")) && m.lines {
		r.flush(s)
		return 0
	}
	if bytes.HasPrefix(t, []byte("Benchmarking ")) {
		r.begin(l, s)
		return 10
	}
	if n, ok := countAfter(t, "Completed "); ok && t[0] == 'C' && bytes.HasSuffix(t, []byte(" requests")) {
		r.step(l, s, forensics.StepProgress, nil, forensics.Value{Name: forensics.ValDone, X: n})
		return 3
	}
	if n, ok := countAfter(t, "Total of "); ok && t[0] == 'T' && bytes.HasSuffix(t, []byte(" requests completed")) {
		r.step(l, s, forensics.StepProgress, nil, forensics.Value{Name: forensics.ValDone, X: n})
		return 10
	}
	label, value, ok := bytes.Cut(t, []byte(":"))
	value = bytes.TrimSpace(value)
	if !ok {
		if t[0] >= '0' && t[0] <= '9' {
			return r.abPercent(t)
		}
		return r.abOther(t)
	}
	x, _, isNumber := quantity(value)
	if !isNumber {
		return r.abOther(t)
	}
	switch string(label) {
	case "Concurrency Level":
		m.point.attr("max_concurrency", concurrency(x).Value)
	case "Time taken for tests":
		m.point.value("duration", x)
	case "Complete requests":
		m.total = x
		r.quote(l, s)
	case "Failed requests":
		m.failed = x
		r.quote(l, s)
	case "Non-2xx responses":
		m.extra = x
		r.quote(l, s)
	case "Requests per second":
		m.point.value("request_throughput", x)
	case "Time per request":
		m.point.value("mean_e2e_latency_ms", x) // the first of two rows
	default:
		return r.abOther(t)
	}
	r.mark(l, s)
	return 10
}

// abLines begin the rest of the report.
var abLines = []string{
	"Server Software:", "Server Hostname:", "Server Port:", "Document Path:", "Document Length:", "Total transferred:", "Total body sent:",
	"HTML transferred:", "Keep-Alive requests:", "Write errors:", "Transfer rate:", "Connection Times (ms)", "Connect: ", "Processing: ", "Waiting: ",
	"Total: ", "(Connect: ", "Percentage of the requests served", "Copyright ", "Licensed to ", "Finished ", "SSL/TLS Protocol:", "TLS Server Name:", "This is ApacheBench,",
	"min  mean",
}

func (r *loadgen) abOther(t []byte) int {
	if hasAnyPrefix(t, abLines) {
		return 3
	}
	return 0
}

// abPercent reads "50%   1204", in milliseconds, or "20.5 kb/s total".
func (r *loadgen) abPercent(t []byte) int {
	if bytes.Contains(t, []byte(" kb/s ")) {
		return 3
	}
	pct, value, ok := bytes.Cut(t, []byte("%"))
	if !ok || len(pct) > 3 {
		return 0
	}
	w, _ := cutWord(value)
	if x, ok := number(w); ok && percentiles[string(pct)] != "" {
		r.sum.point.value(percentiles[string(pct)]+"_e2e_latency_ms", x)
	}
	return 3
}
