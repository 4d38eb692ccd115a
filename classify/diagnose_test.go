package classify_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/classify"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// diagnose runs the rooms up to this one on files made by hand.
func diagnose(t *testing.T, set *signatures.Set, files map[string]string) *forensics.Diagnosis {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	inputs, _, err := parse.FindFiles(fs.FS(fsys))
	if err != nil {
		t.Fatal(err)
	}
	r := parse.NewReader(parse.Options{Matcher: set})
	run := &forensics.Run{}
	var cols []*timeline.Collector
	for i, in := range inputs {
		c := timeline.NewCollector(i)
		src, err := r.Read(in, i, c.Sink)
		if err != nil {
			t.Fatal(err)
		}
		run.Sources, cols = append(run.Sources, src), append(cols, c)
	}
	return classify.Diagnose(timeline.Build(run, cols), set)
}

const day = "2026-03-11 "

// started is the log of a server up to readiness; served adds work.
const started = "[" + day + "09:00:00] server_args=ServerArgs(model_path='/m', tp_size=2, attention_backend='flashinfer')\n" +
	"[" + day + "09:00:05 TP0] Init torch distributed begin.\n" +
	"[" + day + "09:00:10 TP0] Load weight begin. avail mem=100.00 GB\n"

const ready = started + "[" + day + "09:01:00 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=10.00 GB\n" +
	"[" + day + "09:01:30] The server is fired up and ready to roll!\n"

func served(clock string) string {
	return fmt.Sprintf("[%s%s TP0] Decode batch, #running-req: 8, #token: 900, token usage: 0.10, cuda graph: True, gen throughput (token/s): 500.00, #queue-req: 0, \n", day, clock)
}

func raised(clock, rank, exception string) string {
	return fmt.Sprintf("[%s%s %s] Scheduler hit an exception: Traceback (most recent call last):\n  File \"/x/site-packages/sglang/srt/managers/scheduler.py\", line 9, in event_loop_normal\n%s\n\n", day, clock, rank, exception)
}

const (
	illegal  = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
	keyError = "KeyError: 'req_to_token'"
	sigquit  = "[" + day + "09:10:01] SIGQUIT received. signum=None, frame=None. It usually means one child failed.\n"
	oomKill  = "[Wed Mar 11 09:09:58 2026] Out of memory: Killed process 4242 (sglang::schedul) total-vm:1000kB, anon-rss:900kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n"
	refused  = "benchmark_args=Namespace(backend='sglang', num_prompts=8, max_concurrency=8)\nStarting warmup with 1 sequences...\nTraceback (most recent call last):\n  File \"/x/bench_serving.py\", line 1, in f\nConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 8000)\n"
)

