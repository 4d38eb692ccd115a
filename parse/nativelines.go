package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// take offers a further line to the record, and reports whether it belongs.
func (c *crash) take(l *line) bool {
	switch c.kind {
	case crashFault:
		return l.style == styleNone && c.takeFault(l)
	case crashCPP:
		return l.style == styleNone && c.takeCPP(l)
	case crashSignal:
		return c.takeSignal(l)
	case crashAssert:
		return l.style == styleNone && c.takeAssert(l)
	case crashPySpy:
		return l.style == styleNone && c.takePySpy(l)
	}
	return false
}

// takeFault reads the stacks of a faulthandler dump. The crashed thread's frames
// are kept, those of the first other thread only if it has none.
func (c *crash) takeFault(l *line) bool {
	t := l.text
	switch {
	case isBlank(t):
		return true
	case isThread(t):
		c.current = !bytes.HasPrefix(t, []byte("Thread"))
		c.threads++
		return true
	case isFrame(t):
		f, ok := parseFrame(t, l.names)
		switch {
		case !ok:
		case c.current && len(c.x.Frames) < maxFrames:
			c.x.Frames = append(c.x.Frames, f)
		case !c.current && c.threads <= 1 && len(c.other) < maxFrames:
			c.other = append(c.other, f)
		}
		return true
	}
	return hasAnyPrefix(bytes.TrimSpace(t), faultLines)
}

// faultLines begin the other lines of a faulthandler dump.
var faultLines = []string{
	"Python runtime state", "Extension modules:", "Binary file descriptor", "Garbage-collecting", "<no Python frame>",
	"<invalid frame>", "<tstate is freed>", "...", "<truncated", "Current thread's C stack trace", "Binary file \"", "C stack trace",
}

// takeCPP reads "  what():  message", further lines of the message, and c10's
// stack below it.
func (c *crash) takeCPP(l *line) bool {
	t := bytes.TrimSpace(l.text)
	switch {
	case len(t) == 0:
		c.stack = c.stack || c.x.Message != ""
		return true
	case isNativeFrame(t):
		c.stack = true
		return true
	}
	if what, ok := bytes.CutPrefix(t, []byte("what():")); ok && c.x.Message == "" {
		c.x.Message = string(clipBytes(bytes.TrimSpace(what), maxMessage))
		c.x.Pos, c.x.Text = l.pos, string(l.raw)
		c.hits(l)
		return true
	}
	if c.x.Message == "" && (len(t) <= 2 || bytes.Contains(t, []byte("instance of '"))) {
		return true // the rest of a line that several processes wrote at once
	}
	if c.stack || c.x.Message == "" || startsRecord(l.text) || isThread(t) {
		return c.x.Message != "" && hasAnyPrefix(t, messageTails)
	}
	if len(c.x.Message) < maxMessage {
		c.x.Message += "\n" + string(clipBytes(t, 400))
	}
	c.hits(l)
	return true
}

// takeSignal reads absl's "PC: @ 0x7f...  (unknown)  symbol()" and "    @ 0x7f...
// (unknown)  symbol()" frames, which Ray prints twice, and UCX's.
func (c *crash) takeSignal(l *line) bool {
	t := bytes.TrimSpace(l.text)
	if i := bytes.Index(t, []byte("logging.cc:")); i >= 0 && bytes.HasPrefix(t, []byte("[")) {
		if j := bytes.Index(t[i:], []byte(": ")); j > 0 {
			t = bytes.TrimSpace(t[i+j+2:])
		}
		if bytes.HasPrefix(t, []byte("*** SIG")) {
			return true
		}
	}
	pc, isPC := bytes.CutPrefix(t, []byte("PC: "))
	if !bytes.HasPrefix(pc, []byte("@ ")) && !bytes.HasPrefix(t, []byte("==== backtrace")) && !bytes.HasPrefix(t, []byte("0 0x")) {
		return false
	}
	if isPC && len(c.x.Frames) == 0 {
		fields := bytes.Fields(pc)
		fn := fields[len(fields)-1]
		c.x.Frames = append(c.x.Frames, forensics.Frame{Func: l.names.get(clipBytes(fn, 200))})
		c.hits(l)
	}
	return true
}

