package signatures

import (
	"strings"
	"testing"
)

func BenchmarkLoad(b *testing.B) {
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, err := readCompact(compact); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			if _, err := Load(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// literalsIn is what package parse finds in a line.
func literalsIn(set *Set, line string) []int {
	var found []int
	for i, lit := range set.Literals() {
		if strings.Contains(line, lit) {
			found = append(found, i)
		}
	}
	return found
}

func BenchmarkMatchLine(b *testing.B) {
	set, err := Load()
	if err != nil {
		b.Fatal(err)
	}
	for name, line := range map[string]string{
		"cuda": "RuntimeError: CUDA error: an illegal memory access was encountered",
		"oom":  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.06 GiB is free.",
		"none": "Decode batch, #running-req: 16, #token: 20480, token usage: 0.04, cuda graph: True, gen throughput (token/s): 1520.44, #queue-req: 0",
	} {
		b.Run(name, func(b *testing.B) {
			found, dst := literalsIn(set, line), []int(nil)
			for b.Loop() {
				dst = set.MatchLine([]byte(line), found, dst[:0])
			}
		})
	}
}

func BenchmarkMatchException(b *testing.B) {
	set, err := Load()
	if err != nil {
		b.Fatal(err)
	}
	frames := []string{"/sgl/sglang/srt/managers/scheduler.py:event_loop_overlap", "/sgl/sglang/srt/layers/attention/nsa_backend.py:forward"}
	for name, text := range map[string]string{
		"known":   "AttributeError: 'PrefillMetadata' object has no attribute 'page_table_1_flattened'",
		"unknown": "FrobnicationError: the frobnicator of layer 17 refused to turn",
		"long":    "ValueError: " + strings.Repeat("the frobnicator of layer 17 refused to turn; ", 100),
	} {
		b.Run(name, func(b *testing.B) {
			var dst []int
			for b.Loop() {
				dst = set.MatchException(text, frames, dst[:0])
			}
		})
	}
}
