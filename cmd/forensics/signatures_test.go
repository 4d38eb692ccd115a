package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unknownLog is a server log with a failure that no signature knows.
const unknownLog = `[2026-06-01 12:00:00] server_args=ServerArgs(model_path='/models/x', host='0.0.0.0', port=30000, tp_size=1)
[2026-06-01 12:00:05] Load weight begin. avail mem=137.29 GB
[2026-06-01 12:00:25] The server is fired up and ready to roll!
[2026-06-01 12:01:05] Prefill batch, #new-seq: 1, #new-token: 100, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0
[2026-06-01 12:01:06] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl/sglang/srt/managers/scheduler.py", line 2710, in run_scheduler_process
    scheduler.event_loop_overlap()
  File "/sgl/sglang/srt/layers/frobnicator.py", line 88, in turn
    raise FrobError(f"layer {i}")
sglang.FrobError: frobnicator of layer 17 at 0x7f001234 refused '/models/x/weights' to turn: 3.5 > 2

[2026-06-01 12:01:06] SIGQUIT received. signum=None, frame=None. It usually means one child failed.
`

// save writes a file into a new folder and returns its path.
func save(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSignaturesCommands(t *testing.T) {
	log := save(t, "server.log", unknownLog)
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		stdout []string // texts that must be there
		stderr string
	}{
		{"classes", []string{"list", "--classes"}, exitDone, []string{"attention.metadata  ", "evidence.truncated  "}, ""},
		{"classes of an area", []string{"list", "--classes", "--class", "gpu"}, exitDone, []string{"gpu.ecc"}, ""},
		{"list", []string{"list", "--class", "attention", "--engine", "sglang"}, exitDone, []string{"sglang.nsa-prefill-metadata", "cause"}, ""},
		{"list of nothing", []string{"list", "--class", "engine"}, exitUsage, nil, "--classes"},
		{"show", []string{"show", "sglang.nsa-prefill-metadata"}, exitDone,
			[]string{"signatures/packs/attention.yaml:", "page_table_1_flattened", "matches     AttributeError", "means "}, ""},
		{"show of an unknown one", []string{"show", "nsa-prefill"}, exitUsage, nil, "did you mean sglang.nsa-prefill-metadata?"},
		{"lint of the packs in the program", []string{"lint"}, exitDone, nil, "0 findings"},
		{"lint of no file", []string{"lint", "/no/such/pack.yaml"}, exitUsage, nil, "/no/such/pack.yaml: no such file"},
		{"test without a log", []string{"test", "mine.yaml"}, exitUsage, nil, "requires at least 2 arg"},
		{"scaffold", []string{"scaffold", log}, exitDone, []string{"FrobError: frobnicator of layer \\d+ at 0x"}, ""},
		{"scaffold of a known failure", []string{"scaffold", sweep}, exitFailed, nil, "is known: "},
		{"scaffold of no failure at a line", []string{"scaffold", "--line", "9999", log}, exitUsage, nil, "no failure at line 9999"},
		{"scaffold of a line", []string{"scaffold", "--line", "12", log}, exitDone, []string{"  line:", "SIGQUIT received"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, stdout, stderr := call(t, "", append([]string{"signatures"}, tt.args...)...)
			if status != tt.status {
				t.Errorf("status %d, want %d; standard error:\n%s", status, tt.status, stderr)
			}
			for _, want := range tt.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("standard output lacks %q:\n%s", want, stdout)
				}
			}
			if !strings.Contains(stderr, tt.stderr) {
				t.Errorf("standard error %q, want it to hold %q", stderr, tt.stderr)
			}
		})
	}
}

// TestScaffoldLintTest goes the way of a writer: draft, lint, test.
func TestScaffoldLintTest(t *testing.T) {
	log := save(t, "server.log", unknownLog)
	for _, args := range [][]string{{"scaffold", log}, {"scaffold", "--line", "12", log}} {
		_, draft, _ := call(t, "", append([]string{"signatures"}, args...)...)
		pack := save(t, "mine.yaml", draft)
		if status, stdout, stderr := call(t, "", "signatures", "lint", pack); status != exitDone {
			t.Fatalf("lint of the draft: status %d\n%s%s\n%s", status, stdout, stderr, draft)
		}
		status, stdout, stderr := call(t, "", "signatures", "test", pack, log)
		if status != exitDone || !strings.Contains(stdout, "    wins   sglang.") || !strings.Contains(stdout, ": won 1 place, lost 0") {
			t.Errorf("test of the draft: status %d\n%s%s\n%s", status, stdout, stderr, draft)
		}
		if status, _, stderr := call(t, "", "analyze", "--signatures", filepath.Dir(pack), log); status != exitDone {
			t.Errorf("analyze with the draft: status %d: %s", status, stderr)
		}
	}
}

