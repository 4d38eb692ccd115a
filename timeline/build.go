package timeline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
)

// Build joins the collectors of a run's sources into its timeline. The
// collectors must come in the order of run.Sources; they are used up.
func Build(run *forensics.Run, cols []*Collector) *Timeline {
	t := &Timeline{Run: run}
	fillRoles(run, cols)
	t.Clocks = alignClocks(run, cols)
	for i, c := range cols {
		t.addSource(c, t.Clocks[i])
	}
	slices.SortStableFunc(t.Events, compareEvents)
	t.shareReadiness()
	t.nameEngine()
	t.collectFacts()
	t.Points = buildPoints(t)
	t.noteExits()
	t.markStale()
	t.settlePoints()
	t.dropHelpers()
	t.span()
	return t
}

// fillRoles gives lines whose writer was not known when they were read the role
// of the source as a whole.
func fillRoles(run *forensics.Run, cols []*Collector) {
	for i, c := range cols {
		c.role = run.Sources[i].Role
		for _, e := range c.finish() {
			if e.Proc.Role == "" {
				e.Proc.Role = c.role
			}
		}
	}
}

func compareEvents(a, b *Event) int {
	if (a.When == 0) != (b.When == 0) {
		if a.When == 0 {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.When, b.When), cmp.Compare(a.Pos.Source, b.Pos.Source),
		cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Offset, b.Pos.Offset), cmp.Compare(a.Kind, b.Kind))
}

// addSource puts one collector's account on the run's axis.
func (t *Timeline) addSource(c *Collector, clock Clock) {
	base := len(t.Lives)
	off := int64(clock.Offset)
	at := func(nanos int64) int64 {
		if nanos == 0 || clock.How == "" {
			return 0
		}
		return nanos + off
	}
	for _, l := range c.lives {
		l.Start, l.Ready, l.End = at(l.Start), at(l.Ready), at(l.End)
		l.LastServedAt, l.LastAt = at(l.LastServedAt), at(l.LastAt)
		for i := range l.Phases {
			l.Phases[i].When = at(l.Phases[i].When)
		}
		t.Lives = append(t.Lives, *l)
	}
	for _, e := range c.events {
		if !e.Stamp.IsZero() && clock.How != "" {
			e.When = onClock(e.Stamp, c) + off
			e.Uncertainty = clock.Uncertainty + e.Stamp.Res
		}
		if e.Life >= 0 {
			e.Life += base
		}
		t.Events = append(t.Events, e)
	}
	for _, s := range c.order {
		if clock.How != "" {
			s.Start += off
			s.LastAt.Text, s.last = string(s.last), nil
			t.Series = append(t.Series, *s)
		}
	}
	for _, g := range c.gpus {
		t.addGPU(*g)
	}
	t.Truncated = t.Truncated || c.truncated
}

// onClock reads a stamp by its source's own clock. Loggers with different clocks
// share a file: what prints no year gets that of the dated lines.
func onClock(s forensics.Stamp, c *Collector) int64 {
	if s.Clock == forensics.ClockYearless && (c.clock == forensics.ClockLocal || c.clock == forensics.ClockAbsolute) {
		return s.Nanos + yearOffset(s.Nanos, interval{c.first.Nanos, c.last.Nanos})
	}
	return s.Nanos
}

func (t *Timeline) addGPU(g GPU) {
	for i := range t.GPUs {
		have := &t.GPUs[i]
		if have.Index == g.Index {
			if have.Name == "" {
				have.Name = g.Name
			}
			if have.Bus == "" {
				have.Bus = g.Bus
			}
			if have.MemTotal == 0 {
				have.MemTotal = g.MemTotal
			}
			return
		}
	}
	t.GPUs = append(t.GPUs, g)
}

// nameEngine takes the engine of the last server life that names one.
func (t *Timeline) nameEngine() {
	for i := range t.Lives {
		if t.Lives[i].Engine != "" {
			t.Engine = t.Lives[i].Engine
		}
	}
	for _, e := range t.Events {
		for _, key := range []string{"engine_version", "version"} {
			if v := e.Attr(key); v != "" && e.Proc.Role == forensics.RoleServer {
				t.Version = v
			}
		}
	}
	if t.Engine == "" {
		for _, s := range t.Run.Sources {
			if e := engineOf(s.Format); e != "" {
				t.Engine = e
			}
		}
	}
}

// collectFacts lifts configurations, commands and facts out of the events.
func (t *Timeline) collectFacts() {
	for _, e := range t.Events {
		switch e.Kind {
		case forensics.KindConfig:
			if !e.Quoting {
				t.addConfig(e)
			}
		case forensics.KindCommand:
			role := forensics.Role(e.Attr("starts"))
			t.Commands = append(t.Commands, Command{Role: role, Argv: e.Attr("argv"), Filter: e.Attr("filter"), At: e.Quote()})
		case forensics.KindEnv:
			for _, a := range e.Attrs {
				t.Env = append(t.Env, Fact{Name: a.Key, Value: a.Value, At: e.Quote()})
			}
		}
	}
}

