package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

func issueText(t *testing.T, doc *Document, template string) string {
	t.Helper()
	return string(render(t, doc, func(w io.Writer, d *Document) error { return WriteIssue(w, d, IssueOptions{Template: template}) }))
}

// hugeDocument has more of everything than any run, with long hostile text.
func hugeDocument() *Document {
	doc := documents()["crash"]
	long := strings.Repeat("<b>|`$ ~ ☃ 😀 @octocat #1 ", 60)
	ev := Evidence{File: long, Line: 7, Text: long}
	evs := make([]Evidence, 15)
	for i := range evs {
		evs[i] = ev
	}
	for i := range 400 {
		c := i
		doc.Points = append(doc.Points, Point{
			Label: long, MaxConcurrency: &c, Status: "partial", Why: long, Evidence: evs[:2],
			Metrics: map[string]Number{"output_throughput": Number(float64(i)), "mean_ttft_ms": Number(math.Inf(1))},
		})
		doc.Symptoms = append(doc.Symptoms, Finding{Class: long, Title: long, Evidence: evs})
		doc.Rejected = append(doc.Rejected, Rejected{Class: long, Reason: long})
		doc.Timeline = append(doc.Timeline, Event{Time: "?", Kind: "finding", Text: long, Evidence: ev})
		doc.Commands = append(doc.Commands, Command{Argv: long, Evidence: ev})
		doc.Env = append(doc.Env, Fact{Name: long, Value: long})
		doc.GPUs = append(doc.GPUs, GPU{Name: fmt.Sprint(long, i)})
		doc.Sources = append(doc.Sources, Source{Path: long})
		doc.Chain = append(doc.Chain, Step{Text: long, Evidence: ev})
		doc.Config.Values[fmt.Sprint("k", i)] = long
	}
	r := &doc.RootCause
	r.Class, r.Title, r.Detail, r.Confidence, r.Evidence = long, long, long, long, evs
	doc.Summary, doc.Outcome, doc.Run, doc.Config.Engine, doc.Tool.Version = long, long, long, long, long
	doc.Coverage.MissingSources = []string{long}
	return doc
}

func TestIssueSize(t *testing.T) {
	for _, template := range append(IssueTemplates(), "") {
		out := issueText(t, hugeDocument(), template)
		if n := len(out); n > MaxIssue || n < MaxIssue/20 {
			t.Errorf("template %q: %d bytes of at most %d", template, n, MaxIssue)
		}
		if !utf8.ValidString(out) || strings.Count(out, "<details>") != strings.Count(out, "</details>") {
			t.Errorf("template %q: cut in the middle of something", template)
		}
		for _, want := range []string{"Title: ", "Left out: ", "### ", "Search for duplicates"} {
			if !strings.Contains(out, want) {
				t.Errorf("template %q: no %q in %.3000s", template, want, out)
			}
		}
	}
}

// TestIssueDropsByWorth makes an issue smaller step by step: what is worth more
// must not go before what is worth less.
func TestIssueDropsByWorth(t *testing.T) {
	doc := documents()["crash"]
	tmpl, err := templateOf("sglang")
	if err != nil {
		t.Fatal(err)
	}
	full := len(newIssue(doc, tmpl).fit(MaxIssue))
	for limit := full; limit > full/3; limit -= 200 {
		x := newIssue(doc, tmpl)
		out := x.fit(limit)
		if len(out) > limit {
			t.Fatalf("%d bytes of at most %d", len(out), limit)
		}
		for i := range x.parts {
			for j := range x.parts {
				a, b := &x.parts[i], &x.parts[j]
				if a.value > 0 && b.value > a.value && b.at > 0 && a.at < len(a.forms)-1 {
					t.Fatalf("limit %d: %s was cut before %s", limit, b.name, a.name)
				}
			}
		}
	}
}

