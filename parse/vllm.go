package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

// vllm reads vLLM server logs, V0 and V1. Sources of the texts: vllm/engine/
// metrics.py and llm_engine.py (V0), vllm/v1/metrics/loggers.py, v1/engine/core.py,
// v1/executor/multiproc_executor.py, v1/worker/gpu_worker.py, entrypoints/
// launcher.py, of the releases 0.2 (2023) to 0.16 (2026).
type vllm struct{}

func (*vllm) end(*scan) {}

func (r *vllm) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 8 || l.style == styleSGLang {
		return 0
	}
	switch t[0] {
	case 'A', 'E':
		if w := r.stats(l, s); w != 0 {
			return w
		}
		if w := r.uvicorn(l, s); w != 0 {
			return w
		}
	case 'S':
		if bytes.HasPrefix(t, []byte("Sequence group ")) {
			return r.preempted(l, s)
		}
	case 'n', 'a', 'I':
		if w := r.config(l, s); w != 0 {
			return w
		}
	case 'D':
		if l.quoting {
			return r.dump(l, s)
		}
	}
	if l.style != styleVLLM {
		return 0
	}
	return r.phase(l, s)
}

// statsLabels maps the labels of the statistics line to value names. The line is
// read label by label: V0 says Pending, V1 Waiting, and later versions add more.
var statsLabels = []struct {
	label, name string
	scale       float64 // what the number is divided by
}{
	{"Avg prompt throughput", forensics.ValInputThroughput, 1},
	{"Avg generation throughput", forensics.ValGenThroughput, 1},
	{"Running", forensics.ValRunning, 1},
	{"Waiting", forensics.ValQueue, 1},
	{"Pending", forensics.ValQueue, 1},
	{"Preemptions", forensics.ValPreempted, 1},
	{"GPU KV cache usage", forensics.ValTokenUsage, 100},
}

// stats reads "Engine 000: Avg prompt throughput: 99.0 tokens/s, ... Running: 3
// reqs, Waiting: 0 reqs, GPU KV cache usage: 1.2%, ...". The percentage becomes a
// fraction.
func (r *vllm) stats(l *line, s *scan) int {
	rest := l.text
	engine := []byte(nil)
	if rest[0] == 'E' {
		after, ok := bytes.CutPrefix(rest, []byte("Engine "))
		if i := bytes.Index(after, []byte(": ")); ok && i > 0 && i < 8 {
			engine, rest = after[:i], after[i+2:]
		}
	}
	if !bytes.HasPrefix(rest, []byte("Avg prompt throughput: ")) {
		return 0
	}
	e := s.event(l, forensics.KindBatch)
	if engine != nil {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "engine", Value: view(engine)})
		if n := digits(engine, 0, len(engine)); n > 0 {
			// Engines are the data-parallel ranks. The line of a single engine is
			// numbered 000 too, which then says nothing.
			var buf [16]byte
			e.Proc.Rank = l.names.get(appendInt(append(buf[:0], "DP"...), n))
		}
	}
	for len(rest) > 0 {
		var item []byte
		item, rest = cutComma(rest)
		addStat(e, item)
	}
	if len(e.Values) == 0 {
		return -1
	}
	s.emit(e)
	return 10
}

func addStat(e *forensics.Event, item []byte) {
	colon := bytes.Index(item, []byte(": "))
	if colon < 0 {
		return
	}
	label, val := item[:colon], item[colon+2:]
	for i := range statsLabels {
		if string(label) != statsLabels[i].label {
			continue
		}
		end := 0
		for end < len(val) && (val[end] >= '0' && val[end] <= '9' || val[end] == '.' || val[end] == '-') {
			end++
		}
		if x, ok := number(val[:end]); ok {
			e.Values = append(e.Values, forensics.Value{Name: statsLabels[i].name, X: x / statsLabels[i].scale})
		}
		return
	}
}

// cutComma splits "a, b" at the first comma.
func cutComma(b []byte) (item, rest []byte) {
	if i := bytes.Index(b, []byte(", ")); i >= 0 {
		return b[:i], b[i+2:]
	}
	return b, nil
}

func appendInt(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}

// preempted reads V0's warning "Sequence group 1 is preempted by
// PreemptionMode.RECOMPUTE mode because ... total_num_cumulative_preemption=151".
// Not every preemption is logged, but the count is.
func (r *vllm) preempted(l *line, s *scan) int {
	const label = "total_num_cumulative_preemption="
	if !bytes.Contains(l.text, []byte(" is preempted by ")) {
		return 0
	}
	e := s.event(l, forensics.KindBatch)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: "preemption"})
	if i := bytes.Index(l.text, []byte(label)); i >= 0 {
		rest := l.text[i+len(label):]
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if x, ok := number(rest[:end]); ok {
			e.Values = append(e.Values, forensics.Value{Name: forensics.ValPreempted, X: x})
		}
	}
	s.emit(e)
	return 10
}

