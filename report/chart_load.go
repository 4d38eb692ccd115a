package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/llmforensics/forensics"
)

// quantity is a series that a chart has a panel for.
type quantity struct {
	name  string
	scale float64 // from the series' unit to the panel's
	unit  string
	top   float64 // the axis reaches at least this far
}

var loadQuantities = []quantity{
	{forensics.ValGenThroughput, 1, "tok/s", 0},
	{forensics.ValRunning, 1, "requests", 4},
	{forensics.ValQueue, 1, "requests", 4},
	{forensics.ValTokenUsage, 100, "%", 100},
}

// loadFigure draws what the server did over time.
func loadFigure(doc *Document) (*figure, string) {
	f := timeFigure(doc, loadQuantities, "ranks")
	if f == nil {
		return nil, ""
	}
	alt := "Server load over time: " + peaks(doc, loadQuantities) + failureWords(doc)
	return f, alt
}

// timeFigure builds panels over time, or nil if no quantity has data. what names
// the things that several lines stand for.
func timeFigure(doc *Document, quantities []quantity, what string) *figure {
	f := &figure{}
	var groups [][]*Series
	for _, q := range quantities {
		groups = append(groups, seriesOf(doc, q.name))
	}
	labels := labelsOf(groups...)
	for i, q := range quantities {
		if len(groups[i]) == 0 {
			continue
		}
		lines, note := linesOf(groups[i], labels, what, q.scale)
		title := UnitOf(q.name).Title
		if note != "" {
			title += " (" + note + ")"
		}
		if q.name == forensics.ValGPUMemUsed && capacity(doc) > 0 {
			q.top = capacity(doc) * q.scale
			title += ", of " + number(q.top) + " " + q.unit
		}
		f.panels = append(f.panels, panel{title: title, unit: q.unit, lines: lines, top: q.top})
	}
	if len(f.panels) == 0 {
		return nil
	}
	if len(labels) > 1 && len(labels) <= maxLines {
		for i, l := range labels {
			f.legend = append(f.legend, chartLine{label: orElse(l, "all"), look: i})
		}
	}
	f.addTime(doc, groups)
	return f
}

// addTime sets the time axis and what happened along it.
func (f *figure) addTime(doc *Document, groups [][]*Series) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, g := range groups {
		for _, s := range g {
			a, b := s.extent()
			lo, hi = min(lo, a), max(hi, b)
		}
	}
	fail, failed := failureTime(doc)
	x := float64(fail.UnixMilli()) / 1000
	where := ""
	if failed {
		lo, hi, where = reach(lo, hi, x)
	}
	pad := max(0.01*(hi-lo), 0.05)
	f.axis = timeAxis(lo-pad, hi+pad)
	if failed {
		face := "15:04:05"
		if where != "" || f.axis.dated() {
			face = time.DateTime
		}
		label := strings.TrimSpace("failed "+where) + " " + fail.Format(face) + " " + clean(doc.RootCause.Class)
		f.mark = &mark{x: x, label: bound(label, 90)}
	}
	f.addPoints(doc)
	f.addPhases(doc)
}

// reach widens a range to hold x. If x is further away than the range is long,
// the range stays and the answer says on which side x is.
func reach(lo, hi, x float64) (float64, float64, string) {
	length := max(hi-lo, 1)
	switch {
	case x < lo-length:
		return lo, hi, "earlier"
	case x > hi+length:
		return lo, hi, "later"
	}
	return min(lo, x), max(hi, x), ""
}

