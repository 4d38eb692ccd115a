package analysis_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
)

// analysed is the document of a case.
func analysed(t *testing.T, dir string) *report.Document {
	t.Helper()
	inputs, _, err := parse.FindFiles(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := analysis.Run(context.Background(), inputs, analysis.Options{Label: "run"})
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return doc
}

func gpuCase(t *testing.T, name string) *report.Document {
	t.Helper()
	return analysed(t, filepath.Join(casesDir, "gpu", name, "input"))
}

func TestCompareCapped(t *testing.T) {
	c := analysis.Compare(gpuCase(t, "sweep-healthy"), gpuCase(t, "sweep-capped"))
	if !c.Regression {
		t.Error("no regression")
	}
	if len(c.Config) == 0 || c.Config[0].Name != "max_running_requests" || !c.Config[0].Matters || c.Config[0].Base != "512" || c.Config[0].Head != "24" {
		t.Errorf("configuration: got %+v", c.Config)
	}
	want := map[int][2]float64{8: {-0.05, 0.05}, 32: {-0.3, -0.15}, 128: {-0.8, -0.7}, 256: {-0.86, -0.8}}
	if len(c.Points) != len(want) {
		t.Errorf("%d common points, want %d", len(c.Points), len(want))
	}
	for _, p := range c.Points {
		m := p.Metrics[0]
		if w := want[*p.Concurrency]; m.Name != "output_throughput" || float64(m.Change) < w[0] || float64(m.Change) > w[1] || m.P.IsSet() {
			t.Errorf("concurrency %d: %+v, want a change in %v and no p", *p.Concurrency, m, w)
		}
	}
	if !strings.Contains(strings.Join(c.Notes, " "), "one sample proves nothing") {
		t.Errorf("notes: %q", c.Notes)
	}
	if !strings.Contains(c.Summary, "max_running_requests") {
		t.Errorf("summary: %q", c.Summary)
	}
}

func TestCompareSame(t *testing.T) {
	doc := gpuCase(t, "sweep-healthy")
	c := analysis.Compare(doc, doc)
	if c.Regression || len(c.Config)+len(c.Env)+len(c.NewFailures)+len(c.GoneFailures) > 0 || c.Divergence != nil {
		t.Errorf("a run differs from itself: %+v", c)
	}
	if analysis.WithBaseline(doc, doc) != doc {
		t.Error("a run is slower than itself")
	}
}

func TestCompareWithoutCommonPoint(t *testing.T) {
	base, head := gpuCase(t, "sweep-healthy"), gpuCase(t, "sweep-healthy")
	for i := range head.Points {
		*head.Points[i].MaxConcurrency += 1000
	}
	c := analysis.Compare(base, head)
	if len(c.Points) != 0 || c.Regression || !strings.Contains(c.Summary, "no point in common") {
		t.Errorf("got %d points, summary %q", len(c.Points), c.Summary)
	}
	var b bytes.Buffer
	if err := report.WriteComparison(&b, c); err != nil || !strings.Contains(b.String(), "# No common point") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// repeated gives a run n times its points, each a little faster than the one before.
func repeated(t *testing.T, n int, speed float64) *report.Document {
	t.Helper()
	doc := gpuCase(t, "sweep-healthy")
	points := doc.Points
	doc.Points = nil
	for i := range n {
		for _, p := range points {
			p.Metrics = map[string]report.Number{"output_throughput": report.Number(speed * (100 + float64(i)))}
			doc.Points = append(doc.Points, p)
		}
	}
	return doc
}

func TestCompareSamples(t *testing.T) {
	base := repeated(t, 6, 1)
	for _, tt := range []struct {
		speed   float64
		verdict string
		slower  bool
	}{{0.9, "worse", true}, {1.2, "better", false}, {0.999, "same", false}} {
		c := analysis.Compare(base, repeated(t, 6, tt.speed))
		m := c.Points[0].Metrics[0]
		if m.Verdict != tt.verdict || !m.P.IsSet() || c.Regression != tt.slower {
			t.Errorf("speed %v: verdict %s, p %v, regression %v", tt.speed, m.Verdict, m.P, c.Regression)
		}
		if math.Abs(float64(m.Change)-(tt.speed-1)) > 1e-9 {
			t.Errorf("speed %v: change %v", tt.speed, m.Change)
		}
	}
	// Ten per cent in one sample is no proof.
	if c := analysis.Compare(repeated(t, 1, 1), repeated(t, 1, 0.9)); c.Regression || c.Points[0].Metrics[0].Verdict != "unproven" {
		t.Errorf("one sample: %+v", c.Points[0].Metrics[0])
	}
}

func TestCompareLeavesFailedOut(t *testing.T) {
	base, head := gpuCase(t, "sweep-healthy"), gpuCase(t, "sweep-healthy")
	five := 5
	head.Points[1].Failed, head.Points[1].Status = &five, "partial"
	head.Points[1].Metrics["output_throughput"] = 1
	c := analysis.Compare(base, head)
	if p := c.Points[1]; c.Regression || p.HeadRuns != 0 || len(p.Metrics) != 0 || !strings.Contains(p.Note, "5 failed requests") {
		t.Errorf("got %+v", p)
	}
}

func TestWithBaseline(t *testing.T) {
	base, head := gpuCase(t, "sweep-healthy"), repeated(t, 1, 1)
	got := analysis.WithBaseline(head, base)
	if got.Outcome != "degraded" || got.RootCause.Class != "perf.regression" || got.RootCause.Remedy == "" || len(got.RootCause.Evidence) == 0 {
		t.Errorf("got %s, %+v", got.Outcome, got.RootCause)
	}
	if head.Outcome != "completed" || head.RootCause.Class != "ok" {
		t.Error("the document was changed")
	}
	crash := gpuCase(t, "sweep-illegal-access")
	if analysis.WithBaseline(crash, base) != crash {
		t.Error("a failed run got another verdict")
	}
}

// TestRedactedCopies masks the evidence of every case and compares the diagnosis.
func TestRedactedCopies(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, out := filepath.Join(c.dir, "input"), t.TempDir()
			want := analysed(t, in)
			red, err := report.NewRedactor(report.RedactStrict)
			if err != nil {
				t.Fatal(err)
			}
			files, _, err := parse.FindFiles(os.DirFS(in))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				withInput(t, f, func(r *os.File) error { return red.LearnFrom(r) }, in)
			}
			for _, f := range files {
				withInput(t, f, func(r *os.File) error {
					name := filepath.Join(out, f.Path)
					if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
						return err
					}
					w, err := os.Create(name)
					if err != nil {
						return err
					}
					defer w.Close()
					return red.Copy(f.Path, w, r)
				}, in)
			}
			got := analysed(t, out)
			if got.RootCause.Class != want.RootCause.Class || got.Outcome != want.Outcome {
				t.Errorf("got %s, %s; want %s, %s", got.RootCause.Class, got.Outcome, want.RootCause.Class, want.Outcome)
			}
			for i := range want.Sources {
				if got.Sources[i].Lines != want.Sources[i].Lines {
					t.Errorf("%s: %d lines, want %d", want.Sources[i].Path, got.Sources[i].Lines, want.Sources[i].Lines)
				}
			}
		})
	}
}

func withInput(t *testing.T, in parse.Input, f func(*os.File) error, dir string) {
	t.Helper()
	r, err := os.Open(filepath.Join(dir, in.Path))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := f(r); err != nil {
		t.Fatalf("%s: %v", in.Path, err)
	}
}
