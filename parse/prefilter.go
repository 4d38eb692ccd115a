package parse

import "bytes"

// prefilter finds which of a fixed set of literals occur in a block of text, in
// one pass whatever their number. Each literal of gramWindow bytes or more is
// entered under the four 4-byte grams of its rarest window of seven bytes; the
// scan probes every fourth byte, so one of the four must be hit. Literals of five
// and six bytes are entered under their pairs of bytes, which the same probes
// meet; the few that are shorter are searched one by one. Candidates are verified
// by comparison, so the result is exact.
type prefilter struct {
	lits  []string
	table []uint16   // gram hash -> bucket number, 0 for none
	pairs []uint16   // two bytes -> bucket number, 0 for none; nil without such literals
	bucks [][]gramAt // bucket -> literals with the offset of the gram in them
	short []int      // literals under pairWindow bytes
}

type gramAt struct{ lit, off int }

const (
	gramWindow = 7
	pairWindow = 5
	gramBits   = 16
)

func gramHash(a, b, c, d byte) uint32 {
	x := uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24
	return (x * 2654435761) >> (32 - gramBits)
}

// newPrefilter builds the table. Literals must not be empty.
func newPrefilter(lits []string) *prefilter {
	p := &prefilter{lits: lits, table: make([]uint16, 1<<gramBits), bucks: make([][]gramAt, 1)}
	for n, lit := range lits {
		switch {
		case len(lit) >= gramWindow:
			w := rarestWindow(lit)
			for off := w; off < w+4; off++ {
				p.enter(p.table, gramHash(lit[off], lit[off+1], lit[off+2], lit[off+3]), gramAt{n, off})
			}
		case len(lit) >= pairWindow:
			if p.pairs == nil {
				p.pairs = make([]uint16, 1<<16)
			}
			for off := range 4 {
				p.enter(p.pairs, uint32(lit[off])|uint32(lit[off+1])<<8, gramAt{n, off})
			}
		default:
			p.short = append(p.short, n)
		}
	}
	return p
}

func (p *prefilter) enter(table []uint16, key uint32, g gramAt) {
	if table[key] == 0 {
		table[key] = uint16(len(p.bucks))
		p.bucks = append(p.bucks, nil)
	}
	b := table[key]
	p.bucks[b] = append(p.bucks[b], g)
}

// found is a literal at an offset of the scanned text.
type found struct{ lit, at int }

// scan appends every occurrence of a literal in text to dst. Occurrences are
// ordered by the place of the probe that found them, which is within the
// literal; they may repeat.
func (p *prefilter) scan(text []byte, dst []found) []found {
	table := (*[1 << gramBits]uint16)(p.table)
	i := 0
	for ; i+4 <= len(text); i += 4 {
		if b := table[gramHash(text[i], text[i+1], text[i+2], text[i+3])]; b != 0 {
			dst = p.verify(text, i, b, dst)
		}
	}
	if p.pairs != nil {
		pairs := (*[1 << 16]uint16)(p.pairs)
		for i = 0; i+2 <= len(text); i += 4 {
			if b := pairs[uint16(text[i])|uint16(text[i+1])<<8]; b != 0 {
				dst = p.verify(text, i, b, dst)
			}
		}
	}
	for _, n := range p.short {
		dst = p.scanShort(text, n, dst)
	}
	return dst
}

func (p *prefilter) verify(text []byte, i int, bucket uint16, dst []found) []found {
	for _, g := range p.bucks[bucket] {
		at, lit := i-g.off, p.lits[g.lit]
		if at >= 0 && at+len(lit) <= len(text) && string(text[at:at+len(lit)]) == lit {
			dst = append(dst, found{g.lit, at})
		}
	}
	return dst
}

func (p *prefilter) scanShort(text []byte, n int, dst []found) []found {
	lit := []byte(p.lits[n])
	for at := 0; ; {
		i := bytes.Index(text[at:], lit)
		if i < 0 {
			return dst
		}
		dst = append(dst, found{n, at + i})
		at += i + 1
	}
}

// rarestWindow returns the offset of the seven bytes of lit that are least
// likely in a server log.
func rarestWindow(lit string) int {
	best, bestCost := 0, 1e18
	for w := 0; w+gramWindow <= len(lit); w++ {
		cost := 0.0
		for off := w; off < w+4; off++ {
			g := 1.0
			for i := off; i < off+4; i++ {
				g *= byteWeight[lit[i]]
			}
			cost += g
		}
		if cost < bestCost {
			best, bestCost = w, cost
		}
	}
	return best
}

// byteWeight is how often a byte occurs in server logs, roughly, per thousand.
var byteWeight = func() (w [256]float64) {
	for i := range w {
		w[i] = 0.2
	}
	for chars, weight := range map[string]float64{
		" ": 120, "e": 60, "0123456789": 35, "atnor": 40, "i#:.,": 35, "sdlu": 28, "gqchmpk": 18,
		"fbwvy-/_": 12, "[]()\"'=": 8, "PTDGIBNFO": 8, "xzj": 3,
	} {
		for _, c := range []byte(chars) {
			w[c] = weight
		}
	}
	return w
}()
