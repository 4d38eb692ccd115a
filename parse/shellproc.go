package parse

import (
	"bytes"
	"path"
	"strings"

	"github.com/llmforensics/forensics"
)

// process reads rows of ps, top and pgrep.
func (r *shell) process(t []byte, l *line, s *scan) int {
	if l.style != styleNone {
		return 0
	}
	c := t[0]
	if c == 'U' || c == 'P' || c == ' ' || c == 'F' || c == 'S' {
		if v := r.heading(t, l, s); v != 0 {
			return v
		}
	}
	if len(r.columns) > 0 && l.pos.Line == r.toolAt+1 {
		if v := r.tableRow(t, l, s); v != 0 {
			return v
		}
		r.columns = nil
	}
	if c >= '0' && c <= '9' {
		return r.pgrepRow(t, l, s)
	}
	if c >= 'a' && c <= 'z' || c == '_' {
		return r.psRow(t, l, s)
	}
	return 0
}

// heading reads the first line of ps, with any columns, and of top.
func (r *shell) heading(t []byte, l *line, s *scan) int {
	if !bytes.HasSuffix(t, []byte("CMD")) && !bytes.HasSuffix(t, []byte("COMMAND")) && !bytes.HasSuffix(t, []byte("ARGS")) {
		return 0
	}
	cols := strings.Fields(string(t))
	pid := false
	for _, c := range cols {
		pid = pid || c == "PID"
	}
	if !pid || len(cols) > 24 {
		return 0
	}
	r.columns, r.toolAt = cols, l.pos.Line
	r.tool = "ps"
	for _, c := range cols {
		if c == "VIRT" {
			r.tool = "top"
		}
	}
	s.own()
	return s.quiet(l, 10)
}

// tableRow reads a row below a heading. The last column takes the rest.
func (r *shell) tableRow(t []byte, l *line, s *scan) int {
	e := s.event(l, forensics.KindProc)
	put(e, "tool", r.tool)
	rest := t
	for i, col := range r.columns {
		var w []byte
		if i == len(r.columns)-1 {
			w = bytes.TrimSpace(rest)
		} else {
			w, rest = cutWord(rest)
		}
		if len(w) == 0 {
			return 0
		}
		switch col {
		case "PID":
			if digits(w, 0, len(w)) < 0 {
				return 0
			}
			put(e, "pid", view(w))
		case "STAT", "S":
			put(e, "stat", view(w))
		case "USER", "UID":
			put(e, "user", view(w))
		}
		if i == len(r.columns)-1 {
			put(e, "argv", view(w))
		}
	}
	r.toolAt = l.pos.Line
	s.own()
	markProcess(e)
	s.emit(e)
	return 10
}

// pgrepRow reads "PID command line" of pgrep -fa.
func (r *shell) pgrepRow(t []byte, l *line, s *scan) int {
	n := len(number0(t))
	if n > 8 || n+2 >= len(t) || t[n] != ' ' || t[n+1] == ' ' {
		return 0
	}
	argv := t[n+1:]
	word, _ := cutWord(argv)
	asked := r.tool == "pgrep" && l.pos.Line == r.toolAt+1
	if !asked && !isProgram(word) {
		return 0
	}
	if asked {
		r.toolAt = l.pos.Line
	}
	e := s.event(l, forensics.KindProc)
	put(e, "tool", "pgrep")
	put(e, "pid", view(t[:n]))
	put(e, "argv", view(argv))
	markProcess(e)
	if text := view(argv); strings.Contains(text, "--query-") {
		r.tell(s, text, l.pos.Line)
	}
	s.emit(e)
	return 10
}

// isProgram reports whether a word is the beginning of a command line: a path, a
// well-known program, or a name that an engine gives its processes.
func isProgram(w []byte) bool {
	if w[0] == '/' || bytes.HasPrefix(w, []byte("./")) || bytes.Contains(w, []byte("::")) {
		return len(w) > 2
	}
	base := path.Base(view(w))
	return commandWords[base] || launchWords[base] || searchers[base] && base != "more" && base != "find" && base != "which" ||
		base == "watch" || strings.HasPrefix(base, "python3.") || strings.HasPrefix(base, "text-generation-")
}

// markProcess says of a row whether it is the search itself, or an engine, and
// whether it is dead.
func markProcess(e *forensics.Event) {
	argv := e.Attr("argv")
	dead := strings.Contains(argv, "<defunct>") || strings.HasPrefix(e.Attr("stat"), "Z")
	switch {
	case isSearch(argv):
		put(e, "self", "true")
	case isEngine(argv):
		put(e, "server", "true")
	case commandStarts(argv) == "client":
		put(e, "client", "true")
	case commandStarts(argv) == "server":
		put(e, "wrapper", "true")
	}
	if dead {
		put(e, "defunct", "true")
	}
}