// isAssert reports whether a line is a device-side assertion:
// "/x/Indexing.cu:1515: kernel: block: [0,0,0], thread: [1,0,0] Assertion `...` failed."
func isAssert(t []byte) bool {
	return bytes.HasSuffix(t, []byte("failed.")) && bytes.Contains(t, []byte(": block: [")) && bytes.Contains(t, []byte("Assertion `"))
}

// assertion begins a run of device-side assertions. Each thread of a kernel
// prints its own line, thousands of them.
func assertion(l *line) *crash {
	if !isAssert(l.text) {
		return nil
	}
	i, j := bytes.Index(l.text, []byte(": block: [")), bytes.Index(l.text, []byte("Assertion `"))
	head := l.text[:i]
	msg := string(clipBytes(l.text[min(j, len(l.text)):], maxMessage))
	c := newCrash(l, crashAssert, "cuda", "CUDA device-side assert", msg)
	f := forensics.Frame{File: l.names.get(clipBytes(head, 300))}
	if k := bytes.LastIndex(head, []byte(": ")); k > 0 {
		f.Func = l.names.get(clipBytes(head[k+2:], 200))
		if m := bytes.LastIndexByte(head[:k], ':'); m > 0 {
			f.File, f.Line = l.names.get(clipBytes(head[:m], 300)), max(digits(head, m+1, min(k-m-1, 9)), 0)
		}
	}
	c.x.Frames = []forensics.Frame{f}
	return c
}

// takeAssert counts a further line of the same assertion.
func (c *crash) takeAssert(l *line) bool {
	t := l.text
	if !isAssert(t) {
		return false
	}
	f := &c.x.Frames[0]
	if !bytes.HasPrefix(t, []byte(f.File)) || !bytes.Contains(t[:bytes.Index(t, []byte(": block: ["))], []byte(f.Func)) ||
		!bytes.HasSuffix(t, []byte(c.x.Message)) {
		return false
	}
	c.tr.Count++
	return true
}

// pySpy begins a py-spy dump, "Process 2416: sglang::scheduler_TP6".
func pySpy(l *line) *crash {
	rest, ok := bytes.CutPrefix(l.text, []byte("Process "))
	if !ok {
		return nil
	}
	i := 0
	for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
		i++
	}
	if i == 0 || !bytes.HasPrefix(rest[i:], []byte(": ")) {
		return nil
	}
	c := newCrash(l, crashPySpy, "py-spy", "stack dump", string(clipBytes(rest[i+2:], 200)))
	c.ev.Proc.PID = digits(rest, 0, min(i, 9))
	return c
}

// takePySpy reads "Thread 309 (active): "MainThread"" and its frames, "    func
// (file.py:78)", innermost first. The main thread's are kept.
func (c *crash) takePySpy(l *line) bool {
	t := bytes.TrimSpace(l.text)
	switch {
	case len(t) == 0:
		return true
	case bytes.HasPrefix(t, []byte("Python v")), bytes.HasPrefix(t, []byte("Command Line:")), bytes.HasPrefix(t, []byte("Pyspy ")):
		return true
	case bytes.HasPrefix(t, []byte("Thread ")):
		c.threads++
		c.current = bytes.Contains(t, []byte(`"MainThread"`))
		return true
	case l.text[0] != ' ' || c.threads == 0:
		return false
	}
	open := bytes.LastIndexByte(t, '(')
	if open < 1 || t[len(t)-1] != ')' {
		return bytes.HasPrefix(t, []byte("Arguments:")) || bytes.HasPrefix(t, []byte("Locals:")) || bytes.Contains(t, []byte(": "))
	}
	f := forensics.Frame{Func: l.names.get(clipBytes(bytes.TrimSpace(t[:open]), 200))}
	file := t[open+1 : len(t)-1]
	if k := bytes.LastIndexByte(file, ':'); k > 0 {
		f.Line = max(digits(file, k+1, min(len(file)-k-1, 9)), 0)
		file = file[:k]
	}
	f.File = l.names.get(clipBytes(file, 300))
	switch {
	case c.current && len(c.x.Frames) < maxFrames:
		c.x.Frames = append(c.x.Frames, f)
	case !c.current && c.threads <= 1 && len(c.other) < maxFrames:
		c.other = append(c.other, f)
	}
	return true
}

// keep emits a line that a reader understands without making an event of it, if
// a signature matched it.
func (s *scan) keep(l *line) {
	if len(l.hits) > 0 {
		s.emit(s.event(l, forensics.KindLine))
	}
}