// addConfig keeps a life's configuration; several lines of one life add up, a
// later line filling in what an earlier one left out.
func (t *Timeline) addConfig(e *Event) {
	var cfg *Config
	for i := range t.Config {
		if t.Config[i].Life == e.Life {
			cfg = &t.Config[i]
		}
	}
	if cfg == nil {
		t.Config = append(t.Config, Config{Engine: engineOf(e.Format), At: e.Quote(), Life: e.Life, Values: map[string]string{}})
		cfg = &t.Config[len(t.Config)-1]
	}
	for _, a := range e.Attrs {
		if _, have := cfg.Values[a.Key]; !have {
			cfg.Values[a.Key] = a.Value
		}
	}
}

// noteExits hands exit statuses that a shell or wrapper saw to the lives and
// points they are about.
func (t *Timeline) noteExits() {
	last := t.LastLife()
	for _, e := range t.Events {
		if e.Kind != forensics.KindExit || last == nil {
			continue
		}
		code, ok := atoi(e.Attr("code"))
		if !ok {
			continue
		}
		what := e.Attr("what")
		server := what == "server" || what == "rank" || strings.Contains(what, "launch_server") || strings.Contains(what, "vllm serve") || strings.Contains(what, "sglang serve")
		if pid := e.Attr("pid"); pid != "" && last.Proc.PID != 0 {
			if n, _ := atoi(pid); n == last.Proc.PID {
				server = true
			}
		}
		if server {
			last.ExitCode, last.HasExit = code, true
		}
	}
}

func atoi(s string) (int, bool) {
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// LastLife returns the server life that the run is about: the last one that is
// not stale, by start time and position, or nil.
func (t *Timeline) LastLife() *Life {
	var best *Life
	for i := range t.Lives {
		l := &t.Lives[i]
		if l.Stale {
			continue
		}
		if best == nil || l.Start > best.Start || l.Start == best.Start && best.First.Pos.Before(l.First.Pos) {
			best = l
		}
	}
	return best
}

// dropHelpers removes the series that only served to place points.
func (t *Timeline) dropHelpers() {
	t.Series = slices.DeleteFunc(t.Series, func(s Series) bool { return s.Name == servedSeries })
}

// peerStart is how far apart the nodes of one deployment may start.
const peerStart = 10 * 60 * int64(1e9)

// shareReadiness gives the nodes of one deployment the readiness that only the
// first of them prints: SGLang's other nodes never say that they are ready.
func (t *Timeline) shareReadiness() {
	for i := range t.Lives {
		l := &t.Lives[i]
		if l.IsReady() || l.Start == 0 || !launchSeen(l) {
			continue
		}
		for k := range t.Lives {
			p := &t.Lives[k]
			if p.Source == l.Source || p.Ready == 0 || p.Start == 0 || p.Engine != l.Engine || abs(p.Start-l.Start) > peerStart {
				continue
			}
			l.PeerReady = p.Ready
			for _, e := range t.Events {
				if e.Life == i && e.When >= p.Ready {
					e.Serving = true
				}
			}
		}
	}
}

// span sets the first and last placed time.
func (t *Timeline) span() {
	note := func(when int64) {
		if when == 0 {
			return
		}
		if t.Start == 0 || when < t.Start {
			t.Start = when
		}
		t.End = max(t.End, when)
	}
	for _, e := range t.Events {
		note(e.When)
	}
	for i := range t.Series {
		s := &t.Series[i]
		note(s.Start)
		note(s.Start + int64(len(s.Buckets))*s.Step)
	}
}

// markStale recognises server logs of an earlier process: every stamp lies well
// before the stamps of the run's other sources, and the launch that the run is
// about left no trace. Stamps inside the evidence decide, not file times.
func (t *Timeline) markStale() {
	const apart = 15 * 60 * int64(1e9)
	for i := range t.Lives {
		l := &t.Lives[i]
		end := t.lastStampOf(l)
		if end == 0 {
			continue
		}
		var newer *Event
		for _, e := range t.Events {
			if e.When == 0 || e.Placed || e.Pos.Source == l.Source && e.Life == i {
				continue
			}
			switch e.Proc.Role {
			case forensics.RoleGPU, forensics.RoleShell, forensics.RoleClient, forensics.RoleScheduler:
				if newer == nil || e.When < newer.When {
					newer = e
				}
			}
		}
		if newer != nil && newer.When > end+apart {
			l.Stale, l.NewerAt = true, newer.Quote()
		}
	}
}

func (t *Timeline) lastStampOf(l *Life) int64 {
	end := max(l.Start, l.Ready, l.End)
	for _, p := range l.Phases {
		end = max(end, p.When)
	}
	for _, e := range t.Events {
		if e.Pos.Source == l.Source && e.When > end && !e.Placed {
			end = e.When
		}
	}
	for i := range t.Series {
		if s := &t.Series[i]; s.Source == l.Source {
			end = max(end, s.Start+int64(len(s.Buckets)-1)*s.Step)
		}
	}
	return end
}
