package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// htmlPage is what the template shows. It is made of a document that was cleaned,
// and html/template escapes every text for the place where it stands.
type htmlPage struct {
	*Document
	Policy   string
	Styles   []template.CSS
	Scripts  []template.JS
	Licence  string
	Data     template.JS // for the scripts, see htmlData
	Sections []htmlSection

	Heading string
	Word    string // the outcome for people
	Root    htmlFinding
	Steps   []htmlStep
	Other   []htmlFinding // symptoms
	Lost    []htmlFinding // rejected hypotheses
	Before  []htmlFinding // failures of earlier runs
	Files   []htmlFile
	Sweep   htmlTable
	Metrics htmlTable
	Events  []htmlEvent
	Graphs  []htmlGraph
	Machine string
	Usual   []htmlPair // options that matter
	Further []htmlPair
	Argvs   []htmlCommand
	Inputs  []htmlSource
	Inexact []string // clocks

	face  clockFace
	index *evidenceIndex
}

// htmlSection is an entry of the table of contents.
type htmlSection struct{ ID, Title string }

// htmlFinding is a finding, or a hypothesis that lost, with what it rests on.
type htmlFinding struct {
	Finding
	ID     string
	Label  string // in links back to it: "symptom 2"
	Reason string
	When   string
	Places []htmlPlace
}

// htmlStep is a link of the chain.
type htmlStep struct {
	Step
	ID     string
	When   string
	Places []htmlPlace
}

// htmlEvent is a row of the timeline.
type htmlEvent struct {
	Event
	ID    string
	When  string
	Code  bool // the text is a log's, not ours
	At    float64
	Dated bool
	Place htmlPlace
}

type htmlPair struct{ Name, Value string }

type htmlCommand struct {
	Command
	Place htmlPlace
}

// maxCommandsShown is how many command lines a reader may want to see.
const maxCommandsShown = 12

func newHTMLPage(doc *Document, a *htmlAssets) (*htmlPage, error) {
	p := &htmlPage{
		Document: doc, Policy: a.policy, Styles: a.styles, Scripts: a.scripts, Licence: a.licence,
		Heading: orElse(doc.RootCause.Title, doc.RootCause.Class), Word: orElse(outcomeWords[doc.Outcome], doc.Outcome),
		face: faceOf(doc), index: newEvidenceIndex(),
	}
	p.findings()
	p.Sweep, p.Metrics = p.sweepTable(), metricTable(doc)
	p.configuration()
	p.commands()
	p.sources()
	p.Files = p.index.files()
	p.events() // links to the evidence, which is complete now
	data, graphs := newHTMLData(doc)
	p.Graphs = graphs
	text, err := data.encode()
	if err != nil {
		return nil, err
	}
	p.Data = template.JS(text)
	p.contents()
	return p, nil
}

// Day says on which day everything happened, if it was one.
func (p *htmlPage) Day() string { return p.face.day }

// Dated reports whether times are shown with their date.
func (p *htmlPage) Dated() bool { return !p.face.oneDay }

// WindowTitle is the heading without its marks for code.
func (p *htmlPage) WindowTitle() string {
	return bound(p.Word+": "+strings.ReplaceAll(p.Heading, "`", ""), 120)
}

// Verdict names the class for what it is.
func (p *htmlPage) Verdict() string {
	if p.RootCause.Class == "ok" {
		return "Verdict"
	}
	return "Root cause"
}

// ChainTitle names the chain for what it is; a good run has no symptoms.
func (p *htmlPage) ChainTitle() string {
	if p.RootCause.Class == "ok" {
		return "What shows it"
	}
	return "From cause to symptoms"
}

// HasPlaced reports whether any time was taken from neighbouring lines.
func (p *htmlPage) HasPlaced() bool {
	return slices.ContainsFunc(p.Timeline, func(e Event) bool { return e.Placed && e.Time != "" })
}

// Detail is the mechanism, if the summary does not already say it.
func (p *htmlPage) Detail() string {
	if strings.Contains(p.Summary, p.RootCause.Detail) {
		return ""
	}
	return p.RootCause.Detail
}

func (p *htmlPage) findings() {
	p.Root = p.finding(p.RootCause, "root", strings.ToLower(p.Verdict()))
	for i, s := range p.Chain {
		id := fmt.Sprintf("step-%d", i+1)
		p.Steps = append(p.Steps, htmlStep{
			Step: s, ID: id, When: p.face.show(s.Time), Places: p.index.cite(id, fmt.Sprintf("step %d", i+1), s.Evidence),
		})
	}
	for i, s := range p.Symptoms {
		p.Other = append(p.Other, p.finding(s, fmt.Sprintf("symptom-%d", i+1), fmt.Sprintf("symptom %d", i+1)))
	}
	for i, r := range p.Rejected {
		f := p.finding(Finding{Class: r.Class, Title: r.Title, Evidence: r.Evidence},
			fmt.Sprintf("rejected-%d", i+1), fmt.Sprintf("rejected %d", i+1))
		f.Reason = r.Reason
		p.Lost = append(p.Lost, f)
	}
	for i, s := range p.Earlier {
		p.Before = append(p.Before, p.finding(s, fmt.Sprintf("earlier-%d", i+1), fmt.Sprintf("earlier failure %d", i+1)))
	}
}

