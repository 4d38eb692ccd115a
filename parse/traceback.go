package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

const (
	tracebackHeader = "Traceback (most recent call last):"
	directCause     = "The above exception was the direct cause of the following exception:"
	duringHandling  = "During handling of the above exception, another exception occurred:"

	maxFrames   = 256 // frames kept per exception
	maxMessage  = 2 << 10
	maxMsgLines = 40
	maxOpen     = 64 // tracebacks under way at once
)

// blockState says what a traceback under way expects next.
type blockState uint8

const (
	inFrames  blockState = iota
	inMessage            // after "Type: message": further lines of the message may follow
	afterGap             // after a blank line behind the message: a chain may go on
	afterLink            // after a linking sentence: the next header goes on the chain
)

// traceBlock is a traceback being read.
type traceBlock struct {
	key   string // block key of its lines
	ev    forensics.Event
	trace forensics.Trace
	cur   forensics.Exception
	state blockState
	// outer are exceptions whose message begins another traceback ("Warmup
	// failed ... Error: Traceback ..."): they end the chain when it closes.
	outer    []forensics.Exception
	msgLines int
	lastLine int
	gaps     int
}

// tracer assembles tracebacks from interleaved lines. Lines of different
// processes are told apart by their prefix; unprefixed lines go to the block
// opened last.
type tracer struct {
	open []*traceBlock
	emit func(*forensics.Event)
}

// blockKey groups the lines of one traceback. SGLang prints its prefix on the
// header only; vLLM, glog and c10 repeat theirs on every line.
func blockKey(l *line) string {
	if l.dated() && l.style != styleSGLang {
		return l.key + "|" + string(rune('a'+l.style)) + l.proc.Rank
	}
	return l.key
}

// header returns the text before a traceback header that ends the line.
func header(text []byte) (lead []byte, ok bool) {
	t := bytes.TrimRight(text, " ")
	if !bytes.HasSuffix(t, []byte(tracebackHeader)) {
		return nil, false
	}
	return bytes.TrimSpace(t[:len(t)-len(tracebackHeader)]), true
}

// line offers a line. It returns true if the line belongs to a traceback and no
// reader needs to see it. offer reports whether a reader claims the line: text
// behind an exception's message may be the next log line.
func (t *tracer) line(l *line, offer func() bool) bool {
	key := blockKey(l)
	if lead, ok := header(l.text); ok {
		return t.begin(l, key, lead)
	}
	if len(t.open) == 0 {
		return t.bare(l)
	}
	b := t.find(key, l)
	if b == nil {
		return t.bare(l)
	}
	switch b.state {
	case inFrames:
		return t.frameLine(b, l)
	case inMessage:
		return t.messageLine(b, l, offer)
	default:
		return t.gapLine(b, l, key)
	}
}

// find returns the newest open block that the line may belong to.
func (t *tracer) find(key string, l *line) *traceBlock {
	if l.dated() && l.style == styleSGLang {
		// A new log line of the same stream ends a finished block.
		for i := len(t.open) - 1; i >= 0; i-- {
			if b := t.open[i]; b.key == key && b.state != inFrames {
				t.close(b)
			}
		}
		return nil
	}
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i].key == key {
			return t.open[i]
		}
	}
	return nil
}

func (t *tracer) begin(l *line, key string, lead []byte) bool {
	if l.style == styleSGLang {
		key = l.key
	}
	if b := t.openChain(key); b != nil {
		b.pushException()
		b.state = inFrames
		b.lastLine = l.pos.Line
		return true
	}
	// "ValueError: Warmup failed ... Error: Traceback (most recent call last):"
	if typ, msg, ok := splitException(lead); ok && !l.dated() {
		for i := len(t.open) - 1; i >= 0; i-- {
			if b := t.open[i]; b.key == key && b.state == inFrames {
				b.cur.Type, b.cur.Message = typ, msg
				b.cur.Pos, b.cur.Text = l.pos, string(l.raw)
				b.addHits(l)
				b.outer = append(b.outer, b.cur)
				b.cur = forensics.Exception{}
				b.lastLine = l.pos.Line
				return true
			}
		}
	}
	for _, b := range t.open {
		if b.key == key && b.state != inFrames {
			t.close(b)
			break
		}
	}
	if len(t.open) >= maxOpen {
		t.close(t.open[0])
	}
	b := &traceBlock{key: key, lastLine: l.pos.Line}
	b.ev = forensics.Event{
		Pos: l.pos, Stamp: l.stamp, Proc: l.proc, Level: l.level, Kind: forensics.KindTraceback,
		Raw: string(l.raw), Text: string(l.text),
	}
	b.trace.Lead = strings.TrimSuffix(string(lead), ":")
	b.addHits(l)
	t.open = append(t.open, b)
	return true
}