// uvicorn claims "Application startup complete." in vLLM's logs: the engine has
// been started before the HTTP server, so there it means ready. In SGLang's it
// comes before the warm-up.
func (r *vllm) uvicorn(l *line, s *scan) int {
	if !bytes.HasPrefix(l.text, []byte("Application startup complete")) {
		return 0
	}
	if s.engine != "vllm" && !strings.HasPrefix(l.proc.Name, "APIServer") {
		return 0
	}
	r.emitPhase(l, s, forensics.PhaseReady, "", nil)
	return 3
}

// dump reads the lines that vLLM prints before a fatal error: the scheduler's
// input with everybody's prompts. They are kept as configuration of the engine at
// best, and never searched for failures.
func (r *vllm) dump(l *line, s *scan) int {
	i := bytes.Index(l.text, []byte(" with config: "))
	if i < 0 {
		return 3
	}
	return r.engineConfig(l, s, l.text[:i], l.text[i+len(" with config: "):])
}

// config reads "non-default args: {...}", "args: Namespace(...)" and
// "Initializing a V1 LLM engine (v0.11.0) with config: model='...', ...".
func (r *vllm) config(l *line, s *scan) int {
	for _, p := range []string{"non-default args: ", "args: "} {
		if rest, ok := bytes.CutPrefix(l.text, []byte(p)); ok {
			if len(rest) == 0 || rest[0] != '{' && !bytes.HasPrefix(rest, []byte("Namespace(")) {
				return 0
			}
			fields, whole := pyFields(string(rest))
			if !whole {
				s.note(l.pos.Line, l.pos.Offset, "the server's arguments are cut: later keys are missing")
			}
			return r.emitConfig(l, s, strings.TrimSuffix(p, ": "), nil, fields)
		}
	}
	if i := bytes.Index(l.text[:min(len(l.text), 120)], []byte(" engine ")); i > 0 && bytes.HasPrefix(l.text, []byte("Initializing a")) {
		if j := bytes.Index(l.text, []byte(" with config: ")); j > 0 {
			return r.engineConfig(l, s, l.text[:j], l.text[j+len(" with config: "):])
		}
	}
	return 0
}

// engineConfig reads the engine's own configuration, "model='...', dtype=...".
func (r *vllm) engineConfig(l *line, s *scan, head, rest []byte) int {
	var extra []forensics.Attr
	if i, j := bytes.LastIndex(head, []byte("(v")), bytes.LastIndexByte(head, ')'); i > 0 && j > i {
		extra = append(extra, forensics.Attr{Key: "engine_version", Value: string(head[i+2 : j])})
	}
	generation := "V0"
	if bytes.Contains(head, []byte(" V1 ")) {
		generation = "V1"
	}
	extra = append(extra, forensics.Attr{Key: "engine_generation", Value: generation})
	fields, _ := pyFields(string(rest))
	return r.emitConfig(l, s, "engine", extra, fields)
}

func (r *vllm) emitConfig(l *line, s *scan, what string, extra []forensics.Attr, fields []pair) int {
	e := s.event(l, forensics.KindConfig)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "config", Value: what})
	e.Attrs = append(e.Attrs, extra...)
	for _, f := range fields {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: f.key, Value: f.value})
	}
	if len(fields) == 0 {
		return -1
	}
	s.emit(e)
	return 10
}

