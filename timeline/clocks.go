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
		if c.role == forensics.RoleKernel && c.clock == forensics.ClockLocal && kind == forensics.ClockLocal {
			alignKernelZone(&clocks[i], c, cols, clocks)
		}
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

const (
	zoneStep  = int64(30 * time.Minute)
	zoneMatch = int64(2 * time.Minute) // how near a shifted kernel event must come to what it explains
)

// alignKernelZone looks for a kernel log that was printed in another zone than
// the server's: a fault that lies whole half hours away from the server's end,
// and within two minutes of it after the shift, is taken to be that end. Nothing
// is shifted if a fault already lies near it.
func alignKernelZone(k *Clock, c *Collector, cols []*Collector, clocks []Clock) {
	for i, o := range cols {
		if o == c || o.role != forensics.RoleServer || clocks[i].How == "" {
			continue
		}
		end := serverEnd(o)
		if end == 0 {
			continue
		}
		end += int64(clocks[i].Offset)
		best := int64(0)
		for _, e := range c.events {
			if e.Kind != forensics.KindKernel || e.Attr("what") == "aer" || e.Stamp.Clock != c.clock {
				continue
			}
			d := end - e.Stamp.Nanos
			if abs(d) < int64(15*time.Minute) && strongKernel(e) {
				return
			}
			shift := (d + zoneStep/2*sign(d)) / zoneStep * zoneStep
			if shift != 0 && abs(shift) <= int64(14*time.Hour) && abs(d-shift) <= zoneMatch && strongKernel(e) {
				best = shift
			}
		}
		if best != 0 {
			k.Offset, k.Uncertainty = time.Duration(best), time.Duration(zoneMatch)
			k.How = "shifted by whole half hours: a fault in it then meets the server's end, so it was printed in another zone"
			return
		}
	}
}

func sign(x int64) int64 {
	if x < 0 {
		return -1
	}
	return 1
}

// strongKernel reports whether a kernel event ends a server by itself, so that it
// can serve to match clocks: an Xid of the hardware kind or an OOM kill.
func strongKernel(e *Event) bool {
	switch e.Attr("what") {
	case "oom-kill", "segfault":
		return true
	case "xid":
		switch e.Attr("code") {
		case "48", "62", "64", "74", "79", "94", "95", "119", "120", "140":
			return true
		}
	}
	return false
}

// serverEnd returns when a source's last server life failed, by its own stamps.
func serverEnd(c *Collector) int64 {
	if len(c.lives) == 0 {
		return 0
	}
	l := c.lives[len(c.lives)-1]
	end := l.End
	for _, e := range c.events {
		if e.Kind == forensics.KindTraceback && e.Proc.Role == forensics.RoleServer && !e.Stamp.IsZero() && e.Stamp.Clock == c.clock &&
			(end == 0 || e.Stamp.Nanos < end) && l.First.Pos.Before(e.Pos) {
			end = e.Stamp.Nanos
		}
	}
	return end
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
