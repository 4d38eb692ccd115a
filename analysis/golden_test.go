package analysis_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

// goldenCases are rendered as a whole: the two founding stories and the sweeps on
// a real GPU.
var goldenCases = []string{
	"sglang/sglang-nsa-page-table-256", "stories/never-launched-heredoc",
	"gpu/sweep-illegal-access", "gpu/sweep-never-launched", "gpu/sweep-healthy", "gpu/sweep-capped", "gpu/sweep-nan",
	"gpu/sweep-second-try", "gpu/two-ranks-healthy", "gpu/two-ranks-illegal-access", "gpu/two-ranks-keyerror",
}

func goldenCase(t *testing.T, name string) *labelled {
	t.Helper()
	for _, c := range cases(t) {
		if c.name == filepath.FromSlash(name) {
			return c
		}
	}
	t.Fatalf("no case %s", name)
	return nil
}

func markdown(t *testing.T, doc *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteMarkdown(&b, doc, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jsonOf(t testing.TB, doc *report.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGoldenReports compares whole Markdown reports. The number of signatures
// changes often and says nothing, so it is left out.
func TestGoldenReports(t *testing.T) {
	set := library(t)
	for _, name := range goldenCases {
		t.Run(name, func(t *testing.T) {
			c := goldenCase(t, name)
			doc := c.run(t, set)
			doc.Tool.Signatures = 0
			got := markdown(t, doc)
			path := filepath.Join(c.dir, "report.md")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("report (-want +got); run go test ./analysis -update and read the diff:\n%s", diff)
			}
		})
	}
}

// TestDeterministic runs cases with files given in other orders, on one and on
// several processors: the bytes must be the same.
func TestDeterministic(t *testing.T) {
	set := library(t)
	for _, name := range []string{"gpu/sweep-illegal-access", "gpu/sweep-second-try", "sglang/sglang-nsa-page-table-256", "vllm/vllm-nixl-prefill-keyerror"} {
		c := goldenCase(t, name)
		inputs, _, err := parse.FindFiles(os.DirFS(filepath.Join(c.dir, "input")))
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for round := range 6 {
			procs := runtime.GOMAXPROCS(1 + round%2)
			rand.New(rand.NewPCG(7, uint64(round))).Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
			doc, err := analysis.Run(t.Context(), inputs, analysis.Options{Signatures: set, Label: "x", Workers: 1 + round%3})
			runtime.GOMAXPROCS(procs)
			if err != nil {
				t.Fatal(err)
			}
			got := append(jsonOf(t, doc), markdown(t, doc)...)
			if round == 0 {
				want = got
			} else if !bytes.Equal(want, got) {
				t.Errorf("%s: round %d differs:\n%s", name, round, cmp.Diff(string(want), string(got)))
				break
			}
		}
	}
}

func memory(files map[string]string) []parse.Input {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	inputs, _, err := parse.FindFiles(fs.FS(fsys))
	if err != nil {
		panic(err)
	}
	return inputs
}

// TestBadInput proves that no input ends in a panic, an error or silence: what
// is wrong is told in the document, with its place.
func TestBadInput(t *testing.T) {
	set := library(t)
	start := "[2026-03-11 09:02:11] server_args=ServerArgs(model_path='/m', tp_size=1)\n[2026-03-11 09:02:17 TP0] Load weight begin. avail mem=1.00 GB\n"
	for _, tt := range []struct {
		name, file, text string
		note             string // text that a note of the source must hold, "" for none
		format           string
	}{
		{"empty file", "bench.log", "", "", "empty"},
		{"binary", "core", "\x7fELF\x00\x00\x00\x01\x00\x00", "binary", "binary"},
		{"a 5 MiB line", "server.log", start + strings.Repeat("x", 5<<20) + "\n", "longer than", "sglang-server"},
		{"cut JSONL", "bench.jsonl", `{"backend": "sglang", "request_rate": Infinity, "output_throughput": 12.5, "completed": 3, "dura`, "cut", ""},
		{"broken UTF-8", "server.log", start + "[2026-03-11 09:02:18 TP0] caf\xe9\n", "UTF-8", "sglang-server"},
		{"mid-traceback", "server.log", start + "[2026-03-11 09:02:18 TP0] Scheduler hit an exception: Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n", "", "sglang-server"},
		{"cut server arguments", "server.log", "[2026-03-11 09:02:11] server_args=ServerArgs(model_path='/m', tp_size=1, host='0.0", "cut", "sglang-server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := analysis.Run(t.Context(), memory(map[string]string{tt.file: tt.text}), analysis.Options{Signatures: set})
			if err != nil {
				t.Fatal(err)
			}
			src := doc.Sources[0]
			if tt.format != "" && src.Format != tt.format {
				t.Errorf("format %q, want %q", src.Format, tt.format)
			}
			if src.Lines != src.Understood+src.Plain+src.Damaged {
				t.Errorf("%d lines are not %d understood + %d plain + %d damaged", src.Lines, src.Understood, src.Plain, src.Damaged)
			}
			if tt.note != "" && !strings.Contains(notesOf(src), tt.note) {
				t.Errorf("notes %q do not mention %q", notesOf(src), tt.note)
			}
			if doc.RootCause.Class == "" || doc.RootCause.Class == "ok" {
				t.Errorf("root cause %q of damaged evidence", doc.RootCause.Class)
			}
			jsonOf(t, doc)
			markdown(t, doc)
		})
	}
}

func notesOf(src report.Source) string {
	var b strings.Builder
	for _, n := range src.Notes {
		b.WriteString(n.Text + "; ")
	}
	return b.String()
}

func TestNothingToRead(t *testing.T) {
	if _, err := analysis.Run(t.Context(), nil, analysis.Options{}); !errors.Is(err, analysis.ErrNothingToRead) {
		t.Errorf("no inputs: error %v, want ErrNothingToRead", err)
	}
	broken := []parse.Input{{Path: "gone.log", Size: -1, Open: func() (io.ReadCloser, error) { return nil, fs.ErrPermission }}}
	if _, err := analysis.Run(t.Context(), broken, analysis.Options{}); !errors.Is(err, analysis.ErrNothingToRead) {
		t.Errorf("unreadable input: error %v, want ErrNothingToRead", err)
	}
	mixed := append(broken, memory(map[string]string{"a.log": "hello\n"})...)
	doc, err := analysis.Run(t.Context(), mixed, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Sources) != 2 || !strings.Contains(notesOf(doc.Sources[1])+notesOf(doc.Sources[0]), "permission") {
		t.Errorf("an unreadable file beside a readable one is not told: %+v", doc.Sources)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analysis.Run(ctx, memory(map[string]string{"a.log": "x\n"}), analysis.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v, want context.Canceled", err)
	}
}

func BenchmarkAnalyze(b *testing.B) {
	set := library(b)
	inputs, _, err := parse.FindFiles(os.DirFS(casesDir + "/gpu/sweep-illegal-access/input"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		doc, err := analysis.Run(b.Context(), inputs, analysis.Options{Signatures: set})
		if err != nil {
			b.Fatal(err)
		}
		jsonOf(b, doc)
	}
}
