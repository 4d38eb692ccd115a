package timeline

import (
	"math"

	"github.com/llmforensics/forensics"
)

// maxBuckets bounds the memory of a series. When a sample falls outside, the
// step doubles and neighbours merge, so that any duration fits.
const maxBuckets = 720

// Series is a quantity over time at bounded resolution. Buckets keep the
// extremes of what fell into them, so peaks survive; an empty bucket is a gap.
type Series struct {
	// Name is a Val constant of the root package, which fixes the unit.
	Name string
	// Label tells series of one name apart: "TP0", "GPU 1".
	Label  string
	Source int
	// Start is the time of the first bucket's left edge, Step its width, in
	// nanoseconds. Start is a multiple of Step.
	Start, Step int64
	Buckets     []Bucket
	// PeakAt is the line of the largest sample, Peak its value.
	PeakAt forensics.Quote
	Peak   float64
	// LastAt is the line of the last sample.
	LastAt forensics.Quote
	last   []byte
}

// Bucket summarises the samples of one step.
type Bucket struct {
	N        int
	Sum      float64
	Min, Max float64
}

// Mean returns the bucket's mean, NaN for an empty one.
func (b *Bucket) Mean() float64 {
	if b.N == 0 {
		return math.NaN()
	}
	return b.Sum / float64(b.N)
}

func (b *Bucket) add(x float64) {
	if b.N == 0 || x < b.Min {
		b.Min = x
	}
	if b.N == 0 || x > b.Max {
		b.Max = x
	}
	b.N++
	b.Sum += x
}

func (b *Bucket) merge(c Bucket) {
	if c.N == 0 {
		return
	}
	if b.N == 0 {
		*b = c
		return
	}
	b.N += c.N
	b.Sum += c.Sum
	b.Min = min(b.Min, c.Min)
	b.Max = max(b.Max, c.Max)
}

// Add records a sample. NaN and infinities are left out.
func (s *Series) Add(when int64, x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	if s.Step == 0 {
		s.Step = int64(1e8) // 100 ms
	}
	if len(s.Buckets) == 0 {
		s.Start = floorTo(when, s.Step)
	}
	s.makeRoom(when)
	s.Buckets[(when-s.Start)/s.Step].add(x)
}

// makeRoom grows the series so that when falls into it, coarsening as needed.
func (s *Series) makeRoom(when int64) {
	for {
		first := min(s.Start, floorTo(when, s.Step))
		last := max(s.Start+int64(len(s.Buckets)-1)*s.Step, floorTo(when, s.Step))
		n := (last-first)/s.Step + 1
		if n > maxBuckets {
			s.coarsen()
			continue
		}
		if first < s.Start {
			s.Buckets = append(make([]Bucket, (s.Start-first)/s.Step), s.Buckets...)
			s.Start = first
		}
		for int64(len(s.Buckets)) < n {
			s.Buckets = append(s.Buckets, Bucket{})
		}
		return
	}
}

func (s *Series) coarsen() {
	step := s.Step * 2
	start := floorTo(s.Start, step)
	shift := int((s.Start - start) / s.Step)
	out := s.Buckets[:0:0]
	for i, b := range s.Buckets {
		at := (i + shift) / 2
		for len(out) <= at {
			out = append(out, Bucket{})
		}
		out[at].merge(b)
	}
	s.Start, s.Step, s.Buckets = start, step, out
}

func floorTo(x, step int64) int64 {
	q := x / step
	if x < 0 && x%step != 0 {
		q--
	}
	return q * step
}

// Max returns the largest sample, and false for an empty series.
func (s *Series) Max() (float64, bool) {
	m, ok := math.Inf(-1), false
	for i := range s.Buckets {
		if s.Buckets[i].N > 0 {
			m, ok = max(m, s.Buckets[i].Max), true
		}
	}
	return m, ok
}
