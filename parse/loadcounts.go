package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// loadCounts are the numbers of a line that a client written by hand prints, -1
// for those that it does not name.
type loadCounts struct {
	total, ok, failed float64
	duration, rate    float64 // s, 1/s
	latency           float64 // ms, mean
	ratio             bool    // "300/320": the total is what was planned
	requests          bool    // the line speaks of requests
}

// The classes of words beside a number.
const (
	wordNone = iota
	wordOK
	wordFailed
	wordTotal
	wordRequests // a total, unless the line names another or it is a ratio's
)

var countWords = map[string]int{
	"ok": wordOK, "success": wordOK, "successes": wordOK, "successful": wordOK, "succeeded": wordOK, "completed": wordOK, "successfully": wordOK, "succ": wordOK,
	"failed": wordFailed, "fail": wordFailed, "failures": wordFailed, "failure": wordFailed, "errors": wordFailed, "error": wordFailed,
	"errored": wordFailed, "unsuccessful": wordFailed, "errs": wordFailed, "err": wordFailed,
	"total": wordTotal, "sent": wordTotal, "attempted": wordTotal, "issued": wordTotal,
	"requests": wordRequests, "request": wordRequests, "reqs": wordRequests, "prompts": wordRequests, "calls": wordRequests, "queries": wordRequests,
}

// read fills the counts from a line in lower case. A number belongs to the word
// before it if ":" or "=" stands between, and else to the words behind it.
func (c *loadCounts) read(low []byte) {
	*c = loadCounts{total: -1, ok: -1, failed: -1}
	class, bound := wordNone, false // of the word before, and whether ":" follows it
	for i := 0; i < len(low); {
		switch ch := low[i]; {
		case ch >= '0' && ch <= '9':
			i = c.number(low, i, class, bound)
			class, bound = wordNone, false
		case ch >= 'a' && ch <= 'z':
			j := i
			for j < len(low) && (low[j] >= 'a' && low[j] <= 'z') {
				j++
			}
			w := countWords[string(low[i:j])]
			c.requests = c.requests || w == wordRequests
			switch {
			case w == wordNone:
				class = wordNone
			case w == wordRequests && class != wordNone: // "failed requests: 3"
			default:
				class = w
			}
			for bound = false; j < len(low) && (low[j] == ':' || low[j] == '=' || low[j] == ' '); j++ {
				bound = bound || low[j] != ' '
			}
			i = j
		default:
			i++
		}
	}
}

// number takes the number at low[i:] and returns where it ends.
func (c *loadCounts) number(low []byte, i, class int, bound bool) int {
	if i > 0 && (isWordByte(low[i-1]) || low[i-1] == '.' || low[i-1] == '-' || low[i-1] == ':' && i > 1 && low[i-2] >= '0' && low[i-2] <= '9') {
		for i < len(low) && (low[i] >= '0' && low[i] <= '9') {
			i++
		}
		return i // part of a name, a version, a clock
	}
	n, used := count(low[i:])
	end := i + used
	rest := low[end:]
	if m, skip := ratioOf(rest); skip > 0 {
		return c.fraction(n, m, low, end+skip, class)
	}
	if x, unit, ok := quantity(low[i:]); ok && c.measure(x, unit, low[:i]) {
		return end + bytes.IndexByte(append(rest[:len(rest):len(rest)], ' '), ' ')
	}
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == '%' || rest[0] == ':' || isWordByte(rest[0])) {
		return end
	}
	if bound && class != wordNone {
		c.set(class, n)
		return end
	}
	w := c.wordsBehind(rest)
	if w == wordNone {
		w = class // "failed 3"
	}
	c.set(w, n)
	return end
}

// wordsBehind returns the class of the words right behind a number: "160 failed",
// "500 requests", "3 failed requests", "100 requests failed", "90 streaming
// requests".
func (c *loadCounts) wordsBehind(rest []byte) int {
	class := wordNone
	for k := 0; k < 3; k++ {
		if len(rest) == 0 || rest[0] != ' ' {
			return class
		}
		rest = rest[1:]
		j := 0
		for j < len(rest) && rest[j] >= 'a' && rest[j] <= 'z' {
			j++
		}
		switch w := countWords[string(rest[:j])]; {
		case j < len(rest) && (rest[j] == ':' || rest[j] == '=') && j+1 < len(rest):
			if w == wordFailed || w == wordOK {
				return w // "165/256 requests failed: X"
			}
			return class
		case w == wordRequests:
			class = w
		case w != wordNone:
			return w
		case class == wordRequests:
			return class
		}
		rest = rest[j:]
	}
	return class
}

