package classify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// match makes incidents of the kept events.
func (a *analyst) match() {
	for _, e := range a.t.Events {
		if e.Quoting {
			continue
		}
		if e.Kind == forensics.KindTraceback {
			a.matchTrace(e)
			continue
		}
		if len(e.Hits) > 0 {
			if sig, hit := a.bestHit(e, e.Hits); sig != nil {
				a.addMatch(e, sig, forensics.Quote{Pos: hit.Pos, Text: hit.Text}, e.Text)
				a.addEchoes(e, sig, nil)
			}
		}
	}
}

// writerOf returns the role of the process that wrote an event, as far as known.
func (a *analyst) writerOf(e *timeline.Event) forensics.Role {
	if e.Proc.Role != "" {
		return e.Proc.Role
	}
	return a.t.Run.Sources[e.Pos.Source].Role
}

// fits reports whether a signature's scope covers an event.
func (a *analyst) fits(sig *signatures.Signature, e *timeline.Event) bool {
	writer := a.writerOf(e)
	if len(sig.In) > 0 && writer != "" && !slices.Contains(sig.In, string(writer)) {
		return false
	}
	if len(sig.Engine) > 0 && a.t.Engine != "" && !slices.Contains(sig.Engine, a.t.Engine) {
		return false
	}
	if writer == forensics.RoleServer || writer == "" {
		switch sig.Phase {
		case "launch":
			return !e.Serving
		case "serving":
			return e.Serving || e.Life < 0
		}
	}
	return true
}

// classOf returns the class that a match of sig has at an event.
func (a *analyst) classOf(sig *signatures.Signature, e *timeline.Event) string {
	writer := a.writerOf(e)
	if writer == forensics.RoleClient && sig.ClassInClient != "" {
		return sig.ClassInClient
	}
	if a.besideServer(e) {
		return inClient(first(sig.ClassInClient, sig.ClassAtLaunch, sig.Class))
	}
	if e.Serving || writer == forensics.RoleClient || writer == forensics.RoleKernel || a.readySource(e) || longAtWork(sig, e) {
		return sig.Class
	}
	if sig.ClassAtLaunch != "" {
		return sig.ClassAtLaunch
	}
	if writer == forensics.RoleServer && e.Life >= 0 {
		return a.brokenStage(sig.Class, e)
	}
	return sig.Class
}

// besideServer reports whether an event stands in a file that shows no server at
// work, while another file's server was ready: what breaks there is a client.
func (a *analyst) besideServer(e *timeline.Event) bool {
	if a.life == nil || !a.life.IsReady() || a.life.Source == e.Pos.Source {
		return false
	}
	switch a.writerOf(e) {
	case forensics.RoleServer, "", forensics.RoleShell:
	default:
		return false
	}
	if e.Life < 0 {
		return true
	}
	l := &a.t.Lives[e.Life]
	return len(l.Phases) == 0 && l.Served == 0 && !l.IsReady()
}

// inClient gives launch faults that a client can have too the client's class.
func inClient(class string) string {
	switch class {
	case "launch.bad-arguments", "launch.dependency", "launch.model-unavailable":
		return "client.setup"
	}
	return class
}

// brokenStage gives a fault whose class is a runtime one the class of the launch
// stage that it broke, since the server was never ready (taxonomy, rule 3).
func (a *analyst) brokenStage(class string, e *timeline.Event) string {
	stage := a.stageOf(e)
	switch class {
	case "runtime.gpu-oom", "runtime.kv-exhausted":
		return "launch.insufficient-gpu-memory"
	case "runtime.scheduler-bug", "runtime.tokenizer":
		return stage
	case "runtime.collective":
		if stage == "launch.cuda-graph-capture" {
			return stage
		}
		return "launch.distributed-init"
	case "runtime.illegal-memory-access", "runtime.device-assert", "runtime.kernel-error", "runtime.numerical", "attention.metadata":
		if stage == "launch.cuda-graph-capture" || stage == "launch.jit-compile" {
			return stage
		}
		return "launch.unsupported-hardware"
	}
	return class
}

// longAtWork reports whether a collective's sequence number shows that the ranks
// had worked together for long, whatever the log says of readiness.
func longAtWork(sig *signatures.Signature, e *timeline.Event) bool {
	for _, h := range e.Hits {
		if seq, err := strconv.Atoi(sig.Captures(h.Text)["seq"]); err == nil && seq > 1000 {
			return true
		}
	}
	return false
}

// readySource reports whether the event is of no life, while the source's lives
// were ready: lines that no life claims count for the server next to them.
func (a *analyst) readySource(e *timeline.Event) bool {
	if e.Life >= 0 {
		return false
	}
	return a.life != nil && a.life.IsReady()
}

// roleOrder ranks roles when signatures of one layer match the same line.
var roleOrder = map[signatures.Role]int{
	signatures.Cause: 0, signatures.Symptom: 1, signatures.Confirmation: 2, signatures.Advice: 3, signatures.Benign: 4,
}

// mute reports whether a signature marks text that is no evidence.
func mute(s *signatures.Signature) bool {
	return s.Role == signatures.Advice || s.Role == signatures.Benign
}

