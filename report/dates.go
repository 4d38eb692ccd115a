package report

import (
	"slices"
	"sort"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// dates knows when lines were written, to put a time to the lines that are quoted.
type dates struct {
	exact  map[forensics.Pos]int64
	byLine map[[2]int]int64 // by source and line
	lines  map[int][]int    // per source, the dated line numbers in order
}

func newDates(tl *timeline.Timeline) dates {
	d := dates{exact: map[forensics.Pos]int64{}, byLine: map[[2]int]int64{}, lines: map[int][]int{}}
	for _, e := range tl.Events {
		d.add(e.Pos, e.When)
	}
	for i := range tl.Lives {
		l := &tl.Lives[i]
		d.add(l.ReadyAt.Pos, l.Ready)
		d.add(l.StopAt.Pos, l.End)
		for _, p := range l.Phases {
			d.add(p.At.Pos, p.When)
		}
	}
	for i := range tl.Points {
		d.add(tl.Points[i].At.Pos, tl.Points[i].Start)
		d.add(tl.Points[i].EndAt.Pos, tl.Points[i].End)
	}
	for _, lines := range d.lines {
		slices.Sort(lines)
	}
	return d
}

func (d *dates) add(p forensics.Pos, when int64) {
	if _, ok := d.exact[p]; ok || when == 0 || p.Line == 0 {
		return
	}
	d.exact[p], d.byLine[[2]int{p.Source, p.Line}] = when, when
	d.lines[p.Source] = append(d.lines[p.Source], p.Line)
}

// maxUndated is how many lines behind or before a dated one still share its time.
const maxUndated = 25

// maxBetween is the time between two dated lines within which all lines between
// them are dated well enough.
const maxBetween = 5 * time.Second

// at returns the time of a line. Without one of its own it is that of the nearest
// dated line of its source; near says that this is close enough to be shown and
// not only good for putting lines in order. It returns 0 if the source has no
// dated line.
func (d *dates) at(p forensics.Pos) (when int64, exact, near bool) {
	if t, ok := d.exact[p]; ok {
		return t, true, true
	}
	lines := d.lines[p.Source]
	if len(lines) == 0 || p.Line == 0 {
		return 0, false, false
	}
	next := sort.SearchInts(lines, p.Line)
	prev := next - 1
	date := func(i int) int64 { return d.byLine[[2]int{p.Source, lines[i]}] }
	switch {
	case prev < 0:
		return date(next), false, lines[next]-p.Line <= maxUndated
	case next == len(lines):
		return date(prev), false, p.Line-lines[prev] <= maxUndated
	}
	best := prev
	if lines[next]-p.Line < p.Line-lines[prev] {
		best = next
	}
	between := time.Duration(date(next) - date(prev))
	return date(best), false, between <= maxBetween || max(p.Line-lines[best], lines[best]-p.Line) <= maxUndated
}
