package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llmforensics/forensics/report"
)

// Compare says what changed from base to head. It changes neither document.
func Compare(base, head *report.Document) *report.Comparison {
	c := &report.Comparison{
		Schema: report.ComparisonSchema, Base: side(base), Head: side(head),
		Config: configDiff(base, head), Env: envDiff(base, head),
		Divergence: divergence(base, head),
		Notes:      []string{},
	}
	c.NewFailures, c.GoneFailures = failuresOnlyIn(head, base), failuresOnlyIn(base, head)
	comparePoints(c, base, head)
	c.Summary = compareSummary(c)
	return c
}

func side(d *report.Document) report.Side {
	return report.Side{
		Run: d.Run, Outcome: d.Outcome, Class: d.RootCause.Class, Title: d.RootCause.Title,
		Engine: d.Config.Engine, Version: d.Config.Version,
	}
}

// configDiff lists the options that differ, those that matter first.
func configDiff(base, head *report.Document) []report.Difference {
	out := []report.Difference{}
	b, h := base.Config.Values, head.Config.Values
	for _, k := range unionKeys(b, h) {
		x, inBase := b[k]
		y, inHead := h[k]
		if x == y && inBase == inHead {
			continue
		}
		d := report.Difference{Name: k, Base: x, Head: y}
		switch {
		case slices.Contains(head.Config.Notable, k):
			d.Matters, d.Why = true, "the diagnosis of the head run speaks of it"
		case slices.Contains(base.Config.Notable, k):
			d.Matters, d.Why = true, "the diagnosis of the base run speaks of it"
		case report.IsUsualOption(k):
			d.Matters, d.Why = true, "it is known to change results"
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b report.Difference) int { return rank(a) - rank(b) })
	return out
}

// rank puts what a diagnosis speaks of first, then what is known to matter.
func rank(d report.Difference) int {
	switch {
	case d.Matters && strings.HasPrefix(d.Why, "the diagnosis"):
		return 0
	case d.Matters:
		return 1
	}
	return 2
}

func unionKeys(a, b map[string]string) []string {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// envDiff compares engine, devices and facts. A fact that is told several times
// counts once.
func envDiff(base, head *report.Document) []report.Difference {
	b, h := envOf(base), envOf(head)
	out := []report.Difference{}
	for _, k := range unionKeys(b, h) {
		if b[k] != h[k] {
			out = append(out, report.Difference{
				Name: k, Base: b[k], Head: h[k],
				// A fact that one side does not tell is no difference that is known.
				Matters: b[k] != "" && h[k] != "", Why: "",
			})
		}
	}
	return out
}

func envOf(d *report.Document) map[string]string {
	out := map[string]string{}
	add := func(k, v string) {
		switch {
		case v == "" || slices.Contains(strings.Split(out[k], ", "), v):
		case out[k] == "":
			out[k] = v
		default:
			out[k] += ", " + v
		}
	}
	add("engine", strings.TrimSpace(d.Config.Engine+" "+d.Config.Version))
	kinds := map[string]int{}
	for _, g := range d.GPUs {
		kinds[g.Name]++
	}
	var names []string
	for name, n := range kinds {
		names = append(names, fmt.Sprintf("%d × %s", n, name))
	}
	slices.Sort(names)
	add("GPUs", strings.Join(names, ", "))
	for _, f := range d.Env {
		add(f.Name, f.Value)
	}
	return out
}

// failuresOnlyIn lists root cause and symptoms of a whose class b does not have.
func failuresOnlyIn(a, b *report.Document) []report.Finding {
	has := map[string]bool{"ok": true}
	for _, f := range append([]report.Finding{b.RootCause}, b.Symptoms...) {
		has[f.Class] = true
	}
	out := []report.Finding{}
	for _, f := range append([]report.Finding{a.RootCause}, a.Symptoms...) {
		if !has[f.Class] {
			has[f.Class] = true
			out = append(out, f)
		}
	}
	return out
}

// compareSummary tells the comparison in one to three sentences.
func compareSummary(c *report.Comparison) string {
	var s []string
	switch {
	case len(c.Points) == 0:
		s = append(s, "The two runs have no point in common, so their speed cannot be compared.")
	case c.Regression:
		s = append(s, worstSentence(c))
	default:
		s = append(s, "Head is not clearly slower than base at the points they have in common.")
	}
	var names []string
	for _, d := range c.Config {
		if d.Matters && len(names) < 3 {
			names = append(names, fmt.Sprintf("%s (%s, then %s)", d.Name, orUnset(d.Base), orUnset(d.Head)))
		}
	}
	switch {
	case len(names) > 0:
		s = append(s, "What differs in the configuration and matters: "+strings.Join(names, ", ")+".")
	case len(c.Config) > 0:
		s = append(s, "No option differs that is known to matter.")
	}
	if c.Base.Class != c.Head.Class {
		s = append(s, fmt.Sprintf("Verdict: %s, then %s.", c.Base.Class, c.Head.Class))
	}
	return strings.Join(s, " ")
}

func orUnset(s string) string {
	if s == "" {
		return "unset"
	}
	return s
}
