package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// llamacpp reads llama.cpp's llama-server. Source: tools/server/server.cpp. Its
// prefix of 2026 is an uptime ("2.53.791.924 I "), not a clock.
func llamacpp() reader {
	return &engineLog{
		payload: llamaPayload,
		marks: []phaseMark{
			{"llama_model_loader: loaded meta data", forensics.PhaseStart},
			{"llama_model_loader: - ", forensics.PhaseWeights},
			{"llama_model_load", forensics.PhaseWeights},
			{"load_tensors: ", forensics.PhaseWeights},
			{"llm_load_tensors: ", forensics.PhaseWeights},
			{"llama_context: ", forensics.PhaseKVCache},
			{"llama_new_context_with_model: ", forensics.PhaseKVCache},
			{"llama_kv_cache", forensics.PhaseKVCache},
			{"common_init_from_params: warming up", forensics.PhaseWarmup},
			{"main: HTTP server is listening", forensics.PhaseHTTP},
			{"main: server is listening on", forensics.PhaseReady},
			{"main: model loaded", forensics.PhaseReady},
			{"srv    load_model: failed", forensics.PhaseDying},
			{"main: exiting due to model loading error", forensics.PhaseDying},
			{"main: error: unable to load model", forensics.PhaseDying},
		},
		more: llamaMore{},
	}
}

// llamaPayload strips the uptime and the level letter.
func llamaPayload(l *line) []byte {
	t := l.text
	i := 0
	for i < len(t) && i < 24 && (t[i] >= '0' && t[i] <= '9' || t[i] == '.') {
		i++
	}
	if i > 6 && i+2 < len(t) && t[i] == ' ' && t[i+2] == ' ' && bytes.Count(t[:i], []byte(".")) == 3 {
		t = bytes.TrimLeft(t[i+2:], " ")
	}
	return t
}

// llamaStarts begin lines that only llama.cpp prints.
var llamaStarts = []string{
	"slot ", "srv  ", "srv ", "print_timings: ", "llama_perf", "ggml_cuda_init:", "llm_load_print_meta:", "print_info:",
	"llama_model_", "system_info:", "system info:", "ggml_backend_", "alloc_tensor_range:", "llama_init_from_model:",
}

// llamaMore reads what llama-server prints besides the landmarks.
type llamaMore struct{}

func (llamaMore) more(l *line, s *scan) int {
	t := llamaPayload(l)
	if len(t) < 4 {
		return 0
	}
	if hasAnyPrefix(bytes.TrimLeft(t, " "), []string{"prompt eval time = ", "eval time = "}) {
		return llamaTimings(l, s, t)
	}
	if t[0] == 'C' || t[0] == 'G' || t[0] == '/' {
		if w := llamaCrash(l, s, t); w != 0 {
			return w
		}
	}
	if !hasAnyPrefix(t, llamaStarts) {
		return 0
	}
	if bytes.HasPrefix(t, []byte("slot ")) && !bytes.Contains(t, []byte("| task ")) {
		return 0
	}
	s.record(l)
	return 3
}

// llamaTimings reads "prompt eval time = 232.47 ms / 492 tokens ( 0.47 ms per
// token, 2116.38 tokens per second)" and the same without "prompt". The rates are
// one request's, not the server's.
func llamaTimings(l *line, s *scan, t []byte) int {
	j := bytes.Index(t, []byte(" tokens per second"))
	if j < 0 {
		return 0
	}
	k := bytes.LastIndexByte(t[:j], ',')
	x, ok := number(bytes.TrimSpace(t[k+1 : j]))
	if !ok {
		return -1
	}
	phase := "decode"
	if bytes.HasPrefix(t, []byte("prompt ")) {
		phase = "prefill"
	}
	e := s.event(l, forensics.KindBatch)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: phase}, forensics.Attr{Key: "scope", Value: "request"})
	e.Values = append(e.Values, forensics.Value{Name: "request_throughput_tokens", X: x})
	s.emit(e)
	return 10
}

// llamaCrash reads ggml's aborts: "/src/ggml-cuda.cu:98: CUDA error" follows
// "CUDA error: out of memory", and "GGML_ASSERT(x) failed".
func llamaCrash(l *line, s *scan, t []byte) int {
	typ := ""
	switch {
	case s.engine == "llama.cpp" && bytes.HasPrefix(t, []byte("CUDA error: ")):
		typ = "CUDA error"
		t = t[len("CUDA error: "):]
	case bytes.Contains(t[:min(len(t), 200)], []byte("GGML_ASSERT(")):
		typ = "GGML_ASSERT"
	default:
		return 0
	}
	if l.style != styleNone {
		return 0
	}
	c := newCrash(l, crashAlone, "c++", typ, string(clipBytes(t, maxMessage)))
	c.tr.Chain = []forensics.Exception{c.x}
	c.ev.Trace = &c.tr
	s.emit(&c.ev)
	return 3
}
