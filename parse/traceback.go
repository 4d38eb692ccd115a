package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

const (
	maxOpen     = 64  // tracebacks under way at once
	maxHits     = 64  // signature hits kept per traceback
	maxWaitCut  = 200 // lines that an unfinished traceback waits for its next line
	maxWaitDone = 40  // lines that a finished one waits for a link
)

// traceBlock is a traceback under way with the lane its lines come on.
type traceBlock struct {
	chain
	ev forensics.Event
	// key, rank, loc and style are those of the header's line. Loggers that repeat
	// their prefix on every line (vLLM, glog, c10) repeat all of them; the lines
	// of the others have the process prefix only, and strict is false.
	key, rank, loc string
	style          style
	dated          bool // the header had a stamp of its own that continuations repeat
	strict         bool // a continuation did
	lastLine       int
	lastSeq        int // tracer.seq at the last line taken
	touch          int // tracer.touch at the last line taken
}

// tracer assembles tracebacks from interleaved lines. Lines of different
// processes are told apart by their prefix. Unprefixed lines of several ranks are
// dealt out by what each traceback waits for: the ranks of one server mostly
// raise the same exception, so a frame goes to the traceback that lacks it.
type tracer struct {
	open  []*traceBlock
	emit  func(*forensics.Event)
	names *interner
	leads leads
	seq   int // lines without stamp and prefix seen so far
	touch int
}

// line offers a line. It returns true if the line belongs to a traceback and no
// reader needs to see it. offer reports whether a reader claims the line: text
// behind an exception's message may be the next log line.
func (t *tracer) line(l *line, offer func() bool) bool {
	if l.key == "" && !l.dated() {
		t.seq++
	}
	t.expire(l.pos.Line)
	if lead, group, ok := header(l.text); ok && !t.inGroup(l) {
		return t.begin(l, lead, group, offer)
	}
	for range maxOpen {
		b := t.pick(l)
		if b == nil {
			break
		}
		more := func() bool { return t.adjacent(b, l) && !startsRecord(l.text) && !offer() }
		switch b.feed(l.text, l, t.names, more) {
		case took:
			t.took(b, l)
			return true
		case passed:
			if b.state == afterGap {
				b.lastSeq = t.seq
			}
			return t.leads.note(l)
		}
		t.close(b)
	}
	if t.bare(l) {
		return true
	}
	return t.leads.note(l)
}

func (t *tracer) took(b *traceBlock, l *line) {
	t.touch++
	b.lastLine, b.lastSeq, b.touch = l.pos.Line, t.seq, t.touch
	b.strict = b.strict || b.dated && l.dated()
	if b.said {
		b.addHits(l)
		if b.cur.Raised.Pos.Line > 0 && b.cur.Raised.Pos == b.raisedPos && b.msgLines == 0 {
			b.keepHits(b.raisedHits, view(b.raised))
			b.raisedHits = b.raisedHits[:0]
		}
		b.trace.Count = max(b.trace.Count, 1+l.repeats)
	}
}

// adjacent reports whether nothing unprefixed came between the block and the line.
func (t *tracer) adjacent(b *traceBlock, l *line) bool {
	return l.key != "" || l.dated() || b.lastSeq+1 >= t.seq
}

// matches reports whether the line may belong to the block by its prefixes.
func (b *traceBlock) matches(l *line) bool {
	if b.key != l.key {
		return false
	}
	if l.dated() {
		return b.dated && b.style == l.style && b.rank == l.proc.Rank && b.loc == string(l.loc)
	}
	return !b.strict
}

// ownLine reports whether a line is a log record by itself, whatever is open.
func ownLine(l *line) bool { return l.style == styleSGLang || l.style == styleUvicorn }

// pick returns the open block that the line is offered to.
func (t *tracer) pick(l *line) *traceBlock {
	if len(t.open) == 0 {
		return nil
	}
	var best *traceBlock
	n := 0
	if !ownLine(l) {
		for _, b := range t.open {
			if b.matches(l) {
				n++
				if best == nil || b.touch > best.touch {
					best = b
				}
			}
		}
	}
	if n == 0 && (l.dated() || ownLine(l)) {
		t.closeDone(l.key)
	}
	if n < 2 {
		return best
	}
	return t.deal(l, best)
}

// deal chooses among several blocks of one lane. last is the one that took the
// lane's last line.
func (t *tracer) deal(l *line, last *traceBlock) *traceBlock {
	switch {
	case isFrame(l.text):
		f, _ := parseFrame(l.text, t.names)
		return t.lacking(l, f, last)
	case len(l.text) > 0 && l.text[0] == ' ' || gutterColumn(l.text) >= 0:
		return last
	}
	typ, _, ok := splitException(l.text)
	if !ok || !exceptionName(view(typ)) && !hasUpper(typ) || last.state == inFrames && len(last.cur.Frames) > 0 {
		return last
	}
	best := last
	for _, b := range t.open {
		if b.matches(l) && b.state == inFrames && (best.state != inFrames || len(b.cur.Frames) > len(best.cur.Frames)) {
			best = b
		}
	}
	return best
}

// lacking returns the block whose next frame, by the example of a longer one, is
// f; else the last one, or the longest that still reads frames.
func (t *tracer) lacking(l *line, f forensics.Frame, last *traceBlock) *traceBlock {
	var longest *traceBlock
	for _, b := range t.open {
		if b.matches(l) && (longest == nil || len(b.cur.Frames) > len(longest.cur.Frames)) {
			longest = b
		}
	}
	for _, b := range t.open {
		k := len(b.cur.Frames)
		if b.matches(l) && b.state == inFrames && k < len(longest.cur.Frames) && same(longest.cur.Frames[k], f) {
			return b
		}
	}
	if last.state == inFrames {
		return last
	}
	best := last
	for _, b := range t.open {
		if b.matches(l) && b.state == inFrames && (best.state != inFrames || len(b.cur.Frames) > len(best.cur.Frames)) {
			best = b
		}
	}
	return best
}

