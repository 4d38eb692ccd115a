package signatures

import "slices"

// litIndex finds which of a fixed set of literals occur in a short text, such as
// the message of an exception, without searching for each of them. Every literal
// is entered under one of its 4-byte grams; the text's grams are looked up in
// turn and candidates are verified by comparison.
//
// Lines of logs do not come this way: package parse scans whole blocks for the
// literals of line patterns and hands over their numbers.
type litIndex struct {
	lits    []string
	buckets [][]litAt
}

// litAt is a literal with the offset of its gram.
type litAt struct{ lit, off int32 }

const indexBits = 12

func gram(s string, i int) uint32 {
	x := uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
	return (x * 2654435761) >> (32 - indexBits)
}

// newLitIndex indexes literals of at least MinLiteral bytes. Each goes to the
// emptiest bucket that one of its grams leads to.
func newLitIndex(lits []string) *litIndex {
	x := &litIndex{lits: lits, buckets: make([][]litAt, 1<<indexBits)}
	for n, lit := range lits {
		best := 0
		for off := 1; off+4 <= len(lit); off++ {
			if len(x.buckets[gram(lit, off)]) < len(x.buckets[gram(lit, best)]) {
				best = off
			}
		}
		b := gram(lit, best)
		x.buckets[b] = append(x.buckets[b], litAt{int32(n), int32(best)})
	}
	return x
}

// find appends to dst the numbers of the literals that text holds, each once.
func (x *litIndex) find(text string, dst []int) []int {
	for i := 0; i+4 <= len(text); i++ {
		for _, g := range x.buckets[gram(text, i)] {
			at, lit := i-int(g.off), x.lits[g.lit]
			if at >= 0 && at+len(lit) <= len(text) && text[at:at+len(lit)] == lit && !slices.Contains(dst, int(g.lit)) {
				dst = append(dst, int(g.lit))
			}
		}
	}
	return dst
}
