package classify

import (
	"fmt"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// structure makes incidents of what no line says: absence, cut records, filters,
// ends without a reason.
func (a *analyst) structure() {
	a.states()
	a.noProcess()
	a.filtered()
	a.clientPoints()
	a.silence()
	a.lifeEnd()
}

// rule makes a structural incident and adds it.
func (a *analyst) rule(id, class, title, detail string, ev ...forensics.Quote) *incident {
	return a.add(newRule(id, class, title, detail, ev))
}

// newRule makes a structural incident; quotes without a place are left out.
func newRule(id, class, title, detail string, ev []forensics.Quote) *incident {
	in := &incident{structural: true, role: signatures.Cause, layer: signatures.Family, life: -1, source: -1}
	in.Class, in.Signature, in.Title, in.Detail = class, "rule."+id, title, detail
	for _, q := range ev {
		if q.Pos.Line > 0 {
			in.Evidence = append(in.Evidence, q)
		}
	}
	if len(in.Evidence) > 0 {
		in.source, in.line = in.Evidence[0].Pos.Source, in.Evidence[0].Pos.Line
	}
	return in
}

// has reports whether a current incident of one of the classes is there.
func (a *analyst) has(classes ...string) bool {
	for _, in := range a.incidents {
		if covers(classes, in.Class) && !a.earlier(in) {
			return true
		}
	}
	return false
}

func first(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

func sentence(parts []string) string {
	s := strings.Join(parts, "; ")
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// decorate adds supporting evidence to the incident of a class.
func (a *analyst) decorate(class string, ev []forensics.Quote, says []string) {
	for _, in := range a.incidents {
		if in.Class != class {
			continue
		}
		for _, q := range ev {
			if len(in.Evidence) < 8 && !hasQuote(in.Evidence, q) {
				in.Evidence = append(in.Evidence, q)
			}
		}
		if len(says) > 0 {
			in.Detail = strings.TrimSpace(in.Detail + " " + sentence(says))
		}
		return
	}
}

func hasQuote(list []forensics.Quote, q forensics.Quote) bool {
	for _, h := range list {
		if h.Pos == q.Pos {
			return true
		}
	}
	return false
}

// filtered notes points whose output went through a filter that could have hidden
// what happened.
func (a *analyst) filtered() {
	if len(a.t.Points) == 0 {
		a.filteredAway()
	}
	for _, p := range a.points() {
		planned := p.Params["planned_output_tokens"] != "" || p.Params["planned_input_tokens"] != ""
		noSummary := len(p.Metrics) == 0 && (p.Status == timeline.PointDied || p.Status == timeline.PointUnknown || p.Status == timeline.PointNeverStarted)
		if !noSummary || p.Error.Pos.Line > 0 || !(p.Filtered != "" || planned && p.Client == "" && p.Params["backend"] == "") {
			continue
		}
		title := "The client's output went through a filter"
		detail := "Only lines that the filter let through were kept: an error of the client, and the missing summary's reason, were cut away."
		if p.Filtered != "" {
			detail = fmt.Sprintf("The output went through `%s`: an error of the client, and the missing summary's reason, were cut away.", p.Filtered)
		}
		in := a.rule("filtered", "evidence.filtered", title, detail, p.At, p.EndAt)
		in.role, in.writer, in.when = signatures.Symptom, forensics.RoleClient, p.Start
		in.Remedy = "Keep the whole output (tee a file) and filter a copy."
		return
	}
}

// filteredAway notes a client whose command shows a filter and of whose output
// nothing is left to judge.
func (a *analyst) filteredAway() {
	for i := range a.t.Commands {
		c := &a.t.Commands[i]
		if c.Role != forensics.RoleClient || c.Filter == "" {
			continue
		}
		in := a.rule("filtered", "evidence.filtered", "The client's output was filtered away",
			fmt.Sprintf("The command pipes its output through `%s`, and nothing that tells how the run ended is left.", c.Filter), c.At)
		in.writer, in.layer = forensics.RoleClient, signatures.Family
		in.Remedy = "Keep the whole output (tee a file) and filter a copy."
		return
	}
}

// clientPoints makes symptoms of points that did not come through and whose
// files name no reason.
func (a *analyst) clientPoints() {
	for _, p := range a.points() {
		switch {
		case p.Status == timeline.PointPartial && !a.has("client.*"):
			class, title := "client.http-error", fmt.Sprintf("%d requests failed", p.Failed)
			if p.Failed < 0 {
				title = "No request succeeded"
			}
			if c := errorClass(p.Params["error"] + " " + p.Error.Text); c != "" {
				class = c
			} else if p.Completed > 0 && a.serverGoneBy(p) {
				class = "client.disconnected"
			}
			in := a.rule("failed-requests", class, title, "The client counts fewer requests as served than it sent, and prints no reason.", p.Error, p.EndAt)
			in.role, in.writer, in.when, in.layer = signatures.Symptom, forensics.RoleClient, p.End, signatures.Fallback
		case p.Refused && !a.has("client.connection-refused") && !a.has("client.resources", "client.bad-request"):
			in := a.rule("not-ready", "client.connection-refused", "The client could not reach the server", "The client's error says that nothing listened.", p.Error, p.EndAt, p.At)
			in.role, in.writer, in.when, in.layer = signatures.Symptom, forensics.RoleClient, p.End, signatures.Fallback
		case p.Status == timeline.PointDied && p.Error.Pos.Line == 0 && p.Filtered == "" && a.life == nil && !a.has("client.*", "host.*"):
			in := a.rule("cut-client", "evidence.truncated", "The client's record stops in the middle of its run", p.Why+".", p.EndAt, p.At)
			in.role, in.writer, in.layer = signatures.Cause, forensics.RoleClient, signatures.Fallback
		}
	}
}

// errorWords maps what clients say of single failed requests to classes.
var errorWords = []struct{ word, class string }{
	{"assign requested address", "client.resources"}, {"too many open files", "client.resources"}, {"EADDRNOTAVAIL", "client.resources"},
	{"refused", "client.connection-refused"},
	{"timeout", "client.timeout"}, {"timed out", "client.timeout"}, {"deadline exceeded", "client.timeout"},
	{"reset", "client.disconnected"}, {"EOF", "client.disconnected"}, {"closed", "client.disconnected"}, {"disconnect", "client.disconnected"},
	{"socket read", "client.disconnected"}, {"read error", "client.disconnected"}, {"not completed", "client.disconnected"},
}

// errorClass returns the class of a client's error text, "" if no word tells.
func errorClass(text string) string {
	for _, w := range errorWords {
		if strings.Contains(text, w.word) {
			return w.class
		}
	}
	return ""
}

// serverGoneBy reports whether the server did not answer after a point.
func (a *analyst) serverGoneBy(p *timeline.Point) bool {
	return a.life == nil && p.Error.Pos.Line == 0 && p.Completed > 0 && p.Failed > p.Completed*4
}

// lifeEnd judges how the server's record ends when nothing in it names a fault.
func (a *analyst) lifeEnd() {
	l := a.life
	if l == nil {
		return
	}
	if len(a.candidates()) > 0 {
		return
	}
	switch {
	case l.Stop == "stopped":
		a.orderlyStop(l)
	case l.Stop == "died" || l.HasExit && l.ExitCode != 0 && !a.endedWell():
		in := a.rule("unknown-exit", "runtime.unknown-exit", "The server ended and nothing says why",
			"The server's process is gone; no exception, signal or kernel line in the evidence tells the reason.", l.StopAt, l.LastServed)
		in.layer, in.life, in.serving, in.when = signatures.Fallback, a.lifeNo, l.IsReady(), l.End
		in.Remedy = "Get the kernel log (dmesg -T) of that time and the whole server log: an OOM kill or a crash of the driver shows there."
	case !a.endedWell():
		a.cutRecord(l)
	}
}

// endedWell reports whether the run's results say that all went well.
func (a *analyst) endedWell() bool {
	n := 0
	for _, p := range a.points() {
		switch p.Status {
		case timeline.PointCompleted:
			n++
		case timeline.PointUnknown:
		default:
			return false
		}
	}
	if n > 0 {
		return true
	}
	for _, e := range a.t.Events {
		if e.Kind == forensics.KindExit && e.Attr("code") == "0" {
			return a.life != nil && (a.life.IsReady() || len(a.life.Phases) == 0)
		}
	}
	return false
}

// orderlyStop judges a shutdown that the server announces: normal after the last
// point, a kill from outside before it.
func (a *analyst) orderlyStop(l *timeline.Life) {
	if a.endedWell() || len(a.t.Points) == 0 && l.Served > 0 {
		return
	}
	in := a.rule("stopped", "host.killed", "The server was stopped from outside",
		"The server announces an orderly shutdown before the benchmark had finished.", l.StopAt)
	in.life, in.serving, in.when = a.lifeNo, l.IsReady(), l.End
	in.Remedy = "Find who sent the signal: a time limit, an operator, a probe, or a harness that gave up."
}

// cutRecord judges a log that just stops.
func (a *analyst) cutRecord(l *timeline.Life) {
	if !l.IsReady() && a.gaveUp() || a.hasSymptom("runtime.*", "client.timeout", "client.bad-request", "client.http-error", "client.setup", "host.*", "gpu.*") {
		return
	}
	if running, _ := a.lastRunning(l); l.IsReady() && running == 0 && a.hasSymptom("client.*") {
		return // an idle server's log may end anywhere: the client's error is all there is
	}
	detail := "The record stops while the server was working, and holds no cause."
	if !l.IsReady() {
		detail = "The record stops while the server was starting, and holds no cause."
	}
	in := a.rule("truncated", "evidence.truncated", "The server's log just stops", detail, l.Last)
	in.life, in.serving, in.layer = a.lifeNo, l.IsReady(), signatures.Fallback
	in.Remedy = "Get the rest of the log, the kernel log and the exit status; the end of the record is not the cause."
}

// gaveUp reports whether a harness or client stopped waiting for a server that
// was still loading, and makes the incident.
func (a *analyst) gaveUp() bool {
	for _, p := range a.points() {
		if p.Status != timeline.PointNeverStarted {
			continue
		}
		if len(a.life.Phases) == 0 || p.Start != 0 && a.life.Start != 0 && p.Start < a.life.Start {
			continue
		}
		in := a.rule("gave-up", "launch.slow", "The client gave up while the server was still loading",
			fmt.Sprintf("The server had reached the phase %q and printed no error when the client stopped waiting.", a.life.Phases[len(a.life.Phases)-1].Name),
			a.life.Phases[len(a.life.Phases)-1].At, p.Error)
		in.life, in.layer = a.lifeNo, signatures.Fallback
		in.Remedy = "Wait longer for readiness, or warm the caches (weights on local disk, compiled kernels) before the sweep."
		return true
	}
	return false
}

// hasSymptom reports whether a consequence of one of the classes is on record.
func (a *analyst) hasSymptom(classes ...string) bool {
	for _, in := range a.incidents {
		if in.role == signatures.Symptom && !in.weak && covers(classes, in.Class) && !a.earlier(in) {
			return true
		}
	}
	return false
}

// points returns the points of the run under study.
func (a *analyst) points() []*timeline.Point {
	var out []*timeline.Point
	for i := range a.t.Points {
		if !a.t.Points[i].Earlier {
			out = append(out, &a.t.Points[i])
		}
	}
	return out
}
