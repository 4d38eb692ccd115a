package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
)

const (
	maxNative     = 32  // native records under way at once
	maxNativeWait = 100 // lines that a record waits for its next line
)

// native reads crashes that are no Python exceptions: faulthandler's dumps, C++
// terminations, aborts of the C library, device-side assertions, and py-spy's
// stack dumps. Each becomes one traceback event, [forensics.Trace.Native] says
// which it is.
//
// Sources: CPython Python/traceback.c and Modules/faulthandler.c, libstdc++
// vterminate.cc, glibc malloc.c, absl failure_signal_handler.cc, CUDA's device
// assert, c10/util/Exception.cpp, py-spy src/dump.rs.
type native struct {
	open []*crash
}

// crash is a native record under way.
type crash struct {
	kind crashKind
	key  string
	ev   forensics.Event
	tr   forensics.Trace
	x    forensics.Exception
	last int // line number of the last line taken

	current bool // the frames read now are those of the crashed thread
	other   []forensics.Frame
	threads int
	stack   bool // c10's stack has begun: the message is complete
}

type crashKind uint8

const (
	crashFault  crashKind = iota // faulthandler
	crashCPP                     // terminate called, with a what()
	crashSignal                  // *** SIGSEGV received
	crashAssert                  // device-side assertion
	crashPySpy
	crashAlone // a line by itself
)

// crashStarts maps the beginnings of lines to what they begin, and the exception
// type they stand for.
var crashStarts = []struct {
	prefix string
	kind   crashKind
	native string
	typ    string
}{
	{"Fatal Python error: ", crashFault, "faulthandler", "Fatal Python error"},
	{"terminate called ", crashCPP, "c++", ""},
	{"libc++abi: terminating", crashCPP, "c++", "std::terminate"},
	{"*** SIGSEGV received", crashSignal, "c++", "SIGSEGV"},
	{"*** SIGABRT received", crashSignal, "c++", "SIGABRT"},
	{"*** SIGBUS received", crashSignal, "c++", "SIGBUS"},
	{"*** SIGFPE received", crashSignal, "c++", "SIGFPE"},
	{"*** SIGILL received", crashSignal, "c++", "SIGILL"},
	{"!!!!!!! Segfault encountered !!!!!!!", crashSignal, "c++", "SIGSEGV"},
	{"Caught signal 11 ", crashSignal, "c++", "SIGSEGV"},
	{"*** Process received signal ***", crashAlone, "c++", "SIGSEGV"},
	{"Segmentation fault", crashAlone, "c++", "SIGSEGV"},
	{"Bus error", crashAlone, "c++", "SIGBUS"},
	{"Aborted (core dumped)", crashAlone, "c++", "SIGABRT"},
	{"Illegal instruction", crashAlone, "c++", "SIGILL"},
	{"Floating point exception", crashAlone, "c++", "SIGFPE"},
	{"free(): ", crashAlone, "c++", "SIGABRT"},
	{"malloc(): ", crashAlone, "c++", "SIGABRT"},
	{"malloc_consolidate(): ", crashAlone, "c++", "SIGABRT"},
	{"realloc(): ", crashAlone, "c++", "SIGABRT"},
	{"munmap_chunk(): ", crashAlone, "c++", "SIGABRT"},
	{"double free or corruption", crashAlone, "c++", "SIGABRT"},
	{"corrupted size vs. prev_size", crashAlone, "c++", "SIGABRT"},
	{"corrupted double-linked list", crashAlone, "c++", "SIGABRT"},
	{"*** stack smashing detected ***", crashAlone, "c++", "SIGABRT"},
	{"*** buffer overflow detected ***", crashAlone, "c++", "SIGABRT"},
	{"pure virtual method called", crashAlone, "c++", "SIGABRT"},
}

func (r *native) end(s *scan) {
	for len(r.open) > 0 {
		r.close(r.open[0], s)
	}
}

func (r *native) line(l *line, s *scan) int {
	t := l.text
	if len(r.open) > 0 {
		if r.expire(l, s); r.goesOn(l, s) {
			s.own()
			return 1
		}
	}
	if len(t) < 8 || l.style != styleNone {
		return 0
	}
	if c := r.begin(l); c != nil {
		r.add(c, s)
		if c.kind != crashAlone {
			s.own()
		} else {
			r.close(c, s)
		}
		return 1
	}
	if isNativeFrame(t) || hasAnyPrefix(t, messageTails) {
		// c10's stack and advice below a log line or an exception's message.
		s.keep(l)
		return 1
	}
	return 0
}

