package classify

import (
	"fmt"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

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
