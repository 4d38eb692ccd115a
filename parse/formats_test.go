package parse

import "testing"

// TestFormatNames names sources by short samples of the formats that none of the
// files in testdata/expected-formats.tsv has.
func TestFormatNames(t *testing.T) {
	tests := []struct{ format, text string }{
		{"tensorrt-llm", "[04/28/2025-09:56:44] [TRT-LLM] [RANK 1] [I] Loading weights concurrently\n[TensorRT-LLM][ERROR] Hang detected on rank 1\n"},
		{"tgi", "2024-10-16T10:48:41.374381Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=2\n"},
		{"dynamo", "2025-05-15T08:05:11.136Z  INFO dynamo_runtime::pipeline::network: Starting HTTP service on: 0.0.0.0:8000\n"},
		{"triton", "I0128 17:39:49.681249 111 server.cc:293] \"Waiting for in-flight requests to complete.\"\n"},
		{"lightllm", "INFO 06-15 13:57:57 [api_http.py:317] server start up ok, loop use is <uvloop.Loop>\n"},
		{"http-access", "INFO:     Started server process [1]\nINFO:     127.0.0.1:40000 - \"GET /health HTTP/1.1\" 200 OK\n"},
		{"progress", "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:10<00:10,  5.0s/it]\n"},
		{"bench-json", "{\n  \"backend\": \"vllm\",\n  \"request_rate\": \"inf\",\n  \"completed\": 3,\n  \"request_throughput\": 1.5,\n  \"output_throughput\": 10.5,\n  \"mean_ttft_ms\": 12.5\n}\n"},
		{"bench-tools-json", `{"request_throughput":{"unit":"requests/sec","avg":1.5},"request_latency":{"unit":"ms","avg":2,"p50":1}}` + "\n"},
		{"bench-tools-csv", "Metric,avg,min\nRequest Latency (ms),1,2\n"},
		{"bench-tools", "ℹ Run Summary Info\n|===|===|\n| Benchmark | Timings |\n| Strategy | Dur |\n| | Sec |\n|---|---|\n| x | 1.5 |\n"},
		{"environment", "Python: 3.12.3 (main, Jun 18 2025) [GCC 13.2.0]\nCUDA available: True\n"},
		{"python-traceback", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nValueError: x\n"},
		{"text", "nothing that anybody knows\n"},
		{"empty", ""},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			if _, src := readText(t, tt.text, nil); src.Format != tt.format {
				t.Errorf("taken for %s", src.Format)
			}
		})
	}
}
