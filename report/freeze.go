package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// Limits of the lists in a document. Everything beyond is dropped, and the
// document says so (Truncated).
const (
	maxEvidence  = 12
	maxFindings  = 60
	maxChain     = 30
	maxPoints    = 2000
	maxProcesses = 256
	maxCommands  = 100
	maxFacts     = 300
	maxGPUs      = 1024
	maxNotes     = 20
	maxUnread    = 5
	maxConfig    = 2000
)

// Freeze makes the document of a run: it converts, sorts, bounds and cleans, once
// and for all renderers. It keeps nothing of tl and d and does not change them.
func Freeze(tl *timeline.Timeline, d *forensics.Diagnosis, tool Tool) *Document {
	f := &freezer{tl: tl, dates: newDates(tl)}
	doc := &Document{
		Schema:  Schema,
		Tool:    tool,
		Run:     f.text(tl.Run.Label),
		Outcome: string(d.Outcome),
		Summary: bound(clean(d.Summary), 2*maxText),
	}
	f.verdict(doc, d)
	doc.Points = f.points()
	doc.Processes = mapSlice(limit(f, tl.Lives, maxProcesses), f.process)
	doc.Config = f.config(d)
	doc.Commands = f.commands()
	doc.GPUs = mapSlice(limit(f, tl.GPUs, maxGPUs), f.gpu)
	doc.Env = f.facts()
	doc.Timeline = f.keyEvents(d)
	doc.Series = f.series()
	doc.Sources = mapSlice(tl.Run.Sources, f.source)
	doc.Clocks = mapSlice(tl.Clocks, f.clock)
	slices.SortStableFunc(doc.Clocks, func(a, b Clock) int { return cmp.Compare(a.Source, b.Source) })
	doc.Coverage = Coverage{
		MissingSources: mapSlice(d.Missing, f.text),
		LookedFor:      mapSlice(d.LookedFor, f.text),
	}
	doc.Truncated = tl.Truncated || f.cut
	return doc
}

// freezer converts one run.
type freezer struct {
	tl    *timeline.Timeline
	dates dates
	cut   bool // a limit dropped something
}

// mapSlice converts a list; the result is never nil.
func mapSlice[A, B any](in []A, conv func(A) B) []B {
	out := make([]B, len(in))
	for i := range in {
		out[i] = conv(in[i])
	}
	return out
}

// limit cuts a list to at most n and remembers that it did.
func limit[T any](f *freezer, list []T, n int) []T {
	if len(list) > n {
		f.cut = true
		list = list[:n]
	}
	return list
}

func (f *freezer) text(s string) string { return bound(clean(s), maxText) }

func (f *freezer) path(source int) string {
	if source < 0 || source >= len(f.tl.Run.Sources) {
		return "?"
	}
	return clean(f.tl.Run.Sources[source].Path)
}

func (f *freezer) quote(q forensics.Quote) Evidence {
	return Evidence{File: f.path(q.Pos.Source), Line: q.Pos.Line, Offset: q.Pos.Offset, Text: f.text(q.Text)}
}

// quotes converts evidence in the order given, which is the order of importance.
// Evidence says only examples, so leaving some out is no truncation.
func (f *freezer) quotes(qs []forensics.Quote) []Evidence {
	seen := map[forensics.Pos]bool{}
	out := []Evidence{}
	for _, q := range qs {
		if isNoQuote(q) || seen[q.Pos] || len(out) == maxEvidence {
			continue
		}
		seen[q.Pos] = true
		out = append(out, f.quote(q))
	}
	return out
}

// isNoQuote tells the zero quote, which stands for "no line".
func isNoQuote(q forensics.Quote) bool { return q.Pos.Line == 0 && q.Text == "" }

func (f *freezer) verdict(doc *Document, d *forensics.Diagnosis) {
	doc.RootCause = f.finding(d.Root)
	doc.RootCause.Confidence = string(d.Confidence)
	doc.RootCause.Reasons = mapSlice(d.Reasons, f.text)
	doc.Symptoms = mapSlice(limit(f, d.Symptoms, maxFindings), f.finding)
	doc.Earlier = mapSlice(limit(f, d.Earlier, maxFindings), f.finding)
	doc.Chain = mapSlice(limit(f, d.Chain, maxChain), f.step)
	doc.Rejected = mapSlice(limit(f, d.Rejected, maxFindings), func(r forensics.Rejected) Rejected {
		return Rejected{
			Class: clean(r.Class), Title: f.text(r.Title), Reason: f.text(r.Reason), Evidence: f.quotes(r.Evidence),
		}
	})
}

