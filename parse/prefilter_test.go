package parse

import (
	"slices"
	"strings"
	"testing"
)

// TestPrefilterExact holds the scan against strings.Contains, at every alignment.
func TestPrefilterExact(t *testing.T) {
	lits := []string{"CUDA error", "illegal memory access", "Xid", "page_table_1_flattened", "OOM", "Decode batch", "no such file", "aaaaaaaa", "Exit ", "Killed", "ERR!"}
	p := newPrefilter(lits)
	texts := []string{
		"", "Xi", "Xid", "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
		"aaaaaaaaaaaaaaaa", "has no attribute 'page_table_1_flattened'", "[x] Decode batch, OOM", "CUDA erro", "nosuchfile no such file", "[1]+ Exit 1", "Killed", "xKilledExit ERR!",
	}
	for _, text := range texts {
		for pad := range 5 {
			in := strings.Repeat("-", pad) + text
			got := map[int]bool{}
			for _, f := range p.scan([]byte(in), nil) {
				if !strings.HasPrefix(in[f.at:], lits[f.lit]) {
					t.Fatalf("scan(%q) says %q at %d", in, lits[f.lit], f.at)
				}
				got[f.lit] = true
			}
			for n, lit := range lits {
				if want := strings.Contains(in, lit); got[n] != want {
					t.Errorf("scan(%q): literal %q found %v, want %v", in, lit, got[n], want)
				}
			}
		}
	}
}

func FuzzPrefilter(f *testing.F) {
	f.Add("CUDA error: an illegal memory access", "illegal memory,Xid,error: an")
	f.Fuzz(func(t *testing.T, text, list string) {
		lits := slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
		p := newPrefilter(lits)
		got := map[string]bool{}
		for _, f := range p.scan([]byte(text), nil) {
			got[lits[f.lit]] = true
		}
		for _, lit := range lits {
			if want := strings.Contains(text, lit); got[lit] != want {
				t.Fatalf("scan(%q): %q found %v, want %v", text, lit, got[lit], want)
			}
		}
	})
}

func BenchmarkPrefilter(b *testing.B) {
	line := "[2026-03-11 09:09:38 TP0] Decode batch, #running-req: 64, #token: 4096, token usage: 0.10, cuda graph: True, gen throughput (token/s): 700.41, #queue-req: 0, \n"
	block := []byte(strings.Repeat(line, 256<<10/len(line)))
	p := newPrefilter([]string{"CUDA error: ", "illegal memory access", "page_table_1_flattened", "Killed process", "out of memory"})
	b.SetBytes(int64(len(block)))
	var dst []found
	for b.Loop() {
		dst = p.scan(block, dst[:0])
	}
}
