package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

const (
	maxFrames   = 256     // frames kept per exception
	maxMessage  = 2 << 10 // bytes of message kept per exception
	maxMsgLines = 40      // further lines of a message taken
	maxChain    = 64      // exceptions kept per chain, members per group
	maxStrays   = 3       // unknown lines between a message and a link
)

// chainState says what a chain under way expects next.
type chainState uint8

const (
	inFrames  chainState = iota
	inMessage            // after "Type: message": further lines of the message may follow
	afterGap             // after a blank line behind the message: a chain may go on
	afterLink            // after a linking sentence: the next header goes on the chain
)

// step is what became of a line offered to a chain.
type step uint8

const (
	took   step = iota // the line belongs to the chain
	passed             // it does not, but the chain waits for more
	ended              // it does not, and the chain is complete
)

// chain is a traceback being read from lines that are known to be one writer's:
// exceptions linked by "direct cause" and "during handling", one of which may be
// a group with chains of its own.
type chain struct {
	trace forensics.Trace
	cur   forensics.Exception
	state chainState
	// outer are exceptions whose message begins another traceback ("Warmup
	// failed ... Error: Traceback ..."): they end the chain when it closes.
	outer    []forensics.Exception
	msgLines int
	gaps     int
	strays   int // unknown lines since the message
	// bare is true when the exception's line came without a header: only what is
	// certain to be its message is added.
	bare bool
	// said is true when the last line taken was an exception's or a message's.
	said bool
	// group are the open levels of an exception group, outermost first. The first
	// level is the chain itself.
	group []groupLevel
	// raised is the last source line under a frame, with the signatures that it
	// matches: all that a bare assert tells.
	raised     []byte
	raisedPos  forensics.Pos
	raisedHits []forensics.Hit
}

// feed offers a line. more reports whether a line that nothing else tells about
// may be a further line of a message.
func (c *chain) feed(text []byte, l *line, names *interner, more func() bool) step {
	c.said = false
	if len(c.group) > 0 {
		if c.gutter(text, l, names) {
			return took
		}
		if c.state == inFrames || len(c.group) > 1 {
			return passed
		}
	}
	return c.plain(text, l, names, more)
}

func (c *chain) plain(text []byte, l *line, names *interner, more func() bool) step {
	switch c.state {
	case inFrames:
		return c.frameLine(text, l, names)
	case inMessage:
		return c.messageLine(text, more)
	case afterGap:
		return c.gapLine(text, more)
	default:
		return c.linkedLine(text, l)
	}
}

func (c *chain) frameLine(text []byte, l *line, names *interner) step {
	if isBlank(text) {
		return took
	}
	if text[0] == ' ' || text[0] == '\t' {
		c.addFrame(text, l, names)
		return took
	}
	typ, msg, ok := splitException(text)
	// Lower-case classes of the standard library are dotted: socket.gaierror, struct.error.
	lower := bytes.IndexByte(typ, '.') > 0 && len(c.cur.Frames) > 0
	if !ok || startsRecord(text) || !exceptionName(view(typ)) && !hasUpper(typ) && !lower {
		return passed
	}
	c.setException(typ, msg, l)
	return took
}

func (c *chain) addFrame(text []byte, l *line, names *interner) {
	n := len(c.cur.Frames)
	if f, ok := parseFrame(text, names); ok {
		if n < maxFrames {
			c.cur.Frames = append(c.cur.Frames, f)
		}
		c.raised, c.raisedHits = c.raised[:0], c.raisedHits[:0]
		return
	}
	if n > 0 && len(c.raised) == 0 && !isMarker(text) {
		c.raised, c.raisedPos = append(c.raised, l.raw...), l.pos
		c.raisedHits = append(c.raisedHits, l.hits...)
	}
	if n > 0 && c.cur.Frames[n-1].Code == "" && !isMarker(text) {
		c.cur.Frames[n-1].Code = names.get(clipBytes(bytes.TrimSpace(text), 200))
	}
}

func (c *chain) setException(typ, msg []byte, l *line) {
	c.cur.Type, c.cur.Message = string(typ), string(clipBytes(msg, maxMessage))
	c.cur.Pos, c.cur.Text = l.pos, string(l.raw)
	if len(msg) == 0 && len(c.raised) > 0 {
		c.cur.Raised = forensics.Quote{Pos: c.raisedPos, Text: string(c.raised)}
	}
	c.state, c.msgLines, c.said = inMessage, 0, true
	if bytes.HasPrefix(msg, []byte("ray::")) {
		c.nest() // the worker's own frames and exception follow
	}
}

