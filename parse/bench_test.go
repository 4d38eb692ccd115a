package parse

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/llmforensics/forensics"
)

var updateBench = flag.Bool("update-bench", false, "rewrite testdata/bench/*.golden")

// readText reads a text and returns clones of its events.
func readText(t *testing.T, text string, wrap func(io.Reader) io.Reader) ([]*forensics.Event, forensics.Source) {
	t.Helper()
	var events []*forensics.Event
	open := func() (io.ReadCloser, error) {
		var r io.Reader = strings.NewReader(text)
		if wrap != nil {
			r = wrap(r)
		}
		return io.NopCloser(r), nil
	}
	src, err := NewReader(Options{}).Read(Input{Path: "t", Size: int64(len(text)), Open: open}, 0, func(e *forensics.Event) {
		events = append(events, e.Clone())
	})
	if err != nil {
		t.Fatal(err)
	}
	return events, src
}

// dump writes what a reader made of a text, one event a line.
func dump(events []*forensics.Event, src forensics.Source) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d+%d %s", e.Pos.Line, e.Lines, e.Kind)
		for _, a := range e.Attrs {
			fmt.Fprintf(&b, " %s=%q", a.Key, a.Value)
		}
		for _, v := range e.Values {
			fmt.Fprintf(&b, " %s=%v", v.Name, v.X)
		}
		if e.Trace != nil && e.Trace.Last() != nil {
			fmt.Fprintf(&b, " %s %s", e.Proc.Role, e.Trace.Last().Type)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s %s %+v\n", src.Format, src.Role, src.Lines)
	for _, n := range src.Notes {
		fmt.Fprintf(&b, "note %d: %s\n", n.Pos.Line, n.Text)
	}
	return b.String()
}

// TestBenchGolden holds the clients' events in real output of many versions
// against files read once by eye. -update-bench rewrites them.
func TestBenchGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/bench/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if filepath.Ext(name) == ".golden" {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			events, src := readText(t, string(text), nil)
			src.Lines = forensics.LineCount{Damaged: src.Lines.Damaged}
			got := dump(slices.DeleteFunc(events, func(e *forensics.Event) bool { return !strings.HasPrefix(e.Format, "bench-") }), src)
			golden := name + ".golden"
			if *updateBench {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			diffLines(t, got, string(want))
		})
	}
}

func diffLines(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("line %d:\n got %s\nwant %s", i+1, a, b)
		}
	}
}

// only returns the events of a kind (and step, if it is a client's).
func only(events []*forensics.Event, kind forensics.Kind, step string) (out []*forensics.Event) {
	for _, e := range events {
		if e.Kind == kind && (step == "" || e.Attr("step") == step) {
			out = append(out, e)
		}
	}
	return out
}

func TestBenchEcho(t *testing.T) {
	tests := []struct{ line, conc, rate, prompts string }{
		{"== conc 64", "64", "", ""},
		{"=== concurrency 16 ===", "16", "", ""},
		{"--- concurrency: 256", "256", "", ""},
		{"### CONC=64", "64", "", ""},
		{">>> max_concurrency=128", "128", "", ""},
		{"[sweep] concurrency 8", "8", "", ""},
		{"Running with concurrency 32...", "32", "", ""},
		{"conc=256 rate=inf", "256", "inf", ""},
		{"* rate 2.5 conc 4 prompts 100", "4", "2.5", "100"},
		{"==== Max Concurrency: 12 | num-prompts: 48 ====", "12", "", "48"},
		{"Testing 64 concurrent requests", "64", "", ""},
		{"Benchmark concurrency level 7", "7", "", ""},
		{"Concurrency: 16", "16", "", ""},
		{"===== request rate: 20 =====", "", "20", ""},

		{"--max-concurrency 64 \\", "", "", ""},
		{"# python -m sglang.bench_serving --max-concurrency 64", "", "", ""},
		{"+ echo '== conc 64'", "", "", ""},
		{"$ for c in 1 64; do echo \"== conc $c\"; done", "", "", ""},
		{"== conc 64 done", "", "", ""},
		{"Concurrency:                             15.27     ", "", "", ""},
		{"Max request concurrency:                 16        ", "", "", ""},
		{"[2026-03-11 09:09:38 TP0] concurrency 8", "", "", ""},
		{"INFO 06-15 13:57:57 [core.py:517] Maximum concurrency 8 reached", "", "", ""},
		{"The concurrency 8 was chosen", "", "", ""},
		{"=== seconds 30", "", "", ""},
		{"=== consecutive runs", "", "", ""},
	}
	for _, tt := range tests {
		events, _ := readText(t, tt.line+"\n", nil)
		echoes := only(events, forensics.KindEcho, "")
		if want := tt.conc != "" || tt.rate != ""; (len(echoes) == 1) != want {
			t.Errorf("%q: %d announcements, want %v", tt.line, len(echoes), want)
			continue
		}
		for _, e := range echoes {
			if c, r, p := e.Attr("max_concurrency"), e.Attr("request_rate"), e.Attr("num_prompts"); c != tt.conc || r != tt.rate || p != tt.prompts {
				t.Errorf("%q: concurrency %q rate %q prompts %q", tt.line, c, r, p)
			}
		}
	}
}

