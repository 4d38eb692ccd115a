package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// maxBenchMessage bounds the text of a client's error, in bytes.
const maxBenchMessage = 500

// notReady reads the client's own complaints about a server that does not answer.
func (b *bench) notReady(t []byte, l *line, s *scan) int {
	if t[0] == 'S' && t[7] == 'a' && !bytes.Contains(t, []byte(" is not ready")) {
		return 0 // "Server at" something else
	}
	b.flush(s)
	b.enter(stageNotReady)
	b.step(l, s, forensics.StepNotReady, message(string(t)))
	return 10
}

func message(text string) []forensics.Attr {
	return []forensics.Attr{{Key: "message", Value: clip(text, maxBenchMessage)}}
}

// failed emits an error of the run under way. It does not move the run's stage:
// errors come from another stream than the rest.
func (b *bench) failed(text string, l *line, s *scan) int {
	b.flush(s)
	if b.n == 0 || b.fresh {
		b.enter(stageStart)
	}
	b.step(l, s, forensics.StepError, message(text))
	return 10
}

func (b *bench) clientError(t []byte, l *line, s *scan) int { return b.failed(string(t), l, s) }

// requestError reads the repr of a failed request's error, which SGLang's native
// backend prints since 2025-03-03. The text is a traceback: its last line says
// what went wrong.
func (b *bench) requestError(t []byte, l *line, s *scan) int {
	text := string(t[len("output.error="):])
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		if un, _, ok := pyString(text); ok {
			text = un
		}
	}
	return b.failed(lastLine(text), l, s)
}

// lastLine returns the last line of a text that holds a traceback: the
// exception. Any other text is returned as it is.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, tracebackHeader) {
		return text
	}
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// errorList begins vLLM's list of up to ten failed requests.
func (b *bench) errorList(_ []byte, l *line, s *scan) int {
	b.flush(s)
	if b.n == 0 || b.fresh {
		b.enter(stageMain)
	}
	b.run.errors = true
	return b.claim(l, s, 10)
}

// listedError reads "Error 0: text" of that list. Errors that are tracebacks are
// assembled as such, with "Error 0" before them.
func (b *bench) listedError(t []byte, l *line, s *scan) int {
	rest := t[len("Error "):]
	i := bytes.IndexByte(rest, ':')
	if !b.run.errors || i <= 0 || i > 3 || digits(rest, 0, i) < 0 {
		return 0
	}
	return b.failed(string(bytes.TrimSpace(rest[i+1:])), l, s)
}

// failure reads errors that are known by more than their beginning.
func (b *bench) failure(t []byte, l *line, s *scan) int {
	switch c := t[0]; {
	case c == '/':
		// "/opt/x/bench_serving.py:1459: UserWarning: All requests failed. ..."
		i := bytes.Index(t, []byte("UserWarning: "))
		if i >= 0 && containsAny(t[i:], []string{"All requests failed", "Some requests failed"}) {
			return b.failed(string(t[i+len("UserWarning: "):]), l, s)
		}
	case c >= '0' && c <= '9':
		if bytes.HasSuffix(t, []byte(" requests failed")) && len(t) < 60 && bytes.Contains(t, []byte(" of ")) {
			return b.failed(string(t), l, s)
		}
	case c == '|':
		// vLLM's readiness bar: "|    | 00:05 elapsed, 8:44:13 remaining"
		if s.role != forensics.RoleServer && bytes.HasSuffix(t, []byte(" remaining")) && bytes.Contains(t, []byte(" elapsed, ")) {
			return b.claim(l, s, 1)
		}
	case c == 'u' && bytes.HasPrefix(t, []byte("usage: ")):
		if isBenchProgram(t[len("usage: "):]) {
			return b.claim(l, s, 3)
		}
	case c >= 'a' && c <= 'z':
		// argparse: "bench_serving.py: error: unrecognized arguments: --x"
		i := bytes.Index(t[:min(len(t), 64)], []byte(": error: "))
		if i > 0 && isBenchProgram(t[:i]) {
			b.flush(s)
			b.fresh = b.fresh || b.stage > 0
			return b.failed(string(t), l, s)
		}
	}
	return 0
}

// isBenchProgram reports whether a program's name, as argparse prints it, is a
// benchmark client's.
func isBenchProgram(name []byte) bool {
	if i := bytes.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	return bytes.HasPrefix(name, []byte("bench")) || bytes.HasPrefix(name, []byte("vllm bench")) ||
		bytes.HasPrefix(name, []byte("serving.py"))
}