func (c *chain) messageLine(text []byte, more func() bool) step {
	t := bytes.TrimSpace(text)
	switch {
	case len(t) == 0:
		c.state, c.gaps = afterGap, 1
		return took
	case string(t) == `"""`:
		// The end of another process's traceback, quoted in a RemoteTraceback.
		c.state, c.gaps = afterGap, 0
		return took
	case c.link(t) || isNativeFrame(t):
		return took
	case hasAnyPrefix(t, messageTails):
	case c.bare || c.msgLines >= maxMsgLines || !more():
		return ended
	}
	c.addMessage("\n", t)
	return took
}

func (c *chain) addMessage(sep string, t []byte) {
	c.msgLines++
	c.said = true
	if len(c.cur.Message) < maxMessage {
		c.cur.Message += sep + string(clipBytes(t, 400))
	}
}

func (c *chain) link(t []byte) bool {
	s := linkOf(t)
	if s == "" {
		return false
	}
	c.cur.Link, c.state, c.gaps = s, afterLink, 0
	return true
}

// gapLine handles a line behind a blank one: a link, or more of a message that
// has blank lines in it (torch._dynamo and torch.multiprocessing print such).
func (c *chain) gapLine(text []byte, more func() bool) step {
	t := bytes.TrimSpace(text)
	switch {
	case len(t) == 0:
		c.gaps++
		return took
	case c.link(t) || isNativeFrame(t):
		return took
	case bytes.HasPrefix(t, []byte("-- Process ")) && bytes.HasSuffix(t, []byte("following error:")):
		c.nest()
		c.state, c.gaps = afterLink, 0
		return took
	case hasAnyPrefix(t, messageTails):
	case c.bare || !more():
		return ended
	case c.gaps > 1 || c.msgLines == 0 || text[0] != ' ' || c.msgLines >= maxMsgLines:
		return c.stray(text)
	}
	c.state = inMessage
	c.addMessage("\n\n", t)
	return took
}

// stray handles a line behind a gap that nobody knows. It may be more of the
// message (huggingface_hub prints paragraphs) or another program's: it is not
// taken, and does not keep a link from being seen.
func (c *chain) stray(text []byte) step {
	typ, _, ok := splitException(text)
	if c.strays++; c.strays > maxStrays || ok && exceptionName(view(typ)) {
		return ended
	}
	return passed
}

// linkedLine handles a line behind a linking sentence that is no header: an
// exception without a traceback is printed as its line alone.
func (c *chain) linkedLine(text []byte, l *line) step {
	if t := bytes.TrimSpace(text); len(t) == 0 || string(t) == `"""` {
		return took
	}
	if typ, msg, ok := splitException(text); ok && exceptionName(view(typ)) {
		c.push()
		c.setException(typ, msg, l)
		return took
	}
	if c.gaps++; c.gaps > 8 {
		return ended
	}
	return passed
}

// header goes on the chain with another block of frames.
func (c *chain) header() {
	if c.state != inFrames {
		c.push()
	}
	c.state, c.bare, c.said = inFrames, false, false
}

// push ends the exception being read.
func (c *chain) push() {
	if (c.cur.Type != "" || len(c.cur.Frames) > 0) && len(c.trace.Chain) < maxChain {
		c.trace.Chain = append(c.trace.Chain, c.cur)
	}
	c.cur, c.msgLines, c.strays = forensics.Exception{}, 0, 0
}

// nest makes the exception being read the outer one of a traceback that its own
// message holds.
func (c *chain) nest() {
	if len(c.outer) < maxChain {
		c.outer = append(c.outer, c.cur)
	}
	c.cur, c.msgLines, c.state, c.bare = forensics.Exception{}, 0, inFrames, false
}

// finish ends the chain and returns it.
func (c *chain) finish() *forensics.Trace {
	for len(c.group) > 1 {
		c.popLevel()
	}
	c.trace.Cut = c.state == inFrames || c.state == afterLink
	if len(c.outer) > 0 && len(c.trace.Chain) == 0 && len(c.cur.Frames) == 0 {
		c.trace.Cut = false // nothing came of the nested traceback
	}
	c.push()
	for i := len(c.outer) - 1; i >= 0; i-- {
		if n := len(c.trace.Chain); n > 0 {
			c.trace.Chain[n-1].Link = "cause"
		}
		c.trace.Chain = append(c.trace.Chain, c.outer[i])
	}
	if n := len(c.trace.Chain); n > 0 {
		c.trace.Chain[n-1].Link = ""
	}
	c.trace.Count = max(c.trace.Count, 1)
	return &c.trace
}
