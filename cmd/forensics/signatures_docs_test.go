package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	fenceRE   = regexp.MustCompile("(?ms)^```([a-z]+)(?: (\\S+))?\\n(.*?)^```$")
	keyCellRE = regexp.MustCompile("(?m)^\\| (`.*?`) \\|")
)

// TestSignaturesGuide runs the examples of docs/signatures.md: blocks with a file
// name are written, commands of console blocks run among these files, and their
// output, if the block shows any, must be what is printed.
func TestSignaturesGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/signatures.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	blocks := fenceRE.FindAllStringSubmatch(string(guide), -1)
	for _, b := range blocks {
		if name := b[2]; name != "" {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(b[3]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	commands := 0
	for _, b := range blocks {
		if b[1] != "console" {
			continue
		}
		command, want, _ := strings.Cut(b[3], "\n")
		args := strings.Fields(strings.TrimPrefix(command, "$ forensics "))
		status, stdout, stderr := call(t, "", args...)
		commands++
		want, failed := strings.CutSuffix(want, "[exit 1]\n")
		if wantStatus := map[bool]int{false: exitDone, true: exitFailed}[failed]; status != wantStatus {
			t.Errorf("%s: status %d, want %d: %s", command, status, wantStatus, stderr)
		}
		if diff := cmp.Diff(stdout, want); want != "" && diff != "" {
			t.Errorf("%s: (-got +guide)\n%s", command, diff)
		}
	}
	if commands < 5 {
		t.Errorf("%d commands found in the guide: is the test reading it right?", commands)
	}
}

// TestSignaturesGuideFields holds the table of fields to the JSON Schema.
func TestSignaturesGuideFields(t *testing.T) {
	guide, err := os.ReadFile("../../docs/signatures.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile("../../signatures/pack.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	cells := keyCellRE.FindAllStringSubmatch(string(guide), -1)
	documented := map[string]bool{}
	for _, c := range cells {
		for _, key := range strings.Split(c[1], ", ") {
			documented[strings.Trim(key, "`")] = true
		}
	}
	_, props, _ := strings.Cut(string(schema), `"signature": {`)
	props, _, _ = strings.Cut(props, `"anyOf"`)
	keys := regexp.MustCompile(`(?m)^        "([a-z_]+)": \{$`).FindAllStringSubmatch(props, -1)
	if len(keys) < 20 {
		t.Fatalf("%d keys found in the schema: is the test reading it right?", len(keys))
	}
	for _, k := range keys {
		if !documented[k[1]] {
			t.Errorf("docs/signatures.md does not explain the key %s", k[1])
		}
	}
}