// begin returns a new record if the line starts one.
func (r *native) begin(l *line) *crash {
	t := l.text
	switch t[0] {
	case '/', '.':
		return assertion(l)
	case 'P':
		return pySpy(l)
	case 'T', 'C':
		if isThread(t) {
			return newCrash(l, crashFault, "faulthandler", "stack dump", "")
		}
	}
	for i := range crashStarts {
		p := &crashStarts[i]
		if t[0] != p.prefix[0] || !bytes.HasPrefix(t, []byte(p.prefix)) {
			continue
		}
		if p.kind == crashAlone && len(t) > 100 {
			return nil
		}
		typ, msg := p.typ, string(clipBytes(bytes.TrimSpace(t), maxMessage))
		switch {
		case p.kind == crashFault:
			msg = msg[len(p.prefix)-1:]
		case typ == "":
			typ, msg = thrownType(msg), ""
		}
		return newCrash(l, p.kind, p.native, typ, strings.TrimSpace(msg))
	}
	return nil
}

func newCrash(l *line, kind crashKind, native, typ, msg string) *crash {
	c := &crash{kind: kind, key: l.key, last: l.pos.Line}
	c.ev = forensics.Event{
		Pos: l.pos, Lines: 1, Stamp: l.stamp, Proc: l.proc, Level: l.level, Kind: forensics.KindTraceback,
		Raw: string(l.raw), Text: string(clipBytes(l.text, maxRaw)),
	}
	c.tr = forensics.Trace{Native: native, Count: 1}
	c.x = forensics.Exception{Type: typ, Message: msg, Pos: l.pos, Text: string(l.raw)}
	c.hits(l)
	return c
}

// thrownType takes the name out of "terminate called after throwing an instance
// of 'c10::DistBackendError'". Several processes at once garble the line; what
// stands before the next word of another's is kept.
func thrownType(msg string) string {
	_, rest, ok := strings.Cut(msg, "instance of '")
	if !ok {
		return "std::terminate"
	}
	rest, _, _ = strings.Cut(rest, "'")
	rest, _, _ = strings.Cut(rest, "terminate called")
	if rest == "" {
		return "std::terminate"
	}
	return rest
}

// isThread reports whether a line heads a thread's stack in a faulthandler dump.
func isThread(t []byte) bool {
	return bytes.HasSuffix(t, []byte("(most recent call first):")) &&
		(bytes.HasPrefix(t, []byte("Current thread 0x")) || bytes.HasPrefix(t, []byte("Thread 0x")) || bytes.HasPrefix(t, []byte("Stack ")))
}

func (r *native) add(c *crash, s *scan) {
	if len(r.open) >= maxNative {
		r.close(r.open[0], s)
	}
	r.open = append(r.open, c)
}

// goesOn offers the line to the records under way. A record that the line ends
// is closed; the line is then somebody else's.
func (r *native) goesOn(l *line, s *scan) bool {
	taken := false
	for i := 0; i < len(r.open); {
		c := r.open[i]
		switch {
		case c.key != l.key || taken:
			i++
		case c.take(l):
			c.last, taken = l.pos.Line, true
			i++
		case c.kind == crashAssert && isAssert(l.text):
			i++ // another kernel's, or another place's
		default:
			r.close(c, s)
		}
	}
	return taken
}

func (r *native) expire(l *line, s *scan) {
	for i := len(r.open) - 1; i >= 0; i-- {
		if l.pos.Line-r.open[i].last > maxNativeWait {
			r.close(r.open[i], s)
		}
	}
}

// close ends a record and emits it.
func (r *native) close(c *crash, s *scan) {
	if i := slices.Index(r.open, c); i >= 0 {
		r.open = slices.Delete(r.open, i, i+1)
	}
	if c.kind == crashFault || c.kind == crashPySpy {
		if len(c.x.Frames) == 0 {
			c.x.Frames = c.other
		}
		slices.Reverse(c.x.Frames) // printed innermost first
	}
	c.tr.Chain = []forensics.Exception{c.x}
	if rank := c.rank(); rank != "" {
		c.tr.Ranks = []string{rank}
	}
	c.ev.Lines = max(c.last-c.ev.Pos.Line+1, 1)
	c.ev.Trace = &c.tr
	s.emit(&c.ev)
}

// rank returns the rank of the crashed process: its prefix, or what torch's
// message says, "[PG ID 0 PG GUID 0(default_pg) Rank 1] ...".
func (c *crash) rank() string {
	if c.ev.Proc.Rank != "" || c.kind != crashCPP {
		return c.ev.Proc.Rank
	}
	head, _, _ := strings.Cut(c.x.Message, "] ")
	_, n, ok := strings.Cut(head, "Rank ")
	if !ok || n == "" || len(n) > 5 || digits([]byte(n), 0, len(n)) < 0 {
		return ""
	}
	return "rank" + n
}

func (c *crash) hits(l *line) {
	for _, h := range l.hits {
		if len(c.ev.Hits) < maxHits {
			h.Text = strings.Clone(h.Text)
			c.ev.Hits = append(c.ev.Hits, h)
		}
	}
}
