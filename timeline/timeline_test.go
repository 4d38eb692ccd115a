package timeline

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/llmforensics/forensics"
)

// feed is a source made by hand: its path, role, and events in line order.
type feed struct {
	path   string
	role   forensics.Role
	format string
	events []forensics.Event
}

func at(clock string) forensics.Stamp {
	when, err := time.Parse("2006-01-02 15:04:05", "2026-03-11 "+clock)
	if err != nil {
		panic(err)
	}
	return forensics.Stamp{Clock: forensics.ClockLocal, Nanos: when.UnixNano(), Res: time.Second}
}

func ev(kind forensics.Kind, s forensics.Stamp, attrs ...string) forensics.Event {
	e := forensics.Event{Kind: kind, Stamp: s, Lines: 1}
	for i := 0; i+1 < len(attrs); i += 2 {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: attrs[i], Value: attrs[i+1]})
	}
	return e
}

func with(e forensics.Event, name string, x float64) forensics.Event {
	e.Values = append(e.Values, forensics.Value{Name: name, X: x})
	return e
}

func phase(clock, name string) forensics.Event {
	return ev(forensics.KindPhase, at(clock), "phase", name)
}

func bench(step string, attrs ...string) forensics.Event {
	return ev(forensics.KindBench, forensics.Stamp{}, append([]string{"step", step}, attrs...)...)
}

func trace(typ, msg string) forensics.Event {
	e := ev(forensics.KindTraceback, forensics.Stamp{})
	e.Trace = &forensics.Trace{Chain: []forensics.Exception{{Type: typ, Message: msg}}}
	return e
}

// build runs feeds through collectors.
func build(feeds ...feed) *Timeline {
	run := &forensics.Run{}
	var cols []*Collector
	for i, f := range feeds {
		run.Sources = append(run.Sources, forensics.Source{Path: f.path, Role: f.role, Format: f.format})
		c := NewCollector(i)
		for n := range f.events {
			e := f.events[n]
			e.Pos = forensics.Pos{Source: i, Line: n + 1, Offset: int64(n) * 100}
			if e.Proc.Role == "" {
				e.Proc.Role = f.role
			}
			e.Format = f.format
			e.Raw = f.path + " line"
			if e.Trace != nil {
				e.Trace.Chain[0].Pos, e.Trace.Chain[0].Text = e.Pos, e.Raw
			}
			c.Sink(&e)
		}
		cols = append(cols, c)
	}
	return Build(run, cols)
}

var launch = []forensics.Event{
	ev(forensics.KindConfig, at("09:00:00"), "model_path", "/m"),
	phase("09:00:05", forensics.PhaseWeights),
	phase("09:01:00", forensics.PhaseKVCache),
	phase("09:01:10", forensics.PhaseReady),
}

func busyLine(clock string, running float64) forensics.Event {
	return with(ev(forensics.KindBatch, at(clock), "phase", "decode"), forensics.ValRunning, running)
}

func server(more ...forensics.Event) feed {
	return feed{"server.log", forensics.RoleServer, "sglang-server", append(append([]forensics.Event{}, launch...), more...)}
}

func client(events ...forensics.Event) feed {
	return feed{"bench.log", forensics.RoleClient, "bench-serving", events}
}

func result(completed float64) forensics.Event {
	return with(bench(forensics.StepResult), "completed", completed)
}

type pointKey struct {
	Conc   int
	Status Status
}

func keys(t *Timeline) []pointKey {
	var out []pointKey
	for _, p := range t.Points {
		out = append(out, pointKey{p.MaxConcurrency, p.Status})
	}
	return out
}

func echo(c string) forensics.Event {
	return ev(forensics.KindEcho, forensics.Stamp{}, "max_concurrency", c)
}

