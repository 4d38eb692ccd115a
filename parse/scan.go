package parse

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/llmforensics/forensics"
)

const (
	maxNotes   = 20
	maxSamples = 8
)

// scan is the state of reading one source.
type scan struct {
	r     *Reader
	src   *forensics.Source
	index int
	base  int64 // added to the offsets of lines: what was left out before the first
	sink  func(*forensics.Event)

	readers []reader
	score   []int // per format: how telling its lines are
	claims  []int // per format: how many lines it has claimed
	vague   int   // lines in brackets and date alone, which is SGLang's shape and others'
	owner   int   // reader with an open record, -1 if none
	hint    int   // format that the user named, -1 if none
	traces  tracer
	names   interner
	wrap    wrappers

	// role and engine are those of the text at hand: the last reader that knows.
	role   forensics.Role
	engine string
	// stamp is the last stamp seen: readers of undated records may use it.
	stamp forensics.Stamp

	// tail takes the rest of a line that is longer than MaxLine, for a reader that
	// reads such lines to their end; tailOf is the reader.
	tail   tailFn
	tailOf int

	hitsAt  []found // literals of the current block, by offset
	nextHit int
	lits    []int
	sigs    []int
	ansi    []byte
	inner   []byte // the same of an unwrapped message
	clean   []byte
	l       line
	ev      forensics.Event
	current int // reader being asked
}

func newScan(r *Reader, src *forensics.Source, index int, sink func(*forensics.Event)) *scan {
	s := &scan{r: r, src: src, index: index, sink: sink, owner: -1, hint: -1}
	s.score, s.claims = make([]int, len(formats)), make([]int, len(formats))
	for i := range formats {
		s.readers = append(s.readers, formats[i].new())
	}
	if name := r.opts.Hints[src.Path]; name != "" {
		if s.hint = formatIndex(name); s.hint >= 0 {
			s.role, s.engine = formats[s.hint].role, formats[s.hint].engine
		}
	}
	s.traces.emit, s.traces.names = s.emitTrace, &s.names
	return s
}

func (s *scan) note(lineNo int, offset int64, text string) {
	if len(s.src.Notes) < maxNotes {
		pos := forensics.Pos{Source: s.index, Line: lineNo, Offset: offset}
		s.src.Notes = append(s.src.Notes, forensics.Note{Pos: pos, Text: text})
	}
}

// block finds the literals of a block of lines in one pass.
func (s *scan) block(b []byte) {
	s.hitsAt, s.nextHit = s.hitsAt[:0], 0
	if s.r.filter == nil {
		return
	}
	s.hitsAt = s.r.filter.scan(b, s.hitsAt)
	sortFound(s.hitsAt)
}

// sortFound orders hits by offset; they are nearly sorted already.
func sortFound(h []found) {
	for i := 1; i < len(h); i++ {
		for j := i; j > 0 && (h[j].at < h[j-1].at || h[j].at == h[j-1].at && h[j].lit < h[j-1].lit); j-- {
			h[j], h[j-1] = h[j-1], h[j]
		}
	}
}

// literals returns the numbers of the literals within [from, to) of the block.
func (s *scan) literals(from, to int) []int {
	s.lits = s.lits[:0]
	for s.nextHit < len(s.hitsAt) && s.hitsAt[s.nextHit].at < to {
		if f := s.hitsAt[s.nextHit]; f.at >= from && (len(s.lits) == 0 || s.lits[len(s.lits)-1] != f.lit) {
			s.lits = append(s.lits, f.lit)
		}
		s.nextHit++
	}
	return s.lits
}

// physical takes one line of the file, at offset at of the current block.
func (s *scan) physical(p physical, at int) {
	lits := s.literals(at, at+len(p.text)+1)
	s.tail = nil
	p.offset += s.base
	s.src.Lines.Read++
	text := bytes.TrimSuffix(p.text, []byte("\r"))
	verdict := plainLine
	switch {
	case bytes.IndexByte(text, '\r') < 0 && !isBar(text):
		verdict = s.logical(text, p, 0, lits)
	default:
		chunks(text, func(chunk []byte, off int) {
			verdict = max(verdict, s.logical(chunk, p, off, lits))
		})
	}
	switch {
	case p.cut && s.tail != nil:
		s.src.Lines.Understood++
	case p.cut:
		s.note(p.number, p.offset, fmt.Sprintf("line longer than %d bytes: the rest was skipped", MaxLine))
		s.src.Lines.Damaged++
	case verdict == brokenLine:
		s.src.Lines.Damaged++
	case verdict == plainLine:
		s.src.Lines.Plain++
		s.sample(p, text)
	default:
		s.src.Lines.Understood++
	}
}

// takeTail makes the reader being asked the receiver of the rest of the line at
// hand, if that is longer than MaxLine.
func (s *scan) takeTail(fn tailFn) { s.tail, s.tailOf = fn, s.current }

// rest takes a piece of what is beyond MaxLine of a line.
func (s *scan) rest(piece []byte, end bool) {
	if s.tail == nil {
		return
	}
	s.current = s.tailOf
	s.tail(piece, end)
	if end {
		s.tail = nil
	}
}

