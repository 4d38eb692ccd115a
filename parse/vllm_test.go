package parse

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/llmforensics/forensics"
)

// renderEvent renders what a reader made of a line.
func renderEvent(e *forensics.Event) string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	if p := e.Proc; p.Name != "" || p.Rank != "" {
		b.WriteString(" " + strings.TrimSpace(p.Name+" "+p.Rank))
	}
	for _, a := range e.Attrs {
		b.WriteString(" " + a.Key + "=" + a.Value)
	}
	for _, v := range e.Values {
		b.WriteString(" " + v.Name + "=" + strconv.FormatFloat(v.X, 'g', -1, 64))
	}
	if e.Quoting {
		b.WriteString(" quoting")
	}
	return b.String()
}

// engineLines are single lines of server logs and the event each makes.
var engineLines = []struct{ name, line, want string }{
	{"V0 statistics", "INFO 06-15 13:57:57 metrics.py:455] Avg prompt throughput: 2102.8 tokens/s, Avg generation throughput: 637.9 tokens/s, Running: 3 reqs, Swapped: 0 reqs, Pending: 7 reqs, GPU KV cache usage: 1.2%, CPU KV cache usage: 0.0%.",
		"batch input_throughput=2102.8 gen_throughput=637.9 running=3 queue=7 token_usage=0.012"},
	{"V1 statistics of the first release", "INFO 01-28 13:57:57 loggers.py:70] Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 3 reqs, Waiting: 4 reqs ",
		"batch input_throughput=1 gen_throughput=2 running=3 queue=4"},
	{"V1 statistics", "(APIServer pid=1) INFO 08-22 16:20:00 [loggers.py:123] Engine 003: Avg prompt throughput: 632.1 tokens/s, Avg generation throughput: 101.7 tokens/s, Running: 16 reqs, Waiting: 0 reqs, Preemptions: 5, GPU KV cache usage: 50.0%, Prefix cache hit rate: 0.0%",
		"batch APIServer DP3 engine=003 input_throughput=632.1 gen_throughput=101.7 running=16 queue=0 preempted=5 token_usage=0.5"},
	{"preemption", "WARNING 06-15 13:57:57 scheduler.py:1] Sequence group cmpl-1 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. total_num_cumulative_preemption=151",
		"batch phase=preemption preempted=151"},
	{"version", "(APIServer pid=1) INFO 11-10 09:20:11 [api_server.py:1839] vLLM API server version 0.11.1", "phase APIServer phase=start version=0.11.1"},
	{"rank", "(Worker_TP5 pid=406) INFO 11-10 09:20:27 [parallel_state.py:1208] rank 5 in world size 8 is assigned as DP rank 0", "phase Worker_TP5 TP5 phase=distributed rank=5"},
	{"loading", "INFO 11-10 09:20:42 [gpu_model_runner.py:2653] Model loading took 82.9413 GiB and 13.213817 seconds", "phase phase=weights mem_usage_gb=82.9413 elapsed_s=13.213817"},
	{"KV cache", "INFO 11-10 09:21:24 [kv_cache_utils.py:1087] GPU KV cache size: 1,430,720 tokens", "phase phase=kv-cache tokens=1430720"},
	{"capture", "INFO 11-10 09:21:33 [gpu_model_runner.py:3480] Graph capturing finished in 9 secs, took 0.84 GiB", "phase phase=graph-capture elapsed_s=9 mem_usage_gb=0.84"},
	{"ready", "(APIServer pid=1) INFO:     Application startup complete.", "phase APIServer phase=ready"},
	{"dying", "ERROR 08-22 16:31:18 [core_client.py:562] Engine core proc EngineCore_0 died unexpectedly, shutting down client.", "phase phase=dying proc=EngineCore_0"},
	{"arguments", "INFO 11-10 09:20:11 [utils.py:233] non-default args: {'model_tag': '/m', 'max_model_len': 131072}", "config config=non-default args model_tag=/m max_model_len=131072"},
	{"engine", "INFO 02-25 11:10:53 llm_engine.py:234] Initializing a V0 LLM engine (v0.7.2) with config: model='/m', compilation_config={\"a\":[1,2],\"b\":{}}, seed=0",
		`config config=engine engine_version=0.7.2 engine_generation=V0 model=/m compilation_config={"a":[1,2],"b":{}} seed=0`},
	{"dump", "ERROR 02-25 11:10:53 [dump_input.py:69] Dumping input data for V1 LLM engine (v0.11.0) with config: model='/m', seed=0",
		"config config=engine engine_version=0.11.0 engine_generation=V1 model=/m seed=0 quoting"},
	{"checkpoint", "Loading safetensors checkpoint shards:  33% Completed | 3/9 [00:04<00:08,  1.40s/it]", "phase phase=weights progress=true done=3 total=9"},
	{"TensorRT-LLM iteration", "[04/28/2025-09:56:44] [TRT-LLM] [RANK 1] [I] iter = 198, global_rank = 0, rank = 0, currank_total_requests = 0/0, elapsed_time = 0.005s, timestamp = 2025-04-28 09:56:44, num_scheduled_requests: 10, states = {'num_ctx_requests': 1, 'num_ctx_tokens': 512, 'num_generation_tokens': 16}",
		"batch rank1 running=10 new_tokens=512 new_seqs=1"},
	{"TensorRT-LLM C++", "[TensorRT-LLM][INFO][2] Loaded engine size: 1 MiB", "phase rank2 phase=weights"},
	{"TGI", "2024-10-16T10:48:41.374381Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=2", "phase rank2 phase=weights"},
	{"TGI ready", "2024-10-16T10:48:41.374381Z  INFO text_generation_router::server: router/src/server.rs:2311: Connected", "phase phase=ready"},
	{"Triton", "I0128 17:39:49.681249 111 http_server.cc:293] Started HTTPService at 0.0.0.0:8000", "phase phase=ready"},
	{"router", "2025-12-11 22:04:58  INFO sglang_router_rs::server: src/server.rs:261: Starting router on 0.0.0.0:30000", "phase phase=start"},
	{"llama.cpp", "main: server is listening on http://127.0.0.1:8080 - starting the main loop", "phase phase=ready"},
	{"llama.cpp timings", "prompt eval time =     232.47 ms /   492 tokens (    0.47 ms per token,  2116.38 tokens per second)", "batch phase=prefill scope=request request_throughput_tokens=2116.38"},
	{"torchrun", "E0830 11:53:18.940000 139902217012032 torch/distributed/elastic/multiprocessing/api.py:833] failed (exitcode: -6) local_rank: 7 (pid: 1797828) of binary: /usr/bin/python3", "exit code=-6 local_rank=7 pid=1797828 what=/usr/bin/python3"},
	{"NCCL banner", "NCCL version 2.28.9+cuda13.0", "environment key=nccl_version value=2.28.9+cuda13.0"},
}