// psRow reads a row of `ps aux` or `ps -ef` whose heading was filtered away:
//
//	root  4242  99.0  1.2 91234 8123 ?  Rl  10:00  1:23 python3 -m ...
//	root  4242     1 99 10:00 ?     00:10:00 python3 -m ...
func (r *shell) psRow(t []byte, l *line, s *scan) int {
	user, rest := cutWord(t)
	pid, rest := cutWord(rest)
	if len(pid) == 0 || len(pid) > 8 || digits(pid, 0, len(pid)) < 0 {
		return 0
	}
	var f [8][]byte
	body := rest
	n := 0
	for ; n < len(f) && len(body) > 0; n++ {
		f[n], body = cutWord(body)
	}
	stat, argv := []byte(nil), []byte(nil)
	switch {
	case n == 8 && isPercent(f[0]) && isPercent(f[1]) && digits(f[2], 0, len(f[2])) >= 0 && digits(f[3], 0, len(f[3])) >= 0 &&
		bytes.IndexByte(f[7], ':') > 0:
		stat, argv = f[5], body
	case n >= 6 && digits(f[0], 0, len(f[0])) >= 0 && digits(f[1], 0, len(f[1])) >= 0 && bytes.Count(f[4], []byte(":")) == 2:
		for range 5 {
			_, rest = cutWord(rest)
		}
		argv = rest
	}
	if len(argv) == 0 {
		return 0
	}
	e := s.event(l, forensics.KindProc)
	put(e, "tool", "ps")
	put(e, "pid", view(pid))
	put(e, "user", view(user))
	put(e, "stat", view(stat))
	put(e, "argv", view(argv))
	markProcess(e)
	s.emit(e)
	return 10
}

func isPercent(b []byte) bool {
	_, ok := number(b)
	return ok && bytes.IndexByte(b, '.') > 0
}

// socket reads rows of ss, netstat and lsof about listening ports.
func (r *shell) socket(t []byte, l *line, s *scan) int {
	if l.style != styleNone {
		return 0
	}
	switch {
	case bytes.HasPrefix(t, []byte("State ")) && bytes.Contains(t, []byte("Recv-Q")),
		bytes.HasPrefix(t, []byte("Netid ")) && bytes.Contains(t, []byte("Recv-Q")),
		bytes.HasPrefix(t, []byte("Proto ")) && bytes.Contains(t, []byte("Recv-Q")),
		bytes.HasPrefix(t, []byte("COMMAND ")) && bytes.HasSuffix(t, []byte("NAME")):
		return s.quiet(l, 10)
	case bytes.HasPrefix(t, []byte("LISTEN ")), bytes.HasPrefix(t, []byte("tcp")):
		return ssRow(t, l, s)
	case bytes.HasSuffix(t, []byte("(LISTEN)")):
		return lsofRow(t, l, s)
	}
	return 0
}

// ssRow reads "LISTEN 0 2048 0.0.0.0:30000 0.0.0.0:* users:(("vllm",pid=1,fd=2))"
// and netstat's "tcp 0 0 0.0.0.0:30000 0.0.0.0:* LISTEN 1234/python3".
func ssRow(t []byte, l *line, s *scan) int {
	f := bytes.Fields(t)
	tool := "netstat"
	if bytes.HasPrefix(f[0], []byte("tcp")) && len(f) > 5 && string(f[1]) == "LISTEN" {
		f, tool = f[1:], "ss"
	} else if string(f[0]) == "LISTEN" {
		tool = "ss"
	}
	if len(f) < 5 {
		return 0
	}
	e := s.event(l, forensics.KindProc)
	put(e, "tool", tool)
	local := f[3]
	i := bytes.LastIndexByte(local, ':')
	if i < 0 || digits(local, i+1, len(local)-i-1) < 0 || digits(f[1], 0, len(f[1])) < 0 {
		return 0
	}
	put(e, "port", view(local[i+1:]))
	if tool == "ss" {
		put(e, "stat", "LISTEN")
		put(e, "recv_q", view(f[1]))
		put(e, "pid", view(number0(between(t, "pid=", ","))))
		put(e, "argv", view(between(t, `(("`, `"`)))
	} else if len(f) >= 6 {
		put(e, "stat", view(f[5]))
		put(e, "recv_q", view(f[1]))
		if len(f) >= 7 {
			pid, name, _ := bytes.Cut(f[6], []byte("/"))
			put(e, "pid", view(number0(pid)))
			put(e, "argv", view(name))
		}
	}
	s.emit(e)
	return 10
}

// lsofRow reads "python3 4242 root 20u IPv4 1 0t0 TCP *:30000 (LISTEN)".
func lsofRow(t []byte, l *line, s *scan) int {
	f := bytes.Fields(t)
	if len(f) < 9 || digits(f[1], 0, len(f[1])) < 0 {
		return 0
	}
	name := f[len(f)-2]
	i := bytes.LastIndexByte(name, ':')
	if i < 0 {
		return 0
	}
	e := s.event(l, forensics.KindProc)
	put(e, "tool", "lsof")
	put(e, "pid", view(f[1]))
	put(e, "argv", view(f[0]))
	put(e, "stat", "LISTEN")
	put(e, "port", view(name[i+1:]))
	s.emit(e)
	return 10
}