// TestLintFindings pins that mistakes are told with their line and a remedy.
func TestLintFindings(t *testing.T) {
	for _, tt := range []struct{ name, entry, want string }{
		{"unknown key", "  - id: my.a\n    clas: ok\n", ":3: my.a: unknown key \"clas\": write class"},
		{"unknown class", "  - id: my.a\n    class: runtime.gpu-oem\n", ":3: my.a: class \"runtime.gpu-oem\" is not in the taxonomy: write runtime.gpu-oom"},
		{"unknown layer", "  - id: my.a\n    layer: bugs\n", ":3: my.a: layer \"bugs\" is not known: write bug"},
		{"no role", "  - id: my.a\n", ":2: my.a: role is missing: use one of cause, symptom"},
		{"bad id", "  - id: My_A\n", ":2: My_A: id \"My_A\": write engine.short-name"},
		{"bad pattern", "  - id: my.a\n    line:\n      - 'some words'\n      - '(?=x)'\n", ":5: my.a: line \"(?=x)\": "},
		{"no fixed text", "  - id: my.a\n    line:\n      - '(?i)out of memory'\n", ":4: my.a: pattern \"(?i)out of memory\" has no fixed text"},
		{"unknown placeholder", "  - id: my.a\n    title: 'no {thing}'\n    line: ['some words']\n", ":3: my.a: {thing} in title: no pattern has a group"},
		{"example", "  - id: my.a\n    title: t\n    layer: bug\n    role: advice\n    line: ['some words']\n    not: ['never']\n    examples:\n      match:\n        - never some words\n",
			":10: my.a: example \"never some words\" does not match: vetoed by not \"never\""},
		{"unquoted colon", "  - id: my.a\n    title: a: b\n", ":3: "},
		{"wrong type", "  - id: my.a\n    line: {a: b}\n", ":3: "},
		{"a double", strings.Repeat("  - id: my.a\n    title: t\n    layer: bug\n    role: advice\n    line: ['some words']\n    examples:\n      match: [some words]\n", 2),
			":9: my.a: the id is already taken at "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pack := save(t, "mine.yaml", "signatures:\n"+tt.entry)
			status, stdout, stderr := call(t, "", "signatures", "lint", pack)
			if status != exitFailed {
				t.Errorf("status %d, want %d; standard error:\n%s", status, exitFailed, stderr)
			}
			if !strings.Contains(stdout, pack+tt.want) {
				t.Errorf("findings lack %q:\n%s", tt.want, stdout)
			}
		})
	}
}

// TestSignaturesTestReasons pins that test tells why a signature loses.
func TestSignaturesTestReasons(t *testing.T) {
	const head = "    layer: %L\n    role: cause\n    class: runtime.kernel-error\n    title: t\n    means: m\n    fix: f\n"
	entry := func(id, layer, more string) string {
		return "  - id: " + id + "\n" + strings.ReplaceAll(head, "%L", layer) + "    exception: ['frobnicator of layer']\n" + more +
			"    examples:\n      match: ['" + "FrobError: frobnicator of layer 1']\n"
	}
	frame := strings.Replace(entry("my.frame", "bug", "    frame: other\\.py\n"), "['FrobError", "[\"File \\\"other.py\\\", line 1, in f\\nFrobError", 1)
	frame = strings.Replace(frame, "layer 1']", "layer 1\"]", 1)
	pack := save(t, "mine.yaml", "signatures:\n"+entry("my.wins", "bug", "")+entry("my.layer", "family", "")+
		entry("my.veto", "bug", "    not: ['refused']\n")+entry("my.engine", "bug", "    engine: [vllm]\n")+
		entry("my.phase", "bug", "    phase: launch\n")+entry("my.order", "bug", "")+frame)
	status, stdout, stderr := call(t, unknownLog, "signatures", "test", pack, "-")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{
		"wins   my.wins (bug, cause, runtime.kernel-error)",
		"loses  my.layer: layer: bug against family",
		`loses  my.veto: veto: not "refused" matches too`,
		"loses  my.engine: scope: only for engine vllm, this is sglang",
		"loses  my.phase: scope: only during launch, the server was ready already",
		"loses  my.order: order: ",
		`loses  my.frame: frame: no frame of the traceback matches "other\\.py"`,
		"my.veto: won 0 places, lost 1",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("standard output lacks %q:\n%s", want, stdout)
		}
	}
}
