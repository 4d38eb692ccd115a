package parse

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var updateExpected = flag.Bool("update-expected", false, "add files without a line to testdata/expected-formats.tsv; read the diff")

// expectedRoots are the folders whose files the table lists: real dumps and
// failures, and the inputs of the end-to-end cases.
var expectedRoots = []struct{ prefix, dir string }{
	{"real/", "testdata/real"},
	{"cases/bench/", "../testdata/cases/bench"},
	{"cases/gpu/", "../testdata/cases/gpu"},
	{"cases/sglang/", "../testdata/cases/sglang"},
	{"cases/system/", "../testdata/cases/system"},
	{"cases/vllm/", "../testdata/cases/vllm"},
}

const expectedFile = "testdata/expected-formats.tsv"

// readExpected reads the table: path, format, and optionally why that is right.
func readExpected(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(expectedFile)
	if err != nil && !*updateExpected {
		t.Fatal(err)
	}
	table := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) < 2 || table[f[0]] != "" {
			t.Fatalf("%s: line %q is no row or a second one", expectedFile, line)
		}
		table[f[0]] = f[1]
	}
	return table
}

// TestExpectedFormats recognises every file of the samples as what it is.
func TestExpectedFormats(t *testing.T) {
	table := readExpected(t)
	seen := map[string]bool{}
	var added []string
	for _, root := range expectedRoots {
		inputs, _, err := FindFiles(os.DirFS(root.dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range inputs {
			name := root.prefix + in.Path
			if path.Base(in.Path) == "README.md" || strings.HasPrefix(name, "cases/") && !strings.Contains(in.Path, "/input/") {
				continue // not part of a run
			}
			src, err := NewReader(Options{}).Read(in, 0, discard)
			if err != nil {
				t.Fatal(err)
			}
			seen[name] = true
			switch want := table[name]; {
			case want == "" && *updateExpected:
				added = append(added, fmt.Sprintf("%s\t%s\n", name, src.Format))
			case want == "":
				t.Errorf("%s is %s: it has no line in %s", name, src.Format, expectedFile)
			case src.Format != want:
				t.Errorf("%s is taken for %s, want %s", name, src.Format, want)
			}
		}
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("%s is listed but not there", name)
		}
	}
	if len(added) > 0 {
		addExpected(t, added)
	}
}

func addExpected(t *testing.T, rows []string) {
	t.Helper()
	data, err := os.ReadFile(expectedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := append(strings.SplitAfter(string(data), "\n"), rows...)
	slices.SortStableFunc(lines, func(a, b string) int {
		if (a != "" && a[0] == '#') != (b != "" && b[0] == '#') {
			if a != "" && a[0] == '#' {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	if err := os.WriteFile(expectedFile, []byte(strings.Join(lines, "")), fs.FileMode(0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestFormatDocs holds docs/formats.md against the tables it is made from.
// -update-docs rewrites it.
func TestFormatDocs(t *testing.T) {
	const name = "../docs/formats.md"
	var b bytes.Buffer
	WriteFormats(&b)
	if *updateDocs {
		if err := os.MkdirAll("../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Errorf("%s is not what the tables say: run go test ./parse -run FormatDocs -update-docs", name)
	}
}

var updateDocs = flag.Bool("update-docs", false, "rewrite docs/formats.md")
