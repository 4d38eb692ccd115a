package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// maxKeyEvents bounds the timeline of a document.
const maxKeyEvents = 40

// Weights of key events: when there are too many, the heaviest stay.
const (
	weightRoot    = 100
	weightSymptom = 90
	weightFailed  = 85 // a point that did not complete
	weightDeath   = 80
	weightKernel  = 75
	weightReady   = 70
	weightTrace   = 60
	weightStop    = 55
	weightPoint   = 50 // a point that completed
	weightPhase   = 40
	weightState   = 35
	weightRepeat  = 20 // the fourth of its kind and later ones
)

// candidate is an event that may go into the timeline.
type candidate struct {
	Event
	pos    forensics.Pos
	when   int64 // to sort by; the event's own time may be unknown
	weight int
}

// keyEvents picks the events that tell the story of the run, in order of time.
func (f *freezer) keyEvents(d *forensics.Diagnosis) []Event {
	list := f.findingEvents(d)
	list = append(list, f.lifeEvents()...)
	list = append(list, f.pointEvents()...)
	list = append(list, f.readEvents()...)
	list = fold(list)
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	list = list[:min(len(list), maxKeyEvents)]
	order(list)
	return mapSlice(list, func(c candidate) Event { return c.Event })
}

// event makes a candidate of a quoted line.
func (f *freezer) event(weight int, q forensics.Quote, when int64, kind, process, text string) candidate {
	exact, shown := true, when
	if when == 0 {
		var near bool
		if when, exact, near = f.dates.at(q.Pos); near {
			shown = when
		}
	}
	return candidate{
		pos: q.Pos, when: when, weight: weight,
		Event: Event{
			Time: stampOf(shown), UnixMs: unixMs(shown), Placed: !exact && shown != 0, Process: f.text(process),
			Kind: kind, Text: bound(clean(text), 240), Count: 1, Evidence: f.quote(q),
		},
	}
}

func (f *freezer) findingEvents(d *forensics.Diagnosis) []candidate {
	var out []candidate
	add := func(x forensics.Finding, weight int) {
		for i, q := range x.Evidence {
			if isNoQuote(q) || i == 3 { // further evidence is in the finding itself
				break
			}
			process, text, when := "", x.Title, x.When
			if x.Proc != (forensics.Process{}) {
				process = x.Proc.String()
			}
			if i > 0 {
				text, when = q.Text, 0
			}
			c := f.event(weight-2*i, q, when, "finding", process, text)
			c.Class, c.Count = clean(x.Class), max(1, x.Count)
			if i > 0 {
				c.Count = 1
			}
			out = append(out, c)
		}
	}
	if d.Root.Class != "ok" {
		add(d.Root, weightRoot)
	}
	for i, x := range d.Symptoms {
		add(x, weightSymptom-min(i, 20))
	}
	return out
}

func (f *freezer) lifeEvents() []candidate {
	var out []candidate
	for i := range f.tl.Lives {
		l := &f.tl.Lives[i]
		who := l.Proc.String()
		for _, p := range l.Phases {
			switch p.Name {
			case forensics.PhaseReady:
				if !l.IsReady() {
					out = append(out, f.event(weightReady, p.At, p.When, "ready", who, "ready"))
				}
			case forensics.PhaseStopping:
				out = append(out, f.event(weightStop, p.At, p.When, "stop", who, "begins an orderly stop"))
			case forensics.PhaseDying:
				out = append(out, f.event(weightDeath, p.At, p.When, "stop", who, "announces its own end"))
			default:
				out = append(out, f.event(weightPhase, p.At, p.When, "phase", who, "launch: "+p.Name))
			}
		}
		if l.IsReady() {
			out = append(out, f.event(weightReady, l.ReadyAt, l.Ready, "ready", who, "ready to serve"))
		}
		switch {
		case l.Stop == "died" && !isNoQuote(l.StopAt):
			out = append(out, f.event(weightDeath, l.StopAt, l.End, "death", who, "died: "+l.StopAt.Text))
		case l.Stop == "stopped" && !isNoQuote(l.StopAt):
			out = append(out, f.event(weightStop, l.StopAt, l.End, "stop", who, "orderly stop"))
		}
	}
	return out
}

