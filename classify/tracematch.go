package classify

import (
	"fmt"
	"slices"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// flat lists the exceptions of a trace, root first, members of groups included.
func flat(tr *forensics.Trace) []*forensics.Exception {
	var out []*forensics.Exception
	root := tr.Root()
	if root != nil {
		out = append(out, root)
	}
	var walk func(tr *forensics.Trace)
	walk = func(tr *forensics.Trace) {
		for i := range tr.Chain {
			x := &tr.Chain[i]
			for g := range x.Group {
				walk(&x.Group[g])
			}
			if x != root {
				out = append(out, x)
			}
		}
	}
	walk(tr)
	return out
}

// frameKeys returns all frames of a trace in the form that signatures match.
func frameKeys(tr *forensics.Trace) []string {
	var keys []string
	for _, x := range flat(tr) {
		for _, f := range x.Frames {
			keys = append(keys, f.File+":"+f.Func)
		}
	}
	return keys
}

// excText is the text that exception patterns are searched in.
func excText(x *forensics.Exception) string {
	if x.Message == "" {
		return x.Type
	}
	return x.Type + ": " + x.Message
}

// traceMatch is the best signature at one line of a traceback.
type traceMatch struct {
	sig   *signatures.Signature
	quote forensics.Quote
	text  string
}

// traceMatches returns the most telling signature of every line of a traceback
// that one matches: exceptions, root first, then the lines of their messages.
// Advice under an exception silences its own line only.
func (a *analyst) traceMatches(e *timeline.Event) []traceMatch {
	frames := frameKeys(e.Trace)
	var list []traceMatch
	offer := func(sig *signatures.Signature, q forensics.Quote, text string) {
		for i := range list {
			if list[i].quote.Pos.Line == q.Pos.Line {
				if better(sig, list[i].sig) {
					list[i] = traceMatch{sig, q, text}
				}
				return
			}
		}
		list = append(list, traceMatch{sig, q, text})
	}
	var nums []int
	for _, x := range flat(e.Trace) {
		nums = a.set.MatchException(excText(x), frames, nums[:0])
		for _, n := range nums {
			if sig := a.set.Sigs[n]; a.fits(sig, e) {
				offer(sig, forensics.Quote{Pos: x.Pos, Text: x.Text}, excText(x))
			}
		}
	}
	for _, h := range e.Hits {
		if sig := a.set.Sigs[h.Sig]; a.fits(sig, e) && sig.FrameOK(frames) {
			offer(sig, forensics.Quote{Pos: h.Pos, Text: h.Text}, h.Text)
		}
	}
	return list
}

// matchTrace makes an incident of the most specific match of a traceback; of
// equally specific ones the root exception's, which comes first.
func (a *analyst) matchTrace(e *timeline.Event) {
	var best *traceMatch
	list := a.traceMatches(e)
	for i := range list {
		m := &list[i]
		if mute(m.sig) {
			continue
		}
		if best == nil || a.traceRank(e, m.sig) < a.traceRank(e, best.sig) {
			best = m
		}
	}
	if best == nil {
		if len(list) == 0 || !mutesRoot(list, e.Trace) {
			a.unknownTrace(e)
		}
		return
	}
	if root := e.Trace.Root(); best.sig.Role == signatures.Symptom && root != nil && !matchedAt(list, root.Pos.Line) {
		a.unknownTrace(e) // only the wrapper is known: what it wraps is the failure
	}
	in := a.addMatch(e, best.sig, best.quote, best.text)
	in.quoteRaised(e.Trace)
	a.addEchoes(e, best.sig, frameKeys(e.Trace))
	for _, m := range list {
		if m.sig.Role == signatures.Symptom && m.sig != best.sig && a.classOf(m.sig, e) != in.Class {
			a.addMatch(e, m.sig, m.quote, m.text)
		}
	}
	if in != nil {
		in.Ranks = mergeRanks(in.Ranks, e.Trace.Ranks)
		if best.sig.LayerNo() == signatures.Fallback {
			in.Fingerprint = fingerprint(e.Trace)
		}
	}
}

func matchedAt(list []traceMatch, line int) bool {
	return slices.ContainsFunc(list, func(m traceMatch) bool { return m.quote.Pos.Line == line })
}

// traceRank orders the signatures that match one traceback, best first: by layer,
// causes first; but on a server even a vague cause comes before a wrapper, which
// is a consequence of what it wraps.
func (a *analyst) traceRank(e *timeline.Event, s *signatures.Signature) int {
	rank := int(s.LayerNo())*8 + roleOrder[s.Role]
	if s.Role == signatures.Cause && s.LayerNo() == signatures.Fallback && a.writerOf(e) == forensics.RoleServer {
		return int(signatures.Family)*8 + 1
	}
	if s.Role == signatures.Symptom && s.LayerNo() < signatures.Fallback && a.writerOf(e) == forensics.RoleServer {
		return int(signatures.Family)*8 + 2
	}
	return rank
}

// quoteRaised puts the condition of a bare assert before the exception's own line,
// which says nothing.
func (in *incident) quoteRaised(tr *forensics.Trace) {
	if in == nil {
		return
	}
	x := tr.Root()
	if x == nil || x.Raised.Pos.Line == 0 || hasQuote(in.Evidence, x.Raised) || len(in.Evidence) > 6 {
		return
	}
	in.Evidence = append([]forensics.Quote{x.Raised}, in.Evidence...)
}

// mutesRoot reports whether advice or a benign signature matches the exception
// that explains the traceback: then it is no failure.
func mutesRoot(list []traceMatch, tr *forensics.Trace) bool {
	root := tr.Root()
	for _, m := range list {
		if root != nil && m.quote.Pos.Line == root.Pos.Line {
			return true
		}
	}
	return false
}

// unknownTrace makes an incident of an exception that no signature knows: by
// launch stage before readiness, else as a bug of the engine.
func (a *analyst) unknownTrace(e *timeline.Event) {
	x := e.Trace.Root()
	if x == nil || e.Trace.Native == "py-spy" || x.Type == "stack dump" {
		return // a dump of a running process is no failure
	}
	class := "runtime.scheduler-bug"
	writer := a.writerOf(e)
	switch {
	case writer == forensics.RoleClient:
		class = "client.setup"
	case writer == forensics.RoleServer && e.Life >= 0 && !e.Serving:
		class = a.stageOf(e)
	case writer == "" && e.Life < 0 && !a.readySource(e):
		class = stageClass[forensics.PhaseStart]
	case writer == forensics.RoleShell || writer == forensics.RoleScheduler || writer == forensics.RoleKernel || writer == forensics.RoleGPU:
		return
	}
	in := a.newIncident(e, class, forensics.Quote{Pos: x.Pos, Text: x.Text})
	in.Signature, in.role, in.layer = "unknown.exception", signatures.Cause, signatures.Fallback
	if x.Type == "" {
		// Only frames are left: that something failed is known, what is not.
		in.Evidence, in.weak, in.Title = []forensics.Quote{e.Quote()}, true, "A traceback whose exception is cut away"
		in.Detail = "The record holds the frames and not the exception."
		a.add(in)
		return
	}
	in.Title = "Unhandled " + x.BaseType()
	in.Detail = "No signature knows this exception" + whereOf(e.Trace) + "."
	in.Remedy = "Search the engine's issues for the exception text; group equal failures by the fingerprint."
	in.Fingerprint = fingerprint(e.Trace)
	in.Ranks = mergeRanks(in.Ranks, e.Trace.Ranks)
	in.quoteRaised(e.Trace)
	a.add(in)
}

func whereOf(tr *forensics.Trace) string {
	if f := ownFrame(tr); f != nil {
		return fmt.Sprintf("; it was raised in %s (%s)", f.Func, shortPath(f.File))
	}
	return ""
}
