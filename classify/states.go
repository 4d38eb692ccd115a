package classify

import (
	"fmt"
	"regexp"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
)

// stateRule reads a word of a scheduler, container runtime or health check. The
// pattern must match the whole of "what name state reason".
type stateRule struct {
	re    *regexp.Regexp
	class string
	title string
}

// stateRules is asked in order. Sources: the job state codes of sacct(1), the
// reasons of Kubernetes container states and events, DCGM's health systems.
var stateRules = []stateRule{
	{regexp.MustCompile(`^slurm .*\bOUT_OF_ME`), "host.oom-killed", "Slurm counts the job as out of memory"},
	{regexp.MustCompile(`^slurm .*\b(TIMEOUT|DEADLINE)\b`), "host.killed", "Slurm ended the job at its time limit"},
	{regexp.MustCompile(`^slurm .*\b(PREEMPTED|CANCELLED|REVOKED)`), "host.killed", "Slurm cancelled or preempted the job"},
	{regexp.MustCompile(`^slurm .*\b(NODE_FAIL|BOOT_FAIL)\b`), "host.killed", "The job's node failed"},
	{regexp.MustCompile(`\bOOMKilled\b|\bOOMKilling\b|\bSystemOOM\b`), "host.oom-killed", "The container was killed for want of memory"},
	{regexp.MustCompile(`\b(SpotInterrupted|TerminatingOnInterruption|Preempt\w*|NodeShutdown|TaintManagerEviction|Evicted)\b`), "host.killed", "The pod was evicted or its node taken away"},
	{regexp.MustCompile(`^dcgm-health (Thermal|Power)\b.*\b(Warn|Fail)`), "perf.gpu-throttled", "DCGM reports a thermal or power violation"},
	{regexp.MustCompile(`^dcgm-health Memory\b.*\bFail`), "gpu.ecc", "DCGM reports a memory failure"},
	{regexp.MustCompile(`^dcgm-health NVLink\b.*\bFail`), "gpu.nvlink", "DCGM reports an NVLink failure"},
}

// states makes incidents of states that no signature has matched.
func (a *analyst) states() {
	for _, e := range a.t.Events {
		if e.Kind != forensics.KindState {
			continue
		}
		text := e.Attr("what") + " " + e.Attr("name") + " " + e.Attr("state") + " " + e.Attr("reason")
		for _, r := range stateRules {
			if !r.re.MatchString(text) {
				continue
			}
			if covers([]string{"perf.*"}, r.class) {
				a.perfRule("health", r.class, r.title, fmt.Sprintf("The health check says: %s.", first(e.Attr("reason"), e.Attr("state"))),
					"Check the cooling, the power supply and the power limit.", e.Quote())
			} else if !a.has(r.class) {
				in := a.newIncident(e, r.class, e.Quote())
				in.Signature, in.Title, in.role, in.layer = "rule.state", r.title, signatures.Cause, signatures.Family
				in.Detail = "The scheduler's or runtime's own record says so."
				a.add(in)
			}
			break
		}
	}
}
