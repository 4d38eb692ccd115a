package report

import (
	"fmt"
	"slices"
	"strings"
)

// The worth of the parts of an issue: the least goes first.
const (
	worthClocks = iota + 1
	worthSources
	worthOptions
	worthSymptoms
	worthSparks
	worthTimeline
	worthRejected
	worthLoad
	worthMissing
	worthSweepChart
	worthConfig
	worthFacts
	worthSweep
	worthRemedy
	worthChain
	worthCommands
	worthEvidence
)

// Bounds of the parts that always stay.
const (
	maxIssueTitle = 120
	maxIssueText  = 600
	shortRows     = 40 // rows of a shortened table
)

func (x *issue) title() {
	d, root := x.doc, &x.doc.RootCause
	title := bound(clean(orElse(root.Title, root.Class)), maxIssueTitle)
	if e := bound(clean(strings.TrimSpace(d.Config.Engine+" "+d.Config.Version)), 40); e != "" {
		title += " (" + e + ")"
	}
	x.printf("Title: %s\n\n", x.e.code(x.tmpl.prefix+strings.ReplaceAll(title, "`", "'")))
	q := searchQuery(d)
	if q == "" {
		return
	}
	x.printf("Search for duplicates first: %s", x.e.code(q))
	if repo := x.repo(); repo != "" {
		x.printf(" ([search](%s))", searchURL(repo, q))
	}
	x.printf("\n")
}

// repo is the repository to search: that of the template, else of the engine.
func (x *issue) repo() string {
	for _, t := range issueTemplates {
		if t.name != "" && (t.name == x.tmpl.name || x.tmpl.name == "" && t.name == x.doc.Config.Engine) {
			return t.repo
		}
	}
	return ""
}

// describe says what happened, with the proof.
func (x *issue) describe() {
	x.add("verdict", 0, x.issueVerdict)
	x.add("chain", worthChain, x.headed("From cause to symptoms", func() { x.chainLines(maxChain) }),
		x.headed("From cause to symptoms", func() { x.chainLines(8) }))
	x.add("evidence", worthEvidence, x.fold("Evidence", x.issueEvidence), x.fold("Evidence", x.shortEvidence))
	x.add("points", worthSweep, x.headed("Benchmark points", x.sweep), x.headed("Benchmark points", x.shortSweep))
	x.add("chart of the sweep", worthSweepChart, func() { x.printf("\n%s\n", x.mermaidSweep()) })
	x.add("chart of the load", worthLoad, x.fold("Server load over time", func() { x.printf("%s", x.mermaidLoad()) }))
	x.add("sparklines", worthSparks, x.fold("Load and GPUs in one view", func() { x.printf("%s", x.sparkBlock()) }))
}

// issueVerdict is the verdict in bounded form.
func (x *issue) issueVerdict() {
	d, root := x.doc, &x.doc.RootCause
	word := orElse(outcomeWords[d.Outcome], "Unknown outcome")
	x.printf("%s: %s", word, x.e.prose(bound(clean(orElse(root.Title, root.Class)), maxIssueTitle)))
	x.printf(" (%s", x.e.code(bound(clean(root.Class), maxIssueTitle)))
	if root.Confidence != "" {
		x.printf(", %s", x.e.text(bound(clean(root.Confidence), 20)))
	}
	x.printf(")\n\n")
	for _, s := range []string{d.Summary, root.Detail} {
		if s != "" {
			x.printf("%s\n\n", x.e.prose(bound(clean(s), maxIssueText)))
		}
	}
	if len(root.Evidence) > 0 {
		ev := root.Evidence[0]
		ev.Text, ev.File = bound(clean(ev.Text), maxIssueText), bound(clean(ev.File), maxIssueTitle)
		if ev.Text != "" {
			x.printf("%s\n\n", x.at(ev))
			x.block(0, ev)
		}
	}
}

// chainLines is the chain without its quotes, which are among the evidence.
func (x *issue) chainLines(n int) {
	for i, s := range x.doc.Chain[:min(len(x.doc.Chain), n)] {
		x.printf("%d. ", i+1)
		if t := x.face.show(s.Time); t != "" {
			x.printf("**%s** ", x.e.text(t))
		}
		x.printf("%s", x.e.prose(bound(clean(s.Text), 200)))
		if s.Evidence.File != "" {
			x.printf(" — %s", x.at(s.Evidence))
		}
		x.printf("\n")
	}
}

func (x *issue) issueEvidence() {
	x.quoteFinding(&x.doc.RootCause, maxEvidence)
	for i := range x.doc.Symptoms {
		x.quoteFinding(&x.doc.Symptoms[i], 2)
	}
	for _, s := range x.doc.Chain {
		if ev := s.Evidence; ev.Text != "" && !x.shown[place{ev.File, ev.Line}] {
			x.printf("%s\n\n", x.at(ev))
			x.block(0, ev)
			x.printf("\n")
		}
	}
}

