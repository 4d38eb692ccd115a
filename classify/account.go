package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// confidence follows stated rules and returns the reasons in words.
//
//   - confirmed: a line names the fault (bug or family signature, not weak), its
//     effect is seen (the server ended or never got ready, or a point failed), and
//     no other unexplained cause stands beside it. Also: every point served.
//   - likely: the fault is known by its exception type or stage only, or another
//     cause is not excluded, or its effect is not in the record.
//   - possible: only consequences or absence speak.
func (a *analyst) confidence(root *incident) (forensics.Confidence, []string) {
	var why []string
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if root.Class == "ok" {
		say("every observed point was served and nothing fatal follows")
		if len(a.t.Points) == 0 {
			return forensics.Likely, []string{"the server ended in order; no client record says how the requests fared"}
		}
		return forensics.Confirmed, why
	}
	strong := true
	switch {
	case root.role != signatures.Cause:
		say("only a consequence is on record, not its cause")
		return forensics.Possible, why
	case root.structural && root.layer == signatures.Fallback:
		say("the verdict rests on what is missing, not on a line that names the fault")
		return forensics.Possible, why
	case root.weak:
		say("the text also occurs in runs that go on")
		strong = false
	case root.layer == signatures.Fallback:
		say("no signature knows this failure; the class comes from the exception's type and place")
		strong = false
	case root.structural:
		say("several independent records agree: %d lines of evidence", len(root.Evidence))
	default:
		say("the line itself names the fault")
	}
	if effect := a.effect(root); effect != "" {
		say("%s", effect)
	} else {
		say("no record shows its effect")
		strong = false
	}
	if r := a.rival(root); r != nil {
		say("%s at %s is not explained by it", r.Class, a.t.Run.At(r.Evidence[0].Pos))
		strong = false
	}
	if strong && !covers([]string{"perf.*"}, root.Class) || strong && len(root.Evidence) > 1 {
		return forensics.Confirmed, why
	}
	return forensics.Likely, why
}

// effect names the consequence of the root that the record shows.
func (a *analyst) effect(root *incident) string {
	switch {
	case covers([]string{"perf.*"}, root.Class):
		return "the numbers of the run show it"
	case root.Class == "launch.no-process":
		return "no server process, memory or log line of the launch exists"
	case a.life != nil && a.life.Stop == "died":
		return "the server announces its end afterwards (" + a.t.Run.At(a.life.StopAt.Pos) + ")"
	case a.life != nil && !a.life.IsReady():
		return "the server never got ready"
	}
	for i := range a.t.Points {
		if p := &a.t.Points[i]; p.Status != timeline.PointCompleted && p.Status != timeline.PointUnknown {
			return fmt.Sprintf("the benchmark shows it: a point %s", p.Status)
		}
	}
	for _, in := range a.incidents {
		if in.cause == root {
			return in.Title + " follows from it"
		}
	}
	if a.life != nil && a.life.LastServed.Pos.Line > 0 && root.life == a.lifeNo && root.line > a.life.LastServed.Pos.Line {
		return "no request was served after it"
	}
	if a.life == nil && root.writer != forensics.RoleClient {
		return "the record ends with it"
	}
	return ""
}

// rival returns another cause that nothing explains, if there is one.
func (a *analyst) rival(root *incident) *incident {
	for _, in := range a.incidents {
		if in != root && in.cause == nil && in.role == signatures.Cause && !in.recovered && !in.weak && !in.structural &&
			in.Class != "" && in.Class != root.Class && !a.earlier(in) && in.Class != "perf.retraction" {
			return in
		}
	}
	return nil
}

// symptoms lists what follows from the root, each class once, and failures of
// earlier runs.
func (a *analyst) symptoms(d *forensics.Diagnosis, root *incident) {
	list := slices.Clone(a.incidents)
	a.sort(list)
	seen := map[string]bool{root.Class: true, "": true, "perf.retraction": true}
	for _, in := range list {
		if in == root || seen[in.Class] {
			continue
		}
		switch {
		case a.earlier(in):
			if in.role == signatures.Cause && in.layer <= signatures.Family || in.role == signatures.Cause && root.Class == "ok" {
				f := in.Finding
				f.Why = "it belongs to an earlier run in the same folder"
				f.When = in.when
				d.Earlier = append(d.Earlier, f)
				if root.Class == "ok" && in.life >= 0 {
					d.Symptoms = append(d.Symptoms, f)
					seen[in.Class] = true
				}
			}
			continue
		case in.recovered || root.Class == "ok" || in.Class == "runtime.unknown-exit":
			continue // an end that is explained is not unknown
		case in.cause == nil && in.role == signatures.Cause, in.Class == "host.killed" && a.fine():
			continue // a server that is stopped after the last point has done its work
		}
		if strings.HasPrefix(in.Class, "launch.") && in.life < 0 && a.life != nil && a.life.IsReady() {
			continue // the launch had succeeded: a client that found nothing says nothing of it
		}
		f := in.Finding
		f.When = in.when
		f.ExplainedBy, f.Why = root.Class, in.why
		if in.cause == nil {
			if how, ok := a.explains(root, in); ok {
				f.Why = how
			} else {
				f.ExplainedBy = ""
				if in.role != signatures.Symptom || in.Class == "runtime.unknown-exit" {
					continue
				}
			}
		} else {
			f.ExplainedBy = in.cause.Class
		}
		seen[in.Class] = true
		d.Symptoms = append(d.Symptoms, f)
	}
	for _, in := range a.perf {
		if root.structural && in != root && !seen[in.Class] && covers([]string{"perf.*"}, root.Class) {
			f := in.Finding
			f.ExplainedBy, f.Why = root.Class, "it is the same shortage seen from another side"
			seen[in.Class] = true
			d.Symptoms = append(d.Symptoms, f)
		}
	}
}

