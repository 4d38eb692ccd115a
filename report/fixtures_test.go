package report

import (
	"fmt"
	"math"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// The fixtures are small runs in the nouns of the timeline, so that tests go
// through Freeze as the program does.

var fixtures = map[string]func() (*timeline.Timeline, *forensics.Diagnosis){
	"crash": crashRun, "healthy": healthyRun, "empty": emptyRun,
}

var (
	testTool  = Tool{Name: "forensics", Version: "0.1.0", Signatures: 42}
	testStart = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
)

func sec(s float64) int64 { return testStart.UnixNano() + int64(s*1e9) }

func quote(source, line int, format string, args ...any) forensics.Quote {
	return forensics.Quote{
		Pos:  forensics.Pos{Source: source, Line: line, Offset: int64(line) * 80},
		Text: fmt.Sprintf(format, args...),
	}
}

func source(path, format string, lines int64, role forensics.Role) forensics.Source {
	return forensics.Source{
		Path: path, Format: format, Role: role, Size: lines * 90, Digest: "sha256:" + fmt.Sprintf("%064x", lines),
		Lines: forensics.LineCount{Read: lines, Understood: lines * 9 / 10, Plain: lines - lines*9/10},
	}
}

// addSweep gives tl a benchmark point of 60 s for each concurrency, with a server
// load of n ranks sampled every second. The run ends at dieAt if that is positive.
func addSweep(tl *timeline.Timeline, levels []int, ranks int, dieAt float64) {
	series := map[string]*timeline.Series{}
	add := func(name, label string, at, x float64) {
		k := name + label
		if series[k] == nil {
			series[k] = &timeline.Series{Name: name, Label: label}
		}
		series[k].Add(sec(at), x)
	}
	at := 40.0
	for i, c := range levels {
		p := sweepPoint(i, c, at)
		for s := 2.0; s < 58; s++ {
			if dieAt > 0 && at+s > dieAt {
				break
			}
			for r := range ranks {
				label := ""
				if ranks > 1 {
					label = fmt.Sprintf("DP%d", r)
				}
				wave := 1 + 0.08*math.Sin(s/3+float64(r))
				add(forensics.ValGenThroughput, label, at+s, 60*math.Pow(float64(c), 0.8)*wave*(1+0.05*float64(r)))
				add(forensics.ValRunning, label, at+s, float64(min(c, 200)))
				add(forensics.ValQueue, label, at+s, math.Max(0, float64(c-200))*math.Exp(-s/20))
			}
		}
		if dieAt > 0 && at+60 > dieAt {
			p.Status, p.Completed, p.Failed, p.End = timeline.PointDied, 112, 0, 0
			p.Why = "the server died while the point was running"
			p.Metrics = nil
			p.EndAt = quote(1, 100+20*i+9, "aiohttp.client_exceptions.ClientPayloadError: Response payload is not completed")
			tl.Points = append(tl.Points, p)
			break
		}
		tl.Points = append(tl.Points, p)
		at += 65
	}
	for _, name := range []string{forensics.ValGenThroughput, forensics.ValRunning, forensics.ValQueue} {
		for r := range ranks {
			label := ""
			if ranks > 1 {
				label = fmt.Sprintf("DP%d", r)
			}
			if s := series[name+label]; s != nil {
				tl.Series = append(tl.Series, *s)
			}
		}
	}
}

func sweepPoint(i, c int, at float64) timeline.Point {
	return timeline.Point{
		Client: "sglang.bench_serving", MaxConcurrency: c, RequestRate: "inf", NumPrompts: 4 * c, Completed: 4 * c,
		Status: timeline.PointCompleted, Why: "all requests served", Order: i, Sources: []int{1},
		Start: sec(at), End: sec(at + 60),
		At:    quote(1, 100+20*i, "#Input tokens: 4096"),
		EndAt: quote(1, 110+20*i, "============ Serving Benchmark Result ============"),
		Metrics: map[string]float64{
			"output_throughput": 58 * math.Pow(float64(c), 0.8), "mean_ttft_ms": 40 + 3.1*float64(c),
			"mean_tpot_ms": 9 + 0.07*float64(c), "mean_itl_ms": 9.2 + 0.07*float64(c),
		},
		Params: map[string]string{"input_len": "1024", "output_len": "256"},
	}
}

// addGPUs gives tl n devices sampled every 5 s until end, busy between the times.
func addGPUs(tl *timeline.Timeline, n int, end, busyFrom, busyTo float64) {
	names := []string{
		forensics.ValGPUMemUsed, forensics.ValGPUPower, forensics.ValGPUUtil, forensics.ValGPUClock,
	}
	for g := range n {
		label := fmt.Sprintf("GPU %d", g)
		tl.GPUs = append(tl.GPUs, timeline.GPU{
			Index: fmt.Sprint(g), Name: "NVIDIA H100 80GB HBM3", MemTotal: 81559, First: quote(2, 2+g, "%d, 0 %%, 3 MiB", g),
		})
		list := make([]timeline.Series, len(names))
		for i, name := range names {
			list[i] = timeline.Series{Name: name, Label: label, Source: 2}
		}
		for t := 0.0; t < end; t += 5 {
			busy := t >= busyFrom && t < busyTo
			x := []float64{3, 72 + float64(g), 0, 345}
			if busy {
				x = []float64{71000 + 300*float64(g), 610 + 20*math.Sin(t/9+float64(g)), 97 - float64(g), 1755 + 15*float64(g%3)}
			}
			for i := range list {
				list[i].Add(sec(t), x[i])
			}
		}
		tl.Series = append(tl.Series, list...)
	}
}

func baseRun(label string) *timeline.Timeline {
	return &timeline.Timeline{
		Run: &forensics.Run{Label: label, Sources: []forensics.Source{
			source("server.log", "sglang-server", 4210, forensics.RoleServer),
			source("bench.log", "bench-serving", 380, forensics.RoleClient),
			source("gpu.csv", "nvidia-smi", 512, forensics.RoleGPU),
		}},
		Engine: "sglang", Version: "0.5.2", Start: sec(0),
		Clocks: []timeline.Clock{
			{Source: 0, Kind: forensics.ClockLocal},
			{Source: 1, Kind: forensics.ClockNone, Uncertainty: 1500 * time.Millisecond, How: "placed by the load it caused"},
			{Source: 2, Kind: forensics.ClockLocal, Offset: 2 * time.Hour, How: "9 equal events in `server.log`"},
		},
	}
}

func server() timeline.Life {
	return timeline.Life{
		Proc: forensics.Process{Role: forensics.RoleServer, Name: "scheduler", Rank: "TP0", PID: 771}, Engine: "sglang",
		Phases: []timeline.Phase{
			{Name: forensics.PhaseStart, When: sec(1), At: quote(0, 1, "server_args=ServerArgs(model_path='m')")},
			{Name: forensics.PhaseWeights, When: sec(4), At: quote(0, 20, "Load weight begin. avail mem=78.58 GB")},
			{Name: forensics.PhaseKVCache, When: sec(20), At: quote(0, 31, "KV Cache is allocated. #tokens: 450000")},
			{Name: forensics.PhaseCapture, When: sec(24), At: quote(0, 33, "Capture cuda graph begin.")},
		},
		First: quote(0, 1, "server_args=ServerArgs(model_path='m')"), Start: sec(1),
		Ready: sec(36), ReadyAt: quote(0, 60, "The server is fired up and ready to roll!"), Served: 1200,
	}
}

// crashRun is a sweep whose server died at concurrency 256 with a bad index.
func crashRun() (*timeline.Timeline, *forensics.Diagnosis) {
	tl := baseRun("runs/2026-05-01-crash")
	addSweep(tl, []int{1, 8, 32, 128, 256}, 1, 331)
	addGPUs(tl, 2, 400, 5, 331)
	life := server()
	life.Stop, life.End = "died", sec(331.4)
	life.StopAt = quote(0, 4100, "[2026-05-01 10:05:31 TP0] Scheduler hit an exception: Traceback (most recent call last):")
	tl.Lives = []timeline.Life{life}
	tl.Config = []timeline.Config{{Engine: "sglang", Life: 0, At: life.First, Values: map[string]string{
		"model_path": "meta-llama/Llama-3.1-8B-Instruct", "tp_size": "1", "attention_backend": "flashinfer",
		"mem_fraction_static": "0.88", "chunked_prefill_size": "8192", "random_seed": "42", "log_level": "info",
	}}}
	tl.Commands = []timeline.Command{
		{Role: forensics.RoleServer, Argv: "python -m sglang.launch_server --model-path m", Recovered: true, At: life.First},
		{Role: forensics.RoleClient, Argv: "python -m sglang.bench_serving --max-concurrency 256", At: quote(1, 3, "$ x")},
	}
	tl.Env = []timeline.Fact{{Name: "driver", Value: "570.86.10", At: quote(2, 1, "driver 570.86.10")}}
	trace := quote(0, 4109, "RuntimeError: The size of tensor a (257) must match the size of tensor b (256) at non-singleton dimension 0")
	tl.Events = []*timeline.Event{{
		Event: forensics.Event{
			Kind: forensics.KindTraceback, Pos: trace.Pos, Raw: trace.Text, Text: trace.Text,
			Proc: life.Proc, Trace: &forensics.Trace{Chain: []forensics.Exception{{
				Type: "RuntimeError", Message: "The size of tensor a (257) must match the size of tensor b (256)",
				Pos: trace.Pos, Text: trace.Text,
			}}},
		}, When: sec(331), Count: 1,
	}}
	return tl, crashDiagnosis(trace, life.StopAt, tl.Points[4].EndAt)
}

func crashDiagnosis(trace, stop, client forensics.Quote) *forensics.Diagnosis {
	return &forensics.Diagnosis{
		Outcome:    forensics.Failed,
		Summary:    "The attention metadata did not fit the batch at concurrency 256 and the scheduler died; the client lost its connections.",
		Confidence: forensics.Confirmed,
		Reasons:    []string{"the exception stands in the scheduler's own traceback", "nothing failed before it"},
		Root: forensics.Finding{
			Class: "attention.metadata", Signature: "sglang-flashinfer-metadata-size",
			Title:  "Attention metadata was built for another batch size",
			Detail: "The `flashinfer` backend planned for 256 sequences and got 257.",
			Proc:   forensics.Process{Role: forensics.RoleServer, Name: "scheduler", Rank: "TP0"},
			When:   sec(331), Count: 1, Evidence: []forensics.Quote{trace, stop},
			Remedy:     "Set `--cuda-graph-max-bs 256` or lower `--chunked-prefill-size`, then rerun the point at concurrency 256.",
			References: []string{"https://github.com/sgl-project/sglang/issues/1"}, Affected: "< 0.5.3", Fixed: "0.5.3",
		},
		Chain: []forensics.Link{
			{Class: "attention.metadata", Text: "the scheduler raised in the attention backend", Quote: trace},
			{Class: "runtime.scheduler-exit", Text: "the scheduler ended and took the server down", Quote: stop},
			{Class: "client.disconnected", Text: "the client's open requests broke off", Quote: client},
		},
		Symptoms: []forensics.Finding{
			{
				Class: "client.disconnected", Signature: "aiohttp-payload", Title: "Connections broke off", When: sec(331.5),
				Count: 144, Evidence: []forensics.Quote{client}, ExplainedBy: "attention.metadata", Why: "the server died first",
			},
			{
				Class: "client.connection-refused", Signature: "aiohttp-refused", Title: "Nobody listened", Count: 3,
				Evidence: []forensics.Quote{quote(1, 200, "Connection refused")}, ExplainedBy: "attention.metadata",
			},
		},
		Rejected: []forensics.Rejected{{
			Class: "runtime.gpu-oom", Title: "GPU out of memory",
			Reason: "GPU memory was flat at 71,000 MiB of 81,559 and no allocation failed",
		}},
		Missing:   []string{"kernel log: would show an Xid or an OOM kill"},
		LookedFor: []string{"Xid lines", "`CUDA out of memory`"},
	}
}

// healthyRun is a sweep in which all is well.
func healthyRun() (*timeline.Timeline, *forensics.Diagnosis) {
	tl := baseRun("runs/2026-05-01-healthy")
	addSweep(tl, []int{1, 8, 32, 128, 256}, 1, 0)
	tl.Lives = []timeline.Life{server()}
	proof := quote(1, 190, "Successful requests:                     1024")
	return tl, &forensics.Diagnosis{
		Outcome: forensics.Completed, Summary: "All 5 points finished with all their requests.", Confidence: forensics.Confirmed,
		Root: forensics.Finding{
			Class: "ok", Signature: "ok", Title: "Nothing failed", Count: 1, Evidence: []forensics.Quote{proof},
		},
	}
}

// emptyRun is one empty file.
func emptyRun() (*timeline.Timeline, *forensics.Diagnosis) {
	tl := &timeline.Timeline{Run: &forensics.Run{Label: "empty", Sources: []forensics.Source{
		{Path: "server.log", Format: "empty", Digest: "sha256:e3b0"},
	}}}
	return tl, &forensics.Diagnosis{
		Outcome: forensics.Inconclusive, Summary: "The only file is empty.", Confidence: forensics.Possible,
		Root:    forensics.Finding{Class: "evidence.truncated", Title: "Nothing to read", Count: 1},
		Missing: []string{"server log: would show how the server ended"},
	}
}

// documents freezes all fixtures.
func documents() map[string]*Document {
	out := map[string]*Document{}
	for name, run := range fixtures {
		tl, d := run()
		out[name] = Freeze(tl, d, testTool)
	}
	return out
}