func (p *htmlPage) finding(x Finding, id, label string) htmlFinding {
	return htmlFinding{
		Finding: x, ID: id, Label: label, Reason: x.Why, When: p.face.show(x.Time), Places: p.index.cite(id, label, x.Evidence...),
	}
}

// events makes the rows of the timeline. Our own words are told from a log's by
// the rule of the Markdown report.
func (p *htmlPage) events() {
	for i, e := range p.Timeline {
		h := htmlEvent{Event: e, ID: fmt.Sprintf("event-%d", i+1), When: p.face.show(e.Time), Place: p.index.place(e.Evidence)}
		if h.When != "" && e.Placed {
			h.When = "≈" + h.When
		}
		h.At, h.Dated = float64(e.UnixMs)/1000, e.UnixMs.IsSet() && e.UnixMs != 0
		h.Code = !isOurText(&e)
		h.Text = bound(h.Text, 300)
		if isQuote(&e) || strings.HasSuffix(h.Place.Text, e.Text) || strings.HasSuffix(e.Text, h.Place.Text) {
			h.Place.Text = "" // said already
		}
		p.Events = append(p.Events, h)
	}
}

func isOurText(e *Event) bool {
	switch e.Kind {
	case "phase", "ready", "stop", "death", "point-start", "point-end":
		return true
	case "finding":
		return e.Class != "" && !isQuote(e)
	}
	return false
}

// isQuote reports whether the text of an event is its line, which may have been
// cut for the timeline.
func isQuote(e *Event) bool {
	head, _, cut := strings.Cut(e.Text, " [...] ")
	return e.Text == e.Evidence.Text || cut && strings.HasPrefix(e.Evidence.Text, head)
}

func (p *htmlPage) configuration() {
	p.Machine = machineWords(p.Document)
	c := &p.Config
	usual := notableKeys(c)
	for _, k := range usual {
		p.Usual = append(p.Usual, htmlPair{k, c.Values[k]})
	}
	for _, k := range sortedKeys(c.Values) {
		if !slices.Contains(usual, k) {
			p.Further = append(p.Further, htmlPair{k, c.Values[k]})
		}
	}
}

// ConfigPlace is the line that the configuration was read from.
func (p *htmlPage) ConfigPlace() htmlPlace {
	if len(p.Config.Evidence) == 0 {
		return htmlPlace{}
	}
	return p.index.place(p.Config.Evidence[0])
}

// machineWords says in a line what served: engine, version and devices.
func machineWords(doc *Document) string {
	var parts []string
	if c := &doc.Config; c.Engine != "" {
		parts = append(parts, strings.TrimSpace("Engine "+c.Engine+" "+c.Version))
	}
	var kinds []string
	howMany := map[string]int{}
	for _, g := range doc.GPUs {
		k := orElse(g.Name, "GPU of unknown type")
		if g.MemoryMiB.IsSet() && g.MemoryMiB > 0 {
			k += fmt.Sprintf(" (%s MiB)", number(float64(g.MemoryMiB)))
		}
		if howMany[k]++; howMany[k] == 1 {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%d × %s", howMany[k], k))
	}
	return strings.Join(parts, "; ")
}

func (p *htmlPage) commands() {
	for _, c := range p.Commands[:min(len(p.Commands), maxCommandsShown)] {
		p.Argvs = append(p.Argvs, htmlCommand{c, p.index.place(c.Evidence)})
	}
}

// MoreCommands is the number of command lines that are not shown.
func (p *htmlPage) MoreCommands() int { return len(p.Commands) - len(p.Argvs) }

// contents lists the sections that have something to say.
func (p *htmlPage) contents() {
	add := func(there bool, id, title string) {
		if there {
			p.Sections = append(p.Sections, htmlSection{id, title})
		}
	}
	add(len(p.Steps) > 0, "chain", p.ChainTitle())
	add(p.HasRemedy(), "remedy", "What to do next")
	add(len(p.Events) > 0, "timeline", "Timeline")
	add(len(p.Graphs) > 0, "charts", "Charts")
	add(len(p.Sweep.Rows) > 0, "sweep", "Benchmark points")
	add(true, "findings", "Findings")
	add(len(p.Files) > 0, "evidence", "Evidence")
	add(p.HasConfiguration(), "configuration", "Configuration")
	add(len(p.Argvs) > 0, "commands", "Commands")
	add(p.HasMissing(), "missing", "What is missing")
	add(len(p.Inputs) > 0, "sources", "Sources")
	add(p.HasRedaction(), "redaction", "Redaction")
}

// HasRemedy reports whether there is advice.
func (p *htmlPage) HasRemedy() bool {
	r := &p.RootCause
	return r.Remedy != "" || r.Affected != "" || r.Fixed != "" || len(r.References) > 0
}

// HasConfiguration reports whether anything is known of server and machine.
func (p *htmlPage) HasConfiguration() bool {
	return p.Machine != "" || len(p.Config.Values) > 0 || len(p.Env) > 0
}

// HasRedaction reports whether anything was masked.
func (p *htmlPage) HasRedaction() bool { return p.Redaction != nil && len(p.Redaction.Kinds) > 0 }

// HasMissing reports whether something was missing or looked for in vain.
func (p *htmlPage) HasMissing() bool {
	return len(p.Coverage.MissingSources)+len(p.Coverage.LookedFor) > 0
}
