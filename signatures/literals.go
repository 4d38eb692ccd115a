package signatures

import (
	"regexp/syntax"
	"unicode/utf8"
)

// MinLiteral is the shortest literal, in bytes, that a line pattern must hold:
// every pattern is found by its literals first, so that a log is scanned once,
// whatever the number of signatures.
const MinLiteral = 4

// maxAlternatives bounds the literals taken from one pattern.
const maxAlternatives = 48

// requiredLiterals returns literals one of which is part of every match of the
// expression, or nil if there is no such set of literals that are all at least
// MinLiteral bytes long.
func requiredLiterals(expr string) ([]string, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	lits := required(re.Simplify())
	if shortest(lits) < MinLiteral || len(lits) > maxAlternatives {
		return nil, nil
	}
	return lits, nil
}

func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return nil
		}
		buf := make([]byte, 0, len(re.Rune))
		for _, r := range re.Rune {
			buf = utf8.AppendRune(buf, r)
		}
		return []string{string(buf)}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min >= 1 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if lits := required(sub); shortest(lits) > shortest(best) {
				best = lits
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			lits := required(sub)
			if lits == nil {
				return nil
			}
			all = append(all, lits...)
		}
		return all
	}
	return nil
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
