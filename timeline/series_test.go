package timeline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestSeriesKeepsPeaks holds a series against its samples: whatever the order
// and the span, sums, counts and extremes survive coarsening, and memory does not
// grow.
func TestSeriesKeepsPeaks(t *testing.T) {
	for _, span := range []time.Duration{time.Second, time.Hour, 90 * 24 * time.Hour} {
		rng := rand.New(rand.NewPCG(1, uint64(span)))
		var s Series
		base := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC).UnixNano()
		lo, hi, sum, n := math.Inf(1), math.Inf(-1), 0.0, 5000
		first, last := int64(math.MaxInt64), int64(0)
		for range n {
			x := rng.Float64() * 1000
			when := base + rng.Int64N(int64(span))
			s.Add(when, x)
			first, last = min(first, when), max(last, when)
			lo, hi, sum = min(lo, x), max(hi, x), sum+x
		}
		s.Add(base, math.NaN())
		gotLo, gotHi, gotSum, gotN := math.Inf(1), math.Inf(-1), 0.0, 0
		for _, b := range s.Buckets {
			if b.N == 0 {
				continue
			}
			gotLo, gotHi, gotSum, gotN = min(gotLo, b.Min), max(gotHi, b.Max), gotSum+b.Sum, gotN+b.N
		}
		if gotLo != lo || gotHi != hi || gotN != n || math.Abs(gotSum-sum) > 1e-6*sum {
			t.Errorf("span %v: got min %v max %v sum %v n %d, want %v %v %v %d", span, gotLo, gotHi, gotSum, gotN, lo, hi, sum, n)
		}
		if len(s.Buckets) > maxBuckets {
			t.Errorf("span %v: %d buckets, want at most %d", span, len(s.Buckets), maxBuckets)
		}
		if end := s.Start + int64(len(s.Buckets))*s.Step; s.Start > first || end <= last {
			t.Errorf("span %v: buckets cover [%d, %d), samples [%d, %d]", span, s.Start, end, first, last)
		}
	}
}

// TestSeriesGap proves that a pause stays an empty bucket.
func TestSeriesGap(t *testing.T) {
	var s Series
	s.Add(int64(10*time.Second), 1)
	s.Add(int64(14*time.Second), 3)
	gaps := 0
	for i := range s.Buckets {
		if s.Buckets[i].N == 0 {
			gaps++
			if !math.IsNaN(s.Buckets[i].Mean()) {
				t.Errorf("bucket %d is empty and has mean %v", i, s.Buckets[i].Mean())
			}
		}
	}
	if gaps < 30 {
		t.Errorf("%d empty buckets between samples 4 s apart at a step of 100 ms, want about 39", gaps)
	}
}

func BenchmarkSeriesAdd(b *testing.B) {
	var s Series
	when := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC).UnixNano()
	for b.Loop() {
		when += int64(37 * time.Millisecond)
		s.Add(when, 1)
	}
}
