package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// trtllm reads TensorRT-LLM: the Python logger "[date] [TRT-LLM] [RANK 1] [I] msg"
// and the C++ one "[TensorRT-LLM][INFO] msg", which prints no time. Sources:
// tensorrt_llm/logger.py, _torch/pyexecutor/py_executor.py.
func trtllm() reader {
	return &engineLog{
		own: func(l *line) bool {
			return l.style == styleTRT || bytes.HasPrefix(l.text, []byte("[TensorRT-LLM]["))
		},
		payload: trtPayload,
		marks: []phaseMark{
			{"Starting TensorRT LLM", forensics.PhaseStart},
			{"Using LLM with ", forensics.PhaseStart},
			{"MPI size: ", forensics.PhaseDistributed},
			{"Loaded engine size", forensics.PhaseWeights},
			{"Prefetching ", forensics.PhaseWeights},
			{"Loading weights", forensics.PhaseWeights},
			{"Model init total", forensics.PhaseWeights},
			{"Number of blocks in KV cache", forensics.PhaseKVCache},
			{"Max tokens in paged KV cache", forensics.PhaseKVCache},
			{"[MemUsageChange] Allocated ", forensics.PhaseKVCache},
			{"Estimated max memory in KV cache", forensics.PhaseKVCache},
			{"[Autotuner]", forensics.PhaseWarmup},
			{"Run autotuning warmup", forensics.PhaseWarmup},
			{"Creating CUDA graph instances", forensics.PhaseCapture},
			{"Run generation only CUDA graph warmup", forensics.PhaseCapture},
			{"Hang detected", forensics.PhaseDying},
		},
		more: trtIteration{},
	}
}

// trtPayload strips "[TensorRT-LLM][ERROR]" and "[rank]" from the C++ form.
func trtPayload(l *line) []byte {
	t, ok := bytes.CutPrefix(l.text, []byte("[TensorRT-LLM]["))
	if !ok {
		return l.text
	}
	if lv, n := levelWord(t); n > 0 && n < len(t) && t[n] == ']' {
		l.level, t = lv, t[n+1:]
	}
	if len(t) > 2 && t[0] == '[' && t[1] >= '0' && t[1] <= '9' {
		if i := bytes.IndexByte(t, ']'); i > 0 && i < 8 {
			var buf [16]byte
			l.proc.Rank = l.names.get(append(append(buf[:0], "rank"...), t[1:i]...))
			t = t[i+1:]
		}
	}
	l.text = trimOne(t)
	return l.text
}

// trtLabels maps the fields of the iteration line to value names.
var trtLabels = []struct{ label, name string }{
	{"num_scheduled_requests", forensics.ValRunning},
	{"'num_ctx_tokens'", forensics.ValNewTokens},
	{"'num_ctx_requests'", forensics.ValNewSeqs},
}

// trtIteration reads the executor's statistics.
type trtIteration struct{}

// more reads "iter = 198, global_rank = 0, ..., currank_total_requests =
// 0/0, ..., num_scheduled_requests: 10, states = {'num_ctx_requests': 0, ...}".
// num_generation_tokens includes the padding of CUDA graphs and is left out. The
// line gives no throughput and no queue.
func (trtIteration) more(l *line, s *scan) int {
	if !bytes.HasPrefix(l.text, []byte("iter = ")) {
		return 0
	}
	e := s.event(l, forensics.KindBatch)
	for i := range trtLabels {
		p := &trtLabels[i]
		at := bytes.Index(l.text, []byte(p.label))
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(l.text[at+len(p.label):], ":= ")
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if x, ok := number(rest[:end]); ok {
			e.Values = append(e.Values, forensics.Value{Name: p.name, X: x})
		}
	}
	if len(e.Values) == 0 {
		return -1
	}
	s.emit(e)
	return 10
}
