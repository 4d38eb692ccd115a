package timeline

import (
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

const (
	// keepFirst and keepLast bound the events kept of one signature or one kind:
	// the first and the last ones, and a count of all.
	keepFirst = 24
	keepLast  = 24
	maxTraces = 400 // different tracebacks kept per source
	maxSeries = 256 // series kept per source
)

// Collector keeps what matters of one source while it is read, in bounded
// memory. Hand Sink to the reader.
type Collector struct {
	source int
	role   forensics.Role
	events []*Event
	// folds maps an event's fold key to what is kept of it.
	folds  map[string]*fold
	series map[seriesKey]*Series
	order  []*Series
	lives  []*Life
	// clock is the kind of stamp that most lines carry.
	clock       forensics.ClockKind
	first, last forensics.Stamp
	now         forensics.Stamp
	// undated are the events since the last stamp, waiting for the next one.
	undated   []*Event
	served    map[int]int // life -> successful requests
	gpus      []*GPU
	truncated bool
	traces    int // different tracebacks seen
	// lastPos and lastRaw are the last line that carried an event.
	lastPos forensics.Pos
	lastRaw []byte
}

type seriesKey struct{ name, label string }

// fold is what is kept of many equal or alike events.
type fold struct {
	first int // number kept from the beginning
	ring  []*Event
	next  int
	all   *Event // the first one, which carries the count
}

// NewCollector returns a collector for the source of that index.
func NewCollector(source int) *Collector {
	return &Collector{source: source, folds: map[string]*fold{}, series: map[seriesKey]*Series{}, served: map[int]int{}}
}

// Sink takes one event. It does not keep e.
func (c *Collector) Sink(e *forensics.Event) {
	if !e.Stamp.IsZero() {
		c.tick(e.Stamp)
	}
	if c.lastPos.Before(e.Pos) || len(c.lastRaw) == 0 {
		c.lastPos, c.lastRaw = e.Pos, append(c.lastRaw[:0], e.Raw...)
	}
	switch e.Kind {
	case forensics.KindMark:
		c.mark(e)
		return
	case forensics.KindBatch:
		c.batch(e)
	case forensics.KindHTTP:
		c.http(e)
	case forensics.KindGPU:
		c.gpu(e)
	default:
		c.trackLife(e)
		c.keep(e)
	}
	if len(e.Hits) > 0 && (e.Kind == forensics.KindBatch || e.Kind == forensics.KindHTTP || e.Kind == forensics.KindGPU) {
		c.keep(e)
	}
}

func cloneQuote(e *forensics.Event) forensics.Quote {
	c := e.Clone()
	return c.Quote()
}

// tick moves the source's clock and dates the events that waited for it.
func (c *Collector) tick(s forensics.Stamp) {
	if c.first.IsZero() {
		c.first = s
		c.clock = s.Clock
	}
	if s.Clock != c.clock {
		// Keep to the better clock: a date with a zone beats one without a year.
		if !betterClock(s.Clock, c.clock) {
			return
		}
		c.clock, c.first = s.Clock, s
	}
	c.now, c.last = s, s
	for _, e := range c.undated {
		if e.Stamp.IsZero() {
			e.Stamp, e.Placed = s, true
		}
	}
	c.undated = c.undated[:0]
}

// betterClock orders clocks by how much they tell.
func betterClock(a, b forensics.ClockKind) bool {
	rank := [...]int{forensics.ClockNone: 0, forensics.ClockAbsolute: 4, forensics.ClockLocal: 3, forensics.ClockYearless: 2, forensics.ClockUptime: 1}
	return rank[a] > rank[b]
}

func (c *Collector) mark(e *forensics.Event) {
	if l := c.life(e); l != nil {
		l.Last.Pos = e.Pos
	}
}

// place gives an undated event the time of the line before it, and remembers to
// date it by the next stamp if there was none before.
func (c *Collector) place(e *Event) {
	if !e.Stamp.IsZero() {
		return
	}
	if !c.now.IsZero() {
		e.Stamp, e.Placed = c.now, true
		return
	}
	if len(c.undated) < 4096 {
		c.undated = append(c.undated, e)
	}
}

// foldKey returns what makes events alike enough to be folded, and whether they
// are equal (only the first is kept) or alike (first and last ones are kept).
func foldKey(e *forensics.Event) (key string, equal bool) {
	switch e.Kind {
	case forensics.KindTraceback:
		h := fnv.New64a()
		for i := range e.Trace.Chain {
			x := &e.Trace.Chain[i]
			h.Write([]byte(x.Type + "\x00" + x.Message + "\x00"))
			for _, f := range x.Frames {
				h.Write([]byte(f.File + strconv.Itoa(f.Line) + f.Func))
			}
		}
		return "t" + strconv.FormatUint(h.Sum64(), 16) + e.Proc.Name + string(e.Proc.Role), true
	case forensics.KindLine:
		key = "l"
		for _, h := range e.Hits {
			key += strconv.Itoa(h.Sig) + ","
		}
		return key + string(e.Proc.Role), false
	case forensics.KindBench:
		if e.Attr("step") == forensics.StepProgress || e.Attr("step") == forensics.StepError {
			return "b" + e.Attr("step"), false
		}
	case forensics.KindHTTP:
		x, _ := e.Value(forensics.ValStatus)
		return "h" + strconv.Itoa(int(x)), false
	case forensics.KindGPU, forensics.KindGPUProc:
		return "g" + e.Kind.String() + e.Attr("index"), false
	case forensics.KindKernel:
		return "k" + e.Attr("what") + e.Attr("code") + e.Attr("pid") + e.Attr("bus"), false
	}
	return e.Kind.String(), false
}

// keep stores a copy of the event, folded with those like it.
func (c *Collector) keep(e *forensics.Event) {
	key, equal := foldKey(e)
	f := c.folds[key]
	if f == nil && e.Kind == forensics.KindTraceback {
		// Of a flood of different tracebacks one of each type is kept.
		if c.traces++; c.traces > maxTraces {
			key = "t" + traceType(e.Trace) + string(e.Proc.Role)
			f = c.folds[key]
			c.truncated = true
		}
	}
	if f == nil {
		f = &fold{}
		c.folds[key] = f
	}
	if f.all != nil && equal {
		c.foldTrace(f.all, e)
		return
	}
	limit := keepFirst
	if e.Kind == forensics.KindBench || e.Kind == forensics.KindEcho || e.Kind == forensics.KindPhase || e.Kind == forensics.KindConfig {
		limit = 2000
	}
	if f.all != nil {
		f.all.Count++
		f.all.Last = e.Pos
	}
	kept := &Event{Event: *e.Clone(), Count: 1, Last: e.Pos, Life: c.lifeIndex(e)}
	kept.Serving = kept.Life >= 0 && c.lives[kept.Life].IsReady()
	c.place(kept)
	if f.all == nil {
		f.all = kept
	}
	if f.first < limit {
		f.first++
		c.events = append(c.events, kept)
		return
	}
	c.truncated = true
	if len(f.ring) < keepLast {
		f.ring = append(f.ring, kept)
		return
	}
	f.ring[f.next%keepLast] = kept
	f.next++
}

// traceType names a traceback by the exception that ended it.
func traceType(tr *forensics.Trace) string {
	if x := tr.Last(); x != nil {
		return x.Type
	}
	return "cut"
}

// foldTrace counts an identical traceback of another rank or time.
func (c *Collector) foldTrace(kept *Event, e *forensics.Event) {
	kept.Count++
	kept.Last = e.Pos
	kept.Trace.Count++
	if r := e.Proc.Rank; r != "" && len(kept.Trace.Ranks) < 1024 {
		for _, have := range kept.Trace.Ranks {
			if have == r {
				return
			}
		}
		kept.Trace.Ranks = append(kept.Trace.Ranks, r)
	}
}

// finish returns the kept events, the rings' included.
func (c *Collector) finish() []*Event {
	if n := len(c.lives); n > 0 {
		c.lives[n-1].Last = forensics.Quote{Pos: c.lastPos, Text: string(c.lastRaw)}
		c.lives[n-1].LastAt = c.last.Nanos
	}
	for _, f := range c.folds {
		c.events = append(c.events, f.ring...)
		f.ring = nil
	}
	return c.events
}

// addSeries adds one sample of an event to a series, at time s.
func (c *Collector) addSeries(name, label string, s forensics.Stamp, x float64, e *forensics.Event) {
	if s.IsZero() || math.IsNaN(x) {
		return
	}
	key := seriesKey{name, label}
	ser := c.series[key]
	if ser == nil {
		if len(c.series) >= maxSeries {
			c.truncated = true
			return
		}
		ser = &Series{Name: name, Label: label, Source: c.source}
		c.series[key] = ser
		c.order = append(c.order, ser)
	}
	ser.Add(s.Nanos, x)
	ser.LastAt.Pos, ser.last = e.Pos, append(ser.last[:0], e.Raw...)
	if ser.PeakAt.Pos.Line == 0 || x > ser.Peak {
		ser.Peak = x
		ser.PeakAt = forensics.Quote{Pos: e.Pos, Text: strings.Clone(e.Raw)}
	}
}