func same(a, b forensics.Frame) bool { return a.File == b.File && a.Line == b.Line && a.Func == b.Func }

// inGroup reports whether a header's line is one inside the gutter of an open
// exception group.
func (t *tracer) inGroup(l *line) bool {
	i := gutterColumn(l.text)
	if i < 0 || l.text[i] != '|' {
		return false
	}
	for _, b := range t.open {
		if b.matches(l) && len(b.group) > 0 {
			return true
		}
	}
	return false
}

// begin handles a line that ends with a traceback's header.
func (t *tracer) begin(l *line, lead []byte, group bool, offer func() bool) bool {
	lead = bytes.TrimSpace(bytes.TrimLeft(lead, "+| "))
	if len(lead) == 0 && !ownLine(l) {
		for _, b := range t.open {
			if b.matches(l) && b.state == afterLink {
				b.header()
				b.startGroup(l, group)
				t.took(b, l)
				return true
			}
		}
	}
	typ, msg, nests := splitException(lead)
	nests = nests && exceptionName(view(typ))
	if nests {
		if b := t.pick(l); b != nil && b.state == inFrames {
			b.setException(typ, msg, l)
			t.took(b, l)
			b.nest()
			return true
		}
	}
	b := t.newBlock(l)
	switch {
	case nests:
		b.setException(typ, msg, l)
		b.nest()
	case len(lead) > 0:
		offer() // a reader may know the beginning of the line
		b.trace.Lead = strings.TrimSuffix(string(clipBytes(lead, 200)), ":")
	default:
		b.trace.Lead = t.leads.take(l)
	}
	b.startGroup(l, group)
	return true
}

func (b *traceBlock) startGroup(l *line, group bool) {
	if group {
		b.openGroup(max(gutterColumn(l.text), 0))
	}
}

// newBlock opens a block at a header's line, and closes the finished ones of its
// lane.
func (t *tracer) newBlock(l *line) *traceBlock {
	for i := len(t.open) - 1; i >= 0; i-- {
		if b := t.open[i]; b.key == l.key && (b.state == afterGap || b.state == inMessage && !ownLine(l) && b.matches(l)) {
			t.close(b)
		}
	}
	if len(t.open) >= maxOpen {
		t.close(t.open[0])
	}
	b := &traceBlock{key: l.key}
	if l.dated() && !ownLine(l) {
		b.dated, b.style, b.rank, b.loc = true, l.style, l.proc.Rank, string(l.loc)
	}
	b.ev = forensics.Event{
		Pos: l.pos, Stamp: l.stamp, Proc: l.proc, Level: l.level, Kind: forensics.KindTraceback,
		Raw: string(l.raw), Text: string(clipBytes(l.text, maxRaw)),
	}
	b.addHits(l)
	t.open = append(t.open, b)
	t.took(b, l)
	return b
}

func (b *traceBlock) addHits(l *line) { b.keepHits(l.hits, view(l.raw)) }

func (b *traceBlock) keepHits(hits []forensics.Hit, raw string) {
	for _, h := range hits {
		if len(b.ev.Hits) < maxHits {
			h.Text = strings.Clone(raw)
			b.ev.Hits = append(b.ev.Hits, h)
		}
	}
}

// bare begins a block at an exception line that stands alone: logs that print
// str(e), and logs whose tracebacks were cut by grep.
func (t *tracer) bare(l *line) bool {
	if l.dated() && l.level < forensics.LevelError && l.style != styleSGLang {
		return false
	}
	typ, msg, ok := splitException(l.text)
	if !ok || !exceptionName(view(typ)) {
		return false
	}
	if bytes.HasSuffix(typ, []byte("RemoteTraceback")) {
		// The traceback of another process follows in quotes.
		t.leads.add(l, typ)
		return true
	}
	b := t.newBlock(l)
	b.bare = true
	b.setException(typ, msg, l)
	b.trace.Lead = t.leads.take(l)
	b.trace.Count = 1 + l.repeats
	return true
}

// closeDone closes the blocks of a process that only wait for a link: its next
// log record shows that none comes.
func (t *tracer) closeDone(key string) {
	for i := len(t.open) - 1; i >= 0; i-- {
		b := t.open[i]
		if b.key == key && (b.state == inMessage || b.state == afterGap) && (key != "" || !b.dated) {
			t.close(b)
		}
	}
}

// expire closes blocks whose next line did not come for long.
func (t *tracer) expire(line int) {
	for i := 0; i < len(t.open); i++ {
		b := t.open[i]
		wait := maxWaitDone
		if b.state == inFrames || b.state == afterLink {
			wait = maxWaitCut
		}
		if line-b.lastLine > wait {
			t.close(b)
			i--
		}
	}
}

// close ends a block and emits it.
func (t *tracer) close(b *traceBlock) {
	for i, o := range t.open {
		if o == b {
			t.open = append(t.open[:i], t.open[i+1:]...)
			break
		}
	}
	b.ev.Trace = b.finish()
	if b.ev.Proc.Rank != "" {
		b.ev.Trace.Ranks = []string{b.ev.Proc.Rank}
	}
	b.ev.Lines = max(b.lastLine-b.ev.Pos.Line+1, 1)
	t.emit(&b.ev)
}

// end closes everything at the end of the source, in order of appearance.
func (t *tracer) end() {
	for len(t.open) > 0 {
		t.close(t.open[0])
	}
}