func (f *freezer) pointEvents() []candidate {
	var out []candidate
	for i := range f.tl.Points {
		p := &f.tl.Points[i]
		weight := weightPoint
		if p.Status != timeline.PointCompleted {
			weight = weightFailed
		}
		name := "benchmark point " + pointName(f.point(*p), i)
		if !isNoQuote(p.At) {
			out = append(out, f.event(weight-1, p.At, p.Start, "point-start", "client", name+" starts"))
		}
		if !isNoQuote(p.EndAt) && p.EndAt.Pos != p.At.Pos {
			text := fmt.Sprintf("%s: %s", name, p.Status)
			out = append(out, f.event(weight, p.EndAt, p.End, "point-end", "client", text))
		}
	}
	return out
}

// readEvents takes tracebacks, kernel lines, exits and states from the timeline.
func (f *freezer) readEvents() []candidate {
	var out []candidate
	for _, e := range f.tl.Events {
		weight, text := 0, e.Text
		switch e.Kind {
		case forensics.KindTraceback:
			weight, text = weightTrace, traceText(e.Trace, e.Text)
		case forensics.KindKernel:
			weight = weightKernel
		case forensics.KindExit:
			weight = weightDeath
			if e.Attr("code") == "0" && e.Attr("signal") == "" {
				weight = weightState
			}
		case forensics.KindState:
			weight = weightState
		default:
			continue
		}
		c := f.event(weight, e.Quote(), e.When, e.Kind.String(), e.Proc.String(), text)
		if e.Proc == (forensics.Process{}) {
			c.Process = ""
		}
		c.Placed, c.Count = c.Placed || e.Placed, max(1, e.Count)
		out = append(out, c)
	}
	return out
}

// traceText names a traceback by the exception that explains it.
func traceText(t *forensics.Trace, fallback string) string {
	if t == nil {
		return fallback
	}
	x := t.Root()
	if x == nil {
		if t.Native != "" {
			return t.Native + " dump: " + fallback
		}
		return "traceback, cut before its exception: " + fallback
	}
	msg, _, _ := strings.Cut(x.Message, "\n")
	return strings.TrimSuffix(x.Type+": "+msg, ": ")
}

// fold joins candidates of one line, and equal events of several ranks. The
// heaviest of them stands for all. Later repeats of a text lose weight, so that a
// flood of one thing does not push out the rest.
func fold(list []candidate) []candidate {
	type key struct {
		kind, text, file string
		when             int64
	}
	at := map[forensics.Pos]int{}
	same := map[key]int{}
	repeats := map[string]int{}
	var out []candidate
	for _, c := range list {
		if i, ok := at[c.pos]; ok && c.pos.Line > 0 {
			if c.Kind == "death" || c.Kind == "traceback" {
				out[i].Process = cmp.Or(out[i].Process, c.Process)
			}
			continue
		}
		k := key{c.Kind, c.Text, c.Evidence.File, c.when / 30e9}
		if i, ok := same[k]; ok && c.Kind != "point-start" && c.Kind != "point-end" {
			out[i].Count += c.Count
			continue
		}
		if repeats[c.Kind+c.Text]++; repeats[c.Kind+c.Text] > 3 {
			c.weight = weightRepeat
		}
		at[c.pos], same[k] = len(out), len(out)
		out = append(out, c)
	}
	return out
}

// order sorts by time; events without one come last, in the order of the files.
func order(list []candidate) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		if (a.when == 0) != (b.when == 0) {
			return cmp.Compare(b.when, a.when)
		}
		return cmp.Or(cmp.Compare(a.when, b.when), comparePos(a.pos, b.pos))
	})
}

func comparePos(p, q forensics.Pos) int {
	switch {
	case p.Before(q):
		return -1
	case q.Before(p):
		return 1
	}
	return 0
}
