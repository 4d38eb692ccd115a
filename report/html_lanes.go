package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
)

// htmlLane is a strip of the timeline: the client's points, a process, the
// kernel, or a device.
type htmlLane struct {
	Title string    `json:"title"`
	Kind  string    `json:"kind"`
	Boxes []htmlBox `json:"boxes"`
	Marks []htmlDot `json:"marks"`
}

// Kinds of lanes.
const (
	laneClient  = "client"
	laneProcess = "process"
	laneKernel  = "kernel"
	laneGPU     = "gpu"
)

// htmlBox is a stretch of time. Look is a class of the style sheet.
type htmlBox struct {
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Label string  `json:"label"`
	Look  string  `json:"look"`
}

// htmlDot is an event; N is its row in the timeline, from 1.
type htmlDot struct {
	X    float64 `json:"x"`
	N    int     `json:"n"`
	Kind string  `json:"kind"`
}

// More lanes than these are put into one, since nobody could read them.
const (
	maxProcessLanes = 16
	maxGPULanes     = 16
)

// laneSet finds lanes by kind and title.
type laneSet struct {
	doc  *Document
	list []*htmlLane
}

// lanesOf sorts all that has a time into lanes: first the client, then the
// processes, the kernel and the devices.
func lanesOf(doc *Document) []htmlLane {
	s := &laneSet{doc: doc}
	s.points()
	s.lives()
	s.utilisation()
	s.events()
	order := []string{laneClient, laneProcess, laneKernel, laneGPU}
	slices.SortStableFunc(s.list, func(a, b *htmlLane) int {
		if a.Kind == laneGPU && b.Kind == laneGPU {
			return naturalCompare(a.Title, b.Title)
		}
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	})
	out := []htmlLane{}
	for _, l := range s.list {
		if len(l.Boxes)+len(l.Marks) > 0 {
			out = append(out, *l)
		}
	}
	return out
}

// lane returns the lane of a title, and makes it if there is room.
func (s *laneSet) lane(kind, title string) *htmlLane {
	n := 0
	for _, l := range s.list {
		if l.Kind != kind {
			continue
		}
		if l.Title == title {
			return l
		}
		n++
	}
	if rest := "further processes"; kind == laneProcess && n >= maxProcessLanes && title != rest {
		return s.lane(kind, rest)
	}
	if rest := "further GPUs"; kind == laneGPU && n >= maxGPULanes && title != rest {
		return s.lane(kind, rest)
	}
	l := &htmlLane{Title: title, Kind: kind, Boxes: []htmlBox{}, Marks: []htmlDot{}}
	s.list = append(s.list, l)
	return l
}

// points puts a box for every point into the client's lane. A point without an end
// lasts until the next one begins or the run fails.
func (s *laneSet) points() {
	l := s.lane(laneClient, "benchmark client")
	fail, failed := failureTime(s.doc)
	for i := range s.doc.Points {
		p := &s.doc.Points[i]
		lo, ok := unixOf(p.Start)
		if !ok {
			continue
		}
		hi, ended := unixOf(p.End)
		if !ended {
			hi = lo
			if failed {
				hi = max(lo, float64(fail.UnixMilli())/1000)
			}
			if next, ok := s.nextPoint(i); ok && (!failed || next < hi) {
				hi = max(lo, next)
			}
		}
		look := "point"
		if p.Status != "completed" {
			look = "bad"
		}
		label := strings.Replace(pointName(*p, i), "concurrency ", "c=", 1)
		l.Boxes = append(l.Boxes, htmlBox{lo, hi, bound(label, 40), look})
	}
}

func (s *laneSet) nextPoint(i int) (float64, bool) {
	for _, p := range s.doc.Points[i+1:] {
		if t, ok := unixOf(p.Start); ok {
			return t, true
		}
	}
	return 0, false
}

func unixOf(stamp string) (float64, bool) {
	t, ok := parseTime(stamp)
	return float64(t.UnixMilli()) / 1000, ok
}

// lives puts the phases of the launch and the time of serving into the lanes of
// the processes.
func (s *laneSet) lives() {
	for i := range s.doc.Processes {
		p := &s.doc.Processes[i]
		l := s.lane(laneProcess, orElse(p.Name, "process"))
		start, ok := unixOf(p.Start)
		if !ok {
			continue
		}
		end, ended := unixOf(p.End)
		if !ended {
			end = max(start, s.last())
		}
		ready, isReady := unixOf(p.Ready)
		if !isReady {
			ready = end
		}
		l.launch(p, start, min(ready, end))
		if isReady && end > ready {
			l.Boxes = append(l.Boxes, htmlBox{ready, end, "ready", "serving"})
		}
	}
}