func (f *freezer) finding(x forensics.Finding) Finding {
	process := ""
	if x.Proc != (forensics.Process{}) {
		process = f.text(x.Proc.String())
	}
	return Finding{
		Class:       clean(x.Class),
		Signature:   clean(x.Signature),
		Title:       f.text(x.Title),
		Detail:      bound(clean(x.Detail), 4*maxText),
		ExplainedBy: clean(x.ExplainedBy),
		Why:         f.text(x.Why),
		Time:        stampOf(x.When),
		Process:     process,
		Count:       x.Count,
		Ranks:       mapSlice(x.Ranks, f.text),
		Evidence:    f.quotes(x.Evidence),
		Remedy:      bound(clean(x.Remedy), 4*maxText),
		References:  mapSlice(x.References, f.text),
		Affected:    f.text(x.Affected),
		Fixed:       f.text(x.Fixed),
		Fingerprint: clean(x.Fingerprint),
	}
}

func (f *freezer) step(l forensics.Link) Step {
	when := cmp.Or(l.When, f.dates.exact[l.Quote.Pos])
	return Step{Class: clean(l.Class), Text: f.text(l.Text), Time: stampOf(when), Evidence: f.quote(l.Quote)}
}

func (f *freezer) points() []Point {
	list := slices.Clone(f.tl.Points)
	slices.SortStableFunc(list, func(a, b timeline.Point) int { return cmp.Compare(a.Order, b.Order) })
	return mapSlice(limit(f, list, maxPoints), f.point)
}

func (f *freezer) point(p timeline.Point) Point {
	out := Point{
		Label:          f.text(p.Label),
		Client:         f.text(p.Client),
		Sources:        []string{},
		MaxConcurrency: known(p.MaxConcurrency, p.MaxConcurrency > 0),
		RequestRate:    ParseRate(p.RequestRate),
		NumPrompts:     known(p.NumPrompts, p.NumPrompts > 0),
		Completed:      known(p.Completed, p.Completed >= 0),
		Failed:         known(p.Failed, p.Failed >= 0),
		Status:         string(p.Status),
		Why:            f.text(p.Why),
		Filtered:       f.text(p.Filtered),
		ExitStatus:     known(p.Exit, p.HasExit),
		Start:          stampOf(p.Start),
		End:            stampOf(p.End),
		Metrics:        make(map[string]Number, len(p.Metrics)),
		Params:         make(map[string]string, len(p.Params)),
		Evidence:       f.quotes([]forensics.Quote{p.At, p.EndAt, p.Error}),
	}
	for _, s := range p.Sources {
		out.Sources = append(out.Sources, f.path(s))
	}
	slices.Sort(out.Sources)
	out.Sources = slices.Compact(out.Sources)
	for k, v := range p.Metrics {
		out.Metrics[clean(k)] = Number(v)
	}
	for k, v := range p.Params {
		out.Params[clean(k)] = f.text(v)
	}
	return out
}

// known returns a pointer to x, or nil if it is not known.
func known(x int, ok bool) *int {
	if !ok {
		return nil
	}
	return &x
}

func (f *freezer) process(l timeline.Life) Process {
	out := Process{
		Name:     f.text(l.Proc.String()),
		Role:     string(l.Proc.Role),
		Engine:   clean(l.Engine),
		Source:   f.path(l.Source),
		Start:    stampOf(l.Start),
		Ready:    stampOf(l.Ready),
		End:      stampOf(l.End),
		Stop:     l.Stop,
		ExitCode: known(l.ExitCode, l.HasExit),
		Served:   l.Served,
		Stale:    l.Stale,
		Evidence: f.quotes([]forensics.Quote{l.First, l.ReadyAt, l.LastServed, l.StopAt, l.Last}),
	}
	out.Phases = mapSlice(l.Phases, func(p timeline.Phase) Phase {
		return Phase{Name: clean(p.Name), Time: stampOf(p.When), Evidence: f.quote(p.At)}
	})
	return out
}

