package parse

import (
	"bytes"
	"strconv"

	"github.com/llmforensics/forensics"
)

// maxEcho is the longest line taken for a wrapper's announcement, in bytes.
const maxEcho = 160

// echoKeys are the names under which wrappers announce a parameter, longest
// first where one begins with another.
var echoKeys = []struct{ word, attr string }{
	{"max_concurrency", "max_concurrency"}, {"max-concurrency", "max_concurrency"}, {"max concurrency", "max_concurrency"},
	{"concurrency", "max_concurrency"}, {"conc", "max_concurrency"},
	{"request_rate", "request_rate"}, {"request-rate", "request_rate"}, {"request rate", "request_rate"},
	{"rate", "request_rate"}, {"qps", "request_rate"}, {"rps", "request_rate"},
	{"num_prompts", "num_prompts"}, {"num-prompts", "num_prompts"}, {"num prompts", "num_prompts"}, {"prompts", "num_prompts"},
}

// echoWords are the words an announcement begins with when no mark precedes it.
var echoWords = []string{
	"running", "run", "starting", "start", "bench", "benchmark", "benchmarking", "testing", "test", "sweep", "sweeping",
	"point", "concurrency", "conc", "max_concurrency", "max-concurrency", "max concurrency", "request_rate", "rate", "qps",
}

// echoNot are words of lines that report on a point instead of announcing it.
var echoNot = []string{"done", "finished", "completed", "failed", "error", "exceed", "throughput", "tok/s", "took ", "skip", "http"}

// echo reads the line by which a wrapper announces the next point: "== conc 64",
// "=== concurrency 16 ===", "[sweep] concurrency 8", "Running with concurrency
// 32...", "conc=256 rate=inf". It must look like an announcement: short, behind
// marks or one of a few words, with a parameter and its number.
func (b *bench) echo(t []byte, l *line, s *scan) int {
	if len(t) > maxEcho || len(t) < 6 {
		return 0
	}
	body, marked := trimMarks(t)
	if len(body) == 0 || !marked && !isLetter(body[0]) {
		return 0
	}
	var buf [maxEcho]byte
	head := lower(buf[:0], body[:min(len(body), 24)])
	if !marked && (!beginsEcho(head) || s.role == forensics.RoleServer && !isConcEcho(head)) {
		return 0
	}
	low := lower(buf[:0], body)
	if row, _, v := benchRow(t); row != nil && !(row.id == "concurrency" && bytes.IndexByte(v, '.') < 0) {
		return 0 // "Concurrency:   15.27" is a row of the table, "Concurrency: 16" is none
	}
	var found [3]forensics.Attr
	n := echoParams(low, found[:0])
	if len(n) == 0 || len(n) == 1 && n[0].Key == "num_prompts" || containsAny(low, echoNot) {
		return 0
	}
	b.flush(s)
	b.fresh = true
	e := s.event(l, forensics.KindEcho)
	e.Attrs = append(e.Attrs, n...)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "label", Value: string(bytes.TrimRight(body, " =-#*<]"))},
		forensics.Attr{Key: "run", Value: strconv.Itoa(b.n + 1)})
	b.emit(e, s)
	return 3
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isConcEcho accepts the barest form among a server's lines: "conc=64 ...".
func isConcEcho(low []byte) bool {
	return bytes.HasPrefix(low, []byte("conc=")) || bytes.HasPrefix(low, []byte("concurrency="))
}

// trimMarks removes what decorates an announcement: "=== ", "--- ", "### ", ">>>
// ", "* ", "[sweep] ". An option of a command line ("--max-concurrency 8") is no
// decoration.
func trimMarks(t []byte) (body []byte, marked bool) {
	body = t
	if t[0] == '[' {
		i := bytes.IndexByte(t, ']')
		if i < 2 || i > 24 || !isLetter(t[1]) {
			return nil, false
		}
		body, marked = bytes.TrimLeft(t[i+1:], " "), true
	}
	n := 0
	for n < len(body) && bytes.IndexByte([]byte("=-#>*"), body[n]) >= 0 {
		n++
	}
	if n == 0 {
		return body, marked
	}
	if n < 3 && n < len(body) && body[n] != ' ' {
		return nil, false
	}
	return bytes.TrimLeft(body[n:], " "), true
}