// addPoints puts a box for every benchmark point above the panels, and shades
// every point in them.
func (f *figure) addPoints(doc *Document) {
	l := lane{title: "points"}
	end := f.axis.max
	if f.mark != nil {
		end = min(end, f.mark.x)
	}
	for i, p := range doc.Points {
		start, ok := parseTime(p.Start)
		if !ok {
			continue
		}
		b := laneBox{stretch: stretch{float64(start.UnixMilli()) / 1000, end}, bad: p.Status != "completed"}
		if stop, ok := parseTime(p.End); ok {
			b.hi = float64(stop.UnixMilli()) / 1000
		} else if n := f.nextStart(doc, i); n > 0 {
			b.hi = min(b.hi, n)
		}
		if b.hi <= b.lo || b.hi <= f.axis.min || b.lo >= f.axis.max {
			continue
		}
		b.label = strings.Replace(clean(pointName(p, i)), "concurrency ", "c=", 1)
		l.boxes = append(l.boxes, b)
		f.shades = append(f.shades, b.stretch)
	}
	if len(l.boxes) > maxBoxes {
		l.boxes = manyBoxes(l.boxes)
		f.shades = nil
	}
	if len(l.boxes) > 0 {
		f.lanes = append(f.lanes, l)
	}
}

// maxBoxes is how many points can still be seen one by one.
const maxBoxes = 100

// manyBoxes makes one box of many, and keeps the bad ones on top of it.
func manyBoxes(boxes []laneBox) []laneBox {
	all := laneBox{stretch: boxes[0].stretch}
	var bad []laneBox
	for _, b := range boxes {
		all.lo, all.hi = min(all.lo, b.lo), max(all.hi, b.hi)
		if b.bad {
			b.label = ""
			bad = append(bad, b)
		}
	}
	if len(bad) == 0 {
		all.label = plural(len(boxes), "point")
	}
	return append([]laneBox{all}, bad...)
}

// nextStart is the start of the next point with a known one, 0 if there is none.
func (f *figure) nextStart(doc *Document, i int) float64 {
	for _, p := range doc.Points[i+1:] {
		if t, ok := parseTime(p.Start); ok {
			return float64(t.UnixMilli()) / 1000
		}
	}
	return 0
}

// addPhases puts the launch phases of the server above the panels, if they lie
// in the range.
func (f *figure) addPhases(doc *Document) {
	l := lane{title: "launch"}
	p := launchOf(doc)
	if p == nil {
		return
	}
	phases := slices.DeleteFunc(slices.Clone(p.Phases), func(x Phase) bool {
		return x.Time == "" || x.Name == forensics.PhaseReady || x.Name == forensics.PhaseStopping || x.Name == forensics.PhaseDying
	})
	for i, x := range phases {
		from, ok := parseTime(x.Time)
		until := p.Ready
		if i+1 < len(phases) {
			until = phases[i+1].Time
		} else if until == "" {
			until = orElse(p.End, doc.RootCause.Time)
		}
		to, ok2 := parseTime(until)
		if ok && ok2 && to.After(from) {
			l.boxes = append(l.boxes, laneBox{
				stretch: stretch{float64(from.UnixMilli()) / 1000, float64(to.UnixMilli()) / 1000}, label: x.Name,
			})
		}
	}
	for _, b := range l.boxes {
		if b.hi > f.axis.min && b.lo < f.axis.max {
			f.lanes = append(f.lanes, l)
			return
		}
	}
}

// launchOf is the server process of the run whose launch says most.
func launchOf(doc *Document) *Process {
	var best *Process
	for i := range doc.Processes {
		p := &doc.Processes[i]
		if p.Role == string(forensics.RoleServer) && !p.Stale && (best == nil || len(p.Phases) > len(best.Phases)) {
			best = p
		}
	}
	return best
}

// peaks names the greatest value of each quantity.
func peaks(doc *Document, quantities []quantity) string {
	var parts []string
	for _, q := range quantities {
		if list := seriesOf(doc, q.name); len(list) > 0 {
			name := strings.ToLower(UnitOf(q.name).Title[:1]) + UnitOf(q.name).Title[1:]
			if strings.HasPrefix(name, "gPU") || strings.HasPrefix(name, "kV") || strings.HasPrefix(name, "sM") {
				name = UnitOf(q.name).Title
			}
			parts = append(parts, fmt.Sprintf("%s up to %s %s", name, number(peak(list)*q.scale), q.unit))
		}
	}
	return strings.Join(parts, ", ") + "."
}

// failureWords says in words what the mark on a chart shows.
func failureWords(doc *Document) string {
	t, ok := failureTime(doc)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" The run failed at %s: %s.", t.Format("15:04:05"), clean(doc.RootCause.Class))
}
