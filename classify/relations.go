package classify

import (
	"strings"
	"time"

	"github.com/llmforensics/forensics/signatures"
)

// relation says that incidents of some classes can explain incidents of others.
// Patterns are class ids, or areas followed by ".*".
type relation struct {
	cause, effect []string
	// slack is how much later than the effect the cause may be logged: clocks
	// differ, and a kernel or a dying rank may write after the one it hurt.
	slack time.Duration
	// sameLife asks that both belong to one server life.
	sameLife bool
	how      string
}

// relations is asked in order; the first row that covers a pair explains it.
// Sources: taxonomy rules 1 to 5 and its border lines.
var relations = []relation{
	{
		cause:  []string{"gpu.fell-off-bus", "gpu.ecc", "gpu.nvlink", "gpu.gsp", "gpu.driver"},
		effect: []string{"runtime.*", "launch.*", "client.*", "gpu.mmu-fault", "gpu.gsp", "gpu.nvlink", "gpu.driver", "evidence.*", "host.killed", "host.shm"},
		slack:  2 * time.Minute, how: "the GPU had failed",
	},
	{
		cause:  []string{"host.oom-killed"},
		effect: []string{"runtime.*", "launch.*", "client.*", "host.killed", "evidence.*", "host.shm"},
		slack:  2 * time.Minute, how: "the kernel had killed the process for want of memory",
	},
	{
		cause:  []string{"host.disk-full"},
		effect: []string{"runtime.*", "launch.*", "client.*", "host.killed", "host.permissions", "evidence.*"},
		slack:  time.Minute, how: "the disk was full",
	},
	{
		cause:  []string{"host.shm", "host.fd-limit", "host.permissions"},
		effect: []string{"runtime.*", "launch.*", "client.*", "evidence.*", "gpu.driver"},
		slack:  10 * time.Second, how: "the host refused a resource",
	},
	{
		cause:  []string{"host.killed"},
		effect: []string{"runtime.*", "client.*", "launch.slow", "launch.distributed-init", "launch.no-process", "evidence.*", "client.setup"},
		slack:  5 * time.Second, how: "the process was stopped from outside",
	},
	{
		cause:  []string{"runtime.numerical"},
		effect: []string{"runtime.device-assert", "runtime.illegal-memory-access", "runtime.kernel-error"},
		slack:  10 * time.Second, how: "the invalid values tripped it",
	},
	{
		cause: []string{"runtime.illegal-memory-access", "runtime.device-assert", "runtime.numerical", "runtime.kernel-error", "runtime.gpu-oom", "attention.metadata", "runtime.kv-exhausted", "runtime.scheduler-bug"},
		effect: []string{"gpu.mmu-fault", "runtime.collective", "runtime.segfault", "runtime.hang", "runtime.kernel-error", "runtime.illegal-memory-access",
			"runtime.device-assert", "runtime.scheduler-bug", "runtime.unknown-exit", "runtime.disaggregation", "runtime.gpu-oom", "runtime.tokenizer", "host.killed", "host.oom-killed"},
		slack: 10 * time.Second, how: "the engine's fault came first",
	},
	{
		cause:  []string{"gpu.mmu-fault"},
		effect: []string{"runtime.collective", "runtime.hang", "runtime.unknown-exit", "runtime.segfault", "runtime.disaggregation", "launch.distributed-init"},
		slack:  2 * time.Second, how: "a GPU's work had been stopped by a fault",
	},
	{
		cause:  []string{"runtime.disaggregation", "runtime.collective", "runtime.segfault", "runtime.hang", "runtime.tokenizer"},
		effect: []string{"runtime.*", "host.killed"},
		slack:  2 * time.Second, how: "it came first",
	},
	{
		cause:  []string{"launch.*"},
		effect: []string{"launch.*", "runtime.*", "host.killed", "gpu.driver"},
		slack:  2 * time.Second, how: "the launch had broken before",
	},
	{
		cause:  []string{"launch.*", "runtime.*", "attention.*", "gpu.*", "host.*"},
		effect: []string{"client.connection-refused", "client.disconnected", "client.timeout", "client.http-error", "client.bad-request", "client.setup", "evidence.*", "runtime.unknown-exit"},
		slack:  2 * time.Minute, how: "the server was away or failing because of it",
	},
	{
		cause:  []string{"client.setup", "client.bad-request", "client.resources"},
		effect: []string{"client.*", "evidence.*"},
		slack:  time.Minute, how: "the client had failed by itself",
	},
	{
		cause:  []string{"client.disconnected", "client.http-error", "client.timeout"},
		effect: []string{"client.connection-refused", "evidence.*"},
		slack:  time.Minute, how: "it came first",
	},
	{
		cause:  []string{"perf.*"},
		effect: []string{"client.timeout", "perf.*"},
		slack:  time.Hour, how: "requests had to wait",
	},
}

