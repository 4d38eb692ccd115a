package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shared are the formats made to be given to others, with golden files.
var shared = []struct {
	ext   string
	write func(io.Writer, *Document) error
}{
	{"issue.md", func(w io.Writer, d *Document) error { return WriteIssue(w, d, IssueOptions{}) }},
	{"issue-sglang.md", func(w io.Writer, d *Document) error { return WriteIssue(w, d, IssueOptions{Template: "sglang"}) }},
	{"issue-vllm.md", func(w io.Writer, d *Document) error { return WriteIssue(w, d, IssueOptions{Template: "vllm"}) }},
	{"junit.xml", WriteJUnit},
	{"sarif", WriteSARIF},
}

func TestSharedGolden(t *testing.T) {
	for name, doc := range documents() {
		for _, f := range shared {
			checkGolden(t, name+"."+f.ext, render(t, doc, f.write))
			if again := render(t, documents()[name], f.write); !bytes.Equal(again, render(t, doc, f.write)) {
				t.Errorf("%s: two renderings as %s differ", name, f.ext)
			}
		}
	}
}

// checkGolden compares with a golden file, or writes it with -update.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("%s (-got +want, -update writes it anew):\n%s", file, diff)
	}
}

func TestSharedLeaveTheDocument(t *testing.T) {
	for name, doc := range documents() {
		before := toJSON(t, doc)
		for _, f := range shared {
			render(t, doc, f.write)
		}
		red, err := NewRedactor(RedactStrict)
		if err != nil {
			t.Fatal(err)
		}
		red.Document(doc)
		if diff := cmp.Diff(string(before), string(toJSON(t, doc))); diff != "" {
			t.Errorf("the document %s changed:\n%s", name, diff)
		}
	}
}

func TestJUnit(t *testing.T) {
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		var got junitSuites
		if err := xml.Unmarshal(render(t, doc, WriteJUnit), &got); err != nil {
			t.Fatal(err)
		}
		s := got.Suites[0]
		if len(s.Cases) != len(doc.Points)+1 || s.Tests != len(s.Cases) || got.Tests != s.Tests {
			t.Errorf("%d cases, %d counted, for %d points", len(s.Cases), s.Tests, len(doc.Points))
		}
	})
	var got junitSuites
	if err := xml.Unmarshal(render(t, documents()["crash"], WriteJUnit), &got); err != nil {
		t.Fatal(err)
	}
	if got.Failures != 1 || got.Errors != 1 || got.Skipped != 0 {
		t.Errorf("%d failures, %d errors, %d skipped: want 1, 1, 0", got.Failures, got.Errors, got.Skipped)
	}
}

// TestSARIF checks what SARIF 2.1.0 asks for: the values it allows, rules that are
// found at their index, lines from 1, relative file names.
func TestSARIF(t *testing.T) {
	eachPoisoned(t, func(t *testing.T, doc *Document) { checkSARIF(t, render(t, doc, WriteSARIF)) })
	for _, doc := range documents() {
		checkSARIF(t, render(t, doc, WriteSARIF))
	}
}

func checkSARIF(t *testing.T, text []byte) {
	t.Helper()
	var log sarifLog
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" {
		t.Errorf("version %q, %d runs", log.Version, len(log.Runs))
	}
	rules := log.Runs[0].Tool.Driver.Rules
	for _, r := range log.Runs[0].Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result refers to rule %d %q", r.RuleIndex, r.RuleID)
		}
		if !slices.Contains([]string{"none", "note", "warning", "error"}, r.Level) ||
			!slices.Contains([]string{"pass", "open", "informational", "fail"}, r.Kind) || r.Kind != "fail" && r.Level != "none" {
			t.Errorf("level %q, kind %q", r.Level, r.Kind)
		}
		if r.Message.Text == "" {
			t.Error("a result without a message")
		}
		for _, l := range r.Locations {
			if u := l.Physical.Artifact.URI; u == "" || strings.HasPrefix(u, "/") || strings.ContainsAny(u, " <>\"\\") {
				t.Errorf("file %q", u)
			}
			if g := l.Physical.Region; g != nil && g.StartLine < 1 {
				t.Errorf("line %d", g.StartLine)
			}
		}
	}
}

// comparisonFixture is a comparison with a hostile text in each field.
func comparisonFixture(text string) *Comparison {
	c := 8
	return &Comparison{
		Schema: ComparisonSchema, Summary: text, Regression: true,
		Base: Side{Run: text, Outcome: text, Class: text, Engine: text}, Head: Side{Run: text},
		Config: []Difference{{Name: text, Base: text, Head: "24", Matters: true, Why: text}}, Env: []Difference{{Name: text, Base: text}},
		Points: []PointDiff{{Label: text, Concurrency: &c, Note: text, BaseRuns: 1, HeadRuns: 1, Metrics: []MetricDiff{
			{Name: "output_throughput", Base: 100, Head: 50, Change: -0.5, P: Number(math.NaN()), Verdict: "worse"},
		}}},
		OnlyBase: []string{text}, OnlyHead: []string{}, Divergence: &Divergence{After: text, Base: Event{Kind: "phase", Text: text, Evidence: Evidence{File: text, Line: 1}}},
		NewFailures: []Finding{{Class: text, Title: text}}, GoneFailures: []Finding{}, Notes: []string{text},
	}
}

func TestComparisonHostile(t *testing.T) {
	for _, a := range attacks {
		var md, term bytes.Buffer
		if err := WriteComparison(&md, comparisonFixture(a)); err != nil {
			t.Fatal(err)
		}
		checkControls(t, md.String())
		if s := stripTicks(md.String()); strings.Contains(s, "<script") || strings.Contains(s, "](https://evil") {
			t.Errorf("%q acts in:\n%s", a, md.String())
		}
		if err := WriteComparisonTerminal(&term, comparisonFixture(a), 90, false); err != nil {
			t.Fatal(err)
		}
		checkControls(t, term.String())
	}
}

// stripTicks leaves out code spans.
func stripTicks(s string) string {
	parts := strings.Split(s, "`")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i])
	}
	return b.String()
}

func TestComparisonGolden(t *testing.T) {
	for ext, write := range map[string]func(io.Writer, *Comparison) error{
		"md": WriteComparison, "json": WriteComparisonJSON,
		"txt": func(w io.Writer, c *Comparison) error { return WriteComparisonTerminal(w, c, 90, false) },
	} {
		var b bytes.Buffer
		if err := write(&b, comparisonFixture("text")); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, "comparison."+ext, b.Bytes())
	}
}
