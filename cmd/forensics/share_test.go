package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	healthy = "../../testdata/cases/gpu/sweep-healthy/input"
	capped  = "../../testdata/cases/gpu/sweep-capped/input"
)

func TestShareCommands(t *testing.T) {
	copyTo := filepath.Join(t.TempDir(), "copy")
	base := filepath.Join(t.TempDir(), "base.json")
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string // in standard output or error
	}{
		{"issue", []string{"analyze", "--format", "issue", "--template", "sglang", sweep}, exitDone, "### Describe the bug"},
		{"issue, no such template", []string{"analyze", "--format", "issue", "--template", "x", sweep}, exitUsage, "sglang, vllm"},
		{"template without issue", []string{"analyze", "--format", "json", "--template", "vllm", sweep}, exitUsage, "needs --format issue"},
		{"junit", []string{"analyze", "--format", "junit", sweep}, exitDone, "<testsuites"},
		{"sarif", []string{"analyze", "--format", "sarif", sweep}, exitDone, `"version": "2.1.0"`},
		{"no such level", []string{"analyze", "--redact", "most", sweep}, exitUsage, "use off, secrets or strict"},
		{"strict", []string{"analyze", "--redact", "strict", sweep}, exitDone, "model_path = /path-"},
		{"compare", []string{"compare", healthy, capped}, exitDone, "max_running_requests"},
		{"compare, exit code", []string{"compare", "--exit-code", healthy, capped}, exitFailed, "max_running_requests"},
		{"compare as JSON", []string{"compare", "--format", "json", healthy, healthy}, exitDone, `"regression": false`},
		{"compare, no such run", []string{"compare", healthy, "/no/such/run"}, exitUsage, "/no/such/run"},
		{"a report to compare with", []string{"analyze", "-o", base, healthy}, exitDone, ""},
		{"compare with a report", []string{"compare", base, capped}, exitDone, "max_running_requests"},
		{"baseline", []string{"analyze", "--baseline", base, healthy}, exitDone, "# Completed"},
		{"redact", []string{"redact", sweep, "-o", copyTo}, exitDone, "diagnosed as the original: runtime.illegal-memory-access, failed"},
		{"redact into a full folder", []string{"redact", sweep, "-o", copyTo}, exitUsage, "is not empty"},
		{"redact into itself", []string{"redact", copyTo, "-o", filepath.Join(copyTo, "x")}, exitUsage, "lies inside"},
		{"redact nothing", []string{"redact", "--redact", "off", sweep, "-o", copyTo + "2"}, exitUsage, "use secrets or strict"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out, errs := call(t, "", tt.args...)
			if status != tt.status || !strings.Contains(out+errs, tt.want) {
				t.Errorf("status %d, want %d, with %q in:\n%s%s", status, tt.status, tt.want, out, errs)
			}
		})
	}
	got, err := os.ReadDir(copyTo)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadDir(sweep)
	if err != nil || len(got) != len(want) {
		t.Errorf("%d files in the copy, want %d (%v)", len(got), len(want), err)
	}
}

func TestFolderIsMasked(t *testing.T) {
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "report")
	const token = "hf_QwErTyUiOpAsDfGhJkLzXcVbNm12345678"
	text := "[2026-05-01 10:00:00] server_args=ServerArgs(model_path='m', api_key='" + token + "', host='127.0.0.1')\n" +
		"[2026-05-01 10:00:01] token " + token + " refused\n"
	if err := os.WriteFile(filepath.Join(in, "server.log"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := call(t, "", "analyze", "-o", out+"/", in); status != exitDone {
		t.Fatal(errs)
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), token) {
			t.Errorf("%s holds the token", f.Name())
		}
	}
	if status, got, _ := call(t, "", "analyze", "--redact", "off", "--format", "json", in); status != exitDone || !strings.Contains(got, token) {
		t.Errorf("--redact off: status %d, and the token is gone", status)
	}
}
