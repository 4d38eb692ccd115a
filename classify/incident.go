// Package classify draws conclusions: it matches signatures against a timeline,
// adds what structure alone says (a launch that started nothing, a client without
// a summary, numbers below what was possible), decides which findings explain
// which, and names the root cause with its confidence. It is pure.
//
// The steps of [Diagnose]:
//
//  1. matches (match.go, tracematch.go, scope.go): every kept event is tried against the signatures; the
//     most specific one that fits process, engine and phase makes an incident.
//     Exceptions that no signature knows make incidents by launch stage.
//  2. structure (structure.go, absence.go, states.go, perf.go): incidents from
//     absence, from states that others report, and from numbers.
//  3. explanations (relations.go, explain.go): which incident is a consequence of
//     which, by class, order and process. What was followed by normal progress
//     is no cause.
//  4. verdict (verdict.go): root, outcome, confidence, chain, rejected hypotheses.
package classify

import (
	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// incident is a finding on its way to the diagnosis.
type incident struct {
	forensics.Finding
	role  signatures.Role
	layer signatures.Layer
	// ev is the event it was found in, nil for structural findings.
	ev *timeline.Event
	// source and line order incidents of one source; when those of several.
	source, line int
	when         int64
	// life is the server life it belongs to, -1 for none; serving tells whether
	// that life was ready before it.
	life    int
	serving bool
	writer  forensics.Role
	// recovered is true when its process went on normally afterwards.
	recovered bool
	// weak incidents are causes only when nothing better is there.
	weak bool
	// module is the signature's capture of that name.
	module string
	// datedBack is true when the time was computed from a wait that the line
	// tells: it is as exact as the watchdog's polling.
	datedBack bool
	// structural incidents come from rules, not from a line that names the fault.
	structural bool
	cause      *incident // what explains it
	why        string    // how
}

// analyst holds what the steps share.
type analyst struct {
	t    *timeline.Timeline
	set  *signatures.Set
	life *timeline.Life // the life that the run is about, nil if none
	// lifeNo is its index, -1 if none.
	lifeNo    int
	incidents []*incident
	perf      []*incident
	rejected  []forensics.Rejected
}

// Diagnose names the root cause of what the timeline tells.
func Diagnose(t *timeline.Timeline, set *signatures.Set) *forensics.Diagnosis {
	a := &analyst{t: t, set: set, life: t.LastLife(), lifeNo: -1}
	for i := range t.Lives {
		if a.life == &t.Lives[i] {
			a.lifeNo = i
		}
	}
	a.match()
	a.structure()
	a.performance()
	a.judgeProgress()
	a.explain()
	return a.verdict()
}

func (a *analyst) add(in *incident) *incident {
	if in.Count == 0 {
		in.Count = 1
	}
	a.incidents = append(a.incidents, in)
	return in
}
