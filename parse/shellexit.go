package parse

import (
	"bytes"
	"path"
	"strings"

	"github.com/llmforensics/forensics"
)

// death reads how shells report the end of a job by a signal.
func (r *shell) death(t []byte, l *line, s *scan) int {
	switch c := t[0]; {
	case c == '[' && len(t) > 5 && t[1] >= '0' && t[1] <= '9':
		return r.job(t, l, s)
	case c == '^' && string(t) == "^C":
		e := s.event(l, forensics.KindExit)
		putSignal(e, signalOf([]byte("Interrupt")))
		put(e, "reason", "typed")
		s.emit(e)
		return 3
	case c == 'z':
		if rest, ok := bytes.CutPrefix(t, []byte("zsh: ")); ok {
			return r.deathOf(bytes.TrimSpace(rest), nil, l, s)
		}
	}
	if len(t) <= 40 {
		if sig := signalOf(t); sig != nil {
			rest := bytes.TrimSpace(t[len(sig.words):])
			if len(rest) == 0 || string(rest) == "(core dumped)" {
				return r.deathOf(t, nil, l, s)
			}
		}
	}
	// "./serve.sh: line 33: 13293 Killed      sglang serve"
	i := bytes.Index(t[:min(len(t), maxPrompt)], []byte(": line "))
	if i < 0 {
		return 0
	}
	rest := t[i+7:]
	n := number0(rest)
	rest = rest[min(len(n)+1, len(rest)):]
	pid := number0(rest)
	if len(n) == 0 || len(pid) == 0 {
		return 0
	}
	rest = bytes.TrimLeft(bytes.TrimLeft(rest, " ")[len(pid):], " ")
	return r.deathOf(rest, pid, l, s)
}

// deathOf reads "Killed    command", "Aborted    (core dumped) command".
func (r *shell) deathOf(b, pid []byte, l *line, s *scan) int {
	sig := signalOf(b)
	if sig == nil {
		return 0
	}
	cmd := bytes.TrimSpace(b[len(sig.words):])
	cmd = bytes.TrimSpace(bytes.TrimPrefix(cmd, []byte("(core dumped)")))
	e := s.event(l, forensics.KindExit)
	putSignal(e, sig)
	put(e, "pid", view(pid))
	if len(cmd) == 0 {
		put(e, "what", commandStarts(r.last)) // the command of the prompt above
	}
	put(e, "what", roleOr(string(cmd)))
	s.emit(e)
	return 10
}

// job reads "[1]+  Exit 2   ./serve.sh", "[1]+  Killed  cmd", "[1]+  Done  cmd",
// zsh's "[1]  + 4242 killed  cmd" and the start of a job, "[1] 4242".
func (r *shell) job(t []byte, l *line, s *scan) int {
	i := bytes.IndexByte(t, ']')
	if i < 0 || i > 4 || digits(t, 1, i-1) < 0 {
		return 0
	}
	rest := bytes.TrimLeft(t[i+1:], "+- ")
	pid := number0(rest)
	if len(pid) > 0 {
		if rest = bytes.TrimLeft(rest[len(pid):], " "); len(rest) == 0 {
			return s.quiet(l, 3)
		}
	}
	word, cmd := cutWord(rest)
	switch string(word) {
	case "Exit", "exit":
		code, cmd := cutWord(cmd)
		e := s.event(l, forensics.KindExit)
		if !putCode(e, code) {
			return 0
		}
		put(e, "pid", view(pid))
		put(e, "what", roleOr(string(cmd)))
		s.emit(e)
		return 10
	case "Done", "done":
		e := s.event(l, forensics.KindExit)
		put(e, "code", "0")
		put(e, "what", roleOr(string(cmd)))
		s.emit(e)
		return 10
	case "Running", "running", "Stopped", "suspended":
		return s.quiet(l, 3)
	}
	return r.deathOf(rest, pid, l, s)
}

// exitPhrases stand before the number that ends a line about an exit.
var exitPhrases = []string{
	"exit status ", "exit status: ", "exit code ", "exit code: ", "exit code=", "exited with code ", "exited with status ",
	"exited with exit code ", "returned ", "return code ", "return code: ", "rc=", "rc: ", "exit=", "exit_code=", "EXIT_CODE=",
	"exit_status=", "(exit ", "(code ", "exited: ", "non-zero status ", "COMMAND_EXIT_CODE=\"", "Exited (",
}

// exitRoles are the words before a phrase that say whose exit it is.
var exitRoles = map[string]string{
	"server": "server", "engine": "server", "sglang": "server", "vllm": "server", "launch_server": "server",
	"client": "client", "bench": "client", "benchmark": "client", "bench_serving": "client", "router": "router",
}

// exitCode reads "server exit status 137", "rc=1", "[run.sh] server exited with
// code 137", "Exited (137) 3 minutes ago". The line is short and ends in the
// number, so that sentences with numbers do not count.
func (r *shell) exitCode(t []byte, l *line, s *scan) int {
	if len(t) > 160 {
		return 0
	}
	body := bytes.TrimRight(t, ".)]\";")
	if i := bytes.Index(t, []byte("Exited (")); i >= 0 {
		body = t[:i+8+len(number0(t[i+8:]))]
	}
	i := len(body)
	for i > 0 && body[i-1] >= '0' && body[i-1] <= '9' {
		i--
	}
	if i == len(body) || len(body)-i > 3 || i == 0 {
		return 0
	}
	num := body[i:]
	if body[i-1] == '-' {
		i--
		num = body[i:]
	}
	for _, p := range exitPhrases {
		if head, ok := bytes.CutSuffix(body[:i], []byte(p)); ok {
			return exitEvent(head, num, p, l, s)
		}
	}
	return 0
}

