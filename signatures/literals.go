package signatures

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// MinLiteral is the shortest literal, in bytes, that a line pattern must hold:
// every pattern is found by its literals first, so that a log is scanned once,
// whatever the number of signatures. Literals of seven bytes and more are found
// faster.
const MinLiteral = 4

const (
	// maxAlternatives bounds the literals taken from one pattern.
	maxAlternatives = 64
	// maxClass is the largest character class that is spelled out: "[Cc]ache" is
	// two literals, "\d" is none.
	maxClass = 4
)

// requiredLiterals returns literals one of which is part of every match of the
// expression, or nil if there is no such set of literals that are all at least
// MinLiteral bytes long.
func requiredLiterals(expr string) ([]string, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	lits := analyse(re.Simplify()).best()
	if shortest(lits) < MinLiteral || len(lits) > maxAlternatives {
		return nil, nil
	}
	return lits, nil
}

// furtherLiterals returns more sets of literals, one of each of which is part of
// every match: the other fixed parts of a concatenation, or what have lacks. A text
// without them need not be tried.
func furtherLiterals(expr string, have []string) [][]string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	re = re.Simplify()
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	sets := [][]string{analyse(re).best()}
	if re.Op == syntax.OpConcat {
		sets = concatSets(re.Sub)
	}
	var out [][]string
	for _, lits := range sets {
		if shortest(lits) >= 3 && len(lits) <= maxAlternatives && !slices.Equal(lits, have) {
			out = append(out, lits)
		}
	}
	return out
}

// texts is what is known of the text that an expression matches: the whole of it,
// if it is one of a few strings, and strings one of which it holds.
type texts struct {
	exact []string // every match is one of these; nil if they are not known
	held  []string // every match holds one of these; nil if none is known
}

// best returns the set of literals to look for.
func (t texts) best() []string {
	if shortest(t.exact) > shortest(t.held) || shortest(t.exact) == shortest(t.held) && len(t.held) == 0 {
		return t.exact
	}
	return t.held
}

func analyse(re *syntax.Regexp) texts {
	switch re.Op {
	case syntax.OpLiteral:
		return literalTexts(re)
	case syntax.OpCharClass:
		return classTexts(re)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return texts{exact: []string{""}}
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpQuest:
		if sub := analyse(re.Sub[0]); sub.exact != nil {
			return texts{exact: dedupe(append([]string{""}, sub.exact...))}
		}
	case syntax.OpPlus:
		return texts{held: analyse(re.Sub[0]).best()}
	case syntax.OpRepeat:
		if re.Min >= 1 {
			return texts{held: analyse(re.Sub[0]).best()}
		}
	case syntax.OpConcat:
		return concatTexts(re.Sub)
	case syntax.OpAlternate:
		return alternateTexts(re.Sub)
	}
	return texts{}
}

func literalTexts(re *syntax.Regexp) texts {
	if re.Flags&syntax.FoldCase != 0 {
		return texts{}
	}
	buf := make([]byte, 0, len(re.Rune))
	for _, r := range re.Rune {
		buf = utf8.AppendRune(buf, r)
	}
	return texts{exact: []string{string(buf)}}
}

func classTexts(re *syntax.Regexp) texts {
	var out []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(out) == maxClass {
				return texts{}
			}
			out = append(out, string(r))
		}
	}
	return texts{exact: out}
}

// concatTexts joins neighbours whose texts are known into longer literals, and
// keeps the best that is seen on the way.
func concatTexts(subs []*syntax.Regexp) texts {
	if exact := exactConcat(subs); exact != nil {
		return texts{exact: exact}
	}
	var held []string
	for _, lits := range concatSets(subs) {
		if shortest(lits) > shortest(held) {
			held = lits
		}
	}
	return texts{held: held}
}

// exactConcat returns all texts of a concatenation if they are few, else nil.
func exactConcat(subs []*syntax.Regexp) []string {
	run := []string{""}
	for _, sub := range subs {
		t := analyse(sub)
		if t.exact == nil || len(run)*len(t.exact) > maxAlternatives {
			return nil
		}
		run = cross(run, t.exact)
	}
	return run
}

// concatSets returns, for every stretch of a concatenation whose texts are known
// and every part that holds known texts, the set of them.
func concatSets(subs []*syntax.Regexp) [][]string {
	var sets [][]string
	keep := func(lits []string) {
		if shortest(lits) > 0 {
			sets = append(sets, lits)
		}
	}
	run := []string{""}
	for _, sub := range subs {
		t := analyse(sub)
		switch {
		case t.exact != nil && len(run)*len(t.exact) <= maxAlternatives:
			run = cross(run, t.exact)
		case t.exact != nil:
			keep(run)
			run = t.exact
		default:
			keep(run)
			keep(t.held)
			run = []string{""}
		}
	}
	keep(run)
	return sets
}

func alternateTexts(subs []*syntax.Regexp) texts {
	var exact, held []string
	known, holds := true, true
	for _, sub := range subs {
		t := analyse(sub)
		if t.exact == nil {
			known = false
		}
		exact = append(exact, t.exact...)
		lits := t.best()
		if lits == nil {
			holds = false
		}
		held = append(held, lits...)
	}
	var out texts
	if known && len(exact) <= maxAlternatives {
		out.exact = dedupe(exact)
	}
	if holds && len(held) <= maxAlternatives {
		out.held = dedupe(held)
	}
	return out
}

func cross(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return dedupe(out)
}

func dedupe(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// shortest returns the length of the shortest literal, 0 for none.
func shortest(lits []string) int {
	if len(lits) == 0 {
		return 0
	}
	n := len(lits[0])
	for _, l := range lits[1:] {
		n = min(n, len(l))
	}
	return n
}
