package parse

import "bytes"

// benchLabel is a row of a benchmark client's summary table.
type benchLabel struct {
	// label is the text before the colon, in lower case: clients changed the case
	// of some over time. A "*" stands for a statistic: mean, median, p99.
	label string
	// id is the metric's name in the SGLang client's JSONL, "*" as in label.
	id string
	// unit is the unit of the printed number, "" for counts and ratios.
	unit string
	// kind says whether the row is a parameter and how telling it is.
	kind labelKind
}

// labelKind says what a label proves when no fence of "=" marks a table.
type labelKind uint8

const (
	rowStrong labelKind = iota // no other program prints it
	rowWeak                    // counts together with a second label
	rowInner                   // only within a table
	rowParam                   // a parameter, kept as an attribute
)

// benchLabels is the one place where labels of summary tables are named.
//
// Sources: sglang bench_serving.py and benchmark/serving.py of 2024-07 to
// 2026-08, bench_offline_throughput.py, bench_one_batch_server.py; vllm
// benchmarks/benchmark_serving.py of 2023-06 to 2025-09 and vllm bench serve to
// 2026-05; InferenceX utils/bench_serving; TensorRT-LLM
// serve/scripts/benchmark_serving.py. "reqeuest" is SGLang's spelling from
// 2024-11 to 2025-05.
var benchLabels = []benchLabel{
	{"backend", "backend", "", rowParam},
	{"traffic request rate", "request_rate", "req/s", rowParam},
	{"request rate configured (rps)", "request_rate", "req/s", rowParam},
	{"max request concurrency", "max_concurrency", "", rowParam},
	{"max reqeuest concurrency", "max_concurrency", "", rowParam},
	{"maximum request concurrency", "max_concurrency", "", rowParam},
	{"burstiness factor", "burstiness", "", rowParam},

	{"successful requests", "completed", "", rowStrong},
	{"failed requests", "failed", "", rowWeak},
	{"total failed requests", "failed", "", rowInner},
	{"total requests", "num_prompts", "", rowInner},
	{"benchmark duration (s)", "duration", "s", rowStrong},
	{"total time", "duration", "s", rowInner},
	{"total input tokens", "total_input_tokens", "tok", rowWeak},
	{"total input text tokens", "total_input_text_tokens", "tok", rowStrong},
	{"total input vision tokens", "total_input_vision_tokens", "tok", rowStrong},
	{"total generated tokens", "total_output_tokens", "tok", rowWeak},
	{"total generated tokens (retokenized)", "total_output_tokens_retokenized", "tok", rowStrong},
	{"request throughput (req/s)", "request_throughput", "req/s", rowStrong},
	{"request throughput", "request_throughput", "req/s", rowWeak},
	{"throughput", "request_throughput", "req/s", rowInner},
	{"request goodput (req/s)", "request_goodput", "req/s", rowStrong},
	{"input token throughput (tok/s)", "input_throughput", "tok/s", rowStrong},
	{"input token throughput", "input_throughput", "tok/s", rowWeak},
	{"output token throughput (tok/s)", "output_throughput", "tok/s", rowStrong},
	{"output token throughput", "output_throughput", "tok/s", rowWeak},
	{"peak output token throughput (tok/s)", "max_output_tokens_per_s", "tok/s", rowStrong},
	{"peak concurrent requests", "max_concurrent_requests", "", rowStrong},
	{"total token throughput (tok/s)", "total_throughput", "tok/s", rowStrong},
	{"last generation throughput (tok/s)", "last_gen_throughput", "tok/s", rowStrong},
	{"user throughput (tok/s)", "user_throughput", "tok/s", rowStrong},
	{"rtfx (inverse real-time factor)", "rtfx", "", rowStrong},
	{"concurrency", "concurrency", "", rowWeak},
	{"accept length", "accept_length", "tok/step", rowWeak},
	{"* e2e latency (ms)", "*_e2e_latency_ms", "ms", rowStrong},
	{"* e2el (ms)", "*_e2e_latency_ms", "ms", rowStrong},
	{"* ttft (ms)", "*_ttft_ms", "ms", rowStrong},
	{"* ttft", "*_ttft_ms", "ms", rowInner},
	{"* tpot (ms)", "*_tpot_ms", "ms", rowStrong},
	{"* tpot", "*_tpot_ms", "ms", rowInner},
	{"* itl (ms)", "*_itl_ms", "ms", rowStrong},

	{"total prompt tokens", "total_prompt_tokens", "tok", rowInner},
	{"total cached tokens", "total_cached_tokens", "tok", rowInner},
	{"cache hit rate", "cache_hit_rate_pct", "%", rowInner},
	{"acceptance rate (%)", "acceptance_rate_pct", "%", rowInner},
	{"acceptance length", "accept_length", "tok/step", rowInner},
	{"drafts", "spec_decode_num_drafts", "", rowInner},
	{"draft tokens", "spec_decode_draft_tokens", "tok", rowInner},
	{"accepted tokens", "spec_decode_accepted_tokens", "tok", rowInner},

	// bench_one_batch_server prints one block per case, without fences.
	{"batch size", "batch_size", "", rowWeak},
	{"input_len", "input_len", "tok", rowInner},
	{"output_len", "output_len", "tok", rowInner},
	{"latency", "latency", "s", rowInner},
	{"input throughput", "input_throughput", "tok/s", rowInner},
	{"output throughput", "output_throughput", "tok/s", rowInner},
	{"last_ttft", "last_ttft", "s", rowInner},
	{"ttft", "last_ttft", "s", rowInner},
	{"last generation throughput", "last_gen_throughput", "tok/s", rowInner},
	{"acc_length", "accept_length", "tok/step", rowInner},
}

