package classify

import (
	"fmt"
	"slices"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// closeBy is how near a more specific finding must stand to replace a vague one
// as the root: they are then two accounts of one failure.
const closeBy = 10 * time.Second

// verdict names the root and everything that goes with it.
func (a *analyst) verdict() *forensics.Diagnosis {
	d := &forensics.Diagnosis{}
	root := a.root()
	d.Outcome = a.outcome(root)
	a.fill(root)
	d.Root = root.Finding
	d.Confidence, d.Reasons = a.confidence(root)
	a.symptoms(d, root)
	a.hypotheses(d, root)
	d.Chain = a.chain(root, d)
	a.coverage(d, root)
	d.Summary = a.summary(d, root)
	return d
}

// root picks the incident that nothing else explains.
func (a *analyst) root() *incident {
	if a.fine() {
		if in := a.worstPerf(); in != nil {
			return in
		}
		return a.okay()
	}
	var causes, symptoms, weak, survived []*incident
	for _, in := range a.incidents {
		switch {
		case in.recovered && in.Class != "" && in.serving && in.role == signatures.Cause && !in.weak && !a.earlier(in) && in.Class != "perf.retraction":
			survived = append(survived, in)
		case in.Class == "" || in.cause != nil || a.earlier(in) || in.recovered || in.Class == "perf.retraction":
		case in.role == signatures.Cause && in.weak:
			weak = append(weak, in)
		case in.role == signatures.Cause:
			causes = append(causes, in)
		case in.role == signatures.Symptom:
			symptoms = append(symptoms, in)
		}
	}
	own := func(in *incident) bool { return !covers(answers, in.Class) }
	if !slices.ContainsFunc(causes, own) {
		if in := a.earliestOf(survived, own); in != nil {
			return in
		}
	}
	// An exception that cost single requests is the cause if requests failed and
	// nothing else explains it, although the server went on.
	for _, list := range [][]*incident{causes, survived, weak, symptoms} {
		if in := a.earliest(list); in != nil {
			return in
		}
	}
	if in := a.worstPerf(); in != nil {
		return in
	}
	if a.endedWell() || a.quietEnd() {
		return a.okay()
	}
	return a.cannotTell()
}

// answers are what a client says of the answers it got: any fault that the server
// logs for single requests explains them.
var answers = []string{"client.bad-request", "client.http-error", "client.disconnected", "client.timeout", "client.connection-refused"}

// earliestOf returns the earliest of the incidents that keep accepts, nil if none.
func (a *analyst) earliestOf(list []*incident, keep func(*incident) bool) *incident {
	var kept []*incident
	for _, in := range list {
		if keep(in) {
			kept = append(kept, in)
		}
	}
	return a.earliest(kept)
}

// earliest returns the first of the incidents, or a more specific one close by.
func (a *analyst) earliest(list []*incident) *incident {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	a.sort(list)
	best := list[0]
	for _, in := range list[1:] {
		if in.layer >= best.layer {
			continue
		}
		near := in.when == 0 || best.when == 0 || in.when-best.when <= int64(closeBy)
		sameWriter := in.writer == best.writer || best.structural
		if near && sameWriter {
			best = in
		}
	}
	return best
}

// fine reports whether every observed point was served and the server did not
// fail under it.
func (a *analyst) fine() bool {
	done := 0
	for _, p := range a.points() {
		switch p.Status {
		case timeline.PointCompleted:
			done++
		case timeline.PointUnknown:
			if p.Error.Pos.Line > 0 {
				return false
			}
		default:
			return false
		}
	}
	return done > 0
}

// quietEnd reports whether a server without any client record ended in order:
// idle or stopped after it had served.
func (a *analyst) quietEnd() bool {
	return a.life != nil && a.life.Stop == "stopped" && a.life.Served > 0 && len(a.t.Points) == 0
}

// perfOrder ranks performance findings that hold together: the limit that makes
// the queue beats the queue.
var perfOrder = []string{"perf.retraction", "perf.gpu-throttled", "perf.capped", "perf.gpu-underused", "perf.saturated"}

func (a *analyst) worstPerf() *incident {
	for _, class := range perfOrder {
		for _, in := range a.perf {
			if in.Class == class {
				return in
			}
		}
	}
	return nil
}

// okay is the finding of a run that is fine, with the lines that prove it.
func (a *analyst) okay() *incident {
	in := &incident{structural: true, role: signatures.Cause, layer: signatures.Family, life: a.lifeNo}
	in.Class, in.Signature, in.Title, in.Count = "ok", "rule.ok", "The run finished and all requests were served", 1
	for _, p := range a.points() {
		if p.Status == timeline.PointCompleted && len(in.Evidence) < 8 {
			in.Evidence = append(in.Evidence, p.EndAt)
			in.Evidence = append(in.Evidence, p.Proof[min(len(p.Proof), 1):]...)
		}
	}
	if len(in.Evidence) == 0 && a.life != nil {
		in.Title = "The server worked and ended in order"
		in.Evidence = append(in.Evidence, a.life.Last)
	}
	return in
}

// cannotTell is the finding of a run whose evidence holds no cause.
func (a *analyst) cannotTell() *incident {
	in := &incident{structural: true, role: signatures.Cause, layer: signatures.Fallback, life: a.lifeNo}
	in.Class, in.Signature, in.Count = "evidence.truncated", "rule.no-cause", 1
	in.Title = "The evidence holds no cause"
	in.Detail = "Nothing that was read names a failure, and nothing shows that the run finished."
	in.Remedy = "Add the whole server log, the client's full output, the kernel log (dmesg -T) and the exit statuses."
	for i := range a.t.Run.Sources {
		if len(in.Evidence) < 6 {
			in.Evidence = append(in.Evidence, a.endOf(i))
		}
	}
	return in
}

// endOf quotes the last kept event of a source, or the source as a whole.
func (a *analyst) endOf(source int) forensics.Quote {
	q := forensics.Quote{Pos: forensics.Pos{Source: source}, Text: "(" + a.t.Run.Sources[source].Format + ")"}
	for _, e := range a.t.Events {
		if e.Pos.Source == source && q.Pos.Line <= e.Pos.Line {
			q = e.Quote()
		}
	}
	return q
}

// outcome follows design: what the points and the server came to.
func (a *analyst) outcome(root *incident) forensics.Outcome {
	switch {
	case root.Class == "ok":
		return forensics.Completed
	case covers([]string{"perf.*"}, root.Class):
		return forensics.Degraded
	case root.Class == "evidence.truncated" || root.Class == "evidence.filtered" || root.Class == "evidence.stale":
		return forensics.Inconclusive
	}
	served, failed, lost := 0, 0, 0
	for _, p := range a.points() {
		switch p.Status {
		case timeline.PointCompleted:
			served++
		case timeline.PointPartial:
			if p.Completed > 0 && len(p.Metrics) > 0 && !p.Lost {
				failed++
			} else {
				lost++
			}
		case timeline.PointDied, timeline.PointNeverStarted:
			lost++
		}
	}
	died := a.life != nil && a.life.Stop == "died"
	if lost == 0 && served+failed > 0 && !died && !a.lateFailure(root) {
		return forensics.Degraded
	}
	return forensics.Failed
}

// lateFailure reports whether the server failed for good although its points
// seem to have got through.
func (a *analyst) lateFailure(root *incident) bool {
	return root.life >= 0 && root.life == a.lifeNo && !root.recovered && root.role == signatures.Cause &&
		covers([]string{"launch.*", "attention.*", "runtime.*"}, root.Class) && a.life.Stop != ""
}

// fill completes the root's finding: time, remedy, and what the configuration
// says about it.
func (a *analyst) fill(root *incident) {
	root.When = root.when
	if root.Remedy == "" {
		if c := signatures.ClassByID(root.Class); c != nil {
			root.Remedy = c.Fix
		}
	}
	sig := a.set.ByID(root.Signature)
	cfg := a.config()
	if sig == nil || cfg == nil {
		return
	}
	text := ""
	for _, key := range sig.Config {
		if v, ok := cfg.Values[key]; ok {
			if text != "" {
				text += ", "
			}
			text += key + "=" + v
		}
	}
	if text != "" {
		root.Detail += fmt.Sprintf(" This server ran with %s (%s).", text, a.t.Run.At(cfg.At.Pos))
	}
}
