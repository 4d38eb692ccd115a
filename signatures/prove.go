package signatures

import (
	"fmt"
	"regexp"
	"strings"
)

// matchLineText tries the line patterns without the literal table.
func (s *Signature) matchLineText(line string) bool {
	for _, e := range s.lines {
		if e.matchString(line) {
			return s.Vetoed(line) == ""
		}
	}
	return false
}

var (
	frameLineRE = regexp.MustCompile(`^\s*File "([^"]+)", line \d+,? in (.+)$`)
	excLineRE   = regexp.MustCompile(`^\s*((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*): `)
	bareExcRE   = regexp.MustCompile(`^\s*(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Exit|Interrupt)$`)
)

// textFrames returns the frames of a text as "path:function".
func textFrames(text string) []string {
	var frames []string
	for line := range strings.Lines(text) {
		if m := frameLineRE.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			frames = append(frames, m[1]+":"+m[2])
		}
	}
	return frames
}

// eachTry calls f with every line of a text, and with every text that is tried as
// an exception, until f returns true, which eachTry then returns.
func eachTry(text string, f func(text string, exception bool) bool) bool {
	rest := text
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		if f(bare, false) {
			return true
		}
		if (excLineRE.MatchString(bare) || bareExcRE.MatchString(bare)) && (f(strings.TrimSpace(rest), true) || f(bare, true)) {
			return true
		}
		rest = rest[len(line):]
	}
	return false
}

// MatchText tries a signature on a text the way examples are tried: every line
// against the line patterns, lines that look like exceptions against the
// exception patterns, with the text's frame lines as the stack.
func (s *Signature) MatchText(text string) bool {
	frames := textFrames(text)
	return eachTry(text, func(part string, exception bool) bool {
		if exception {
			return s.matchException(part, frames)
		}
		return s.matchLineText(part) && s.FrameOK(frames)
	})
}

// whyMiss says why a text that should match does not.
func (s *Signature) whyMiss(text string) string {
	why := "none of the patterns is found in it"
	if len(s.Line) == 0 {
		why = `no line "Type: message" of it matches an exception pattern`
	}
	eachTry(text, func(part string, exception bool) bool {
		list := s.lines
		if exception {
			list = s.excs
		}
		for _, e := range list {
			if !e.matchString(part) {
				continue
			}
			if veto := s.Vetoed(part); veto != "" {
				why = fmt.Sprintf("vetoed by not %q", veto)
			} else {
				why = fmt.Sprintf("no frame of it matches %q: put the line File \"path\", line 1, in function above the exception", s.Frame)
			}
			return true
		}
		return false
	})
	return why
}

// Prove returns a problem for every example that does not behave.
func (s *Signature) Prove() []Problem {
	c := checker{sig: s, pos: s.pos}
	for i, text := range s.Examples.Match {
		if !s.MatchText(text) {
			c.fail(fmt.Sprintf("examples.match.%d", i), "example %q does not match: %s", clipText(text), s.whyMiss(text))
		}
	}
	for i, text := range s.Examples.Miss {
		if s.MatchText(text) {
			c.fail(fmt.Sprintf("examples.miss.%d", i), "%q matches and must not: make the patterns narrower or add a pattern under not", clipText(text))
		}
	}
	return c.problems
}

// clipText bounds a text for messages.
func clipText(s string) string {
	const limit = 160
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}
