package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
)

// caseDirs lists the folders of evidence of the end-to-end cases.
func caseDirs(t *testing.T) []string {
	t.Helper()
	var dirs []string
	const root = "../testdata/cases"
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "case.json" {
			dirs = append(dirs, filepath.Join(filepath.Dir(path), "input"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatalf("no cases in %s", root)
	}
	return dirs
}

// caseDocument analyses a folder of evidence.
func caseDocument(t *testing.T, dir string) *report.Document {
	t.Helper()
	inputs, _, err := parse.FindFiles(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := analysis.Run(context.Background(), inputs, analysis.Options{Label: filepath.Base(filepath.Dir(dir)), Version: "test"})
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return doc
}

// needNode skips the test if node or its packages are not there; with
// FORENSICS_REQUIRE_NODE=1 that is a failure.
func needNode(t *testing.T, dir string) {
	t.Helper()
	give := t.Skipf
	if os.Getenv("FORENSICS_REQUIRE_NODE") == "1" {
		give = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		give("node is not installed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "mermaid")); err != nil {
		give("mermaid is not installed: run npm install in report/%s", filepath.ToSlash(dir))
	}
}

var diagram = regexp.MustCompile("(?s)```mermaid\n(.*?)\n```")

// TestMermaidParses gives every diagram of the end-to-end cases to the library
// that GitHub draws them with.
func TestMermaidParses(t *testing.T) {
	dir := filepath.Join("testdata", "mermaid")
	needNode(t, dir)
	type named struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	var list []named
	largest := 0
	for _, c := range caseDirs(t) {
		var b bytes.Buffer
		if err := report.WriteIssue(&b, caseDocument(t, c), report.IssueOptions{}); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, b.Len())
		for _, m := range diagram.FindAllSubmatch(b.Bytes(), -1) {
			list = append(list, named{c, string(m[1])})
		}
	}
	if len(list) < 20 {
		t.Fatalf("only %d diagrams", len(list))
	}
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "parse.mjs")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	if len(out) > 0 {
		t.Errorf("diagrams that do not parse:\n%s", out)
	}
	t.Logf("%d diagrams; the largest issue has %d bytes", len(list), largest)
}
