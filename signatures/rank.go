package signatures

import (
	"fmt"
	"slices"
	"strings"
)

// Place is what is known of the place a text was found at.
type Place struct {
	Writer string // role of the process that wrote it, "" if unknown
	Engine string // of the run, "" if unknown
	// Launched is true when the process was ready before, Lived when it is known
	// which process it was.
	Launched, Lived bool
}

// OutOfScope returns why a signature does not apply at a place, "" if it does.
func (s *Signature) OutOfScope(p Place) string {
	if len(s.In) > 0 && p.Writer != "" && !slices.Contains(s.In, p.Writer) {
		return fmt.Sprintf("scope: only in lines of %s, this is %s", strings.Join(s.In, ", "), p.Writer)
	}
	if len(s.Engine) > 0 && p.Engine != "" && !slices.Contains(s.Engine, p.Engine) {
		return fmt.Sprintf("scope: only for engine %s, this is %s", strings.Join(s.Engine, ", "), p.Engine)
	}
	if p.Writer == "server" || p.Writer == "" {
		switch {
		case s.Phase == "launch" && p.Launched:
			return "scope: only during launch, the server was ready already"
		case s.Phase == "serving" && !p.Launched && p.Lived:
			return "scope: only while serving, the server was not ready yet"
		}
	}
	return ""
}

// strength orders roles when signatures of one layer match the same text.
func (r Role) strength() int { return slices.Index(roleNames, string(r)) }

func (s *Signature) mute() bool { return s.Role == Advice || s.Role == Benign }

// Outranks reports whether s says more about a text than o, and why: the lower
// layer wins, then the stronger role, then the place in the packs. A line known
// to be harmless stays so unless something more specific fits.
func (s *Signature) Outranks(o *Signature) (bool, string) {
	if s.mute() != o.mute() && (s.Role == Benign || o.Role == Benign) {
		first := s.layer < o.layer || s.layer == o.layer && s.mute()
		return first, fmt.Sprintf("layer: a %s line stays so unless something more specific fits (%s against %s)",
			muteOf(s, o).Role, s.Layer, o.Layer)
	}
	if s.layer != o.layer {
		return s.layer < o.layer, fmt.Sprintf("layer: %s against %s", s.Layer, o.Layer)
	}
	if s.Role != o.Role {
		return s.Role.strength() < o.Role.strength(), fmt.Sprintf("role: %s against %s", s.Role, o.Role)
	}
	if s.File != o.File {
		return s.File < o.File, fmt.Sprintf("order: pack %s against %s", s.File, o.File)
	}
	return s.LineNo < o.LineNo, "order: the one that stands first in the pack"
}

func muteOf(s, o *Signature) *Signature {
	if s.mute() {
		return s
	}
	return o
}

// Candidates is a matcher like the set it is made of, but for vetoes: it also
// reports signatures that a pattern under "not" turns away. It serves to show why
// a signature does not match.
type Candidates struct{ *Set }

// MatchLine is that of the set without vetoes.
func (c Candidates) MatchLine(line []byte, found []int, dst []int) []int {
	return c.matchLine(string(line), found, dst, false)
}

// TryException returns the numbers of the signatures that have an exception
// pattern for a text, whatever their vetoes and frames say, in ascending order.
func (s *Set) TryException(text string) []int {
	var hits []int
	for n, sig := range s.Sigs {
		if slices.ContainsFunc(sig.excs, func(e *expr) bool { return e.matchString(text) }) {
			hits = append(hits, n)
		}
	}
	return hits
}