func (x *issue) shortEvidence() { x.quoteFinding(&x.doc.RootCause, 6) }

func (x *issue) quoteFinding(f *Finding, n int) {
	if len(f.Evidence) == 0 {
		return
	}
	x.printf("%s %s\n\n", x.e.code(f.Class), x.e.prose(f.Title))
	for _, ev := range f.Evidence[:min(n, len(f.Evidence))] {
		x.printf("%s\n\n", x.at(ev))
		x.block(0, ev)
		x.printf("\n")
	}
}

// shortSweep is the table of points without the less telling rows.
func (x *issue) shortSweep() {
	all := x.doc.Points
	if len(all) <= shortRows {
		return
	}
	short := *x.doc
	short.Points = tellingPoints(all)
	m := newMarkdown(&short, Options{})
	m.sweep()
	x.printf("%d of %s shown.\n\n%s", len(short.Points), plural(len(all), "point"), m.b.String())
}

// tellingPoints keeps the points that did not complete, then the others, in their order.
func tellingPoints(all []Point) []Point {
	var keep []int
	for _, completed := range []bool{false, true} {
		for i := range all {
			if (all[i].Status == "completed") == completed && len(keep) < shortRows {
				keep = append(keep, i)
			}
		}
	}
	slices.Sort(keep)
	return mapSlice(keep, func(i int) Point { return all[i] })
}

// reproduction gives the commands that were recovered.
func (x *issue) reproduction() {
	if len(x.doc.Commands) == 0 {
		x.add("commands", 0, func() {
			x.printf("\nNo command line of the server or the client was in the evidence: add the commands here.\n\n")
		})
		return
	}
	x.add("commands", worthCommands, x.commands, func() {
		for _, c := range x.doc.Commands[:min(len(x.doc.Commands), 2)] {
			x.printf("%s\n", x.e.fenced(bound(clean(c.Argv), 8*maxText), 0))
		}
	})
}

// environment gives versions, devices and what the machine told about itself.
func (x *issue) environment() {
	x.add("machine", worthFacts, x.machine)
	facts := mapSlice(x.doc.Env, func(f Fact) string { return clean(f.Name) + ": " + clean(f.Value) })
	facts = slices.Compact(facts)
	switch {
	case len(facts) > 0:
		head := "What the evidence tells about the machine"
		if x.tmpl.env != "" {
			head = fmt.Sprintf("From the evidence, in place of the output of <code>%s</code>", x.tmpl.env)
		}
		x.add("facts about the machine", worthFacts, x.fold(head, func() { x.printf("%s", x.e.fenced(strings.Join(facts, "\n"), 0)) }),
			x.fold(head, func() { x.printf("%s", x.e.fenced(strings.Join(facts[:min(len(facts), shortRows)], "\n"), 0)) }))
	case x.tmpl.env != "":
		x.add("request for the environment", 0, func() {
			x.printf("\nThe evidence holds no output of `%s`: run it and paste the output here.\n", x.tmpl.env)
		})
	}
	keys := notableKeys(&x.doc.Config)
	x.add("configuration", worthConfig, x.headed("Configuration", func() {
		if len(keys) > 0 {
			x.printf("%s", x.e.fenced(x.assignments(keys), 0))
		}
	}))
	rest := slices.DeleteFunc(sortedKeys(x.doc.Config.Values), func(k string) bool { return slices.Contains(keys, k) })
	x.add("further options", worthOptions, func() { x.folded(plural(len(rest), "further option"), x.assignments(rest)) })
}

// background is what helps to judge the report, most of it folded.
func (x *issue) background() {
	x.add("remedy", worthRemedy, x.headed("What the analysis suggests", x.remedy))
	x.add("rejected hypotheses", worthRejected, x.fold("Considered and rejected", x.markdown.rejected))
	x.add("other symptoms", worthSymptoms, x.fold("Other symptoms", x.symptoms))
	x.add("timeline", worthTimeline, x.fold("Timeline", x.timeline))
	x.add("what is missing", worthMissing, x.fold("What is missing", x.missing))
	x.add("sources", worthSources, x.fold("Sources", x.sources))
	x.add("clocks", worthClocks, x.fold("Clocks", x.clocks))
}

func (x *issue) issueFooter() {
	if red := x.doc.Redaction; red != nil && len(red.Kinds) > 0 {
		n := 0
		for _, k := range red.Kinds {
			n += k.Places
		}
		x.printf("\n%s masked (level %s); equal names have equal numbers.\n", plural(n, "place"), x.e.text(red.Level))
	}
	t := &x.doc.Tool
	if t.Name != "" {
		x.printf("\n---\n\nDiagnosed by %s %s.\n", x.e.text(bound(clean(t.Name), 40)), x.e.text(bound(clean(t.Version), 80)))
	}
}