// launch puts the phases of a launch into a lane; equal neighbours become one.
func (l *htmlLane) launch(p *Process, start, until float64) {
	name, from := "start", start
	add := func(to float64) {
		if to = min(to, until); to > from {
			l.Boxes = append(l.Boxes, htmlBox{from, to, name, "launch"})
		}
	}
	for _, x := range p.Phases {
		t, ok := unixOf(x.Time)
		if !ok || x.Name == name || t > until || t < from ||
			x.Name == forensics.PhaseReady || x.Name == forensics.PhaseStopping || x.Name == forensics.PhaseDying {
			continue
		}
		add(t)
		name, from = x.Name, max(from, t)
	}
	add(until)
}

// last is the last time that the document knows of, for lives without an end.
func (s *laneSet) last() float64 {
	last := 0.0
	for _, e := range s.doc.Timeline {
		if e.UnixMs.IsSet() {
			last = max(last, float64(e.UnixMs)/1000)
		}
	}
	for _, q := range loadQuantities {
		for _, x := range seriesOf(s.doc, q.name) {
			_, hi := x.extent()
			last = max(last, hi)
		}
	}
	return last
}

// utilisation shows how busy each device was, in five steps. Where nobody recorded
// the utilisation, power or memory against their peak stand for it.
func (s *laneSet) utilisation() {
	for _, q := range []struct {
		name, word string
		full       float64 // 0: the peak
	}{
		{forensics.ValGPUUtil, "utilisation", 100}, {forensics.ValGPUPower, "power", 0}, {forensics.ValGPUMemUsed, "memory", 0},
	} {
		list := seriesOf(s.doc, q.name)
		if len(list) == 0 {
			continue
		}
		full := orPeak(q.full, list)
		if len(list) > maxGPULanes {
			l := s.lane(laneGPU, fmt.Sprintf("%d GPUs, mean %s", len(list), q.word))
			l.busy(combine(list), full)
			return
		}
		for _, x := range list {
			s.lane(laneGPU, orElse(seriesLabel(x, list), "GPU")).busy(x, full)
		}
		return
	}
}

func orPeak(full float64, list []*Series) float64 {
	if full > 0 {
		return full
	}
	return max(peak(list), 1)
}

// busy cuts a series into stretches of the same level.
func (l *htmlLane) busy(s *Series, full float64) {
	for _, r := range runsOf(s, 1) {
		for i, xy := range r.mean {
			hi := xy.X + float64(s.StepMs)/1000
			if i+1 < len(r.mean) {
				hi = r.mean[i+1].X
			}
			look := fmt.Sprintf("busy-%d", min(4, max(0, int(4*xy.Y/full+0.8))))
			if n := len(l.Boxes); i > 0 && l.Boxes[n-1].Look == look {
				l.Boxes[n-1].Hi = hi
				continue
			}
			l.Boxes = append(l.Boxes, htmlBox{xy.X, hi, "", look})
		}
	}
}

// pciAddress finds the GPU that a line of the kernel speaks of. SXid lines have the
// address of a switch.
var pciAddress = regexp.MustCompile(`\bXid \(PCI:([0-9a-fA-F]+(?::[0-9a-fA-F]+)+)`)

// events puts the events that have a time into the lane of their process. A kernel
// line that names a device also stands in the lane of that device.
func (s *laneSet) events() {
	for i, e := range s.doc.Timeline {
		if !e.UnixMs.IsSet() || e.UnixMs == 0 {
			continue
		}
		dot := htmlDot{float64(e.UnixMs) / 1000, i + 1, e.Kind}
		l := s.laneOf(&e)
		l.Marks = append(l.Marks, dot)
		if m := pciAddress.FindStringSubmatch(e.Evidence.Text); m != nil {
			l := s.lane(laneGPU, s.device(m[1]))
			l.Marks = append(l.Marks, dot)
		}
	}
}

func (s *laneSet) laneOf(e *Event) *htmlLane {
	switch e.Process {
	case "client":
		return s.lane(laneClient, "benchmark client")
	case "kernel":
		return s.lane(laneKernel, "kernel")
	case "":
		return s.lane(laneProcess, "process not named")
	}
	return s.lane(laneProcess, bound(e.Process, 60))
}

// device names the device at a PCI address as the other lanes do, if it is known.
func (s *laneSet) device(bus string) string {
	for _, g := range s.doc.GPUs {
		if g.Bus != "" && strings.EqualFold(strings.TrimLeft(g.Bus, "0:"), strings.TrimLeft(bus, "0:")) {
			return "GPU " + g.Index
		}
	}
	return "GPU at " + bound(bus, 20)
}
