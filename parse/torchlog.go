package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// nccl reads NCCL's own lines. They are understood and make no event: a server at
// level INFO prints thousands, and what matters is in the signatures.
type nccl struct{}

func (*nccl) end(*scan) {}

func (*nccl) line(l *line, s *scan) int {
	if l.style == styleNCCL {
		s.keep(l)
		return 1
	}
	if l.style == styleNone && bytes.HasPrefix(l.text, []byte("NCCL version ")) {
		e := s.event(l, forensics.KindEnv)
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "key", Value: "nccl_version"},
			forensics.Attr{Key: "value", Value: string(bytes.TrimSpace(l.text[len("NCCL version "):]))})
		s.emit(e)
		return 1
	}
	return 0
}

// elastic reads torchrun's reports of failed workers: the line of the agent and
// the table below ChildFailedError. Each worker becomes a KindExit event. Source:
// torch/distributed/elastic/multiprocessing/errors/__init__.py.
type elastic struct {
	open bool
	root bool
	has  bool // an entry is being read
	ev   forensics.Event
}

func (r *elastic) end(s *scan) { r.flush(s) }

func (r *elastic) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if r.open {
		if r.table(l, t, s) {
			s.own()
			return 1
		}
		r.flush(s)
		r.open = false
	}
	switch {
	case bytes.HasPrefix(t, []byte("failed (exitcode: ")):
		return r.agent(l, t, s)
	case string(t) == "Failures:" || string(t) == "Root Cause (first observed failure):":
		r.open, r.root = true, t[0] == 'R'
		s.own()
		return 1
	}
	return 0
}

// agent reads "failed (exitcode: -9) local_rank: 3 (pid: 812917) of binary: python".
func (r *elastic) agent(l *line, t []byte, s *scan) int {
	e := s.event(l, forensics.KindExit)
	addField(e, "code", t, "exitcode: ")
	addField(e, "local_rank", t, "local_rank: ")
	addField(e, "pid", t, "pid: ")
	if _, rest, ok := bytes.Cut(t, []byte("of binary: ")); ok {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "what", Value: string(clipBytes(rest, 200))})
	}
	s.emit(e)
	return 3
}

// addField adds the number that follows a label.
func addField(e *forensics.Event, key string, t []byte, label string) {
	_, rest, ok := bytes.Cut(t, []byte(label))
	if !ok {
		return
	}
	n := 0
	for n < len(rest) && (rest[n] == '-' || rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	if n > 0 {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: key, Value: string(rest[:n])})
	}
}

// table reads a line of the failure table and reports whether it is one.
func (r *elastic) table(l *line, t []byte, s *scan) bool {
	switch {
	case len(t) == 0 || len(bytes.Trim(t, "-")) == 0 || len(bytes.Trim(t, "=")) == 0 || string(t) == "<NO_OTHER_FAILURES>":
		return true
	case string(t) == "Failures:" || string(t) == "Root Cause (first observed failure):":
		r.flush(s)
		r.root = t[0] == 'R'
		return true
	case t[0] == '[' && bytes.HasSuffix(t, []byte("]:")):
		r.flush(s)
		r.has = true
		r.ev = forensics.Event{
			Pos: l.pos, Lines: 1, Proc: l.proc, Kind: forensics.KindExit, Raw: string(l.raw), Text: string(l.text),
			Attrs: []forensics.Attr{{Key: "what", Value: "torchrun worker"}},
		}
		if r.root {
			r.ev.Attrs = append(r.ev.Attrs, forensics.Attr{Key: "first_observed", Value: "true"})
		}
		return true
	}
	return r.has && r.field(l, t)
}

// field reads "exitcode  : -9 (pid: 14750)" and the like.
func (r *elastic) field(l *line, t []byte) bool {
	key, val, ok := bytes.Cut(t, []byte(":"))
	if !ok {
		return false
	}
	val = bytes.TrimSpace(val)
	r.ev.Lines = l.pos.Line - r.ev.Pos.Line + 1
	switch string(bytes.TrimSpace(key)) {
	case "time":
		if st, n := dateTime(val); n > 0 {
			r.ev.Stamp = st
		}
	case "host":
		r.ev.Proc.Host = string(clipBytes(val, 200))
	case "rank":
		first, _, _ := bytes.Cut(val, []byte(" "))
		r.ev.Proc.Rank = "rank" + string(first)
		addField(&r.ev, "local_rank", val, "local_rank: ")
	case "exitcode":
		first, _, _ := bytes.Cut(val, []byte(" "))
		r.ev.Attrs = append(r.ev.Attrs, forensics.Attr{Key: "code", Value: string(first)})
		addField(&r.ev, "pid", val, "pid: ")
		r.ev.Raw, r.ev.Text, r.ev.Pos = string(l.raw), string(l.text), l.pos
	case "error_file":
	case "traceback":
		if i := bytes.IndexByte(val, '('); i > 0 && bytes.HasPrefix(val, []byte("Signal ")) {
			name, _, _ := bytes.Cut(val[i+1:], []byte(")"))
			r.ev.Attrs = append(r.ev.Attrs, forensics.Attr{Key: "signal", Value: string(name)})
		}
	default:
		return false
	}
	return true
}

func (r *elastic) flush(s *scan) {
	if r.has {
		s.emit(&r.ev)
	}
	r.has = false
}