func (f *freezer) commands() []Command {
	type key struct {
		role forensics.Role
		argv string
	}
	seen := map[key]bool{}
	var list []timeline.Command
	for _, c := range f.tl.Commands {
		if k := (key{c.Role, c.Argv}); !seen[k] {
			seen[k] = true
			list = append(list, c)
		}
	}
	return mapSlice(limit(f, list, maxCommands), func(c timeline.Command) Command {
		return Command{
			// A command line is there to be run again, so it is bounded generously.
			Role: string(c.Role), Argv: bound(clean(c.Argv), 8*maxText), Recovered: c.Recovered,
			Filter: f.text(c.Filter), Evidence: f.quote(c.At),
		}
	})
}

func (f *freezer) gpu(g timeline.GPU) GPU {
	return GPU{
		Index: clean(g.Index), Name: f.text(g.Name), Bus: clean(g.Bus), MemoryMiB: Number(g.MemTotal),
		Evidence: f.quotes([]forensics.Quote{g.First, g.Last}),
	}
}

func (f *freezer) facts() []Fact {
	out := mapSlice(limit(f, f.tl.Env, maxFacts), func(x timeline.Fact) Fact {
		return Fact{Name: f.text(x.Name), Value: f.text(x.Value), Evidence: f.quote(x.At)}
	})
	slices.SortStableFunc(out, func(a, b Fact) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (f *freezer) series() []Series {
	out := make([]Series, 0, len(f.tl.Series))
	for i := range f.tl.Series {
		s := &f.tl.Series[i]
		if s.Step <= 0 || len(s.Buckets) == 0 {
			continue
		}
		n := len(s.Buckets)
		o := Series{
			Name: clean(s.Name), Label: f.text(s.Label), Unit: UnitOf(s.Name).Unit, Source: f.path(s.Source),
			StartMs: millis(s.Start), StepMs: millis(s.Step),
			Mean: make([]Number, n), Min: make([]Number, n), Max: make([]Number, n),
		}
		for j := range s.Buckets {
			b := &s.Buckets[j]
			o.Mean[j], o.Min[j], o.Max[j] = Number(math.NaN()), Number(math.NaN()), Number(math.NaN())
			if b.N > 0 {
				o.Mean[j], o.Min[j], o.Max[j] = Number(b.Mean()), Number(b.Min), Number(b.Max)
			}
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), naturalCompare(a.Label, b.Label), cmp.Compare(a.Source, b.Source))
	})
	return out
}

func millis(nanos int64) Number { return Number(float64(nanos) / 1e6) }

func (f *freezer) source(s forensics.Source) Source {
	notes := s.Notes[:min(len(s.Notes), maxNotes)]
	unread := s.Unread[:min(len(s.Unread), maxUnread)]
	return Source{
		Path: clean(s.Path), Format: clean(s.Format), Bytes: s.Size, Digest: clean(s.Digest),
		Lines: s.Lines.Read, Understood: s.Lines.Understood, Plain: s.Lines.Plain, Damaged: s.Lines.Damaged,
		Notes: mapSlice(notes, func(n forensics.Note) Evidence {
			return f.quote(forensics.Quote(n))
		}),
		Unread: mapSlice(unread, f.quote),
	}
}

func (f *freezer) clock(c timeline.Clock) Clock {
	return Clock{
		Source: f.path(c.Source), Kind: c.Kind.String(), How: f.text(c.How),
		OffsetS: Number(c.Offset.Seconds()), UncertaintyS: Number(max(0, c.Uncertainty).Seconds()),
	}
}

// naturalCompare orders "GPU 2" before "GPU 10".
func naturalCompare(a, b string) int {
	for a != "" && b != "" {
		na, ra := leadingDigits(a)
		nb, rb := leadingDigits(b)
		if na != "" && nb != "" {
			ta, tb := strings.TrimLeft(na, "0"), strings.TrimLeft(nb, "0")
			if c := cmp.Or(cmp.Compare(len(ta), len(tb)), cmp.Compare(ta, tb), cmp.Compare(len(na), len(nb))); c != 0 {
				return c
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// unixMs is the time axis of events.
func unixMs(nanos int64) Number {
	return Number(time.Duration(nanos).Microseconds()) / 1000
}