func TestEngineLines(t *testing.T) {
	for _, c := range engineLines {
		t.Run(c.name, func(t *testing.T) {
			events, _ := readAll(t, strings.NewReader(c.line+"\n"))
			if len(events) != 1 {
				t.Fatalf("%d events, want 1: %v", len(events), events)
			}
			if diff := cmp.Diff(c.want, renderEvent(events[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestVLLMFiles reads whole logs: their format, and the events in it by kind.
func TestVLLMFiles(t *testing.T) {
	for _, c := range []struct {
		name                  string
		batches, ready, dying int
		traces                string
	}{
		{"vllm/v0_preemption.log", 50, 1, 0, ""},
		{"vllm/v0_mqllm.log", 7, 1, 9, "RuntimeError c10::Error"},
		{"vllm/v1_device_assert.log", 6, 1, 2, "CUDA device-side assert torch.AcceleratorError vllm.v1.engine.exceptions.EngineDeadError c10::DistBackendError"},
		{"vllm/v1_tp8_assert.log", 3, 1, 6, "AssertionError AssertionError AssertionError AssertionError RuntimeError vllm.v1.engine.exceptions.EngineDeadError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events, src := readFile(t, c.name)
			if src.Format != "vllm-server" || src.Role != forensics.RoleServer {
				t.Errorf("format %s, role %s", src.Format, src.Role)
			}
			batches, ready, dying := 0, 0, 0
			for _, e := range events {
				switch {
				case e.Kind == forensics.KindBatch:
					batches++
					if u, ok := e.Value(forensics.ValTokenUsage); ok && (u < 0 || u > 1) {
						t.Errorf("line %d: token usage %v is no fraction", e.Pos.Line, u)
					}
				case e.Attr("phase") == forensics.PhaseReady:
					ready++
				case e.Attr("phase") == forensics.PhaseDying:
					dying++
				}
			}
			if batches != c.batches || ready != c.ready || dying != c.dying {
				t.Errorf("%d batches, %d ready, %d dying; want %d, %d, %d", batches, ready, dying, c.batches, c.ready, c.dying)
			}
			if diff := cmp.Diff(c.traces, typesOf(events)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// typesOf lists the last exceptions of the tracebacks in order of position.
func typesOf(events []*forensics.Event) string {
	var out []string
	for _, e := range sortedTraces(events) {
		out = append(out, e.Trace.Last().Type)
	}
	return strings.Join(out, " ")
}

// TestQuoting checks that lines that repeat foreign text say so.
func TestQuoting(t *testing.T) {
	for line, want := range map[string]bool{
		"Receive: obj=GenerateReqInput(rid='1', text='CUDA out of memory')":          true,
		"Finish: obj=GenerateReqInput(rid='1'), out={}":                              true,
		"Received request cmpl-1: prompt: 'RuntimeError', params: {}":                true,
		"Received output for rid='1' but the state was deleted in TokenizerManager.": false,
		"Dumping scheduler output for model execution: SchedulerOutput(...)":         true,
		"RuntimeError: CUDA out of memory":                                           false,
		"":                                                                           false,
	} {
		if got := isQuoting([]byte(line)); got != want {
			t.Errorf("isQuoting(%q) = %v, want %v", line, got, want)
		}
	}
}

// FuzzVLLM checks the same as [FuzzTraceback] on engine logs.
func FuzzVLLM(f *testing.F) {
	for _, c := range engineLines {
		f.Add(c.line)
	}
	names, _ := filepath.Glob("testdata/vllm/*.log")
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(checkReading)
}