func TestPointStatus(t *testing.T) {
	planned := with(bench(forensics.StepPlanned), "output_tokens", 100)
	refused := trace("ConnectionRefusedError", "[Errno 111] Connection refused")
	dead := phase("09:10:00", forensics.PhaseDying)
	for _, tt := range []struct {
		name string
		feed []feed
		want []pointKey
	}{
		{"all served", []feed{client(bench(forensics.StepStart, "max_concurrency", "8", "num_prompts", "16"), result(16))},
			[]pointKey{{8, PointCompleted}}},
		{"some failed", []feed{client(bench(forensics.StepStart, "max_concurrency", "8", "num_prompts", "16"), result(10))},
			[]pointKey{{8, PointPartial}}},
		{"begun, no summary", []feed{client(bench(forensics.StepStart, "max_concurrency", "8"), bench(forensics.StepMain))},
			[]pointKey{{8, PointDied}}},
		{"refused at warm-up", []feed{client(bench(forensics.StepStart, "max_concurrency", "8"), bench(forensics.StepWarmup), refused)},
			[]pointKey{{8, PointNeverStarted}}},
		{"filtered sweep over a server that died", []feed{
			server(busyLine("09:05:00", 1), busyLine("09:09:00", 200), dead),
			client(echo("1"), planned, result(4), echo("256"), planned, echo("512"), planned),
		}, []pointKey{{1, PointCompleted}, {256, PointDied}, {512, PointNeverStarted}}},
		{"filtered sweep without a server log", []feed{client(echo("1"), planned, result(4), echo("256"), planned)},
			[]pointKey{{1, PointCompleted}, {256, PointUnknown}}},
		{"an announcement and nothing after it", []feed{client(echo("1"), planned, result(4), echo("2"))},
			[]pointKey{{1, PointCompleted}, {2, PointUnknown}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, keys(build(tt.feed...))); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordJoinsTable(t *testing.T) {
	table := with(with(result(16), "output_throughput", 63.62), "duration", 8.05)
	record := with(with(with(bench(forensics.StepRecord, "max_concurrency", "8"), "completed", 16), "output_throughput", 63.619321), "duration", 8.0481)
	other := with(with(with(bench(forensics.StepRecord, "max_concurrency", "8"), "completed", 16), "output_throughput", 70.5), "duration", 7.1)
	tl := build(client(bench(forensics.StepStart, "max_concurrency", "8"), table),
		feed{"bench.jsonl", forensics.RoleClient, "bench-jsonl", []forensics.Event{record, other}})
	if len(tl.Points) != 2 {
		t.Fatalf("%d points, want 2: one table with its record, one record of another run", len(tl.Points))
	}
	p := tl.Points[0]
	if got := p.Metrics["output_throughput"]; got != 63.619321 {
		t.Errorf("output throughput %v, want the record's exact 63.619321", got)
	}
	if diff := cmp.Diff([]int{0, 1}, p.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestLives(t *testing.T) {
	died := phase("09:02:00", forensics.PhaseDying)
	second := []forensics.Event{
		ev(forensics.KindConfig, at("09:03:00"), "model_path", "/m"),
		phase("09:03:05", forensics.PhaseWeights), phase("09:04:00", forensics.PhaseReady),
	}
	tl := build(server(append([]forensics.Event{died}, second...)...))
	if len(tl.Lives) != 2 {
		t.Fatalf("%d lives, want 2", len(tl.Lives))
	}
	if tl.Lives[0].Stop != "died" || tl.Lives[1].Stop != "" || !tl.Lives[1].IsReady() {
		t.Errorf("stops %q and %q, second ready %v; want died, none, true", tl.Lives[0].Stop, tl.Lives[1].Stop, tl.Lives[1].IsReady())
	}
	if tl.LastLife() != &tl.Lives[1] {
		t.Error("the run is not about the last life")
	}
}

func TestStaleLog(t *testing.T) {
	later := with(ev(forensics.KindGPU, at("14:00:00"), "index", "0"), forensics.ValGPUMemUsed, 0)
	soon := with(ev(forensics.KindGPU, at("09:06:00"), "index", "0"), forensics.ValGPUMemUsed, 0)
	for _, tt := range []struct {
		name string
		gpu  forensics.Event
		want bool
	}{{"nvidia-smi hours later", later, true}, {"nvidia-smi in the run", soon, false}} {
		tl := build(server(busyLine("09:05:00", 1)), feed{"smi.txt", forensics.RoleGPU, "nvidia-smi", []forensics.Event{tt.gpu}})
		if got := tl.Lives[0].Stale; got != tt.want {
			t.Errorf("%s: stale %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestClocks(t *testing.T) {
	yearless := forensics.Stamp{Clock: forensics.ClockYearless, Nanos: time.Date(1972, 3, 11, 9, 2, 0, 0, time.UTC).UnixNano(), Res: time.Second}
	utc := forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: time.Date(2026, 3, 11, 7, 2, 0, 0, time.UTC).UnixNano(), Res: time.Second}
	boot := forensics.Stamp{Clock: forensics.ClockUptime, Nanos: int64(500 * time.Second)}
	want := at("09:02:00").Nanos
	dying := phase("09:02:00", forensics.PhaseDying)
	dying.Attrs = append(dying.Attrs, forensics.Attr{Key: "pid", Value: "42"})
	for _, tt := range []struct {
		name  string
		stamp forensics.Stamp
		kind  forensics.Kind
	}{
		{"no year", yearless, forensics.KindLine},
		{"a zone two hours off", utc, forensics.KindLine},
		{"time since boot, by the pid that died", boot, forensics.KindKernel},
	} {
		e := ev(tt.kind, tt.stamp, "what", "xid", "pid", "42")
		tl := build(server(dying), feed{"other.log", forensics.RoleKernel, "kernel", []forensics.Event{e}})
		got := int64(0)
		for _, x := range tl.Events {
			if x.Pos.Source == 1 {
				got = x.When
			}
		}
		if d := time.Duration(got - want); d.Abs() > 2*time.Minute {
			t.Errorf("%s: placed %v away from where it belongs", tt.name, d)
		}
	}
}

// TestBoundedMemory feeds far more events than are kept.
func TestBoundedMemory(t *testing.T) {
	c := NewCollector(0)
	const n = 20_000
	for i := range n {
		e := ev(forensics.KindLine, at("09:00:00"))
		e.Pos = forensics.Pos{Line: i + 1}
		e.Hits = []forensics.Hit{{Sig: 7, Pos: e.Pos}}
		c.Sink(&e)
	}
	run := &forensics.Run{Sources: []forensics.Source{{Path: "x"}}}
	tl := Build(run, []*Collector{c})
	if len(tl.Events) > keepFirst+keepLast {
		t.Errorf("%d events kept, want at most %d", len(tl.Events), keepFirst+keepLast)
	}
	if got := tl.Events[0].Count; got != n {
		t.Errorf("the first event counts %d, want %d", got, n)
	}
	if last := tl.Events[len(tl.Events)-1].Pos.Line; last != n {
		t.Errorf("the last event kept is line %d, want %d", last, n)
	}
	if !tl.Truncated {
		t.Error("dropping events is not told")
	}
}