// hypotheses lists the explanations that lost, with the reason.
func (a *analyst) hypotheses(d *forensics.Diagnosis, root *incident) {
	d.Rejected = append(d.Rejected, a.rejected...)
	said := map[string]bool{root.Class: true}
	add := func(class, title, reason string, ev []forensics.Quote) {
		if !said[class] && len(d.Rejected) < 12 {
			said[class] = true
			d.Rejected = append(d.Rejected, forensics.Rejected{Class: class, Title: title, Reason: reason, Evidence: ev})
		}
	}
	for _, in := range a.incidents {
		ev := in.Evidence[:min(len(in.Evidence), 2)]
		switch {
		case in == root || in.Class == "" || a.earlier(in):
		case in.recovered:
			add(in.Class, in.Title, "the process went on working after it", ev)
		case in.Class == "evidence.filtered":
			add(in.Class, "The filter or the client broke the benchmark", a.filterReason(root, in), ev)
		case in.cause != nil && strings.HasPrefix(in.Class, "client."):
			add(in.Class, in.Title, fmt.Sprintf("it is a consequence: %s (%s)", in.why, in.cause.Class), ev)
		case in.cause != nil && in.role == signatures.Cause:
			add(in.Class, in.Title, fmt.Sprintf("%s explains it: %s", in.cause.Class, in.why), ev)
		case in.cause == nil && in.role == signatures.Cause && !in.structural:
			add(in.Class, in.Title, "it is not excluded, but the root cause is earlier or named more clearly", ev)
		}
	}
	a.rejectKill(root, add)
	a.rejectSelfMatch(root, add)
}

func (a *analyst) filterReason(root, in *incident) string {
	if root.Class == "ok" || root.cause != nil {
		return "the numbers that the filter let through show a run that finished"
	}
	at := ""
	if len(root.Evidence) > 0 {
		at = " (" + a.t.Run.At(root.Evidence[0].Pos) + ")"
	}
	return fmt.Sprintf("a filter cannot stop a server: it only hid the failure, whose cause is on record%s", at)
}

// rejectKill rejects the OOM killer for exit status 137 and "Killed" when the
// server had failed before: engines end themselves with SIGKILL after a fatal
// error (kill_process_tree).
func (a *analyst) rejectKill(root *incident, add func(string, string, string, []forensics.Quote)) {
	if covers([]string{"host.*", "ok", "evidence.*", "perf.*"}, root.Class) {
		return
	}
	for _, e := range a.t.Events {
		if e.Kind == forensics.KindExit && (e.Attr("code") == "137" || e.Attr("code") == "-9" || e.Attr("signal") == "9" || e.Attr("signal") == "KILL") {
			reason := "exit status 137 is the server's own: after a fatal error it kills its process tree, itself included"
			if a.hasRole(forensics.RoleKernel) {
				reason += "; the kernel log holds no OOM kill"
			}
			add("host.oom-killed", "The OOM killer ended the server", reason, []forensics.Quote{e.Quote()})
			return
		}
	}
}

func (a *analyst) rejectSelfMatch(root *incident, add func(string, string, string, []forensics.Quote)) {
	if root.Class != "launch.no-process" {
		return
	}
	for _, e := range a.t.Events {
		if e.Kind == forensics.KindProc && e.Attr("self") == "true" {
			add("runtime.hang", "The server is running and hangs",
				"the process that pgrep lists is its own shell: the pattern stands in that shell's command line", []forensics.Quote{e.Quote()})
			return
		}
	}
}

func (a *analyst) hasRole(role forensics.Role) bool {
	for i := range a.t.Run.Sources {
		if a.t.Run.Sources[i].Role == role {
			return true
		}
	}
	return false
}

// chain leads from the root over the server's end to the client.
func (a *analyst) chain(root *incident, d *forensics.Diagnosis) []forensics.Link {
	var links []forensics.Link
	link := func(class, text string, when int64, q forensics.Quote) {
		if q.Pos.Line > 0 || q.Text != "" {
			links = append(links, forensics.Link{Class: class, Text: text, When: when, Quote: q})
		}
	}
	if len(root.Evidence) > 0 {
		link(root.Class, root.Title, root.when, root.Evidence[0])
	}
	if root.Class == "ok" {
		return links
	}
	for i := range a.t.Points {
		if p := &a.t.Points[i]; p.Status == timeline.PointDied && a.life != nil {
			link("", fmt.Sprintf("the point %s was under way and never finished", pointName(p)), 0, p.At)
			break
		}
	}
	if a.life != nil && a.life.Stop == "died" && root.line < a.life.StopAt.Pos.Line {
		link("", "the server ended itself", a.life.End, a.life.StopAt)
	}
	for i := range d.Symptoms {
		s := &d.Symptoms[i]
		if s.ExplainedBy != "" && len(s.Evidence) > 0 {
			link(s.Class, s.Title, s.When, s.Evidence[0])
		}
	}
	return links
}

func pointName(p *timeline.Point) string {
	switch {
	case p.MaxConcurrency > 0:
		return fmt.Sprintf("at concurrency %d", p.MaxConcurrency)
	case p.RequestRate != "":
		return "at request rate " + p.RequestRate
	}
	return first(p.Label, "of the client")
}