func covers(patterns []string, class string) bool {
	for _, p := range patterns {
		if p == class {
			return true
		}
		if area, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(class, area) {
			return true
		}
	}
	return false
}

// datedBackSlack is how far a time that was computed from a watchdog's wait may
// lie before the event that began the wait: watchdogs poll, clocks differ.
const datedBackSlack = time.Minute

// explains reports whether incident c can explain incident e, and how.
func (a *analyst) explains(c, e *incident) (string, bool) {
	if c == e || c.recovered || c.Class == "" {
		return "", false
	}
	for i := range relations {
		r := &relations[i]
		if !covers(r.cause, c.Class) || !covers(r.effect, e.Class) {
			continue
		}
		if r.sameLife && c.life != e.life {
			continue
		}
		if (c.Class == e.Class || covers(r.cause, e.Class) && covers(r.effect, c.Class)) && !a.before(c, e) {
			continue
		}
		if a.tooLate(c, e, r.slack) || c.datedBack && !e.datedBack && e.role == signatures.Cause && e.when != 0 && e.when < c.when+int64(datedBackSlack) {
			continue
		}
		return r.how, true
	}
	return "", false
}

// tooLate reports whether a cause came clearly after its effect.
func (a *analyst) tooLate(c, e *incident, slack time.Duration) bool {
	if e.datedBack {
		slack += datedBackSlack
	}
	if c.structural && c.when == 0 || e.structural && e.when == 0 {
		return false
	}
	if c.ev != nil && e.ev != nil && c.ev.Pos.Source == e.ev.Pos.Source {
		if c.when != 0 && e.when != 0 && c.when != e.when {
			return c.when > e.when+int64(slack)
		}
		return e.ev.Pos.Before(c.ev.Pos) && !a.sameMoment(c, e) && c.ev.Pos.Line > e.ev.Pos.Line+sameRecord
	}
	if c.when == 0 || e.when == 0 {
		return false
	}
	return c.when > e.when+int64(slack)+int64(time.Second)
}

// sameRecord is how many lines one message of a launcher may span.
const sameRecord = 6

// sameMoment reports whether two incidents of one source stand within the
// resolution of its clock.
func (a *analyst) sameMoment(c, e *incident) bool {
	return c.when != 0 && c.when == e.when
}

// writerRank orders writers whose incidents have no common clock: what the
// machine says comes before what the server says, and the client is last.
var writerRank = map[string]int{"kernel": 0, "gpu": 1, "scheduler": 2, "shell": 3, "server": 4, "": 4, "router": 5, "client": 6}

// before orders incidents: by time where both have one, by place in one source,
// else by writer.
func (a *analyst) before(x, y *incident) bool {
	if x.ev != nil && y.ev != nil && x.source == y.source {
		if x.when != 0 && y.when != 0 && x.when != y.when {
			return x.when < y.when
		}
		return x.ev.Pos.Before(y.ev.Pos)
	}
	if x.when != 0 && y.when != 0 && x.when != y.when {
		return x.when < y.when
	}
	if rx, ry := writerRank[string(x.writer)], writerRank[string(y.writer)]; rx != ry {
		return rx < ry
	}
	if x.source != y.source {
		return x.source < y.source
	}
	return x.line < y.line
}