func (s *scan) sample(p physical, text []byte) {
	if len(s.src.Unread) < maxSamples && len(bytes.TrimSpace(text)) > 0 {
		clean, _ := printable(stripANSI(text, nil), nil)
		pos := forensics.Pos{Source: s.index, Line: p.number, Offset: p.offset}
		s.src.Unread = append(s.src.Unread, forensics.Quote{Pos: pos, Text: clip(string(clean), 200)})
	}
}

// The verdicts of a line, weakest first.
const (
	plainLine = iota
	brokenLine
	knownLine
)

// logical handles one line as a person sees it.
func (s *scan) logical(text []byte, p physical, off int, lits []int) int {
	if len(text) > 0 && (text[0] == 0xef || text[0] == 0) {
		// Files put together with cat, and what a log that was cut while it was
		// written has before the next line.
		text = bytes.TrimPrefix(bytes.TrimLeft(text, "\x00"), []byte("\xef\xbb\xbf"))
	}
	stripped := stripANSI(text, s.ansi)
	if len(stripped) != len(text) {
		s.ansi = stripped
		lits = s.rescan(stripped)
	}
	pos := forensics.Pos{Source: s.index, Line: p.number, Offset: p.offset + int64(off)}
	if len(stripped) > 8 && stripped[0] == '{' {
		if w := s.jsonWrapped(stripped); w.ok {
			return s.unwrapped(&w, stripped, pos)
		}
	}
	if w := s.structured(stripped, 0); w.ok {
		w.outer.pos = pos
		return s.nested(&w, stripped, 1)
	}
	l := &s.l
	*l = line{pos: pos, text: stripped, hits: l.hits[:0], names: &s.names, wrap: &s.wrap}
	l.peel()
	switch {
	case l.partial:
		return knownLine
	case l.joined:
		return s.joined(l)
	}
	if len(l.text) != len(stripped) {
		if v, done := s.inside(l, stripped, 0); done {
			return v
		}
	}
	return s.deliver(l, stripped, lits)
}

// joined handles a message that was put together from several lines.
func (s *scan) joined(l *line) int {
	if v, done := s.inside(l, l.text, 0); done {
		return v
	}
	return s.deliver(l, l.text, s.rescan(l.text))
}

// unwrapped handles the message of a line of JSON. It may hold several lines,
// and the states of a progress bar.
func (s *scan) unwrapped(w *jsonLine, raw []byte, pos forensics.Pos) int {
	w.outer.pos = pos
	joined := false
	if w.stream != "" {
		p := s.wrap.part("docker " + w.stream)
		if w.partial {
			p.hold(w.text, &w.outer)
			return knownLine
		}
		w.text, joined = p.join(w.text, &w.outer)
	}
	if joined || w.stream == "" || bytes.IndexByte(w.text, '\n') >= 0 {
		raw = nil // the message says more than the object around it
	}
	verdict := plainLine
	if len(w.text) == 0 {
		verdict = knownLine
	}
	for text := range bytes.SplitSeq(w.text, []byte("\n")) {
		chunks(bytes.TrimRight(text, "\r"), func(chunk []byte, _ int) {
			verdict = max(verdict, s.message(chunk, raw, &w.outer))
		})
	}
	return verdict
}

// message handles one line of an unwrapped message.
func (s *scan) message(text, raw []byte, outer *line) int { return s.messageAt(text, raw, outer, 0) }

// messageAt is message for a line that depth layers of structured logging stood
// around.
func (s *scan) messageAt(text, raw []byte, outer *line, depth int) int {
	if out := stripANSI(text, s.inner); len(out) != len(text) {
		s.inner, text = out, out
	}
	hits := s.l.hits[:0]
	l := &s.l
	*l = *outer
	l.text, l.hits, l.names, l.wrap = text, hits, &s.names, &s.wrap
	l.peel()
	if raw == nil {
		raw = text
	}
	if v, done := s.inside(l, raw, depth); done {
		return v
	}
	return s.deliver(l, raw, s.rescan(l.text))
}

// deliver matches a line and gives it to its reader. raw is the line as evidence.
func (s *scan) deliver(l *line, raw []byte, lits []int) int {
	l.quoting = isQuoting(l.text)
	if !l.stamp.IsZero() {
		s.stamp = l.stamp
	}
	if l.raw, l.damaged = printable(raw, s.clean); l.damaged {
		s.clean = l.raw[:0]
		s.note(l.pos.Line, l.pos.Offset, "invalid UTF-8, replaced by U+FFFD")
	}
	s.match(l, lits)
	return s.dispatch(l)
}

// endParts handles the messages whose last part never came.
func (s *scan) endParts() {
	var open []*part
	for _, p := range s.wrap.parts {
		if p.open {
			open = append(open, p)
		}
	}
	slices.SortFunc(open, func(a, b *part) int { return cmp.Compare(a.head.pos.Offset, b.head.pos.Offset) })
	for _, p := range open {
		p.open = false
		outer := p.head
		outer.text = nil
		s.message(p.text, nil, &outer)
	}
}

