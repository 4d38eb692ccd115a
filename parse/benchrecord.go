package parse

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/llmforensics/forensics"
)

// jsonRecord collects what is kept of one object.
type jsonRecord struct {
	values   []forensics.Value
	params   []forensics.Attr
	metrics  int // values that only a benchmark's record has
	known    int // other keys that records have
	rows     int // requests in the object's lists
	errors   map[string]int
	order    []string // distinct error texts in order of appearance
	failures int      // non-empty error texts
	seconds  bool     // times are in seconds: an InferenceX aggregate
}

const (
	maxJSONValues = 400
	maxErrorTexts = 64 // distinct texts counted
	topErrorTexts = 5  // distinct texts reported
)

// isRecord reports whether the object is a benchmark's result.
func (c *jsonRecord) isRecord() bool { return c.metrics > 0 && len(c.values) >= 3 }

// take receives one scalar of the object.
func (c *jsonRecord) take(depth int, key, key2 string, text []byte, quoted bool) {
	switch {
	case depth == 1:
		c.scalar(strings.TrimSuffix(key, ":"), text, quoted)
	case depth == 2 && key == "errors" && quoted:
		c.countError(text)
	case depth == 2 && key == "input_lens":
		c.rows++
	case depth == 2 && key == "server_info":
		switch key2 {
		case "model_path":
			c.param("model", string(text))
		case "version":
			c.param("server_version", string(text))
		}
	case depth == 2 && key == "cache_report" && !quoted:
		c.number(key2, text)
	}
}

func (c *jsonRecord) countError(text []byte) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	c.failures++
	what := clip(lastLine(string(text)), maxBenchMessage)
	if c.errors == nil {
		c.errors = map[string]int{}
	}
	if c.errors[what] == 0 {
		if len(c.order) >= maxErrorTexts {
			return
		}
		c.order = append(c.order, what)
	}
	c.errors[what]++
}

// jsonParams maps keys of records to attributes: parameters, not measurements.
// num_prompts is both.
var jsonParams = map[string]string{
	"backend": "backend", "endpoint_type": "endpoint_type", "dataset_name": "dataset_name", "tag": "tag", "label": "label",
	"model": "model", "model_id": "model", "infmax_model_prefix": "model_prefix", "tokenizer_id": "tokenizer", "date": "date",
	"request_rate": "request_rate", "burstiness": "burstiness", "max_concurrency": "max_concurrency", "conc": "max_concurrency",
	"sharegpt_output_len": "sharegpt_output_len", "random_input_len": "random_input_len", "random_output_len": "random_output_len",
	"isl": "random_input_len", "osl": "random_output_len", "random_range_ratio": "random_range_ratio",
	"benchmark_start_time_unix": "epoch_start", "benchmark_end_time_unix": "epoch_end", "best_of": "best_of",
	"run_name": "run_name", "hw": "hw", "image": "image", "framework": "framework", "precision": "precision",
	"spec_decoding": "spec_decoding", "disagg": "disagg", "is_multinode": "is_multinode", "tp": "tp", "pp": "pp", "ep": "ep",
	"dp_attention": "dp_attention",
}

// jsonIDs maps keys to the metric's name in the SGLang client's JSONL, where the
// two differ. Keys that end in "_e2el_ms" follow a rule instead.
var jsonIDs = map[string]string{
	"total_token_throughput":          "total_throughput",
	"overall_throughput":              "total_throughput",
	"successful_requests":             "completed",
	"total_latency":                   "duration",
	"acc_length":                      "accept_length",
	"acceptance_length":               "accept_length",
	"spec_decode_acceptance_length":   "accept_length",
	"spec_decode_acceptance_rate":     "acceptance_rate_pct",
	"spec_decode_num_draft_tokens":    "spec_decode_draft_tokens",
	"spec_decode_num_accepted_tokens": "spec_decode_accepted_tokens",
}

// jsonProof are metrics that no other JSON object is likely to have.
var jsonProof = map[string]bool{
	"request_throughput": true, "output_throughput": true, "total_throughput": true, "tput_per_gpu": true,
	"mean_ttft_ms": true, "median_ttft_ms": true, "total_output_tokens": true, "output_tput_per_gpu": true,
}