func TestBenchExit(t *testing.T) {
	tests := []struct{ line, code string }{
		{"exit status 1", "1"}, {"exit code: 137", "137"}, {"bench exit status 0", "0"}, {"rc=1", "1"}, {"EXIT=124", "124"},
		{"[exit 2]", "2"}, {"exited with code 1", "1"}, {"--- client rc: 0 ---", "0"}, {"bench_serving returned 1", "1"}, {"exit code -9", "-9"},
		{"server exit status 143", ""}, {"exit status", ""}, {"step 3", ""}, {"exit 12345", ""},
	}
	for _, tt := range tests {
		events, _ := readText(t, "#Output tokens: 5\n"+tt.line+"\n", nil)
		got := ""
		for _, e := range only(events, forensics.KindBench, forensics.StepEnd) {
			got = e.Attr("code")
		}
		if got != tt.code {
			t.Errorf("%q: code %q, want %q", tt.line, got, tt.code)
		}
		alone, _ := readText(t, tt.line+"\n", nil)
		if ends := only(alone, forensics.KindBench, ""); len(ends) > 0 {
			t.Errorf("%q without a run is taken for a client's", tt.line)
		}
	}
}

// TestBenchLabels prints every row of the label table and reads it back.
func TestBenchLabels(t *testing.T) {
	for _, row := range benchLabels {
		if row.kind == rowParam {
			continue
		}
		label := strings.Replace(row.label, "*", "P99.9", 1)
		id := strings.Replace(row.id, "*", "p99.9", 1)
		text := fmt.Sprintf("%s\n%-40s %-10.2f\n%s\n", openingFence, strings.ToUpper(label[:1])+label[1:]+":", 12.5, strings.Repeat("=", 50))
		events, _ := readText(t, text, nil)
		results := only(events, forensics.KindBench, forensics.StepResult)
		if len(results) != 1 {
			t.Errorf("%q: %d results", label, len(results))
			continue
		}
		if x, ok := results[0].Value(id); !ok || x != 12.5 {
			t.Errorf("%q: %s = %v, %v", label, id, x, ok)
		}
	}
}

const openingFence = "============ Serving Benchmark Result ============"

func TestBenchCuts(t *testing.T) {
	tests := []struct {
		name, text string
		cut        []string // of the results
	}{
		{"whole", openingFence + "\nSuccessful requests: 4\n====================\n", []string{""}},
		{"killed", openingFence + "\nSuccessful requests: 4\n", []string{"tail"}},
		{"next run", openingFence + "\nSuccessful requests: 4\n== conc 2\n#Output tokens: 4\n", []string{"tail"}},
		{"tail", "Successful requests: 4\n====================\n", []string{"head"}},
		{"one telling label", "Output token throughput (tok/s): 9.53\n", []string{"both"}},
		{"one weak label", "Concurrency:   9.53\n", nil},
		{"two weak labels", "Failed requests: 1\nConcurrency:   9.53\n", []string{"both"}},
		{"parameters only", "Traffic request rate: inf\nMaximum request concurrency: 8\n", nil},
		{"two runs through grep", "Mean TTFT (ms): 1\nMean TPOT (ms): 2\nMean TTFT (ms): 3\nMean TPOT (ms): 4\n", []string{"both", "both"}},
		{"warning within", openingFence + "\nSuccessful requests: 4\nfoo.py:1: a warning\nBenchmark duration (s): 2\n==========\n", []string{""}},
		{"text about throughput", "the Output token throughput (tok/s): 5 is low\nPeak output token throughput is\n", nil},
		{"planned tokens are no throughput", "#Output tokens: 1536\n", nil},
		{"fence alone", openingFence + "\n", nil},
	}
	for _, tt := range tests {
		events, _ := readText(t, tt.text, nil)
		var got []string
		for _, e := range only(events, forensics.KindBench, forensics.StepResult) {
			got = append(got, e.Attr("cut"))
		}
		if strings.Join(got, ",") != strings.Join(tt.cut, ",") || len(got) != len(tt.cut) {
			t.Errorf("%s: cuts %q, want %q", tt.name, got, tt.cut)
		}
	}
}

