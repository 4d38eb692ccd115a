package parse

// prefilter finds which of a fixed set of literals occur in a block of text, in
// one pass whatever their number. Each literal of gramWindow bytes or more is
// entered under the four 4-byte grams of its rarest window of seven bytes; the
// scan probes every fourth byte, so one of the four must be hit. Shorter
// literals are entered under one gram and probed at every byte by a second,
// rarely needed, pass. Candidates are verified by comparison, so the result is
// exact.
type prefilter struct {
	lits  []string
	table []uint16   // gram hash -> bucket number, 0 for none
	bucks [][]gramAt // bucket -> literals with the offset of the gram in them
	short []gramAt   // literals under gramWindow bytes
	first [256]bool  // first bytes of short literals
}

type gramAt struct{ lit, off int }

const (
	gramWindow = 7
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
		if len(lit) < gramWindow {
			p.short = append(p.short, gramAt{lit: n})
			p.first[lit[0]] = true
			continue
		}
		w := rarestWindow(lit)
		for off := w; off < w+4; off++ {
			h := gramHash(lit[off], lit[off+1], lit[off+2], lit[off+3])
			if p.table[h] == 0 {
				p.table[h] = uint16(len(p.bucks))
				p.bucks = append(p.bucks, nil)
			}
			b := p.table[h]
			p.bucks[b] = append(p.bucks[b], gramAt{n, off})
		}
	}
	return p
}

// found is a literal at an offset of the scanned text.
type found struct{ lit, at int }

// scan appends every occurrence of a literal in text to dst. Occurrences are
// ordered by the place of the probe that found them, which is within the
// literal; they may repeat.
func (p *prefilter) scan(text []byte, dst []found) []found {
	for i := 0; i+4 <= len(text); i += 4 {
		b := p.table[gramHash(text[i], text[i+1], text[i+2], text[i+3])]
		if b == 0 {
			continue
		}
		for _, g := range p.bucks[b] {
			at, lit := i-g.off, p.lits[g.lit]
			if at >= 0 && at+len(lit) <= len(text) && string(text[at:at+len(lit)]) == lit {
				dst = append(dst, found{g.lit, at})
			}
		}
	}
	if len(p.short) > 0 {
		dst = p.scanShort(text, dst)
	}
	return dst
}

func (p *prefilter) scanShort(text []byte, dst []found) []found {
	for i, c := range text {
		if !p.first[c] {
			continue
		}
		for _, g := range p.short {
			lit := p.lits[g.lit]
			if i+len(lit) <= len(text) && string(text[i:i+len(lit)]) == lit {
				dst = append(dst, found{g.lit, i})
			}
		}
	}
	return dst
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