// openChain returns the block whose chain goes on with the next header.
func (t *tracer) openChain(key string) *traceBlock {
	for i := len(t.open) - 1; i >= 0; i-- {
		if b := t.open[i]; b.key == key && b.state == afterLink {
			return b
		}
	}
	return nil
}

func (b *traceBlock) addHits(l *line) {
	for _, h := range l.hits {
		if len(b.ev.Hits) < 64 {
			h.Text = strings.Clone(h.Text)
			b.ev.Hits = append(b.ev.Hits, h)
		}
	}
}

func (b *traceBlock) pushException() {
	if b.cur.Type != "" || len(b.cur.Frames) > 0 {
		b.trace.Chain = append(b.trace.Chain, b.cur)
	}
	b.cur, b.msgLines = forensics.Exception{}, 0
}

func (t *tracer) frameLine(b *traceBlock, l *line) bool {
	text := l.text
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	if text[0] == ' ' || text[0] == '\t' {
		b.lastLine = l.pos.Line
		if f, ok := parseFrame(text); ok {
			if len(b.cur.Frames) < maxFrames {
				b.cur.Frames = append(b.cur.Frames, f)
			}
		} else if n := len(b.cur.Frames); n > 0 && b.cur.Frames[n-1].Code == "" && !isMarker(text) {
			b.cur.Frames[n-1].Code = clip(string(bytes.TrimSpace(text)), 200)
		}
		return true
	}
	typ, msg, ok := splitException(text)
	if !ok {
		// A traceback header without frames, or another writer's line.
		if len(b.cur.Frames) == 0 && l.pos.Line > b.lastLine+3 {
			t.close(b)
		}
		return false
	}
	b.cur.Type, b.cur.Message = typ, clip(msg, maxMessage)
	b.cur.Pos, b.cur.Text = l.pos, string(l.raw)
	b.addHits(l)
	b.state, b.msgLines, b.lastLine = inMessage, 0, l.pos.Line
	return true
}

func (t *tracer) messageLine(b *traceBlock, l *line, offer func() bool) bool {
	text := bytes.TrimSpace(l.text)
	if len(text) == 0 {
		b.state, b.gaps = afterGap, 1
		return true
	}
	if b.link(text, l) {
		return true
	}
	// An exception of another block of the same unprefixed stream?
	if other := t.olderInFrames(b); other != nil {
		if _, _, ok := splitException(l.text); ok || l.text[0] == ' ' {
			return t.frameLine(other, l)
		}
	}
	if l.pos.Line > b.lastLine+1 || b.msgLines >= maxMsgLines || offer() || startsRecord(l.text) {
		t.close(b)
		return false
	}
	b.msgLines++
	b.lastLine = l.pos.Line
	if len(b.cur.Message) < maxMessage {
		b.cur.Message += "\n" + clip(string(text), 400)
	}
	b.addHits(l)
	return true
}

// startsRecord reports whether an unprefixed line cannot be part of a message:
// shell prompts, wrappers' echoes, exit statuses.
func startsRecord(text []byte) bool {
	for _, p := range []string{"$ ", "# ", "===", "--- ", "+ ", "exit status", "exit code", "Killed", "Aborted", "Process ", "ERROR:", "INFO:", "/usr/lib/python"} {
		if bytes.HasPrefix(text, []byte(p)) {
			return true
		}
	}
	return false
}

func (t *tracer) olderInFrames(b *traceBlock) *traceBlock {
	for i := len(t.open) - 1; i >= 0; i-- {
		if o := t.open[i]; o != b && o.key == b.key && o.state == inFrames {
			return o
		}
	}
	return nil
}

func (b *traceBlock) link(text []byte, l *line) bool {
	switch string(text) {
	case directCause:
		b.cur.Link = "cause"
	case duringHandling:
		b.cur.Link = "context"
	default:
		return false
	}
	b.state, b.lastLine = afterLink, l.pos.Line
	return true
}

func (t *tracer) gapLine(b *traceBlock, l *line, key string) bool {
	text := bytes.TrimSpace(l.text)
	if len(text) == 0 {
		b.gaps++
		if b.gaps > 3 && b.state == afterGap {
			t.close(b)
		}
		return true
	}
	if b.state == afterGap && b.link(text, l) {
		return true
	}
	if b.state == afterLink && l.pos.Line <= b.lastLine+4 && l.key != "" {
		return false
	}
	t.close(b)
	return t.line(l, func() bool { return false })
}