func TestIssueTemplates(t *testing.T) {
	doc := documents()["crash"]
	for template, want := range map[string][]string{
		"sglang": {"Title: `[Bug] ", "### Checklist", "### Describe the bug", "### Reproduction", "### Environment", "sgl-project/sglang/issues?q="},
		"vllm": {
			"Title: `[Bug]: ", "### Your current environment", "### 🐛 Describe the bug", "### Before submitting a new issue...",
			"vllm-project/vllm/issues?q=",
		},
		"": {"Title: `Attention", "### Reproduction", "### Environment", "sgl-project/sglang/issues?q="},
	} {
		out := issueText(t, doc, template)
		at := 0
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("template %q: no %q", template, w)
			}
			if i := strings.Index(out, w); strings.HasPrefix(w, "###") {
				if i < at {
					t.Errorf("template %q: %q is out of order", template, w)
				}
				at = i
			}
		}
		for _, w := range []string{"python -m sglang.bench_serving --max-concurrency 256", "driver: 570.86.10", "xychart-beta", "▁"} {
			if !strings.Contains(out, w) {
				t.Errorf("template %q: no %q", template, w)
			}
		}
	}
	if err := WriteIssue(io.Discard, doc, IssueOptions{Template: "x"}); err == nil || !strings.Contains(err.Error(), "sglang, vllm") {
		t.Errorf("unknown template: error %v", err)
	}
}

func TestSearchQuery(t *testing.T) {
	for in, want := range map[string]string{
		"RuntimeError: The size of tensor a (257) must match the size of tensor b (256) at non-singleton dimension 0": `is:issue RuntimeError "must match the size of tensor b"`,
		"[2026-11-30 21:37:04 TP0] torch.AcceleratorError: CUDA error: an illegal memory access was encountered":      `is:issue AcceleratorError "an illegal memory access was encountered"`,
		"OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use":   `is:issue OSError "error while attempting to bind on address"`,
		"123 456": "", "": "",
		"nothing \"quoted\" or `odd` goes": "",
	} {
		doc := documents()["empty"]
		doc.RootCause.Title, doc.RootCause.Evidence = "", []Evidence{{Text: in}}
		if got := searchQuery(doc); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", in, got, want)
		}
	}
}

var mermaidBlock = regexp.MustCompile("(?s)```mermaid\n(.*?)\n```")

// TestHostileIssue parses the issue as GitHub does: text from a log adds no link,
// image, heading, HTML or diagram.
func TestHostileIssue(t *testing.T) {
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		doc.RootCause.References = nil
		for _, template := range []string{"sglang", "vllm"} {
			out := issueText(t, doc, template)
			checkControls(t, out)
			checkIssue(t, out)
		}
	})
}

func checkIssue(t *testing.T, out string) {
	t.Helper()
	src := []byte(out)
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	html := regexp.MustCompile(`</?details>|<summary>[\w ,]*(?:<code>[\w .-]*</code>)?</summary>`)
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image, *ast.Blockquote, *ast.RawHTML, *ast.AutoLink, *ast.CodeBlock:
			t.Errorf("%s from a log: %s", n.Kind(), dump(n, src))
		case *ast.Link:
			if !bytes.HasPrefix(n.Destination, []byte("https://github.com/sgl-project/sglang/issues?q=")) &&
				!bytes.HasPrefix(n.Destination, []byte("https://github.com/vllm-project/vllm/issues?q=")) {
				t.Errorf("link to %s", n.Destination)
			}
		case *ast.HTMLBlock:
			if rest := html.ReplaceAllString(string(n.Lines().Value(src)), ""); strings.ContainsAny(rest, "<>") {
				t.Errorf("HTML from a log: %q", rest)
			}
		case *ast.Heading:
			if n.Level != 3 {
				t.Errorf("heading of level %d", n.Level)
			}
		case *ast.FencedCodeBlock:
			if lang := string(n.Language(src)); lang != "text" && lang != "mermaid" {
				t.Errorf("code block in language %q", lang)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, m := range mermaidBlock.FindAllStringSubmatch(out, -1) {
		for line := range strings.Lines(m[1]) {
			if strings.Count(line, `"`)%2 != 0 || strings.ContainsAny(line, ";#{}%`\\<") {
				t.Errorf("a diagram holds %q", line)
			}
		}
	}
}

func TestMermaidText(t *testing.T) {
	for in, want := range map[string]string{
		`a "b" c`: "a b c", "%%{init: {}}%%": "init:", "x --> y": "x - y", "A;B#quot;": "A B quot", "µs (°C) 1/2": "µs (°C) 1/2",
	} {
		if got := mermaidText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	for in, want := range map[float64]string{1e14: "100000000000000", 0.5: "0.5", 1e-9: "0", math.NaN(): "0", 3: "3", 1e300: "0", -1: "0"} {
		if got := mermaidNumber(in); got != want {
			t.Errorf("%v: got %q, want %q", in, got, want)
		}
	}
}