func TestDiagnose(t *testing.T) {
	set, err := signatures.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		files    map[string]string
		root     string
		outcome  forensics.Outcome
		symptoms []string // classes that must be listed as consequences
		rejected []string // classes that must be listed as lost hypotheses
	}{
		{"the client's refusal is explained by the server's death",
			map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP0", illegal) + sigquit, "bench.log": refused},
			"runtime.illegal-memory-access", forensics.Failed, []string{"client.connection-refused"}, []string{"client.connection-refused"}},
		{"nothing but a refusal", map[string]string{"bench.log": refused},
			"client.connection-refused", forensics.Failed, nil, nil},
		{"the kernel's kill comes before what follows from it",
			map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP1", "RuntimeError: NCCL error: remote process exited or there was a network error") + sigquit, "dmesg.txt": oomKill},
			"host.oom-killed", forensics.Failed, nil, nil},
		{"exit status 137 after an exception is the server's own",
			map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP0", illegal) + sigquit, "exit.txt": "server exit status 137\n"},
			"runtime.illegal-memory-access", forensics.Failed, nil, []string{"host.oom-killed"}},
		{"an Xid of the same process is a consequence",
			map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP0", illegal) + sigquit,
				"dmesg.txt": "[Wed Mar 11 09:10:00 2026] NVRM: Xid (PCI:0000:3a:00): 31, pid=4242, name=python3, channel 0x1, intr 0. MMU Fault: ENGINE GRAPHICS\n"},
			"runtime.illegal-memory-access", forensics.Failed, []string{"gpu.mmu-fault"}, nil},
		{"a GPU that fell off the bus explains the exception",
			map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP0", illegal) + sigquit,
				"dmesg.txt": "[Wed Mar 11 09:09:59 2026] NVRM: Xid (PCI:0000:3a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"},
			"gpu.fell-off-bus", forensics.Failed, []string{"runtime.illegal-memory-access"}, nil},
		{"the first rank's exception, not the second's",
			map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP1", illegal) + raised("09:10:01", "TP0", "RuntimeError: NCCL error: remote process exited or there was a network error") + sigquit},
			"runtime.illegal-memory-access", forensics.Failed, nil, nil},
		{"the same text before readiness is a launch failure",
			map[string]string{"server.log": started + raised("09:00:20", "TP0", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB")},
			"launch.insufficient-gpu-memory", forensics.Failed, nil, nil},
		{"an unknown exception while serving", map[string]string{"server.log": ready + served("09:09:00") + raised("09:10:00", "TP0", keyError) + sigquit},
			"runtime.scheduler-bug", forensics.Failed, nil, nil},
		{"an error followed by normal service is not the cause",
			map[string]string{"server.log": ready + served("09:02:00") + raised("09:03:00", "TP0", keyError) + served("09:08:00") + served("09:09:00") + raised("09:10:00", "TP0", illegal) + sigquit},
			"runtime.illegal-memory-access", forensics.Failed, nil, []string{"runtime.scheduler-bug"}},
		{"a log that just stops", map[string]string{"server.log": ready + served("09:09:00")},
			"evidence.truncated", forensics.Inconclusive, nil, nil},
		{"silence with requests running",
			map[string]string{"server.log": ready + served("09:02:00") + "[" + day + "09:30:00] INFO:     127.0.0.1:1 - \"GET /get_model_info HTTP/1.1\" 200 OK\n"},
			"runtime.hang", forensics.Failed, nil, nil},
		{"a request that quotes an error is no error",
			map[string]string{"server.log": ready + served("09:02:00") + "[" + day + "09:02:01] Receive: obj=GenerateReqInput(rid='1', text='why CUDA error: an illegal memory access was encountered?')\n" +
				"[" + day + "09:02:30] INFO:     127.0.0.1:1 - \"POST /generate HTTP/1.1\" 200 OK\n[" + day + "09:03:00] INFO:     Shutting down\n"},
			"ok", forensics.Completed, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := diagnose(t, set, tt.files)
			if d.Root.Class != tt.root || d.Outcome != tt.outcome {
				t.Errorf("got %s, %s (%s); want %s, %s", d.Root.Class, d.Outcome, d.Summary, tt.root, tt.outcome)
			}
			if len(d.Root.Evidence) == 0 || d.Root.Evidence[0].Text == "" {
				t.Error("the root cause quotes no line")
			}
			for _, class := range tt.symptoms {
				if !slices.ContainsFunc(d.Symptoms, func(f forensics.Finding) bool { return f.Class == class && f.ExplainedBy != "" }) {
					t.Errorf("%s is not among the explained symptoms", class)
				}
			}
			for _, class := range tt.rejected {
				if !slices.ContainsFunc(d.Rejected, func(r forensics.Rejected) bool { return r.Class == class && r.Reason != "" }) {
					t.Errorf("%s is not among the rejected hypotheses", class)
				}
			}
		})
	}
}

// TestFoundingStory proves what the report of the first story must say: the
// filter is named and rejected, the configuration mismatch is shown.
func TestFoundingStory(t *testing.T) {
	set, err := signatures.Load()
	if err != nil {
		t.Fatal(err)
	}
	d := diagnose(t, set, map[string]string{
		"server.log": strings.Replace(ready, "attention_backend='flashinfer'", "attention_backend='flashinfer', kv_cache_dtype='fp8_e4m3'", 1) +
			served("09:09:00") + raised("09:10:00", "TP0", "AttributeError: 'PrefillMetadata' object has no attribute 'page_table_1_flattened'") + sigquit,
		"sweep.txt": "$ for c in 64 256; do echo \"== conc $c\"; python3 -m sglang.bench_serving --max-concurrency $c | grep -E 'Output tok|Successful'; done\n" +
			"== conc 64\n#Output tokens: 4133\nSuccessful requests:                     64\nOutput token throughput (tok/s):         700.41\n== conc 256\n#Output tokens: 16548\n",
	})
	if d.Root.Class != "attention.metadata" || d.Confidence != forensics.Confirmed {
		t.Errorf("root %s, %s; want attention.metadata, confirmed", d.Root.Class, d.Confidence)
	}
	for _, want := range []string{"attention_backend=flashinfer", "kv_cache_dtype=fp8_e4m3"} {
		if !strings.Contains(d.Root.Detail, want) {
			t.Errorf("the detail does not show %s: %s", want, d.Root.Detail)
		}
	}
	i := slices.IndexFunc(d.Rejected, func(r forensics.Rejected) bool { return r.Class == "evidence.filtered" })
	if i < 0 || !strings.Contains(d.Rejected[i].Reason, "filter") {
		t.Errorf("the filter hypothesis is not rejected with its reason: %+v", d.Rejected)
	}
}