// close ends a block and emits it.
func (t *tracer) close(b *traceBlock) {
	for i, o := range t.open {
		if o == b {
			t.open = append(t.open[:i], t.open[i+1:]...)
			break
		}
	}
	b.trace.Cut = b.state == inFrames
	b.pushException()
	for i := len(b.outer) - 1; i >= 0; i-- {
		if n := len(b.trace.Chain); n > 0 {
			b.trace.Chain[n-1].Link = "cause"
		}
		b.trace.Chain = append(b.trace.Chain, b.outer[i])
	}
	if len(b.trace.Chain) == 0 && !b.trace.Cut {
		return
	}
	b.trace.Count = 1
	if b.ev.Proc.Rank != "" {
		b.trace.Ranks = []string{b.ev.Proc.Rank}
	}
	b.ev.Lines = max(b.lastLine-b.ev.Pos.Line+1, 1)
	b.ev.Trace = &b.trace
	t.emit(&b.ev)
}

// end closes everything at the end of the source, in order of appearance.
func (t *tracer) end() {
	for len(t.open) > 0 {
		t.close(t.open[0])
	}
}

// bare makes an event of an exception line that stands alone: logs that print
// str(e), and logs whose tracebacks were cut by grep.
func (t *tracer) bare(l *line) bool {
	if l.dated() && l.level < forensics.LevelError && l.style != styleSGLang {
		return false
	}
	typ, msg, ok := splitException(l.text)
	if !ok || !exceptionName(typ) {
		return false
	}
	ev := forensics.Event{
		Pos: l.pos, Stamp: l.stamp, Proc: l.proc, Level: l.level, Kind: forensics.KindTraceback,
		Raw: string(l.raw), Text: string(l.text), Lines: 1,
	}
	x := forensics.Exception{Type: typ, Message: clip(msg, maxMessage), Pos: l.pos, Text: string(l.raw)}
	ev.Trace = &forensics.Trace{Chain: []forensics.Exception{x}, Count: 1}
	if l.proc.Rank != "" {
		ev.Trace.Ranks = []string{l.proc.Rank}
	}
	b := traceBlock{ev: ev}
	b.addHits(l)
	t.emit(&b.ev)
	return true
}

// exceptionName reports whether a dotted name looks like an exception class.
func exceptionName(typ string) bool {
	base := typ[strings.LastIndexByte(typ, '.')+1:]
	for _, s := range []string{"Error", "Exception", "KeyboardInterrupt", "SystemExit", "Timeout", "OutOfResources", "Refused"} {
		if strings.HasSuffix(base, s) {
			return len(base) > len(s) || s != "Timeout" && s != "Error" && s != "Refused"
		}
	}
	return false
}

// splitException splits "Type: message" and "Type". The type is a dotted name
// at the very start of the line.
func splitException(text []byte) (typ, msg string, ok bool) {
	i := 0
	for i < len(text) && (isWordByte(text[i]) || text[i] == '.') {
		i++
	}
	if i == 0 || text[0] == '.' || text[0] >= '0' && text[0] <= '9' || text[i-1] == '.' || i > 160 {
		return "", "", false
	}
	switch {
	case i == len(text) || len(bytes.TrimSpace(text[i:])) == 0:
		if !exceptionName(string(text[:i])) && !hasUpper(text[:i]) {
			return "", "", false
		}
		return string(text[:i]), "", true
	case text[i] == ':' && (i+1 == len(text) || text[i+1] == ' '):
		return string(text[:i]), string(bytes.TrimSpace(text[i+1:])), true
	}
	return "", "", false
}

func hasUpper(b []byte) bool {
	j := bytes.LastIndexByte(b, '.') + 1
	return j < len(b) && b[j] >= 'A' && b[j] <= 'Z' && bytes.ContainsAny(b[j:], "abcdefghijklmnopqrstuvwxyz")
}

// parseFrame reads `  File "f", line N, in g`, and faulthandler's form without
// the second comma.
func parseFrame(text []byte) (forensics.Frame, bool) {
	t := bytes.TrimSpace(text)
	rest, ok := bytes.CutPrefix(t, []byte(`File "`))
	if !ok {
		return forensics.Frame{}, false
	}
	q := bytes.IndexByte(rest, '"')
	if q < 0 {
		return forensics.Frame{}, false
	}
	f := forensics.Frame{File: clip(string(rest[:q]), 300)}
	rest, ok = bytes.CutPrefix(rest[q+1:], []byte(", line "))
	if !ok {
		return f, true
	}
	i := 0
	for i < len(rest) && i < 9 && rest[i] >= '0' && rest[i] <= '9' {
		f.Line = f.Line*10 + int(rest[i]-'0')
		i++
	}
	rest = bytes.TrimPrefix(rest[i:], []byte(","))
	if fn, ok := bytes.CutPrefix(rest, []byte(" in ")); ok {
		f.Func = clip(string(fn), 200)
	}
	return f, true
}

// isMarker reports whether a line under a source line only points into it.
func isMarker(text []byte) bool {
	return len(bytes.Trim(text, " ~^\t")) == 0 || bytes.HasPrefix(bytes.TrimSpace(text), []byte("...<"))
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