// TestBenchNotStolen feeds lines of other programs that look alike.
func TestBenchNotStolen(t *testing.T) {
	for _, text := range []string{
		"INFO 11-15 09:07:01 api_server.py:529] args: Namespace(host=None, port=8000, model='m', trust_remote_code=False)\n",
		"Namespace(model_path='m', tensor_parallel_size=8, host='0.0.0.0')\n",
		"[2026-03-11 09:09:38] The server is fired up and ready to roll!\n  0%|          | 0/23 [00:00<?, ?it/s]\n 50%|#####     | 12/23 [00:01<00:01,  9.1it/s]\n",
		"Capturing batches (bs=1 avail_mem=10.1 GB): 100%|##########| 23/23 [00:05<00:00,  4.1it/s]\n",
		"Loading safetensors checkpoint shards:  29% Completed | 5/17 [00:05<00:12,  1.05s/it]\n",
		"Error 0: file not found\n",
		"launch_server.py: error: unrecognized arguments: --x\n",
	} {
		events, _ := readText(t, text, nil)
		if got := only(events, forensics.KindBench, ""); len(got) > 0 {
			t.Errorf("%.60q: taken for a client's: %v", text, got[0].Attrs)
		}
	}
}

func TestBenchNaN(t *testing.T) {
	events, _ := readText(t, openingFence+"\nSuccessful requests:  0\nMean E2E Latency (ms):   nan\n==========\n", nil)
	x, ok := only(events, forensics.KindBench, forensics.StepResult)[0].Value("mean_e2e_latency_ms")
	if !ok || !math.IsNaN(x) {
		t.Errorf("mean_e2e_latency_ms = %v, %v, want NaN", x, ok)
	}
}

// FuzzBench holds the reader to: no panic, every line accounted for, positions
// that rise, and the same events however the input arrives.
func FuzzBench(f *testing.F) {
	files, _ := filepath.Glob("testdata/bench/*")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && filepath.Ext(name) != ".golden" && len(text) < 8<<10 {
			f.Add(text)
		}
	}
	f.Add([]byte(openingFence + "\nP99 TTFT (ms): nan\n{\"output_throughput\": NaN,\n\"a\": [\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.IndexByte(text, 0) >= 0 || len(text) > 64<<10 {
			return
		}
		events, src := readText(t, string(text), nil)
		whole := dump(events, src)
		if n := src.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
			t.Errorf("lines not accounted for: %+v", n)
		}
		last := map[string]forensics.Pos{}
		for _, e := range events {
			if strings.HasPrefix(e.Format, "bench-") {
				if e.Pos.Before(last[e.Format]) {
					t.Errorf("%s: line %d after line %d", e.Format, e.Pos.Line, last[e.Format].Line)
				}
				last[e.Format] = e.Pos
			}
		}
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			if got := dump(readText(t, string(text), wrap)); got != whole {
				t.Errorf("chunking changes events:\n%s\nwhole:\n%s", got, whole)
			}
		}
	})
}

// BenchmarkBenchUnclaimed measures what the reader costs a log that is not its.
func BenchmarkBenchUnclaimed(b *testing.B) {
	lines := [][]byte{
		[]byte("Loading safetensors checkpoint shards:  29% Completed | 5/17 [00:05<00:12,  1.05s/it]"),
		[]byte("using attn output gate! layer 12 of 48 with a somewhat longer text than before"),
		[]byte("request 7f3a: prompt: 'why is the sky blue', max_tokens: 128, temperature: 0.7"),
		[]byte(`{"level": "info", "request_id": "cmpl-1", "latency_ms": 12.5, "status": 200}`),
	}
	r := NewReader(Options{})
	s := newScan(r, &forensics.Source{}, 0, func(*forensics.Event) {})
	readers := []reader{&bench{}, &benchJSON{}, &benchJSON{multi: true}}
	b.ReportAllocs()
	l := new(line)
	for b.Loop() {
		for _, text := range lines {
			*l = line{text: text, raw: text}
			for _, rd := range readers {
				if rd.line(l, s) != 0 {
					b.Fatalf("claimed %s", text)
				}
			}
		}
	}
}
