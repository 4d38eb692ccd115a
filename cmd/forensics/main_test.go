package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const sweep = "../../testdata/cases/gpu/sweep-illegal-access/input"

// call runs the program.
func call(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

func TestExitStatus(t *testing.T) {
	empty := t.TempDir()
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		stderr string // text that standard error must hold
	}{
		{"a failed run", []string{"analyze", sweep}, exitDone, ""},
		{"a failed run, exit code asked for", []string{"analyze", "--exit-code", sweep}, exitFailed, ""},
		{"a good run, exit code asked for", []string{"analyze", "--exit-code", "../../testdata/cases/gpu/sweep-healthy/input"}, exitDone, ""},
		{"no path", []string{"analyze"}, exitUsage, "requires at least 1 arg"},
		{"no such path", []string{"analyze", "/no/such/run"}, exitUsage, "/no/such/run: no such file"},
		{"a folder with nothing in it", []string{"analyze", empty}, exitUsage, "no file in it to read"},
		{"an unknown format", []string{"analyze", "--format", "pdf", sweep}, exitUsage, "use one of"},
		{"an unknown flag", []string{"analyze", "--colour", sweep}, exitUsage, "unknown flag"},
		{"an unknown command", []string{"analyse", sweep}, exitUsage, "analyze"},
		{"version", []string{"version"}, exitDone, ""},
		{"help", []string{"--help"}, exitDone, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, _, stderr := call(t, "", tt.args...)
			if status != tt.status {
				t.Errorf("status %d, want %d; standard error:\n%s", status, tt.status, stderr)
			}
			if !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
				t.Errorf("standard error %q, want it to hold %q", stderr, tt.stderr)
			}
		})
	}
}

func TestAnalyzeFormats(t *testing.T) {
	_, md, _ := call(t, "", "analyze", sweep)
	if !strings.HasPrefix(md, "# Failed: CUDA illegal memory access") {
		t.Errorf("the default is not a Markdown report: %.80q", md)
	}
	_, js, _ := call(t, "", "analyze", "--format", "json", sweep)
	var doc struct {
		Schema string `json:"schema"`
		Root   struct {
			Class string `json:"class"`
		} `json:"root_cause"`
	}
	if err := json.Unmarshal([]byte(js), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "forensics.report/v1" || doc.Root.Class != "runtime.illegal-memory-access" {
		t.Errorf("schema %q, class %q", doc.Schema, doc.Root.Class)
	}
	_, term, _ := call(t, "", "analyze", "--format", "terminal", sweep)
	if !strings.Contains(term, "runtime.illegal-memory-access") || strings.ContainsRune(term, 0x1b) {
		t.Errorf("the terminal report lacks the class or has colours where no terminal is")
	}
}

// TestOutputFolder writes everything at once and reads it back.
func TestOutputFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out") + "/"
	if status, _, stderr := call(t, "", "analyze", "-o", dir, sweep); status != exitDone {
		t.Fatal(stderr)
	}
	md, err := os.ReadFile(dir + "report.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)`).FindAllStringSubmatch(string(md), -1)
	if len(links) < 3 {
		t.Errorf("the report shows %d charts, want 3", len(links))
	}
	for _, l := range links {
		if data, err := os.ReadFile(dir + l[1]); err != nil || !bytes.Contains(data, []byte("<svg")) {
			t.Errorf("chart %s: not an SVG file beside the report (%v)", l[1], err)
		}
	}
	png, err := os.ReadFile(dir + "server-load.png")
	if err != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Errorf("server-load.png is no picture: %v", err)
	}
}

func TestStandardInput(t *testing.T) {
	log := "[2026-03-11 09:02:11] server_args=ServerArgs(model_path='/m', tp_size=1)\n" +
		"Traceback (most recent call last):\n  File \"/a/site-packages/sglang/x.py\", line 1, in f\nOSError: [Errno 28] No space left on device\n"
	_, out, stderr := call(t, log, "analyze", "--format", "json", "-")
	if !strings.Contains(out, `"host.disk-full"`) || !strings.Contains(out, `"stdin"`) {
		t.Errorf("a log on standard input is not diagnosed; standard error %q", stderr)
	}
}

// TestUserSignatures loads a pack beside the embedded ones, and a broken one.
func TestUserSignatures(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`pack: mine
signatures:
  - id: mine.widget
    class: runtime.scheduler-bug
    title: The widget broke
    layer: bug
    role: cause
    line: ['widget \d+ broke badly']
    means: It broke.
    fix: Mend it.
    examples: {match: ['widget 7 broke badly']}
`)
	log := "[2026-03-11 09:02:11] server_args=ServerArgs(model_path='/m', tp_size=1)\n[2026-03-11 09:02:12 TP0] widget 7 broke badly\n"
	_, out, stderr := call(t, log, "analyze", "--format", "json", "--signatures", dir, "-")
	if !strings.Contains(out, `"mine.widget"`) {
		t.Errorf("the user's signature did not match; standard error %q", stderr)
	}
	write("pack: mine\nsignatures:\n  - id: mine.widget\n    clas: x\n")
	status, _, stderr := call(t, log, "analyze", "--signatures", dir, "-")
	if status != exitUsage || !strings.Contains(stderr, "mine.yaml:4") {
		t.Errorf("status %d, standard error %q: want 2 and mine.yaml:4", status, stderr)
	}
}

// TestReadmeCommands runs the commands that README.md shows for the main job.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`go run ./cmd/forensics (analyze \S+)`).FindSubmatch(readme)
	if m == nil {
		t.Fatal("README.md does not show the main command")
	}
	args := strings.Fields(string(m[1]))
	args[1] = "../../" + args[1]
	status, out, stderr := call(t, "", args...)
	if status != exitDone || !strings.Contains(out, "# Failed") {
		t.Errorf("status %d, standard error %q, output %.100q", status, stderr, out)
	}
}
