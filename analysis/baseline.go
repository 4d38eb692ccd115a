package analysis

import (
	"fmt"

	"github.com/llmforensics/forensics/report"
	"github.com/llmforensics/forensics/signatures"
)

// WithBaseline returns the document with the verdict perf.regression if nothing
// failed in it and it is clearly slower than base; otherwise it returns doc itself.
func WithBaseline(doc, base *report.Document) *report.Document {
	c := Compare(base, doc)
	if doc.Outcome != "completed" || !c.Regression {
		return doc
	}
	out := *doc
	out.Outcome = "degraded"
	out.Summary = c.Summary
	root := report.Finding{
		Class: "perf.regression", Signature: "baseline", Title: "Slower than the baseline run",
		Detail:     "The baseline is " + base.Run + ".",
		Confidence: "likely", Reasons: []string{}, Evidence: []report.Evidence{},
	}
	if class := signatures.ClassByID(root.Class); class != nil {
		root.Remedy = class.Fix
	}
	for _, p := range c.Points {
		if isRegression(p) {
			root.Count++
			root.Reasons = append(root.Reasons, fmt.Sprintf("%s: output throughput %+.0f %% (%d and %d runs)",
				p.Label, 100*float64(p.Metrics[0].Change), p.BaseRuns, p.HeadRuns))
			root.Evidence = append(root.Evidence, pointEvidence(doc, p)...)
		}
	}
	root.Reasons = append(root.Reasons, c.Notes...)
	out.RootCause = root
	for _, d := range c.Config {
		if d.Matters {
			out.RootCause.Detail += fmt.Sprintf(" `%s` was %s and is %s.", d.Name, orUnset(d.Base), orUnset(d.Head))
		}
	}
	return &out
}

// pointEvidence is the last line of each point of those parameters.
func pointEvidence(doc *report.Document, p report.PointDiff) []report.Evidence {
	var out []report.Evidence
	for i := range doc.Points {
		q := &doc.Points[i]
		if lengths(q) == p.Lengths && label(group{points: []*report.Point{q}}) == p.Label && len(q.Evidence) > 0 {
			out = append(out, q.Evidence[len(q.Evidence)-1])
		}
	}
	return out
}