func exitEvent(head, num []byte, phrase string, l *line, s *scan) int {
	if len(head) > 0 && isWordByte(head[len(head)-1]) {
		return 0 // "src=1" is no "rc=1"
	}
	words := bytes.Fields(head)
	if len(words) > 6 || phrase == "returned " && len(words) > 2 {
		return 0
	}
	e := s.event(l, forensics.KindExit)
	if !putCode(e, num) {
		return 0
	}
	if n := len(words); n > 0 {
		last := strings.ToLower(string(bytes.TrimRight(words[n-1], ":,")))
		put(e, "what", exitRoles[last])
	}
	s.emit(e)
	return 3
}

// missingSuffix is the end of a complaint about a file or program, and the exit
// code that the shell gives it.
type missingSuffix struct {
	text   string
	code   string
	reason string
}

var missingSuffixes = []missingSuffix{
	{": No such file or directory", "127", "not-found"},
	{": command not found", "127", "not-found"},
	{": not found", "127", "not-found"},
	{": executable file not found in $PATH", "127", "not-found"},
	{": Permission denied", "126", "not-executable"},
	{": Is a directory", "126", "not-executable"},
	{": cannot execute binary file: Exec format error", "126", "not-executable"},
	{": cannot execute: required file not found", "126", "not-executable"},
	{": cannot execute binary file", "126", "not-executable"},
	{": cannot execute", "126", "not-executable"},
	{": Exec format error", "126", "not-executable"},
}

// launchers are programs that complain about what they were told to run; others
// complain about a file that they were told to read.
var launchers = wordSet("bash sh dash zsh ksh -bash env nohup timeout sudo exec xargs nice setsid time stdbuf docker OCI srun")

// fileReaders are programs whose complaint is about a file they were to read.
var fileReaders = wordSet("ls cat tail head cp mv rm grep cd source wc stat du find tee chmod touch mkdir less diff sed awk tar ln")

// missing reads complaints about scripts, programs and files that are not there.
func (r *shell) missing(t []byte, l *line, s *scan) int {
	if len(t) > 500 {
		return 0
	}
	colon := bytes.IndexByte(t, ':')
	if colon <= 0 || colon > 120 {
		return 0
	}
	who := path.Base(view(t[:colon]))
	if strings.HasPrefix(who, "python") {
		return missingPython(t, l, s)
	}
	if who == "zsh" {
		if cmd, ok := bytes.CutPrefix(t, []byte("zsh: command not found: ")); ok {
			return missingEvent(cmd, missingSuffixes[1], l, s)
		}
	}
	if rest, ok := bytes.CutPrefix(t, []byte("sh: 0: ")); ok {
		for _, p := range []string{"cannot open ", "Can't open "} {
			if file, ok := bytes.CutPrefix(rest, []byte(p)); ok {
				file, _, _ = bytes.Cut(file, []byte(": "))
				return missingEvent(file, missingSuffixes[0], l, s)
			}
		}
	}
	for _, m := range missingSuffixes {
		head, ok := bytes.CutSuffix(t, []byte(m.text))
		if !ok || len(head) <= colon {
			continue
		}
		if launchers[who] || bytes.HasPrefix(t[colon:], []byte(": line ")) {
			return missingEvent(lastPart(head), m, l, s)
		}
		if fileReaders[who] && m.text == missingSuffixes[0].text {
			e := s.event(l, forensics.KindEnv)
			put(e, "missing_file", view(quoted(lastPart(head))))
			s.emit(e)
			return 10
		}
		return 0
	}
	return 0
}

// lastPart returns what stands behind the last ": ".
func lastPart(b []byte) []byte {
	if i := bytes.LastIndex(b, []byte(": ")); i >= 0 {
		return b[i+2:]
	}
	return b
}

// quoted returns the text in quotes if there is some, and else the last word.
func quoted(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if i := bytes.IndexAny(b, `'"`); i >= 0 {
		if j := bytes.IndexByte(b[i+1:], b[i]); j > 0 {
			return b[i+1 : i+1+j]
		}
	}
	if i := bytes.Index(b, []byte("‘")); i >= 0 {
		return between(b, "‘", "’")
	}
	return bytes.Trim(b, `'"`)
}

func missingEvent(what []byte, m missingSuffix, l *line, s *scan) int {
	e := s.event(l, forensics.KindExit)
	what = quoted(what)
	put(e, "what", view(what))
	code := m.code
	switch path.Ext(view(what)) {
	case ".log", ".out", ".err", ".txt", ".json", ".jsonl", ".csv":
		code = "1" // the target of a redirection
	}
	put(e, "code", code)
	put(e, "reason", m.reason)
	s.emit(e)
	return 10
}

// missingPython reads "python3: can't open file 'X': [Errno 2] No such file or
// directory" and "/usr/bin/python3: No module named X".
func missingPython(t []byte, l *line, s *scan) int {
	_, rest, _ := bytes.Cut(t, []byte(": "))
	switch {
	case bytes.HasPrefix(rest, []byte("can't open file ")):
		return missingEvent(rest[len("can't open file "):], missingSuffix{code: "2", reason: "not-found"}, l, s)
	case bytes.HasPrefix(rest, []byte("No module named ")):
		return missingEvent(rest[len("No module named "):], missingSuffix{code: "1", reason: "no-module"}, l, s)
	}
	return 0
}
