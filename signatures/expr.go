package signatures

import (
	"regexp"
	"strings"
	"sync"
)

// expr is a regular expression that is compiled when it is first needed: of the
// hundreds of patterns a run touches a few dozen. It is safe for concurrent use
// and must not be copied.
type expr struct {
	src string
	// literals hold one text at least that is part of every match; without
	// literals the expression has to be tried on everything.
	literals []string

	once sync.Once
	re   *regexp.Regexp
	also [][]string // further literals, see furtherLiterals
}

// get returns the compiled expression. Expressions are checked before they get
// here: those of users when their packs are read, the embedded ones by the
// package's tests.
func (e *expr) get() *regexp.Regexp {
	e.once.Do(func() {
		if e.re == nil {
			e.re = regexp.MustCompile(e.src)
		}
		e.also = furtherLiterals(e.src, e.literals)
	})
	return e.re
}

// run runs the expression on a text that holds one of its literals.
func (e *expr) run(text string) bool {
	re := e.get()
	for _, lits := range e.also {
		if !containsAny(text, lits) {
			return false
		}
	}
	return re.MatchString(text)
}

// may reports whether the literals allow a match.
func (e *expr) may(text string) bool {
	return len(e.literals) == 0 || containsAny(text, e.literals)
}

func containsAny(text string, lits []string) bool {
	for _, l := range lits {
		if strings.Contains(text, l) {
			return true
		}
	}
	return false
}

// matchString reports whether the expression matches, looking for its literals
// first.
func (e *expr) matchString(text string) bool { return e.may(text) && e.run(text) }

// newExpr compiles an expression and extracts its literals.
func newExpr(src string) (*expr, error) {
	re, err := regexp.Compile(src)
	if err != nil {
		return nil, err
	}
	lits, err := requiredLiterals(src)
	if err != nil {
		return nil, err
	}
	return &expr{src: src, literals: lits, re: re}, nil
}
