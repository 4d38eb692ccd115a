package classify

import (
	"fmt"
	"strings"
	"time"

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

// rule makes a structural incident.
func (a *analyst) rule(id, class, title, detail string, ev ...forensics.Quote) *incident {
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
	return a.add(in)
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

// presence is what shells and GPUs say about processes.
type presence struct {
	self, server, rows []*timeline.Event // pgrep and ps rows
	idle, loaded       []*timeline.Event // last GPU samples: 0 MiB, or memory in use
	missing            []*timeline.Event // scripts that do not exist
	launches           []*timeline.Event // commands that start a server
}

// emptyMiB is the memory that an idle GPU may show.
const emptyMiB = 64

func (a *analyst) presence() presence {
	var p presence
	lastGPU := map[string]*timeline.Event{}
	for _, e := range a.t.Events {
		switch e.Kind {
		case forensics.KindProc:
			p.rows = append(p.rows, e)
			switch {
			case e.Attr("self") == "true":
				p.self = append(p.self, e)
			case e.Attr("server") == "true" && e.Attr("defunct") == "":
				p.server = append(p.server, e)
			}
		case forensics.KindGPU:
			lastGPU[e.Attr("index")] = e
		case forensics.KindExit:
			if e.Attr("reason") == "not-found" {
				p.missing = append(p.missing, e)
			}
		case forensics.KindCommand:
			if e.Attr("starts") == "server" {
				p.launches = append(p.launches, e)
			}
		}
	}
	for _, g := range a.t.GPUs {
		e := lastGPU[g.Index]
		if e == nil {
			continue
		}
		if x, ok := e.Value(forensics.ValGPUMemUsed); ok && x <= emptyMiB {
			p.idle = append(p.idle, e)
		} else if ok {
			p.loaded = append(p.loaded, e)
		}
	}
	return p
}

// noProcess finds launches that started nothing: no process but the search
// itself, no GPU memory, no log line of the new launch.
func (a *analyst) noProcess() {
	p := a.presence()
	if a.life != nil && len(a.life.Phases) > 0 && !a.life.Stale || len(p.server) > 0 || len(p.loaded) > 0 {
		return
	}
	stale := a.staleLife()
	var ev []forensics.Quote
	var says []string
	if n := len(p.missing); n > 0 {
		m := p.missing[n-1]
		ev = append(ev, m.Quote())
		says = append(says, fmt.Sprintf("%s does not exist", first(m.Attr("what"), "the launch script")))
	}
	if len(p.self) > 0 && len(p.self) == len(p.rows) {
		ev = append(ev, p.self[len(p.self)-1].Quote())
		says = append(says, "the only process that pgrep lists is the search's own shell, which carries the pattern in its command line")
	}
	if len(p.idle) > 0 {
		for _, e := range p.idle {
			ev = append(ev, e.Quote())
		}
		says = append(says, fmt.Sprintf("%s no memory in use, so no model was loaded", gpus(len(p.idle))))
	}
	if stale != nil {
		ev = append(ev, stale.Last, stale.NewerAt)
		says = append(says, fmt.Sprintf("the log in %s belongs to an earlier process: its last line (%s) is older than what the other records show (%s)",
			a.t.Run.Sources[stale.Source].Path, a.t.Run.At(stale.Last.Pos), a.t.Run.At(stale.NewerAt.Pos)))
	}
	named := a.has("launch.no-process")
	if len(says) < 2 && !(len(p.missing) > 0 && len(p.launches)+len(p.self) > 0) {
		if named {
			a.decorate("launch.no-process", ev, says)
		}
		return
	}
	if stale != nil {
		a.rejectStale(stale)
	}
	if named {
		a.decorate("launch.no-process", ev, says)
		return
	}
	in := a.rule("no-process", "launch.no-process", "Nothing was launched", sentence(says), ev...)
	in.Remedy = "Check that the launch script exists where it is run (ls -l), that its heredoc was written, and start it again; then look for the engine's own process, not for the pattern: pgrep -f '[s]glang'."
	if len(p.missing) == 0 {
		in.layer = signatures.Fallback
	}
}

func gpus(n int) string {
	if n == 1 {
		return "the GPU has"
	}
	return fmt.Sprintf("all %d GPUs have", n)
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

// staleLife returns the stale life that its log tells most of, nil if none.
func (a *analyst) staleLife() *timeline.Life {
	var best *timeline.Life
	for i := range a.t.Lives {
		if l := &a.t.Lives[i]; l.Stale && (best == nil || len(l.Phases) > len(best.Phases)) {
			best = l
		}
	}
	return best
}

func (a *analyst) rejectStale(l *timeline.Life) {
	a.rejected = append(a.rejected, forensics.Rejected{
		Class: "runtime.hang", Title: "The server hangs while starting",
		Reason:   "the log is the one of an earlier process, so it says nothing about this launch",
		Evidence: []forensics.Quote{l.First},
	})
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

// hangAfter is how long a server with requests under way must be silent before
// that is a finding: engines log at least every 10 s while they serve.
const hangAfter = 2 * time.Minute

// silence finds a hang that no line names: requests were running, then no batch
// line and no answer came, while other records go on.
func (a *analyst) silence() {
	l := a.life
	if l == nil || !l.IsReady() || l.LastServedAt == 0 || l.Stop == "died" {
		return
	}
	for _, in := range a.incidents {
		if in.role == signatures.Cause && !in.weak && !a.earlier(in) && covers([]string{"runtime.*", "attention.*", "gpu.*", "host.oom-killed", "host.disk-full"}, in.Class) {
			return
		}
	}
	running, at := a.lastRunning(l)
	gone := a.goesOn(l, l.LastServedAt+int64(hangAfter))
	if running == 0 || gone.Pos.Line == 0 {
		return
	}
	in := a.rule("silence", "runtime.hang", fmt.Sprintf("The server fell silent with %.0f requests running", running),
		"No batch line and no answer follow, although other records go on: nothing moved any more, and nothing says why.", at, gone)
	in.life, in.serving, in.when, in.layer = a.lifeNo, true, l.LastServedAt, signatures.Family
	in.Remedy = "Dump the stacks of the stuck processes (py-spy dump) next time, and look at the kernel log for an Xid at the moment of the last batch line."
}

// lastRunning returns the running requests of the last samples of a life's
// source, with the line of the largest.
func (a *analyst) lastRunning(l *timeline.Life) (float64, forensics.Quote) {
	for i := range a.t.Series {
		s := &a.t.Series[i]
		if s.Source != l.Source || s.Name != forensics.ValRunning {
			continue
		}
		for k := len(s.Buckets) - 1; k >= 0; k-- {
			if s.Buckets[k].N > 0 {
				return s.Buckets[k].Max, s.LastAt
			}
		}
	}
	return 0, forensics.Quote{}
}

// goesOn returns a line of any record later than a time: of the server's own
// source, or of clients, GPUs and shells.
func (a *analyst) goesOn(l *timeline.Life, when int64) forensics.Quote {
	if l.LastAt > when {
		return l.Last
	}
	for _, e := range a.t.Events {
		if e.When > when && !e.Placed && (e.Pos.Source == l.Source || e.Proc.Role != forensics.RoleKernel) && e.Kind != forensics.KindEnv {
			return e.Quote()
		}
	}
	for i := range a.t.Series {
		s := &a.t.Series[i]
		if s.Start+int64(len(s.Buckets))*s.Step > when && s.LastAt.Pos.Line > 0 {
			return s.LastAt
		}
	}
	return forensics.Quote{}
}
