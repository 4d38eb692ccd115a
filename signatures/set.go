package signatures

import (
	"maps"
	"slices"
	"unsafe"
)

// Set is a library of signatures, ready to match. Numbers of signatures are
// indexes into Sigs.
type Set struct {
	Sigs []*Signature

	byID map[string]int
	// replaceable is how many signatures, from the first, an added one of the
	// same id takes the place of.
	replaceable int
	// classes are those that added packs may use, nil for the embedded ones.
	classes []Class
	// lines are the line patterns by literal, excs the exception patterns.
	lines, excs patternTable
	index       *litIndex // of excs.literals
}

// patternTable leads from literals to the patterns that need one of them.
type patternTable struct {
	literals []string       // sorted
	users    [][]patternRef // by number of the literal
	always   []patternRef   // patterns without literals
}

// patternRef is a pattern with the number of its signature.
type patternRef struct {
	sig int
	*expr
}

func newSet(n int) *Set {
	return &Set{byID: make(map[string]int, n), Sigs: make([]*Signature, 0, n)}
}

// seal builds the tables that matching uses.
func (s *Set) seal() {
	s.lines = s.table(func(sig *Signature) exprs { return sig.lines })
	s.excs = s.table(func(sig *Signature) exprs { return sig.excs })
	s.index = newLitIndex(s.excs.literals)
}

func (s *Set) table(patterns func(*Signature) exprs) patternTable {
	var t patternTable
	index := make(map[string][]patternRef, 4*len(s.Sigs))
	for n, sig := range s.Sigs {
		for _, p := range patterns(sig) {
			ref := patternRef{n, p}
			if len(p.literals) == 0 {
				t.always = append(t.always, ref)
			}
			for _, lit := range p.literals {
				index[lit] = append(index[lit], ref)
			}
		}
	}
	t.literals = slices.Sorted(maps.Keys(index))
	t.users = make([][]patternRef, len(t.literals))
	for i, lit := range t.literals {
		t.users[i] = index[lit]
	}
	return t
}

// ByID returns the signature with that id, or nil.
func (s *Set) ByID(id string) *Signature {
	if n, ok := s.byID[id]; ok {
		return s.Sigs[n]
	}
	return nil
}

// Literals returns the literals that lead to line patterns: a line that holds
// none of them cannot match. Their numbers are what MatchLine takes.
func (s *Set) Literals() []string { return s.lines.literals }

// MatchLine appends to dst the numbers of the signatures whose line patterns
// match, each once, in ascending order. found holds the numbers of the literals
// that the line contains.
func (s *Set) MatchLine(line []byte, found []int, dst []int) []int {
	return s.matchLine(unsafe.String(unsafe.SliceData(line), len(line)), found, dst, true)
}

func (s *Set) matchLine(line string, found []int, dst []int, vetoes bool) []int {
	start := len(dst)
	for _, lit := range found {
		for _, ref := range s.lines.users[lit] {
			if slices.Contains(dst[start:], ref.sig) || !ref.run(line) {
				continue
			}
			if !vetoes || s.Sigs[ref.sig].Vetoed(line) == "" {
				dst = append(dst, ref.sig)
			}
		}
	}
	slices.Sort(dst[start:])
	return dst
}

// Vetoed returns the pattern under "not" that vetoes a text, "" if none does.
func (s *Signature) Vetoed(text string) string {
	for _, e := range s.vetoes {
		if e.run(text) {
			return e.src
		}
	}
	return ""
}

// MatchException appends to dst the numbers of the signatures that match an
// exception, given as "Type: message", and its frames as "path:function", in
// ascending order. Signatures that only have line patterns are not tried here.
func (s *Set) MatchException(text string, frames []string, dst []int) []int {
	start := len(dst)
	try := func(refs []patternRef) {
		for _, ref := range refs {
			sig := s.Sigs[ref.sig]
			if !slices.Contains(dst[start:], ref.sig) && sig.FrameOK(frames) && ref.run(text) && sig.Vetoed(text) == "" {
				dst = append(dst, ref.sig)
			}
		}
	}
	var buf [64]int
	for _, lit := range s.index.find(text, buf[:0]) {
		try(s.excs.users[lit])
	}
	try(s.excs.always)
	slices.Sort(dst[start:])
	return dst
}

func (s *Signature) matchException(text string, frames []string) bool {
	for _, e := range s.excs {
		if e.matchString(text) {
			return s.Vetoed(text) == "" && s.FrameOK(frames)
		}
	}
	return false
}

// FrameOK reports whether the signature's frame condition holds for a stack.
func (s *Signature) FrameOK(frames []string) bool {
	if s.frame == nil {
		return true
	}
	return slices.ContainsFunc(frames, s.frame.run)
}

// HasFrame reports whether the signature has a frame condition.
func (s *Signature) HasFrame() bool { return s.frame != nil }

// Captures returns the named groups of the first pattern that matches the text.
func (s *Signature) Captures(text string) map[string]string {
	for _, list := range []exprs{s.lines, s.excs} {
		for _, e := range list {
			if !e.may(text) {
				continue
			}
			m := e.get().FindStringSubmatch(text)
			if m == nil {
				continue
			}
			caps := map[string]string{}
			for i, name := range e.get().SubexpNames() {
				if name != "" {
					caps[name] = m[i]
				}
			}
			return caps
		}
	}
	return nil
}