// better reports whether s says more about a line than o: the lower layer, then
// the stronger role; advice and benign lines silence what is no more specific.
func better(s, o *signatures.Signature) bool {
	if o == nil {
		return true
	}
	if mute(s) != mute(o) && (s.Role == signatures.Benign || o.Role == signatures.Benign) {
		// A line known to be harmless stays so unless something more specific fits.
		if mute(s) {
			return s.LayerNo() <= o.LayerNo()
		}
		return s.LayerNo() < o.LayerNo()
	}
	if s.LayerNo() != o.LayerNo() {
		return s.LayerNo() < o.LayerNo()
	}
	if roleOrder[s.Role] != roleOrder[o.Role] {
		return roleOrder[s.Role] < roleOrder[o.Role]
	}
	if s.File != o.File {
		return s.File < o.File
	}
	return s.LineNo < o.LineNo // packs list the most exact first
}

// bestHit returns the most telling signature among the hits of an event.
func (a *analyst) bestHit(e *timeline.Event, hits []forensics.Hit) (*signatures.Signature, forensics.Hit) {
	var best *signatures.Signature
	var at forensics.Hit
	for _, h := range hits {
		sig := a.set.Sigs[h.Sig]
		if sig.HasFrame() || !a.fits(sig, e) {
			continue
		}
		if better(sig, best) {
			best, at = sig, h
		}
	}
	return best, at
}

// addEchoes adds the consequences that the lines of an event name beside its best
// match: a watchdog line that carries a CUDA error is both.
func (a *analyst) addEchoes(e *timeline.Event, best *signatures.Signature, frames []string) {
	if mute(best) {
		return
	}
	for _, h := range e.Hits {
		sig := a.set.Sigs[h.Sig]
		if sig != best && sig.Role == signatures.Symptom && a.fits(sig, e) && sig.FrameOK(frames) && a.classOf(sig, e) != a.classOf(best, e) {
			a.addMatch(e, sig, forensics.Quote{Pos: h.Pos, Text: h.Text}, h.Text)
		}
	}
}

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

func mergeRanks(have, more []string) []string {
	for _, r := range more {
		if !slices.Contains(have, r) {
			have = append(have, r)
		}
	}
	return have
}

// addMatch makes an incident of a match, or counts it to the one already there
// of the same signature, writer and life. Advice and benign lines make none.
func (a *analyst) addMatch(e *timeline.Event, sig *signatures.Signature, q forensics.Quote, text string) *incident {
	if sig.Role == signatures.Advice || sig.Role == signatures.Benign {
		return nil
	}
	class, writer := a.classOf(sig, e), a.writerOf(e)
	if class == "launch.no-process" && e.Life >= 0 && launched(&a.t.Lives[e.Life]) {
		return nil // a tool that a running server misses is not its own launch
	}
	for _, in := range a.incidents {
		if in.Signature == sig.ID && in.Class == class && in.writer == writer && in.life == e.Life && in.ev.Pos.Source == e.Pos.Source {
			in.Count += e.Count
			in.line = max(in.line, e.Last.Line)
			if e.Proc.Rank != "" {
				in.Ranks = mergeRanks(in.Ranks, []string{e.Proc.Rank})
			}
			if len(in.Evidence) < 4 {
				in.Evidence = append(in.Evidence, q)
			}
			return in
		}
	}
	in := a.newIncident(e, class, q)
	in.Signature, in.role, in.layer, in.weak = sig.ID, sig.Role, sig.LayerNo(), sig.Weak
	caps := sig.Captures(text)
	in.module = caps["module"]
	in.Title = expand(sig.Title, caps)
	in.Detail = expand(strings.TrimSpace(sig.Means), caps)
	in.Remedy = expand(strings.TrimSpace(sig.Fix), caps)
	in.References, in.Affected, in.Fixed = sig.Refs, sig.Affected, sig.Fixed
	if ms := caps["ran_ms"]; ms != "" {
		in.when -= millis(ms)
		in.datedBack = true
	}
	return a.add(in)
}

func (a *analyst) newIncident(e *timeline.Event, class string, q forensics.Quote) *incident {
	in := &incident{
		ev: e, source: e.Pos.Source, line: max(e.Last.Line, e.Pos.Line), when: e.When, life: e.Life, serving: e.Serving, writer: a.writerOf(e),
	}
	in.Class, in.Proc, in.When, in.Count = class, e.Proc, e.When, e.Count
	in.Evidence = []forensics.Quote{q}
	if e.Proc.Rank != "" {
		in.Ranks = []string{e.Proc.Rank}
	}
	return in
}

// expand replaces {name} by the capture of that name.
func expand(s string, caps map[string]string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	for k, v := range caps {
		s = strings.ReplaceAll(s, "{"+k+"}", v)
	}
	return s
}

func millis(s string) int64 {
	var n int64
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil {
		return 0
	}
	return n * 1e6
}

// stageClass is the class of an unnamed exception by the launch phase it broke
// (taxonomy, border lines).
var stageClass = map[string]string{
	forensics.PhaseStart:       "launch.bad-arguments",
	forensics.PhaseDistributed: "launch.distributed-init",
	forensics.PhaseWeights:     "launch.unsupported-model",
	forensics.PhaseKVCache:     "launch.insufficient-gpu-memory",
	forensics.PhaseCompile:     "launch.jit-compile",
	forensics.PhaseCapture:     "launch.cuda-graph-capture",
	forensics.PhaseHTTP:        "launch.unsupported-hardware",
	forensics.PhaseWarmup:      "launch.unsupported-hardware",
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

func (a *analyst) stageOf(e *timeline.Event) string {
	l := &a.t.Lives[e.Life]
	stage := forensics.PhaseStart
	for _, p := range l.Phases {
		if p.At.Pos.Before(e.Pos) && stageClass[p.Name] != "" {
			stage = p.Name
		}
	}
	return stageClass[stage]
}