// benchHeaders are the section headers of summary tables, without their dashes.
var benchHeaders = []string{
	"end-to-end latency", "time to first token", "time per output token (excl. 1st token)",
	"inter-token latency", "cache hit details", "speculative decoding", "user throughput", "energy metrics",
}

// benchLabelIndex finds rows by label.
var benchLabelIndex = func() map[string]*benchLabel {
	m := make(map[string]*benchLabel, len(benchLabels))
	for i := range benchLabels {
		m[benchLabels[i].label] = &benchLabels[i]
	}
	return m
}()

// maxLabel is longer than any label with its statistic.
const maxLabel = 48

// benchRow splits "Label (unit):   value" and finds the label. id is the
// metric's name with the statistic filled in; row is nil if the label is none of
// the table's.
func benchRow(t []byte) (row *benchLabel, id string, value []byte) {
	colon := bytes.IndexByte(t[:min(len(t), maxLabel)], ':')
	if colon < 2 || colon+1 < len(t) && t[colon+1] != ' ' && t[colon+1] != '\t' {
		return nil, "", nil
	}
	var buf [maxLabel]byte
	low := lower(buf[:0], t[:colon])
	value = bytes.TrimSpace(t[colon+1:])
	if row = benchLabelIndex[string(low)]; row != nil {
		return row, row.id, value
	}
	stat, rest := labelStat(low)
	if stat == nil {
		return nil, "", nil
	}
	var star [maxLabel + 2]byte
	if row = benchLabelIndex[string(append(append(star[:0], "* "...), rest...))]; row == nil {
		return nil, "", nil
	}
	return row, string(stat) + row.id[1:], value
}

// labelStat splits a statistic off a label: "p99.9 ttft (ms)", "std dev tpot
// (ms)". Its spelling is that of the metric's name.
func labelStat(low []byte) (stat, rest []byte) {
	for _, p := range []string{"mean ", "median ", "max ", "min ", "std "} {
		if after, ok := bytes.CutPrefix(low, []byte(p)); ok {
			return low[:len(p)-1], bytes.TrimPrefix(after, []byte("dev "))
		}
	}
	sp := bytes.IndexByte(low, ' ')
	if sp < 2 || low[0] != 'p' {
		return nil, nil
	}
	for _, c := range low[1:sp] {
		if c != '.' && (c < '0' || c > '9') {
			return nil, nil
		}
	}
	return low[:sp], low[sp+1:]
}

// lower appends b to dst in ASCII lower case.
func lower(dst, b []byte) []byte {
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// fence says what a line of "=" around a summary table is.
type fence uint8

const (
	noFence fence = iota
	openFence
	closeFence
	innerFence // TensorRT-LLM shouts "!FAILED REQUESTS!" within the table
	sectionHeader
)

// benchFence recognises the lines that frame a table. Pasted tables have fences
// of any length.
func benchFence(t []byte) fence {
	if len(t) < 8 || t[0] != t[1] || t[0] != '=' && t[0] != '-' {
		return noFence
	}
	inner := bytes.Trim(t, string(t[:1])+" ")
	switch {
	case t[0] == '-':
		if len(inner) > 0 && len(inner) < maxLabel && isBenchHeader(inner) {
			return sectionHeader
		}
	case len(inner) == 0:
		return closeFence
	case bytes.HasSuffix(inner, []byte("Benchmark Result")):
		return openFence
	case bytes.Equal(inner, []byte("!FAILED REQUESTS!")), bytes.Equal(inner, []byte("!CHECK LOG FOR ERRORS!")):
		return innerFence
	}
	return noFence
}

func isBenchHeader(inner []byte) bool {
	var buf [maxLabel]byte
	low := lower(buf[:0], inner)
	for _, h := range benchHeaders {
		if string(low) == h {
			return true
		}
	}
	return false
}