func (c *jsonRecord) scalar(key string, text []byte, quoted bool) {
	if name, ok := jsonParams[key]; ok {
		c.known++
		switch v := string(text); {
		case !quoted && v == "null":
		case !quoted && v == "Infinity":
			c.param(name, "inf")
		default:
			c.param(name, v)
		}
		return
	}
	if !quoted {
		c.number(key, text)
	}
}

func (c *jsonRecord) param(name, value string) {
	if !hasAttr(c.params, name) {
		c.params = append(c.params, forensics.Attr{Key: name, Value: clip(value, maxBenchMessage)})
	}
}

// number keeps a measurement, as exactly as a float64 can.
func (c *jsonRecord) number(key string, text []byte) {
	if len(text) > 64 || len(c.values) >= maxJSONValues || len(text) > 0 && (text[0] == 't' || text[0] == 'f' || text[0] == 'n') {
		return
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return
	}
	id := key
	if known, ok := jsonIDs[key]; ok {
		id = known
	} else if stem, ok := strings.CutSuffix(key, "_e2el_ms"); ok {
		id = stem + "_e2e_latency_ms"
	}
	if id == "tput_per_gpu" {
		c.seconds = true
	}
	if jsonProof[id] {
		c.metrics++
	}
	if key == "num_prompts" {
		c.known++
		c.param("num_prompts", string(text))
	}
	c.values = append(c.values, forensics.Value{Name: id, X: x})
}

// addErrors adds the count of failed requests and their most frequent texts.
func (c *jsonRecord) addErrors(e *forensics.Event) {
	if c.failures == 0 {
		return
	}
	e.Values = append(e.Values, forensics.Value{Name: "errors", X: float64(c.failures)})
	sort.SliceStable(c.order, func(i, j int) bool { return c.errors[c.order[i]] > c.errors[c.order[j]] })
	for _, text := range c.order[:min(len(c.order), topErrorTexts)] {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "error", Value: text},
			forensics.Attr{Key: "error_count", Value: strconv.Itoa(c.errors[text])})
	}
}

// toMillis renames and scales the times of an InferenceX aggregate, which are
// the client's "*_ms" values in seconds without the suffix.
func (c *jsonRecord) toMillis() {
	for i := range c.values {
		v := &c.values[i]
		for _, m := range []string{"_ttft", "_tpot", "_itl", "_e2el"} {
			if stem, ok := strings.CutSuffix(v.Name, m); ok {
				v.Name = stem + strings.Replace(m, "_e2el", "_e2e_latency", 1) + "_ms"
				v.X *= 1000
			}
		}
	}
}

// client names the client by keys that only its records have.
func (c *jsonRecord) client() string {
	value := func(name string) bool {
		for i := range c.values {
			if c.values[i].Name == name {
				return true
			}
		}
		return false
	}
	switch {
	case c.seconds, hasAttr(c.params, "epoch_start"):
		return "inferencex"
	case value("user_throughput"):
		return "trtllm benchmark_serving"
	case value("batch_size") && value("latency"):
		return "sglang.bench_one_batch_server"
	case value("last_gen_throughput") && value("completed"):
		return "sglang.bench_offline_throughput"
	case hasAttr(c.params, "date"):
		return "vllm bench serve"
	case value("total_output_tokens_retokenized"):
		return "sglang.bench_serving"
	}
	return ""
}

// stamp is the record's own time: the end of the run, from the epoch or from the
// client's local date ("20261130-210926").
func (c *jsonRecord) stamp() forensics.Stamp {
	for _, p := range c.params {
		switch p.Key {
		case "epoch_end":
			if x, err := strconv.ParseFloat(p.Value, 64); err == nil && x > 1e9 && x < 1e10 {
				return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(x*1e3) * 1e6, Res: time.Millisecond}
			}
		case "date":
			b := []byte(p.Value)
			if len(b) < 15 || b[8] != '-' {
				continue
			}
			h, m, sec := digits(b, 9, 2), digits(b, 11, 2), digits(b, 13, 2)
			d, ok := days(digits(b, 0, 4), digits(b, 4, 2), digits(b, 6, 2))
			if ok && h >= 0 && m >= 0 && sec >= 0 {
				return forensics.Stamp{Clock: forensics.ClockLocal, Nanos: d*nsPerDay + int64(h*3600+m*60+sec)*1e9, Res: time.Second}
			}
		}
	}
	return forensics.Stamp{}
}