func beginsEcho(low []byte) bool {
	for _, w := range echoWords {
		if len(low) > len(w) && low[0] == w[0] && string(low[:len(w)]) == w && !isWordByte(low[len(w)]) {
			return true
		}
	}
	return false
}

func containsAny(b []byte, words []string) bool {
	for _, w := range words {
		if bytes.Contains(b, []byte(w)) {
			return true
		}
	}
	return false
}

// echoParams finds the parameters that a line names, in lower case.
func echoParams(low []byte, dst []forensics.Attr) []forensics.Attr {
	for _, k := range echoKeys {
		if hasAttr(dst, k.attr) {
			continue
		}
		if v := echoValue(low, k.word, k.attr == "request_rate"); v != "" {
			dst = append(dst, forensics.Attr{Key: k.attr, Value: v})
		}
	}
	if !hasAttr(dst, "max_concurrency") {
		if v := numberBefore(low, " concurrent"); v != "" {
			dst = append(dst, forensics.Attr{Key: "max_concurrency", Value: v})
		}
	}
	for _, noun := range []string{" prompts", " requests"} {
		if v := numberBefore(low, noun); v != "" && !hasAttr(dst, "num_prompts") {
			dst = append(dst, forensics.Attr{Key: "num_prompts", Value: v})
		}
	}
	return dst
}

func hasAttr(attrs []forensics.Attr, key string) bool {
	for i := range attrs {
		if attrs[i].Key == key {
			return true
		}
	}
	return false
}

// echoValue finds "word 64", "word=64", "word: 64", "word level 64" with the
// number standing alone. Rates may be fractions or "inf".
func echoValue(low []byte, word string, rate bool) string {
	for from := 0; ; {
		i := bytes.Index(low[from:], []byte(word))
		if i < 0 {
			return ""
		}
		i += from
		from = i + len(word)
		if i > 0 && (isWordByte(low[i-1]) || low[i-1] == '-') {
			continue
		}
		rest := bytes.TrimLeft(low[from:], " =:")
		if len(rest) == len(low[from:]) {
			continue // "concurrency64"
		}
		for _, w := range []string{"level ", "of ", "is "} {
			rest = bytes.TrimPrefix(rest, []byte(w))
		}
		if v := plainNumber(rest, rate); v != "" {
			return v
		}
	}
}

// plainNumber reads a number at the start of b that no word goes on from.
func plainNumber(b []byte, rate bool) string {
	if rate && bytes.HasPrefix(b, []byte("inf")) && (len(b) == 3 || !isWordByte(b[3]) || bytes.HasPrefix(b, []byte("infinity"))) {
		return "inf"
	}
	i := 0
	for i < len(b) && (b[i] >= '0' && b[i] <= '9' || rate && b[i] == '.' && i+1 < len(b) && b[i+1] >= '0' && b[i+1] <= '9') {
		i++
	}
	if i == 0 || i > 9 || i < len(b) && (isWordByte(b[i]) || b[i] == '/' && !rate) {
		return ""
	}
	if !rate && i+1 < len(b) && b[i] == '.' && b[i+1] >= '0' && b[i+1] <= '9' {
		return ""
	}
	return string(b[:i])
}

// numberBefore finds "64 concurrent" and "200 prompts".
func numberBefore(low []byte, noun string) string {
	i := bytes.Index(low, []byte(noun))
	j := i
	for j > 0 && low[j-1] >= '0' && low[j-1] <= '9' {
		j--
	}
	if i <= 0 || j == i || i-j > 9 || j > 0 && (isWordByte(low[j-1]) || low[j-1] == '.') {
		return ""
	}
	return string(low[j:i])
}
