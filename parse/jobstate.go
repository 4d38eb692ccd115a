package parse

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// podState reads the container part of `kubectl describe pod` and the State of
// `docker inspect`: a state under way and its details below it.
type podState struct {
	ev     forensics.Event
	open   bool
	last   int
	name   string
	indent int
}

// stateKeys are the details that are kept, as kubectl and docker name them.
var stateKeys = map[string]string{
	"Reason": "reason", "Exit Code": "exit_code", "Signal": "signal", "Message": "message",
	`"ExitCode"`: "exit_code", `"OOMKilled"`: "oom_killed", `"Error"`: "reason", `"Status"`: "state",
}

func (p *podState) flush(s *scan) {
	if p.open {
		p.open = false
		s.emit(&p.ev)
	}
}

func (p *podState) line(l *line, s *scan) int {
	t := bytes.TrimRight(l.text, " ,")
	if p.open && l.pos.Line > p.last+1 {
		p.flush(s)
	}
	body := bytes.TrimLeft(t, " ")
	indent := len(t) - len(body)
	if len(body) < 4 || len(body) > 200 || indent == 0 && !p.open {
		if !p.open {
			return p.podName(t, l, s)
		}
		p.flush(s)
		return 0
	}
	switch {
	case bytes.HasPrefix(body, []byte("State: ")), bytes.HasPrefix(body, []byte("Last State: ")):
		key, val, _ := bytes.Cut(body, []byte(":"))
		if val = bytes.TrimSpace(val); len(val) == 0 || bytes.IndexByte(val, ' ') >= 0 {
			return 0
		}
		p.begin(l, s, "pod", indent)
		put(&p.ev, "state", string(val))
		if key[0] == 'L' {
			put(&p.ev, "last", "true")
		}
	case string(body) == `"State": {`:
		p.begin(l, s, "container", indent)
	case !p.open:
		return 0
	case indent <= p.indent:
		p.flush(s)
		return 0
	default:
		key, val, ok := bytes.Cut(body, []byte(":"))
		if !ok {
			p.flush(s)
			return 0
		}
		if name := stateKeys[string(key)]; name != "" {
			if v := strings.Trim(string(val), ` ",`); v != "" && p.ev.Attr(name) == "" {
				put(&p.ev, name, v)
			}
		}
		p.ev.Lines++
	}
	p.last = l.pos.Line
	s.own()
	return s.quiet(l, 3)
}

func (p *podState) begin(l *line, s *scan, what string, indent int) {
	p.flush(s)
	e := stateEvent(l, s, what)
	e.Hits = nil
	e.Format = formats[s.current].name
	p.ev, p.open, p.indent = *e.Clone(), true, indent
	put(&p.ev, "name", p.name)
}

// podName reads the first line of `kubectl describe pod`.
func (p *podState) podName(t []byte, l *line, s *scan) int {
	rest, ok := bytes.CutPrefix(t, []byte("Name:      "))
	if !ok {
		return 0
	}
	p.name = string(bytes.TrimSpace(rest))
	return s.quiet(l, 3)
}

// jobTables are the tables that are known by their heading.
var jobTables = []struct{ first, second, kind string }{
	{"LAST", "SEEN", "event"},      // kubectl get events
	{"NAME", "READY", "pod"},       // kubectl get pods
	{"Type", "Reason", "event"},    // kubectl describe
	{"NAMESPACE", "LAST", "event"}, // with -A
	{"NAMESPACE", "NAME", "pod"},
	{"JobID", "JobName", "slurm"},
	{"CONTAINER", "ID", "container"}, // docker ps
}