// bar reads a state of the progress bar:
//
//	27%|██▋       | 17/64 [00:05<00:13,  3.52it/s]
//
// Only bars without a label are the client's (TensorRT-LLM's has one), and
// in a server's log those are the server's unless a run is under way.
func (b *bench) bar(t []byte, l *line, s *scan) int {
	rest := bytes.TrimPrefix(t, []byte("Benchmarking: "))
	rest = bytes.TrimLeft(rest, " ")
	i := 0
	for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	if i == 0 || i > 3 || i+1 >= len(rest) || rest[i] != '%' || rest[i+1] != '|' && rest[i+1] != ' ' {
		return 0
	}
	if s.role == forensics.RoleServer && (b.stage == 0 || b.stage >= stageResult || b.fresh) {
		return 0
	}
	rest = rest[i+1:]
	if rest[0] == '|' {
		if j := bytes.LastIndex(rest, []byte("| ")); j > 0 {
			rest = rest[j+1:]
		}
	}
	done, total, elapsed, ok := barCounts(bytes.TrimLeft(rest, " "))
	if !ok {
		return b.claim(l, s, 1) // cut
	}
	b.flush(s)
	if b.n == 0 || b.fresh || b.stage >= stageResult || !b.run.known && b.stage == stageMain && done < b.run.done {
		b.fresh = true
		b.enter(stageMain)
	}
	b.run.done = done
	b.step(l, s, forensics.StepProgress, []forensics.Attr{{Key: "elapsed", Value: elapsed}},
		forensics.Value{Name: forensics.ValDone, X: done}, forensics.Value{Name: forensics.ValTotal, X: total})
	return 1
}

// barCounts reads "17/64 [00:05<00:13,  3.52it/s]".
func barCounts(t []byte) (done, total float64, elapsed string, ok bool) {
	slash, br := bytes.IndexByte(t, '/'), bytes.Index(t, []byte(" ["))
	if slash <= 0 || br < slash {
		return 0, 0, "", false
	}
	n, ok1 := number(t[:slash])
	m, ok2 := number(t[slash+1 : br])
	if !ok1 || !ok2 {
		return 0, 0, "", false
	}
	rest := t[br+2:]
	if i := bytes.IndexAny(rest, "<,]"); i >= 0 {
		rest = rest[:i]
	}
	return n, m, string(rest), true
}

// exitWords are the words of which a wrapper's line on the client's exit status
// may consist.
var exitWords = []struct {
	word  string
	tells bool // the word speaks of an exit status
}{
	{"exit", true}, {"exited", true}, {"rc", true}, {"ret", true}, {"retcode", true}, {"returncode", true}, {"exitcode", true},
	{"returned", true}, {"status", true}, {"code", true}, {"bench", false}, {"benchmark", false}, {"client", false},
	{"serving", false}, {"bench_serving", false}, {"with", false}, {"process", false}, {"finished", false}, {"return", true},
}

// exit reads the wrapper's word on the exit status right after a run: "exit
// status 1", "rc=1", "bench exit code: 137". Without a run before it, the line
// is left to others.
func (b *bench) exit(t []byte, l *line, s *scan) int {
	if b.n == 0 || b.fresh || b.stage >= stageEnd || len(t) > 60 || s.role != forensics.RoleClient {
		return 0
	}
	code, ok := exitStatus(t)
	if !ok {
		return 0
	}
	b.flush(s)
	b.stage = stageEnd
	b.step(l, s, forensics.StepEnd, []forensics.Attr{{Key: "code", Value: strconv.Itoa(code)}})
	b.fresh = true
	return 3
}

func exitStatus(t []byte) (code int, ok bool) {
	end := len(bytes.TrimRight(t, " ].)=-#"))
	i := end
	for i > 0 && t[i-1] >= '0' && t[i-1] <= '9' {
		i--
	}
	if i == end || end-i > 3 || i == 0 {
		return 0, false
	}
	code = digits(t, i, end-i)
	if t[i-1] == '-' && i > 1 && t[i-2] != '-' {
		code = -code
	}
	tells := false
	var buf [64]byte
	for _, w := range bytes.FieldsFunc(lower(buf[:0], t[:i]), func(r rune) bool { return r < 'a' || r > 'z' }) {
		known := false
		for _, e := range exitWords {
			if string(w) == e.word {
				known, tells = true, tells || e.tells
			}
		}
		if !known {
			return 0, false
		}
	}
	return code, tells
}
