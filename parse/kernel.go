package parse

import (
	"bytes"
	"time"

	"github.com/llmforensics/forensics"
)

// kernel reads the kernel log: dmesg in all its time formats, syslog and the
// journal (the prefixes are peeled before), Talos and raw kmsg. Lines that do
// not matter are understood and make no event.
type kernel struct {
	// constraint is the "oom-kill:" line that the "Killed process" line follows.
	constraint forensics.Event
	waiting    bool
}

func (r *kernel) end(s *scan) { r.flush(s) }

// flush emits a constraint line that no kill followed: the log is cut.
func (r *kernel) flush(s *scan) {
	if r.waiting {
		r.waiting = false
		s.emit(&r.constraint)
	}
}

func (r *kernel) line(l *line, s *scan) int {
	t := l.text
	if r.waiting && !bytes.Contains(t, []byte("Killed process ")) {
		r.flush(s)
	}
	if len(t) < 6 {
		return 0
	}
	bare := false
	if l.style != styleKernel {
		st, text, ok := kernelPrefix(t)
		switch {
		case ok:
			t = text
			if !st.IsZero() {
				l.stamp, s.stamp = st, st
			}
			l.style, l.proc.Role, l.text = styleKernel, forensics.RoleKernel, text
		case kernelOnly(t):
			bare = true
		default:
			return 0
		}
	}
	for i := range kernelRules {
		k := &kernelRules[i]
		if !bytes.Contains(t, k.needle) {
			continue
		}
		e := s.event(l, forensics.KindKernel)
		e.Proc.Role = forensics.RoleKernel
		put(e, "what", k.what)
		if !k.read(e, t) {
			continue
		}
		r.emit(e, s)
		return 10
	}
	if bare {
		return s.quiet(l, 10)
	}
	return s.quiet(l, 3)
}

// emit joins the two lines that tell of one OOM kill: the first says which limit
// was hit, the second who died.
func (r *kernel) emit(e *forensics.Event, s *scan) {
	if e.Attr("what") != "oom-kill" {
		s.emit(e)
		return
	}
	if e.Attr("constraint") != "" {
		r.flush(s)
		if e.Format == "" {
			e.Format = formats[s.current].name
		}
		r.constraint, r.waiting = *e.Clone(), true
		s.own()
		return
	}
	if c := &r.constraint; r.waiting && c.Attr("pid") == e.Attr("pid") {
		put(e, "constraint", c.Attr("constraint"))
		put(e, "cgroup", c.Attr("cgroup"))
		r.waiting = false
	}
	r.flush(s)
	s.emit(e)
}

// kernelPrefix removes the prefixes that only kernel logs have:
//
//	10.0.0.19: kern: warning: [2026-04-22T21:25:20.020000988Z]: msg   (talosctl dmesg)
//	kern  :err   : [   55.234205] msg                                 (dmesg -x)
//	3,1234,98765432,-;msg                                             (/dev/kmsg)
func kernelPrefix(t []byte) (forensics.Stamp, []byte, bool) {
	var none forensics.Stamp
	if t[0] >= '0' && t[0] <= '9' {
		if i := bytes.IndexByte(t[:min(len(t), 48)], ';'); i > 0 {
			return kmsg(t, i)
		}
	}
	i := bytes.Index(t[:min(len(t), 80)], []byte("kern"))
	if i < 0 || i > 0 && !bytes.HasSuffix(t[:i], []byte(": ")) {
		return none, nil, false
	}
	// facility, level, then a stamp in brackets
	rest := t[i:]
	for range 2 {
		colon := bytes.IndexByte(rest[:min(len(rest), 12)], ':')
		if colon < 0 {
			return none, nil, false
		}
		rest = bytes.TrimLeft(rest[colon+1:], " ")
	}
	if len(rest) == 0 || rest[0] != '[' {
		return none, nil, false
	}
	end := bytes.IndexByte(rest, ']')
	if end < 0 || end > 48 {
		return none, nil, false
	}
	in := bytes.TrimLeft(rest[1:end], " ")
	text := bytes.TrimPrefix(rest[end+1:], []byte(":"))
	if st, n := dateTime(in); n > 0 {
		return st, trimOne(text), true
	}
	if st, n := ctimeStamp(in); n > 0 {
		return st, trimOne(text), true
	}
	if dot := bytes.IndexByte(in, '.'); dot > 0 && len(in) == dot+7 {
		sec, frac := digits(in, 0, dot), digits(in, dot+1, 6)
		if sec >= 0 && frac >= 0 && dot < 10 {
			return uptime(int64(sec)*1e6 + int64(frac)), trimOne(text), true
		}
	}
	return none, nil, false
}

// kmsg reads "priority,sequence,microseconds,flags;msg".
func kmsg(t []byte, semi int) (forensics.Stamp, []byte, bool) {
	parts := bytes.SplitN(t[:semi], []byte(","), 4)
	if len(parts) < 4 || len(parts[2]) == 0 || len(parts[2]) > 15 ||
		digits(parts[0], 0, len(parts[0])) < 0 || digits(parts[1], 0, len(parts[1])) < 0 {
		return forensics.Stamp{}, nil, false
	}
	us := digits(parts[2], 0, len(parts[2]))
	if us < 0 {
		return forensics.Stamp{}, nil, false
	}
	return uptime(int64(us)), t[semi+1:], true
}

func uptime(us int64) forensics.Stamp {
	return forensics.Stamp{Clock: forensics.ClockUptime, Nanos: us * 1e3, Res: time.Microsecond}
}

// kernelOnly reports whether a line without a kernel prefix can only be the
// kernel's: pasted lines lose their prefix.
func kernelOnly(t []byte) bool {
	for _, p := range kernelStarts {
		if t[0] == p[0] && bytes.HasPrefix(t, p) {
			return true
		}
	}
	return false
}

var kernelStarts = [][]byte{
	[]byte("NVRM: "), []byte("nvidia-nvswitch"), []byte("Out of memory: Kill"),
	[]byte("Memory cgroup out of memory: Kill"), []byte("oom-kill:constraint="),
	[]byte("oom_reaper: reaped process"), []byte("traps: "), []byte("pcieport "),
}