// row reads a heading or a row of the tables above.
func (r *jobs) row(l *line, s *scan) int {
	t := l.text
	if l.style != styleNone && l.style != styleISO {
		return 0
	}
	if r.tableAt > 0 && l.pos.Line == r.tableAt+1 {
		if v := r.tableRow(l, s); v != 0 {
			r.tableAt = l.pos.Line
			s.own()
			return v
		}
		r.tableAt = 0
	}
	if c := t[0]; c != 'L' && c != 'N' && c != ' ' && c != 'J' && c != 'C' {
		return 0
	}
	if bytes.HasPrefix(t, []byte("JobID|")) && bytes.Contains(t, []byte("|State|")) { // sacct -P
		r.kind, r.piped, r.tableAt, r.table = "slurm", true, l.pos.Line, strings.Split(string(bytes.TrimRight(t, "| ")), "|")
		s.own()
		return s.quiet(l, 10)
	}
	first, rest := cutWord(t)
	second, _ := cutWord(rest)
	for _, h := range jobTables {
		if string(first) == h.first && string(second) == h.second {
			r.kind, r.piped, r.widths, r.tableAt = h.kind, false, r.widths[:0], l.pos.Line
			r.table = strings.Fields(strings.NewReplacer("LAST SEEN", "LAST", "FIRST SEEN", "FIRST", "CONTAINER ID", "CONTAINER").Replace(string(t)))
			if h.kind == "event" {
				r.widths = headWidths(t, r.widths)
			}
			s.own()
			return s.quiet(l, 10)
		}
	}
	return 0
}

// tableRow reads a row of the table under way.
func (r *jobs) tableRow(l *line, s *scan) int {
	if len(bytes.Trim(l.text, "- ")) == 0 {
		if r.kind == "slurm" {
			r.widths = ruleWidths(l.text, r.widths[:0]) // the rule under a heading
		}
		return s.quiet(l, 1)
	}
	cells := r.cells(l.text)
	if len(cells) < 3 || len(cells) > len(r.table) {
		return 0
	}
	cell := func(names ...string) string {
		for _, n := range names {
			for i, c := range r.table {
				if strings.EqualFold(c, n) && i < len(cells) {
					return cells[i]
				}
			}
		}
		return ""
	}
	e := stateEvent(l, s, r.kind)
	name := cell("OBJECT", "NAME", "NAMES", "JobID")
	if name == "" {
		name = r.pod.name
	}
	put(e, "name", name)
	putState(e, cell("TYPE", "STATUS", "State"), r.kind)
	put(e, "namespace", cell("NAMESPACE"))
	put(e, "source", cell("SOURCE", "From"))
	put(e, "elapsed", cell("Elapsed"))
	put(e, "time_limit", cell("Timelimit"))
	if why := cell("REASON"); why != "None" {
		put(e, "reason", why)
	}
	put(e, "message", cell("MESSAGE"))
	putSlurmCode(e, cell("ExitCode"))
	if n := number0(between([]byte(cell("STATUS")), "Exited (", ")")); len(n) > 0 {
		put(e, "exit_code", string(n))
	}
	put(e, "restarts", cell("RESTARTS"))
	s.emit(e)
	return 10
}

// putSlurmCode reads Slurm's "exit code:signal". Signal 125 is how it marks a
// step out of memory, which the state says as well.
func putSlurmCode(e *forensics.Event, cell string) {
	code, sig, _ := strings.Cut(cell, ":")
	n := digits([]byte(sig), 0, len(sig))
	if len(sig) == 0 || n <= 0 || n >= 64 {
		put(e, "exit_code", code)
		return
	}
	put(e, "exit_code", strconv.Itoa(128+n))
	for i := range signals {
		if signals[i].number == n {
			put(e, "signal", signals[i].name)
			return
		}
	}
}

// ruleWidths returns the widths of the columns under a rule of dashes.
func ruleWidths(t []byte, dst []int) []int {
	for _, w := range bytes.Fields(t) {
		dst = append(dst, len(w))
	}
	return dst
}

// fixedCells cuts a row of sacct, whose cells may be empty.
func fixedCells(t string, widths []int) []string {
	var cells []string
	for _, w := range widths {
		w = min(w, len(t))
		cells = append(cells, strings.TrimSpace(t[:w]))
		t = strings.TrimPrefix(t[w:], " ")
	}
	return cells
}

