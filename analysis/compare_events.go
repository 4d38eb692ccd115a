package analysis

import (
	"regexp"
	"strings"

	"github.com/llmforensics/forensics/report"
)

// What differs between two runs of the same thing: numbers of processes, ports,
// addresses. A point's concurrency stays, since it says which point it is.
var (
	pidText = regexp.MustCompile(`\s*\bpid \d+`)
	numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+(?:\.\d+)*`)
)

// eventKey is what two runs would have in common of an event.
func eventKey(e *report.Event) string {
	text := e.Text
	if e.Kind != "point-start" && e.Kind != "point-end" {
		text = numbers.ReplaceAllString(text, "#")
	}
	return e.Kind + "|" + pidText.ReplaceAllString(e.Process, "") + "|" + text
}

// observed leaves out conclusions about the speed: they are drawn from the run as a
// whole, and stand at a line that says nothing of the sort by itself.
func observed(d *report.Document) []report.Event {
	var out []report.Event
	for _, e := range d.Timeline {
		if e.Kind != "finding" || !strings.HasPrefix(e.Class, "perf.") {
			out = append(out, e)
		}
	}
	return out
}

// divergence finds the first key event that differs; nil if none does.
func divergence(base, head *report.Document) *report.Divergence {
	b, h := observed(base), observed(head)
	var after string
	for i := range max(len(b), len(h)) {
		var d report.Divergence
		if i < len(b) {
			d.Base = b[i]
		}
		if i < len(h) {
			d.Head = h[i]
		}
		if i < len(b) && i < len(h) && eventKey(&b[i]) == eventKey(&h[i]) {
			after = b[i].Text
			continue
		}
		d.After = after
		return &d
	}
	return nil
}
