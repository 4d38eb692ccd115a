package timeline

import (
	"time"

	"github.com/llmforensics/forensics"
)

// interval is a range of times in nanoseconds.
type interval struct{ from, to int64 }

func (a interval) gap(b interval) int64 {
	switch {
	case a.to < b.from:
		return b.from - a.to
	case b.to < a.from:
		return a.from - b.to
	}
	return 0
}

// alignClocks finds the offset of every source's stamps to the run's axis. The
// axis is local time where a source prints dates without a zone, else UTC.
func alignClocks(run *forensics.Run, cols []*Collector) []Clock {
	clocks := make([]Clock, len(cols))
	ref, kind := reference(cols)
	for i, c := range cols {
		k := &clocks[i]
		k.Source, k.Kind = i, c.clock
		switch c.clock {
		case forensics.ClockNone:
			continue
		case kind:
			k.How = "own stamps"
			if kind == forensics.ClockYearless {
				k.How = "own stamps, which print no year"
			}
		case forensics.ClockLocal, forensics.ClockAbsolute:
			alignZone(k, c, ref)
		case forensics.ClockYearless:
			alignYear(k, c, ref)
		}
	}
	for i, c := range cols {
		if c.clock == forensics.ClockUptime {
			alignUptime(&clocks[i], c, cols, clocks)
		}
	}
	return clocks
}

// reference picks the clock kind of the axis and the range its sources cover.
func reference(cols []*Collector) (interval, forensics.ClockKind) {
	for _, kind := range []forensics.ClockKind{forensics.ClockLocal, forensics.ClockAbsolute, forensics.ClockYearless, forensics.ClockUptime} {
		var r interval
		found := false
		for _, c := range cols {
			if c.clock != kind {
				continue
			}
			if !found {
				r, found = interval{c.first.Nanos, c.last.Nanos}, true
			}
			r.from, r.to = min(r.from, c.first.Nanos), max(r.to, c.last.Nanos)
		}
		if found {
			return r, kind
		}
	}
	return interval{}, forensics.ClockNone
}

// alignZone places stamps with a zone among stamps without one: as they are when
// the ranges meet, else at the zone that makes them meet.
func alignZone(k *Clock, c *Collector, ref interval) {
	own := interval{c.first.Nanos, c.last.Nanos}
	k.How = "own stamps; the zone of the other sources is taken to be the same"
	k.Uncertainty = time.Second
	if own.gap(ref) < int64(20*time.Minute) {
		return
	}
	best, bestGap := int64(0), own.gap(ref)
	for q := int64(-56); q <= 56; q++ {
		shift := q * int64(15*time.Minute)
		gap := interval{own.from + shift, own.to + shift}.gap(ref)
		if gap < bestGap || gap == bestGap && abs(shift) < abs(best) {
			best, bestGap = shift, gap
		}
	}
	if bestGap == 0 {
		k.Offset = time.Duration(best)
		k.Uncertainty = 15 * time.Minute
		k.How = "shifted by whole quarters of an hour so that it meets the sources without a zone"
	}
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// alignYear gives stamps without a year the year that brings them closest to the
// dated sources.
func alignYear(k *Clock, c *Collector, ref interval) {
	k.Offset = time.Duration(yearOffset(c.first.Nanos, ref))
	k.Uncertainty = time.Second
	k.How = "year taken from the dated sources"
}

// yearOffset returns what moves a stamp without a year as close as it gets to a
// range of dates.
func yearOffset(nanos int64, ref interval) int64 {
	base := time.Unix(0, nanos).UTC()
	refYear := time.Unix(0, ref.from).UTC().Year()
	best, bestGap := int64(0), int64(-1)
	for y := refYear - 1; y <= refYear+1; y++ {
		moved := time.Date(y, base.Month(), base.Day(), base.Hour(), base.Minute(), base.Second(), base.Nanosecond(), time.UTC).UnixNano()
		if gap := (interval{moved, moved}).gap(ref); bestGap < 0 || gap < bestGap {
			best, bestGap = moved-nanos, gap
		}
	}
	return best
}

// alignUptime places the kernel's time since boot by an event that another
// source saw too: the death of the process that a kernel line names.
func alignUptime(k *Clock, c *Collector, cols []*Collector, clocks []Clock) {
	k.Kind = forensics.ClockUptime
	for _, ke := range c.events {
		if ke.Kind != forensics.KindKernel || ke.Stamp.Clock != forensics.ClockUptime {
			continue
		}
		pid := ke.Attr("pid")
		for i, o := range cols {
			if o == c || clocks[i].How == "" || o.clock == forensics.ClockUptime {
				continue
			}
			for _, l := range o.lives {
				if l.End == 0 || pid == "" {
					continue
				}
				if n, ok := atoi(pid); !ok || n != l.Proc.PID {
					continue
				}
				k.Offset = time.Duration(l.End + int64(clocks[i].Offset) - ke.Stamp.Nanos)
				k.Uncertainty = 5 * time.Second
				k.How = "the kernel line about pid " + pid + " matched with that process's end"
				return
			}
		}
	}
	only := true
	for i, o := range cols {
		if o != c && o.clock != forensics.ClockNone && clocks[i].How != "" {
			only = false
		}
	}
	if only {
		k.How = "time since boot; no other source has a date"
	}
}
