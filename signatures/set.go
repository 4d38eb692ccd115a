package signatures

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Set is a library of signatures, ready to match. Numbers of signatures are
// indexes into Sigs.
type Set struct {
	Sigs []*Signature

	byID    map[string]int
	replace bool
	// literals is the sorted list of all literals; users[i] are the line
	// patterns that literal i leads to.
	literals []string
	users    [][]patternRef
}

type patternRef struct{ sig, line int }

// seal builds the tables that matching uses.
func (s *Set) seal() error {
	index := map[string][]patternRef{}
	for n, sig := range s.Sigs {
		for i, p := range sig.lines {
			for _, lit := range p.literals {
				index[lit] = append(index[lit], patternRef{n, i})
			}
		}
	}
	s.literals = s.literals[:0]
	for lit := range index {
		s.literals = append(s.literals, lit)
	}
	slices.Sort(s.literals)
	s.users = make([][]patternRef, len(s.literals))
	for i, lit := range s.literals {
		s.users[i] = index[lit]
	}
	return nil
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
func (s *Set) Literals() []string { return s.literals }

// MatchLine appends to dst the numbers of the signatures whose line patterns
// match, each once, in ascending order. found holds the numbers of the literals
// that the line contains.
func (s *Set) MatchLine(line []byte, found []int, dst []int) []int {
	start := len(dst)
	for _, lit := range found {
		for _, ref := range s.users[lit] {
			if slices.Contains(dst[start:], ref.sig) {
				continue
			}
			sig := s.Sigs[ref.sig]
			if sig.lines[ref.line].re.Match(line) && !vetoed(sig.vetoes, line) {
				dst = append(dst, ref.sig)
			}
		}
	}
	slices.Sort(dst[start:])
	return dst
}

func vetoed(vetoes []*regexp.Regexp, text []byte) bool {
	for _, re := range vetoes {
		if re.Match(text) {
			return true
		}
	}
	return false
}

// MatchException appends to dst the numbers of the signatures that match an
// exception, given as "Type: message", and its frames as "path:function".
// Signatures that only have line patterns are not tried here.
func (s *Set) MatchException(text string, frames []string, dst []int) []int {
	for n, sig := range s.Sigs {
		if sig.matchException(text, frames) {
			dst = append(dst, n)
		}
	}
	return dst
}

func (s *Signature) matchException(text string, frames []string) bool {
	hit := false
	for _, p := range s.excs {
		if len(p.literals) > 0 && !containsAny(text, p.literals) {
			continue
		}
		if p.re.MatchString(text) {
			hit = true
			break
		}
	}
	return hit && !vetoed(s.vetoes, []byte(text)) && s.FrameOK(frames)
}

// FrameOK reports whether the signature's frame condition holds for a stack.
func (s *Signature) FrameOK(frames []string) bool {
	if s.frame == nil {
		return true
	}
	return slices.ContainsFunc(frames, s.frame.MatchString)
}

// HasFrame reports whether the signature has a frame condition.
func (s *Signature) HasFrame() bool { return s.frame != nil }

func containsAny(text string, lits []string) bool {
	for _, l := range lits {
		if strings.Contains(text, l) {
			return true
		}
	}
	return false
}

// Captures returns the named groups of the first pattern that matches the text.
func (s *Signature) Captures(text string) map[string]string {
	for _, list := range [][]pattern{s.lines, s.excs} {
		for _, p := range list {
			m := p.re.FindStringSubmatch(text)
			if m == nil {
				continue
			}
			caps := map[string]string{}
			for i, name := range p.re.SubexpNames() {
				if name != "" {
					caps[name] = m[i]
				}
			}
			return caps
		}
	}
	return nil
}

// matchLineText tries the line patterns without the literal table.
func (s *Signature) matchLineText(line string) bool {
	for _, p := range s.lines {
		if p.re.MatchString(line) {
			return !vetoed(s.vetoes, []byte(line))
		}
	}
	return false
}

var (
	frameLineRE = regexp.MustCompile(`^\s*File "([^"]+)", line \d+,? in (.+)$`)
	excLineRE   = regexp.MustCompile(`^\s*((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*): `)
	bareExcRE   = regexp.MustCompile(`^\s*(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Exit|Interrupt)$`)
)

// MatchText tries a signature on a text the way examples are tried: every line
// against the line patterns, lines that look like exceptions against the
// exception patterns, with the text's frame lines as the stack.
func (s *Signature) MatchText(text string) bool {
	var frames []string
	for line := range strings.Lines(text) {
		if m := frameLineRE.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			frames = append(frames, m[1]+":"+m[2])
		}
	}
	rest := text
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		if s.matchLineText(bare) && s.FrameOK(frames) {
			return true
		}
		if excLineRE.MatchString(bare) || bareExcRE.MatchString(bare) {
			if s.matchException(strings.TrimSpace(rest), frames) || s.matchException(bare, frames) {
				return true
			}
		}
		rest = rest[len(line):]
	}
	return false
}

// Prove returns an error for every example that does not behave.
func (s *Signature) Prove() []error {
	var errs []error
	for _, text := range s.Examples.Match {
		if !s.MatchText(text) {
			errs = append(errs, fmt.Errorf("%s:%d: signature %q does not match its example %q", s.File, s.LineNo, s.ID, text))
		}
	}
	for _, text := range s.Examples.Miss {
		if s.MatchText(text) {
			errs = append(errs, fmt.Errorf("%s:%d: signature %q matches %q, which it must not", s.File, s.LineNo, s.ID, text))
		}
	}
	return errs
}