// ratioOf reads "/320", " of 320" or " out of 320" behind a number.
func ratioOf(rest []byte) (m float64, used int) {
	for _, sep := range []string{"/", " / ", " of ", " out of "} {
		if bytes.HasPrefix(rest, []byte(sep)) {
			if m, n := count(rest[len(sep):]); n > 0 {
				end := len(sep) + n
				if end < len(rest) && (rest[end] == '.' && end+1 < len(rest) && rest[end+1] != ' ' || rest[end] == '/' || isWordByte(rest[end]) || rest[end] == '%') {
					return 0, 0
				}
				return m, end
			}
		}
	}
	return 0, 0
}

// fraction takes "n/m": of m requests, n are of the class that is named.
func (c *loadCounts) fraction(n, m float64, low []byte, end, class int) int {
	w := c.wordsBehind(low[end:])
	if w == wordNone || w == wordRequests {
		c.requests = c.requests || w == wordRequests
		if class == wordNone && !hasAnyPrefix(low, doneWords) {
			return end
		}
		w = class
	}
	if n > m {
		return end
	}
	switch w {
	case wordFailed:
		c.failed = n
	case wordTotal:
		return end
	default:
		c.ok = n
	}
	c.total, c.ratio = m, w != wordFailed
	return end
}

var doneWords = []string{"finished ", "done ", "processed ", "completed ", "served ", "progress"}

func (c *loadCounts) set(class int, n float64) {
	switch class {
	case wordOK:
		c.ok = n
	case wordFailed:
		c.failed = n
	case wordTotal:
		c.total = n
	case wordRequests:
		if c.total < 0 {
			c.total = n
		}
	}
}

// measure takes a duration, a rate or a latency; before is what stands before it.
func (c *loadCounts) measure(x float64, unit, before []byte) bool {
	n := 0
	for n < len(unit) && (unit[n] >= 'a' && unit[n] <= 'z' || unit[n] == '/') {
		n++
	}
	switch u := string(unit[:n]); u {
	case "req/s", "requests/s", "rps", "qps", "reqs/s", "requests/sec", "req/sec":
		c.rate = x
		return true
	default:
		f := unitMillis(u)
		if f == 0 {
			return false
		}
		tail := bytes.TrimRight(before[max(0, len(before)-20):], " :=(")
		switch {
		case bytes.HasSuffix(tail, []byte("latency")), bytes.HasSuffix(tail, []byte("avg")), bytes.HasSuffix(tail, []byte("mean")):
			c.latency = x * f
		case bytes.HasSuffix(tail, []byte(" in")), bytes.HasSuffix(tail, []byte("duration")), bytes.HasSuffix(tail, []byte("elapsed")), bytes.HasSuffix(tail, []byte("took")), bytes.HasSuffix(tail, []byte("time")):
			c.duration = x * f / 1e3
		}
		return true
	}
}

// foreignCounts are words of tools that count other things than requests.
var foreignCounts = []string{"unreachable=", "#", "delay=", "probe", "passed", "skipped", "packets", "warning", "retries", "attempt ", "checks", "tests", "files", "layers", "blocks", "bytes", "pods", "nodes", "gpus", "shards"}

// summary reports whether the line is the count of a run: it names what failed
// and what did not, or how many of how many requests are done.
func (c *loadCounts) summary(low []byte) bool {
	if containsAny(low, foreignCounts) {
		return false
	}
	switch {
	case c.ratio:
		return c.requests && c.total > 0
	case c.failed >= 0 && c.ok >= 0:
		return true
	case c.failed >= 0 && c.total > 0:
		return c.failed <= c.total
	}
	return false
}

// values gives the counts the names of a benchmark client's metrics.
func (c *loadCounts) values(dst []forensics.Value) []forensics.Value {
	if c.ok < 0 {
		c.ok = c.total - c.failed
	}
	if c.total < 0 {
		c.total = c.ok + c.failed
	}
	if c.failed < 0 {
		c.failed = c.total - c.ok
	}
	add := func(name string, x float64) {
		dst = append(dst, forensics.Value{Name: name, X: x})
	}
	add("completed", c.ok)
	add("failed", max(c.failed, 0))
	add("num_prompts", max(c.total, c.ok+max(c.failed, 0)))
	if c.duration > 0 {
		add("duration", c.duration)
	}
	if c.rate > 0 {
		add("request_throughput", c.rate)
	} else if c.duration > 0 {
		add("request_throughput", c.ok/c.duration)
	}
	if c.latency > 0 {
		add("mean_e2e_latency_ms", c.latency)
	}
	return dst
}
