package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// benchParams are the arguments worth keeping. identity marks those that tell
// one point from another; they are repeated on the run's result.
var benchParams = []struct {
	name     string
	identity bool
}{
	{"backend", true}, {"model", true}, {"num_prompts", true}, {"request_rate", true}, {"max_concurrency", true},
	{"dataset_name", true}, {"random_input_len", true}, {"random_output_len", true}, {"tag", true},
	{"base_url", false}, {"host", false}, {"port", false}, {"endpoint", false}, {"dataset", false}, {"dataset_path", false},
	{"tokenizer", false}, {"served_model_name", false}, {"random_range_ratio", false}, {"sharegpt_output_len", false},
	{"burstiness", false}, {"output_file", false}, {"result_dir", false}, {"result_filename", false}, {"label", false},
	{"seed", false}, {"warmup_requests", false}, {"num_warmups", false}, {"flush_cache", false}, {"cache_report", false},
	{"disable_ignore_eos", false}, {"ignore_eos", false}, {"disable_tqdm", false}, {"disable_stream", false},
	{"apply_chat_template", false}, {"use_chat_template", false}, {"output_details", false}, {"save_result", false},
	{"ready_check_timeout_sec", false}, {"extra_request_body", false}, {"extra_body", false}, {"lora_name", false},
	{"percentile_metrics", false}, {"metric_percentiles", false}, {"goodput", false}, {"use_trace_timestamps", false},
	{"pd_separated", false}, {"profile", false},
}

// arguments reads "benchmark_args=Namespace(...)" and "Namespace(...)". SGLang
// prints both since 2025-03-03: the second copy has the model filled in.
func (b *bench) arguments(t []byte, l *line, s *scan) int {
	first := t[0] == 'b'
	text := string(t[bytes.Index(t, []byte("Namespace(")):])
	pairs, whole := pyFields(text)
	args := make(map[string]string, len(pairs))
	for _, p := range pairs {
		args[p.key] = p.value
	}
	if !first && !isClientArgs(args, whole) {
		return 0
	}
	b.flush(s)
	if !first && b.isCopy(args) {
		b.run.copied = true
		if m := args["model"]; m != "" && m != "None" {
			b.run.set("model", m)
		}
		return b.claim(l, s, 3)
	}
	b.enter(stageStart)
	b.run.known, b.run.copied = true, !first
	attrs := []forensics.Attr{{Key: "client", Value: clientOf(first, args)}}
	b.run.set("client", attrs[0].Value)
	for _, p := range benchParams {
		v, ok := args[p.name]
		if !ok || v == "None" || v == "" {
			continue
		}
		attrs = append(attrs, forensics.Attr{Key: p.name, Value: v})
		if p.identity {
			b.run.set(p.name, v)
		}
	}
	b.step(l, s, forensics.StepStart, attrs)
	if !whole {
		s.note(l.pos.Line, l.pos.Offset, "the client's arguments are cut: later keys are missing")
	}
	return 10
}

// isClientArgs tells a client's arguments from those of other programs that
// print their Namespace.
func isClientArgs(args map[string]string, whole bool) bool {
	has := func(k string) bool { _, ok := args[k]; return ok }
	if has("tensor_parallel_size") || has("model_path") {
		return false // a server's
	}
	if has("num_prompts") && (has("request_rate") || has("backend") || has("dataset") || has("dataset_name")) {
		return true
	}
	return !whole && has("backend") && (has("base_url") || has("host") || has("dataset_name"))
}

// isCopy reports whether the arguments are the second print of the run's own.
func (b *bench) isCopy(args map[string]string) bool {
	if b.fresh || b.run.copied || !b.run.known || b.stage >= stagePlanned {
		return false
	}
	for _, k := range []string{"backend", "num_prompts", "request_rate", "max_concurrency"} {
		v, ok := args[k]
		if ok && v != "None" && v != b.run.get(k) {
			return false
		}
	}
	return true
}

// clientOf names the client by arguments that only it has.
func clientOf(sglang bool, args map[string]string) string {
	has := func(k string) bool { _, ok := args[k]; return ok }
	switch {
	case sglang, has("disable_ignore_eos"), has("gsp_num_groups"), has("gen_num_groups"), has("request_rate_range"):
		return "sglang.bench_serving"
	case has("random_num_workers"), has("dsv4"):
		return "inferencex"
	case has("bench_type"), has("dispatch_function"), has("ready_check_timeout_sec"), has("num_warmups"), has("request_id_prefix"):
		return "vllm bench serve"
	case has("save_request_time_breakdown"), has("no_test_input"), has("random_ids"), has("download_path"):
		return "trtllm benchmark_serving"
	}
	return "bench_serving"
}
