package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteComparison writes a comparison as Markdown.
func WriteComparison(w io.Writer, c *Comparison) error {
	x := newComparison(c)
	x.all()
	if _, err := w.Write(x.b.Bytes()); err != nil {
		return fmt.Errorf("writing comparison: %w", err)
	}
	return nil
}

// WriteComparisonTerminal writes a comparison for a terminal of the given width.
func WriteComparisonTerminal(w io.Writer, c *Comparison, width int, color bool) error {
	if width <= 0 {
		width = 80
	}
	width = max(40, min(width, 200))
	x := newComparison(c)
	x.e, x.width = escaper{term: true, plain: !color}, width
	x.all()
	return writeGlamour(w, x.b.Bytes(), width, color)
}

// WriteComparisonJSON writes a comparison as indented JSON.
func WriteComparisonJSON(w io.Writer, c *Comparison) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("writing comparison: %w", err)
	}
	return nil
}

// comparison renders with the means of the report.
type comparison struct {
	*markdown
	c *Comparison
}

func newComparison(c *Comparison) *comparison {
	return &comparison{newMarkdown(&Document{}, Options{}), c}
}

func (x *comparison) all() {
	title := "No clear regression"
	switch {
	case x.c.Regression:
		title = "Slower than the base run"
	case len(x.c.Points) == 0:
		title = "No common point"
	}
	x.printf("# %s\n\n%s\n\n", title, x.e.prose(x.c.Summary))
	for _, s := range []struct {
		title string
		body  func()
	}{
		{"The two runs", x.sides},
		{"Common points", x.points},
		{"Configuration", func() { x.differences(x.c.Config, true) }},
		{"Environment", func() { x.differences(x.c.Env, false) }},
		{"New failures", func() { x.failures(x.c.NewFailures) }},
		{"Gone failures", func() { x.failures(x.c.GoneFailures) }},
		{"Where the timelines part", x.divergence},
		{"Notes", x.compareNotes},
	} {
		x.section(s.title, s.body)
	}
}

func (x *comparison) sides() {
	var rows [][]cell
	for i, s := range []Side{x.c.Base, x.c.Head} {
		rows = append(rows, []cell{
			x.textCell([]string{"base", "head"}[i]), x.codeCell(s.Run), x.textCell(s.Outcome), x.codeCell(s.Class),
			x.textCell(orElse(strings.TrimSpace(s.Engine+" "+s.Version), "-")),
		})
	}
	x.table([]string{"", "Run", "Outcome", "Verdict", "Engine"}, make([]bool, 5), rows)
}

// points is one table per metric, since its columns are what is compared.
func (x *comparison) points() {
	for _, name := range x.metricNames() {
		var rows [][]cell
		for _, p := range x.c.Points {
			for _, m := range p.Metrics {
				if m.Name != name {
					continue
				}
				rows = append(rows, []cell{
					x.textCell(p.Label), x.textCell(number(float64(m.Base))), x.textCell(number(float64(m.Head))),
					own(changeText(m)), x.textCell(fmt.Sprintf("%d + %d", p.BaseRuns, p.HeadRuns)), x.textCell(verdictText(m)),
				})
			}
		}
		u := UnitOf(name)
		x.printf("%s (%s):\n\n", x.e.text(u.Title), x.e.text(u.Unit))
		x.table([]string{"Point", "Base", "Head", "Change", "Runs", "Verdict"}, []bool{false, true, true, true, true, false}, rows)
	}
	for _, p := range x.c.Points {
		if p.Note != "" {
			x.printf("- %s: %s\n", x.e.text(p.Label), x.e.text(p.Note))
		}
	}
	for _, s := range []struct {
		who    string
		labels []string
	}{{"base", x.c.OnlyBase}, {"head", x.c.OnlyHead}} {
		if len(s.labels) > 0 {
			x.printf("\nOnly in %s: %s.\n", s.who, strings.Join(mapSlice(s.labels, x.e.text), "; "))
		}
	}
}

// metricNames are the metrics that any point has, in the order of the first.
func (x *comparison) metricNames() []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range x.c.Points {
		for _, m := range p.Metrics {
			if !seen[m.Name] {
				seen[m.Name] = true
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// own makes a cell of text that is the program's own and needs no escape.
func own(s string) cell { return cell{s, s} }

// changeText is a change for people, with the chance that it is none.
func changeText(m MetricDiff) string {
	if !m.Change.IsSet() {
		return "-"
	}
	s := fmt.Sprintf("%+.1f %%", 100*float64(m.Change))
	if m.P.IsSet() {
		s += fmt.Sprintf(" (p=%.3f)", float64(m.P))
	}
	return s
}

func verdictText(m MetricDiff) string {
	if !m.P.IsSet() && m.Verdict != "same" && m.Verdict != "unproven" {
		return m.Verdict + ", one sample"
	}
	return m.Verdict
}

// differences lists values that differ; those that matter are in bold letters.
func (x *comparison) differences(list []Difference, mark bool) {
	var rows [][]cell
	for _, d := range list {
		row := []cell{x.codeCell(d.Name), x.codeCell(orElse(d.Base, "(unset)")), x.codeCell(orElse(d.Head, "(unset)"))}
		if mark {
			why := x.textCell("-")
			if d.Matters {
				why = cell{"**matters**: " + x.e.text(d.Why), "matters: " + clean(d.Why)}
			}
			row = append(row, why)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	head := []string{"Name", "Base", "Head"}
	if mark {
		head = append(head, "Does it matter?")
	}
	x.table(head, make([]bool, len(head)), rows)
}

func (x *comparison) failures(list []Finding) {
	for i := range list {
		x.finding(&list[i])
	}
}

func (x *comparison) divergence() {
	d := x.c.Divergence
	if d == nil {
		return
	}
	if d.After != "" {
		x.printf("The last event in common: %s.\n\n", x.e.text(d.After))
	}
	for i, e := range []Event{d.Base, d.Head} {
		x.printf("- %s: ", []string{"base", "head"}[i])
		if e.Kind == "" {
			x.printf("nothing more\n")
			continue
		}
		x.printf("%s %s — %s\n", x.e.text(orElse(x.face.show(e.Time), "?")), x.eventText(&e), x.at(e.Evidence))
	}
}

func (x *comparison) compareNotes() {
	for _, n := range x.c.Notes {
		x.printf("- %s\n", x.e.prose(n))
	}
}
