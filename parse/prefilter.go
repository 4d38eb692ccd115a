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
	maybe []uint64   // one bit per longer hash: keeps most probes away from the table
	pairs []uint16   // two bytes -> bucket number, 0 for none; nil without such literals
	bucks [][]gramAt // bucket -> literals with the offset of the gram in them
	short []int      // literals under pairWindow bytes
}

type gramAt struct{ lit, off int }

const (
	gramWindow = 7
	pairWindow = 5
	gramBits   = 16
	maybeBits  = 19
)

// gramHash spreads four bytes over 32 bits; its upper bits index the tables.
func gramHash(a, b, c, d byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16 | uint32(d)<<24) * 2654435761
}

// newPrefilter builds the table. Literals must not be empty.
func newPrefilter(lits []string) *prefilter {
	p := &prefilter{lits: lits, table: make([]uint16, 1<<gramBits), maybe: make([]uint64, 1<<maybeBits/64), bucks: make([][]gramAt, 1)}
	for n, lit := range lits {
		switch {
		case len(lit) >= gramWindow:
			w := rarestWindow(lit)
			for off := w; off < w+4; off++ {
				h := gramHash(lit[off], lit[off+1], lit[off+2], lit[off+3])
				p.maybe[h>>(32-maybeBits+6)] |= 1 << (h >> (32 - maybeBits) & 63)
				p.enter(p.table, h>>(32-gramBits), gramAt{n, off})
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
	maybe := (*[1 << maybeBits / 64]uint64)(p.maybe)
	i := 0
	for ; i+4 <= len(text); i += 4 {
		h := gramHash(text[i], text[i+1], text[i+2], text[i+3])
		if maybe[h>>(32-maybeBits+6)]>>(h>>(32-maybeBits)&63)&1 == 0 {
			continue
		}
		if b := p.table[h>>(32-gramBits)]; b != 0 {
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

// rarestWindow returns the offset of the seven bytes of lit whose grams are least
// likely in a server log: first those that typical lines do not hold at all.
func rarestWindow(lit string) int {
	best, bestCost := 0, 1e18
	for w := 0; w+gramWindow <= len(lit); w++ {
		cost := 0.0
		for off := w; off < w+4; off++ {
			g := lit[off : off+4]
			cost += float64(typicalGrams[g]) * 1e9
			rare := 1.0
			for i := range 4 {
				rare *= byteWeight[g[i]]
			}
			cost += rare
		}
		if cost < bestCost {
			best, bestCost = w, cost
		}
	}
	return best
}

// typicalLines are the lines that fill the logs of healthy servers and clients.
const typicalLines = `[2026-03-11 09:09:38 TP0] Decode batch, #running-req: 64, #token: 4096, token usage: 0.10, cuda graph: True, gen throughput (token/s): 700.41, #queue-req: 0,
[2026-03-11 09:09:38 DP1 TP1 EP1] Prefill batch, #new-seq: 1, #new-token: 256, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, input throughput (token/s): 1.0,
[2026-03-11 09:09:38] INFO:     127.0.0.1:57466 - "POST /v1/chat/completions HTTP/1.1" 200 OK
INFO:     127.0.0.1:57466 - "POST /generate HTTP/1.1" 200 OK
INFO:     10.0.0.5:40052 - "GET /health HTTP/1.1" 200 OK
(APIServer pid=1) INFO 06-15 13:57:57 [loggers.py:118] Engine 000: Avg prompt throughput: 492.5 tokens/s, Avg generation throughput: 17.2 tokens/s, Running: 1 reqs, Waiting: 112 reqs, GPU KV cache usage: 48.0%, Prefix cache hit rate: 0.0%
INFO 01-23 06:33:37 metrics.py:396] Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: 1.0%, CPU KV cache usage: 0.0%.
(EngineCore_DP0 pid=88) (Worker_TP0 pid=405) INFO 10-29 15:00:16 [gpu_model_runner.py:2602] Starting to load model
  File "/usr/local/lib/python3.12/dist-packages/torch/nn/modules/module.py", line 1775, in _wrapped_call_impl
  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 3166, in run_scheduler_process
  File "/root/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 199, in forward
    return self._call_impl(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Traceback (most recent call last):
Loading safetensors checkpoint shards:  50% Completed | 12/24 [00:14<00:14,  1.17s/it]
Capturing batches (bs=128 avail_mem=21.07 GB):  30%|   | 3/10 [00:12<00:28,  0.24it/s]
2026/03/11 09:09:38.401, 0, NVIDIA H200, 97 %, 263914 MiB, 611.20 W, 61, 0x0000000000000001
`

// typicalGrams counts the four-byte sequences of typicalLines.
var typicalGrams = func() map[string]int {
	m := map[string]int{}
	for i := 0; i+4 <= len(typicalLines); i++ {
		m[typicalLines[i:i+4]]++
	}
	return m
}()

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
