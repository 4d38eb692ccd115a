package classify

import (
	"slices"
	"strings"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// progressGap is how long a process must go on after an error before the error
// counts as survived: other ranks and buffers still write for a moment.
const progressGap = 3 * time.Second

// judgeProgress marks incidents that were followed by normal work.
func (a *analyst) judgeProgress() {
	for _, in := range a.incidents {
		if in.structural {
			continue
		}
		switch {
		case in.life >= 0:
			in.recovered = a.lifeWentOn(&a.t.Lives[in.life], in)
		case in.writer == forensics.RoleKernel || in.writer == forensics.RoleGPU || in.writer == forensics.RoleScheduler:
			in.recovered = a.servedLongAfter(in)
		}
	}
}

// lifeWentOn reports whether a server went on normally after an incident.
func (a *analyst) lifeWentOn(l *timeline.Life, in *incident) bool {
	if !in.serving {
		return l.IsReady() && in.line < l.ReadyAt.Pos.Line
	}
	if l.LastServed.Pos.Line <= in.line {
		return false
	}
	if in.when != 0 && l.LastServedAt != 0 {
		last := in.when
		if in.Count > 1 && in.ev != nil {
			last = a.timeAtLine(in.source, in.line, last)
		}
		return l.LastServedAt > last+int64(progressGap)
	}
	return l.LastServed.Pos.Line > in.line+40
}

// timeAtLine returns the time of the last kept event of a source at or before a
// line.
func (a *analyst) timeAtLine(source, line int, when int64) int64 {
	for _, e := range a.t.Events {
		if e.Pos.Source == source && e.Pos.Line <= line && e.When > when {
			when = e.When
		}
	}
	return when
}

// servedLongAfter reports whether the server still worked well after a machine's
// message, or the message is older than the server's life.
func (a *analyst) servedLongAfter(in *incident) bool {
	l := a.life
	if l == nil || !l.IsReady() {
		return false
	}
	if in.when == 0 || l.LastServedAt == 0 {
		return false
	}
	if l.Start != 0 && in.when < l.Start-int64(time.Minute) {
		return true
	}
	return l.LastServedAt > in.when+int64(time.Minute)
}

// hardware are the faults that outlast the process they hit.
var hardware = []string{"gpu.fell-off-bus", "gpu.ecc", "gpu.nvlink", "gpu.gsp", "gpu.driver"}

// earlier reports whether an incident belongs to a run before the one under
// study: an older life of the same log, or a time before the last life began.
func (a *analyst) earlier(in *incident) bool {
	if a.life == nil || covers(hardware, in.Class) && !a.life.IsReady() {
		return false // a broken GPU stays broken until somebody mends it
	}
	if in.life >= 0 {
		l := &a.t.Lives[in.life]
		if l == a.life {
			return false
		}
		if l.Stale || l.Source == a.life.Source {
			return true
		}
		return launched(a.life) && l.End != 0 && a.life.Start != 0 && l.End < a.life.Start && l.Stop != ""
	}
	return launched(a.life) && in.when != 0 && a.life.Start != 0 && in.when < a.life.Start-int64(time.Minute) && in.writer != forensics.RoleClient && !in.structural
}

// launched reports whether the life's record shows its launch, so that its first
// line tells when it began.
func launched(l *timeline.Life) bool {
	for _, p := range l.Phases {
		switch p.Name {
		case forensics.PhaseStart, forensics.PhaseDistributed, forensics.PhaseWeights:
			return true
		}
	}
	return false
}

// candidates returns the incidents that can be a cause now, in order.
func (a *analyst) candidates() []*incident {
	var out []*incident
	for _, in := range a.incidents {
		if in.Class != "" && in.role == signatures.Cause && !in.recovered && !a.earlier(in) {
			out = append(out, in)
		}
	}
	a.sort(out)
	return out
}

func (a *analyst) sort(list []*incident) {
	slices.SortStableFunc(list, func(x, y *incident) int {
		switch {
		case a.before(x, y):
			return -1
		case a.before(y, x):
			return 1
		}
		return 0
	})
}

// explain finds, for every incident, the cause that explains it.
func (a *analyst) explain() {
	causes := a.candidates()
	for _, in := range a.incidents {
		if a.earlier(in) {
			continue
		}
		for _, c := range causes {
			if c.cause == in || c == in {
				continue
			}
			if how, ok := a.explains(c, in); ok && !a.leadsTo(in, c) && a.outranks(c, in) {
				in.cause, in.why = c, how
				break
			}
		}
	}
}

// leadsTo reports whether x is already among the causes of y.
func (a *analyst) leadsTo(x, y *incident) bool {
	for n := 0; y != nil && n < 100; y, n = y.cause, n+1 {
		if y == x {
			return true
		}
	}
	return false
}

// sameSubject reports whether a weak finding names, as its capture "module", what
// the other finding is about: an ignored import of the module that holds the
// model which is then unknown.
func sameSubject(c, in *incident) bool {
	if c.module == "" || len(in.Evidence) == 0 {
		return false
	}
	name := letters(c.module[strings.LastIndexByte(c.module, '.')+1:])
	return len(name) > 3 && strings.Contains(letters(in.Evidence[0].Text), name)
}

// letters keeps lower-case letters and digits.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, s)
}

// outranks keeps a vague finding from explaining a specific one that stands close
// to it: a fallback or a weak match may not explain a named bug of its own life.
func (a *analyst) outranks(c, in *incident) bool {
	if in.role != signatures.Cause {
		return true
	}
	if c.weak && !in.weak {
		return c.life == in.life && sameSubject(c, in)
	}
	if c.life >= 0 && c.life == in.life && c.layer == signatures.Fallback && in.layer < signatures.Fallback {
		return c.when != 0 && in.when != 0 && in.when > c.when+int64(10*time.Second)
	}
	return true
}
