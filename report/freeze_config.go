package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// config takes the last start-up configuration of a server that belongs to the run.
func (f *freezer) config(d *forensics.Diagnosis) Config {
	out := Config{
		Engine: clean(f.tl.Engine), Version: f.text(f.tl.Version),
		Values: map[string]string{}, Notable: []string{}, Evidence: []Evidence{},
	}
	var last *timeline.Config
	for i := range f.tl.Config {
		c := &f.tl.Config[i]
		stale := c.Life >= 0 && c.Life < len(f.tl.Lives) && f.tl.Lives[c.Life].Stale
		if last == nil || !stale {
			last = c
		}
	}
	if last == nil {
		return out
	}
	if last.Engine != "" {
		out.Engine = clean(last.Engine)
	}
	keys := slices.Sorted(maps.Keys(last.Values))
	for _, k := range limit(f, keys, maxConfig) {
		out.Values[clean(k)] = f.text(last.Values[k])
	}
	out.Notable = spokenOf(slices.Sorted(maps.Keys(out.Values)), d)
	out.Evidence = f.quotes([]forensics.Quote{last.At})
	return out
}

// spokenOf returns the keys that the diagnosis names, as "chunked_prefill_size"
// or as "--chunked-prefill-size". Short keys without an underscore are left out
// unless they are spelled as an option, since they may be plain English.
func spokenOf(keys []string, d *forensics.Diagnosis) []string {
	var b strings.Builder
	say := func(x forensics.Finding) {
		for _, s := range []string{x.Title, x.Detail, x.Remedy, x.Why, x.Affected} {
			b.WriteString(s + " ")
		}
	}
	b.WriteString(d.Summary + " ")
	say(d.Root)
	for _, l := range d.Chain {
		b.WriteString(l.Text + " ")
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(b.String(), func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		words[strings.ReplaceAll(w, "-", "_")] = true
	}
	out := []string{}
	for _, k := range keys {
		norm := strings.ReplaceAll(k, "-", "_")
		if words["__"+norm] || words[norm] && strings.Contains(norm, "_") {
			out = append(out, k)
		}
	}
	return out
}