// rescan finds literals in a line whose text differs from the block's.
func (s *scan) rescan(text []byte) []int {
	s.lits = s.lits[:0]
	if s.r.filter != nil {
		for _, f := range s.r.filter.scan(text, nil) {
			s.lits = append(s.lits, f.lit)
		}
	}
	return s.lits
}

func (s *scan) match(l *line, lits []int) {
	if len(lits) == 0 {
		return
	}
	s.sigs = s.r.opts.Matcher.MatchLine(l.text, lits, s.sigs[:0])
	for _, sig := range s.sigs {
		l.hits = append(l.hits, forensics.Hit{Sig: sig, Pos: l.pos, Text: view(l.raw)})
	}
}

// dispatch gives the line to the record under way, the tracebacks, or the first
// reader that claims it.
func (s *scan) dispatch(l *line) int {
	s.ev = forensics.Event{Attrs: s.ev.Attrs[:0], Values: s.ev.Values[:0]}
	if s.owner >= 0 {
		if v := s.ask(s.owner, l); v != plainLine {
			return v
		}
		s.owner = -1
	}
	offered, verdict := false, plainLine
	offer := func() bool {
		if !offered {
			offered = true
			verdict = s.offer(l)
		}
		return verdict != plainLine
	}
	if !l.quoting && s.traces.line(l, offer) {
		return knownLine
	}
	if offer(); verdict != plainLine {
		return verdict
	}
	s.current = -1 // no reader's line
	if len(l.hits) > 0 {
		s.emit(s.event(l, forensics.KindLine))
		return knownLine
	}
	if len(bytes.TrimSpace(l.text)) == 0 {
		return knownLine
	}
	if l.dated() {
		// A dated line moves the source's clock even if nothing else is known of it.
		if !l.stamp.IsZero() {
			s.emit(s.event(l, forensics.KindMark))
		}
		if i := loggerFormat(l.style); i >= 0 {
			if l.style == styleSGLang && l.proc.Rank == "" {
				s.vague++
			} else {
				s.score[i]++
			}
			if formats[i].role != "" {
				s.role = formats[i].role
			}
		}
		return knownLine
	}
	return plainLine
}

func (s *scan) offer(l *line) int {
	if s.hint >= 0 {
		if v := s.ask(s.hint, l); v != plainLine {
			return v
		}
	}
	for i := range s.readers {
		if i == s.hint {
			continue
		}
		if v := s.ask(i, l); v != plainLine {
			return v
		}
	}
	return plainLine
}

func (s *scan) ask(i int, l *line) int {
	s.current = i
	w := s.readers[i].line(l, s)
	if w == 0 {
		return plainLine
	}
	if w < 0 {
		return brokenLine
	}
	s.score[i] += w
	s.claims[i]++
	if f := &formats[i]; f.role != "" {
		s.role = f.role
		if f.engine != "" {
			s.engine = f.engine
		}
	}
	return knownLine
}

// own makes the reader being asked the first to see the next lines, until it
// declines one.
func (s *scan) own() { s.owner = s.current }

// event returns the scan's event, filled from a line. Its strings are views of
// the line's bytes: receivers clone what they keep.
func (s *scan) event(l *line, kind forensics.Kind) *forensics.Event {
	e := &s.ev
	*e = forensics.Event{
		Pos: l.pos, Lines: 1, Stamp: l.stamp, Inner: l.inner, Proc: l.proc, Level: l.level, Kind: kind,
		Raw: view(l.raw), Text: view(l.text), Hits: l.hits, Attrs: e.Attrs[:0], Values: e.Values[:0],
		Quoting: l.quoting,
	}
	if len(l.text) > maxRaw {
		e.Text = view(l.text[:maxRaw])
	}
	return e
}

func (s *scan) emit(e *forensics.Event) {
	if s.current >= 0 && e.Kind != forensics.KindMark {
		f := &formats[s.current]
		if e.Format == "" {
			e.Format = f.name
		}
		if e.Proc.Role == "" {
			e.Proc.Role = f.role
		}
	}
	if e.Proc.Role == "" {
		e.Proc.Role = s.role
	}
	s.sink(e)
}

func (s *scan) emitTrace(e *forensics.Event) {
	if e.Proc.Role == "" {
		e.Proc.Role = s.role
	}
	e.Format = formats[traceFormat].name
	s.score[traceFormat] += 3
	s.sink(e)
}

// end closes open records and names the source's format.
func (s *scan) end() {
	s.endParts()
	s.traces.end()
	for i := range s.readers {
		s.current = i
		s.readers[i].end(s)
	}
	best := s.best()
	switch {
	case s.hint >= 0:
		best = s.hint
	case s.src.Lines.Read == 0:
		s.src.Format = "empty"
		return
	case best < 0:
		s.src.Format = "text"
		return
	}
	s.src.Format, s.src.Role = formats[best].name, formats[best].role
}

// view makes a string of bytes without copying. It is valid as long as the
// bytes are, which for events is until the sink returns.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