// cells cuts a row at two spaces or more, and Slurm's tables as they are made.
func (r *jobs) cells(t []byte) []string {
	switch {
	case r.kind == "slurm" && r.piped:
		return strings.Split(string(bytes.TrimRight(t, " ")), "|")
	case r.kind == "slurm" && len(r.widths) == len(r.table):
		return fixedCells(string(t), r.widths)
	case r.kind == "slurm":
		return strings.Fields(string(t))
	}
	var cells []string
	for rest := bytes.TrimSpace(t); len(rest) > 0; {
		i := bytes.Index(rest, []byte("  "))
		if i < 0 || len(cells) == len(r.table)-1 {
			i = len(rest)
		}
		cells = append(cells, string(rest[:i]))
		rest = bytes.TrimLeft(rest[i:], " ")
	}
	if len(cells) >= len(r.table) {
		return cells
	}
	if at := cellsAt(t, r.widths); len(at) == len(r.table) {
		return at
	}
	for j, c := range cells { // "11s (x15 over 2m31s) kubelet"
		if age, from, ok := strings.Cut(c, ") "); ok && strings.Contains(age, " (x") {
			cells[j] = age + ")"
			return slices.Insert(cells, j+1, from)
		}
	}
	return cells
}

// readStateLine reads single lines: compose's "vllm-1 exited with code 137" and
// systemd's "Main process exited, code=killed, status=9/KILL".
func readStateLine(l *line, s *scan) int {
	t := l.text
	if v := readSupervisor(t, l, s); v != 0 {
		return v
	}
	if t[0] == '-' && hasAnyPrefix(t, journalMarks) {
		return s.quiet(l, 3)
	}
	if name, rest, ok := bytes.Cut(t, []byte(" exited with code ")); ok && bytes.IndexByte(name, ' ') < 0 &&
		bytes.IndexAny(name, "-_") > 0 && len(number0(rest)) > 0 {
		e := stateEvent(l, s, "container")
		put(e, "name", view(name))
		put(e, "state", "exited")
		put(e, "exit_code", view(number0(rest)))
		s.emit(e)
		return 10
	}
	i := bytes.Index(t[:min(len(t), 120)], []byte("Main process exited, code="))
	if i < 0 {
		if unit, rest, ok := bytes.Cut(t, []byte(": Failed with result '")); ok && bytes.IndexByte(unit, ' ') < 0 {
			e := stateEvent(l, s, "systemd")
			put(e, "name", view(unit))
			put(e, "state", "failed")
			put(e, "reason", view(between(rest, "", "'")))
			s.emit(e)
			return 10
		}
		return 0
	}
	e := stateEvent(l, s, "systemd")
	put(e, "name", view(bytes.TrimSuffix(t[:i], []byte(": "))))
	put(e, "state", view(between(t[i:], "code=", ",")))
	status := wordAfter(t[i:], "status=")
	code, sig, _ := bytes.Cut(status, []byte("/"))
	if n := digits(code, 0, len(code)); len(sig) > 0 && n > 0 && n < 64 && string(between(t[i:], "code=", ",")) != "exited" {
		put(e, "exit_code", strconv.Itoa(128+n))
		put(e, "signal", view(sig))
	} else {
		put(e, "exit_code", view(number0(code)))
	}
	s.emit(e)
	return 10
}

// journalMarks begin the lines that journalctl puts between the journal's own.
var journalMarks = []string{"-- Boot ", "-- Reboot --", "-- No entries --", "-- Logs begin at ", "-- Journal begins at "}

// readSupervisor reads "exited: sglang (exit status 1; not expected)" and
// "exited: sglang (terminated by SIGKILL; not expected)" of supervisord.
func readSupervisor(t []byte, l *line, s *scan) int {
	rest, ok := bytes.CutPrefix(t, []byte("exited: "))
	if !ok {
		// "INFO exited: " looks like the module of a Rust logger.
		if rest = t; string(l.loc) != "exited" {
			return 0
		}
	}
	name, how := cutWord(rest)
	code := between(how, "(exit status ", ";")
	sig := signalNamed(between(how, "(terminated by ", ";"))
	if len(name) == 0 || len(code) == 0 && sig == nil {
		return 0
	}
	e := stateEvent(l, s, "supervisor")
	put(e, "name", view(name))
	put(e, "state", "exited")
	if sig != nil {
		put(e, "exit_code", strconv.Itoa(128+sig.number))
		put(e, "signal", sig.name)
	} else {
		put(e, "exit_code", view(number0(code)))
	}
	s.emit(e)
	return 10
}
