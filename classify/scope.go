package classify

import (
	"slices"
	"strconv"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

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
