package parse

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/llmforensics/forensics"
)

// walkAll reads a text with jsonWalk, in pieces of n bytes cut at spaces (0 for
// the whole), and returns its scalars.
func walkAll(text string) (out []string, done bool, err error) {
	w := jsonWalk{value: func(depth int, k1, k2 string, v []byte, quoted bool) {
		out = append(out, fmt.Sprintf("%d %s %s %q %v", depth, k1, k2, v, quoted))
	}}
	for _, line := range strings.SplitAfter(text, "\n") {
		var used int
		used, done, err = w.feed([]byte(line))
		if done && strings.TrimSpace(line[used:]) != "" {
			err = errJSON
		}
		if err != nil || done {
			return out, done, err
		}
	}
	return out, done, err
}

func TestJSONWalk(t *testing.T) {
	tests := []struct {
		text string
		want string // scalars joined by ";", "error", or "open"
	}{
		{`{}`, ``},
		{`{"a": 1}`, `1 a  "1" false`},
		{`{"a": Infinity, "b": -Infinity, "c": NaN}`, `1 a  "Infinity" false;1 b  "-Infinity" false;1 c  "NaN" false`},
		{`{"a": "Infinity, NaN: \"{[\u00e9\\"}`, `1 a  "Infinity, NaN: \"{[é\\" true`},
		{`{"a": [1, "x", [2]], "b": {"c": null}}`, `2 a  "1" false;2 a  "x" true;3 a  "2" false;2 b c "null" false`},
		{"{\n \"a\": 1,\n \"b\": true\n}", `1 a  "1" false;1 b  "true" false`},
		{`{"a": 1`, `open`},
		{`{"a": "x`, `open`},
		{`{"a" 1}`, `error`}, {`{"a": 1 "b": 2}`, `error`}, {`{a: 1}`, `error`}, {`{"a": 1]`, `error`},
		{`{"a": 1,}`, `error`}, {`{"a":: 1}`, `error`}, {`[1]`, `error`}, {`"x"`, `error`}, {`{"a": 1} x`, `error`},
	}
	for _, tt := range tests {
		out, done, err := walkAll(tt.text)
		got := strings.Join(out, ";")
		switch {
		case err != nil:
			got = "error"
		case !done:
			got = "open"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// FuzzJSONWalk holds the walk against encoding/json: what that accepts as an
// object is read to its end, with the same numbers at depth 1.
func FuzzJSONWalk(f *testing.F) {
	f.Add(`{"a": 1.5e3, "b": [1, {"c": "d"}], "e": null}`)
	f.Add(`{"request_rate": Infinity}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.TrimSpace(text)
		got := map[string]float64{}
		w := jsonWalk{value: func(depth int, k1, _ string, v []byte, quoted bool) {
			if depth == 1 && !quoted {
				if x, err := strconv.ParseFloat(string(v), 64); err == nil {
					got[k1] = x
				}
			}
		}}
		used, done, err := w.feed([]byte(text))
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil || strings.Contains(text, `\u`) {
			return
		}
		if len(text) > 2000 || err != nil && strings.Count(text, "[")+strings.Count(text, "{") > maxJSONDepth {
			return
		}
		if err != nil || !done || used != len(text) {
			t.Fatalf("%q: used %d of %d, done %v, %v", text, used, len(text), done, err)
		}
		for k, v := range want {
			if x, ok := v.(float64); ok && got[k] != x && strings.ToValidUTF8(k, "") == k && !strings.ContainsAny(k, "\b\f\r\uFFFD") {
				t.Errorf("%q: %q = %v, want %v", text, k, got[k], x)
			}
		}
	})
}

func records(t *testing.T, text string) ([]*forensics.Event, forensics.Source) {
	t.Helper()
	events, src := readText(t, text, nil)
	return only(events, forensics.KindBench, forensics.StepRecord), src
}

const sampleRecord = `{"tag": null, "backend": "sglang", "request_rate": Infinity, "max_concurrency": 8, "duration": 8.047869597000002, ` +
	`"completed": 19, "output_throughput": 63.619321092237605, "mean_ttft_ms": NaN, "total_token_throughput": 7, "p99_e2el_ms": 5}`

func TestBenchRecord(t *testing.T) {
	recs, src := records(t, sampleRecord+sampleRecord+"\n")
	if len(recs) != 2 || src.Format != "bench-jsonl" {
		t.Fatalf("%d records, format %s", len(recs), src.Format)
	}
	e := recs[0]
	for name, want := range map[string]float64{
		"duration": 8.047869597000002, "completed": 19, "output_throughput": 63.619321092237605, "total_throughput": 7, "p99_e2e_latency_ms": 5,
	} {
		if x, _ := e.Value(name); x != want {
			t.Errorf("%s = %v, want %v", name, x, want)
		}
	}
	if x, ok := e.Value("mean_ttft_ms"); !ok || !math.IsNaN(x) {
		t.Errorf("mean_ttft_ms = %v, want NaN", x)
	}
	if e.Attr("request_rate") != "inf" || e.Attr("max_concurrency") != "8" || e.Attr("tag") != "" {
		t.Errorf("attributes %v", e.Attrs)
	}
}

func TestBenchRecordErrors(t *testing.T) {
	text := strings.TrimSuffix(sampleRecord, "}") + `, "input_lens": [1, 2, 3, 4], "errors": ["", "Bad Gateway", ` +
		`"Traceback (most recent call last):\n  File \"x\"\naiohttp.ClientPayloadError: gone\n", "Bad Gateway"]}`
	recs, _ := records(t, text)
	if len(recs) != 1 {
		t.Fatalf("%d records", len(recs))
	}
	var got []string
	for _, a := range recs[0].Attrs {
		if strings.HasPrefix(a.Key, "error") {
			got = append(got, a.Value)
		}
	}
	if want := "Bad Gateway|2|aiohttp.ClientPayloadError: gone|1"; strings.Join(got, "|") != want {
		t.Errorf("errors %q, want %q", got, want)
	}
	if n, _ := recs[0].Value("errors"); n != 3 {
		t.Errorf("errors = %v, want 3", n)
	}
	if n := recs[0].Attr("num_prompts"); n != "4" {
		t.Errorf("num_prompts = %q, want 4", n)
	}
}

// TestBenchRecordCut cuts a record at every byte: never a panic, always the
// values that are whole, and a note once it is known for a record.
func TestBenchRecordCut(t *testing.T) {
	for n := range len(sampleRecord) {
		recs, src := records(t, sampleRecord[:n]+"\n")
		for _, e := range recs {
			if e.Attr("cut") == "" {
				t.Errorf("cut at %d: not marked", n)
			}
			if len(src.Notes) == 0 {
				t.Errorf("cut at %d: no note", n)
			}
		}
		if n > strings.Index(sampleRecord, `"mean_ttft`) && len(recs) == 0 {
			t.Errorf("cut at %d: no record", n)
		}
	}
}

// TestBenchRecordLong reads a record whose lists are longer than a line may be:
// what stands before and behind them is kept.
func TestBenchRecordLong(t *testing.T) {
	text := strings.TrimSuffix(sampleRecord, "}") + `, "itls": [` + strings.Repeat("0.0123, ", MaxLine/4+10) + `1], "last": 1234567}` + "\nplain\n"
	recs, src := records(t, text)
	if len(recs) != 1 || recs[0].Attr("cut") != "" || src.Lines != (forensics.LineCount{Read: 2, Understood: 1, Plain: 1}) {
		t.Fatalf("%d records, lines %+v", len(recs), src.Lines)
	}
	if x, _ := recs[0].Value("last"); x != 1234567 {
		t.Errorf("the value behind the lists is %v", x)
	}
	recs, src = records(t, text[:len(text)-30])
	if len(recs) != 1 || recs[0].Attr("cut") != "tail" || len(src.Notes) != 1 {
		t.Errorf("cut: %d records, notes %v", len(recs), src.Notes)
	}
}

func TestBenchRecordNotStolen(t *testing.T) {
	for _, text := range []string{
		`{"log":"Output token throughput (tok/s): 5\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}`,
		`{"model_path": "m", "internal_states": [{"last_gen_throughput": 5.1}]}`,
		"{\n  \"model_type\": \"qwen3\",\n  \"hidden_size\": 4096\n}\n",
		"main() {\n  echo \"output_throughput\"\n}\n",
	} {
		if recs, _ := records(t, text); len(recs) > 0 {
			t.Errorf("%q is taken for a record: %v", text, recs[0].Attrs)
		}
	}
}