// vllmPhases maps the beginnings of log lines to launch phases. What follows a
// prefix that has an attribute is the attribute's value, up to the first space or
// to the unit.
var vllmPhases = []struct{ prefix, phase, attr string }{
	{"vLLM API server version ", forensics.PhaseStart, "version"},
	{"vLLM is using nccl==", forensics.PhaseDistributed, "nccl_version"},
	{"Initializing distributed", forensics.PhaseDistributed, ""},
	{"rank ", forensics.PhaseDistributed, "rank"},
	{"Starting to load model ", forensics.PhaseWeights, "model"},
	{"Loading weights took ", forensics.PhaseWeights, "elapsed_s"},
	{"Loading model weights took ", forensics.PhaseWeights, "mem_usage_gb"},
	{"Model loading took ", forensics.PhaseWeights, "mem_usage_gb"},
	{"Dynamo bytecode transform time: ", forensics.PhaseCompile, "elapsed_s"},
	{"Compiling a graph for ", forensics.PhaseCompile, ""},
	{"torch.compile takes ", forensics.PhaseCompile, "elapsed_s"},
	{"Directly load the compiled graph", forensics.PhaseCompile, ""},
	{"Memory profiling takes ", forensics.PhaseKVCache, "elapsed_s"},
	{"Available KV cache memory: ", forensics.PhaseKVCache, "avail_mem_gb"},
	{"GPU KV cache size: ", forensics.PhaseKVCache, "tokens"},
	{"# GPU blocks: ", forensics.PhaseKVCache, "gpu_blocks"},
	{"# CUDA blocks: ", forensics.PhaseKVCache, "gpu_blocks"},
	{"# cuda blocks: ", forensics.PhaseKVCache, "gpu_blocks"},
	{"Maximum concurrency for ", forensics.PhaseKVCache, ""},
	{"Capturing CUDA graph", forensics.PhaseCapture, ""},
	{"Capturing cudagraphs for ", forensics.PhaseCapture, ""},
	{"Capturing the model for CUDA graphs", forensics.PhaseCapture, ""},
	{"Profiling CUDA graph memory", forensics.PhaseCapture, ""},
	{"Graph capturing finished in ", forensics.PhaseCapture, "elapsed_s"},
	{"Warming up ", forensics.PhaseWarmup, ""},
	{"init engine (profile, create kv cache, warmup model) took ", forensics.PhaseWarmup, "elapsed_s"},
	{"Starting vLLM API server", forensics.PhaseHTTP, ""},
	{"Starting vLLM server on ", forensics.PhaseHTTP, "address"},
	{"Available routes are", forensics.PhaseHTTP, ""},
	{"Shutting down FastAPI HTTP server", forensics.PhaseStopping, ""},
	{"Received signal SIGTERM", forensics.PhaseStopping, ""},
	{"Received SIGTERM", forensics.PhaseStopping, ""},
	{"EngineCore encountered a fatal error", forensics.PhaseDying, ""},
	{"EngineCore hit an exception", forensics.PhaseDying, ""},
	{"EngineCore failed to start", forensics.PhaseDying, ""},
	{"Engine core proc ", forensics.PhaseDying, "proc"},
	{"Engine process failed to start", forensics.PhaseDying, ""},
	{"WorkerProc hit an exception", forensics.PhaseDying, ""},
	{"WorkerProc failed to start", forensics.PhaseDying, ""},
	{"Worker proc ", forensics.PhaseDying, "proc"},
	{"Worker VllmWorkerProcess pid ", forensics.PhaseDying, "pid"},
	{"MQLLMEngine is already dead", forensics.PhaseDying, ""},
	{"AsyncLLMEngine is already dead", forensics.PhaseDying, ""},
	{"AsyncLLMEngine has failed", forensics.PhaseDying, ""},
	{"AsyncLLM output_handler failed", forensics.PhaseDying, ""},
	{"Engine background task failed", forensics.PhaseDying, ""},
	{"MulitprocExecutor got fatal signal", forensics.PhaseDying, ""},
	{"MultiprocExecutor got fatal signal", forensics.PhaseDying, ""},
}

// phase reads a launch or shutdown step.
func (r *vllm) phase(l *line, s *scan) int {
	for i := range vllmPhases {
		p := &vllmPhases[i]
		if l.text[0] != p.prefix[0] || !bytes.HasPrefix(l.text, []byte(p.prefix)) {
			continue
		}
		rest := l.text[len(p.prefix):]
		if p.attr == "rank" && !bytes.Contains(rest, []byte(" in world size ")) {
			return 0
		}
		if p.attr == "proc" && !bytes.Contains(rest, []byte(" died")) {
			return 0
		}
		r.emitPhase(l, s, p.phase, p.attr, rest)
		return 10
	}
	return 0
}

// emitPhase emits a phase with the value at the start of rest, if it is named.
// Of "82.94 GiB and 13.2 seconds" the seconds become an attribute too, of "9 secs,
// took 0.84 GiB" the memory.
func (r *vllm) emitPhase(l *line, s *scan, phase, attr string, rest []byte) {
	e := s.event(l, forensics.KindPhase)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: phase})
	if attr != "" {
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			end = len(rest)
		}
		val := bytes.TrimRight(rest[:end], ".,")
		if attr == "model" {
			val = bytes.TrimRight(rest, ".")
		}
		text := string(val)
		if attr == "tokens" || attr == "gpu_blocks" {
			text = strings.ReplaceAll(text, ",", "")
		}
		e.Attrs = append(e.Attrs, forensics.Attr{Key: attr, Value: text})
	}
	switch {
	case attr == "mem_usage_gb":
		e.Attrs = addBetween(e.Attrs, "elapsed_s", rest, " and ")
	case phase == forensics.PhaseCapture:
		e.Attrs = addBetween(e.Attrs, "mem_usage_gb", rest, " took ")
	}
	s.emit(e)
}

// addBetween adds the word of text that follows a mark, if the mark is there.
func addBetween(attrs []forensics.Attr, key string, text []byte, mark string) []forensics.Attr {
	_, rest, ok := bytes.Cut(text, []byte(mark))
	if !ok {
		return attrs
	}
	word, _, _ := bytes.Cut(rest, []byte(" "))
	return append(attrs, forensics.Attr{Key: key, Value: string(word)})
}
