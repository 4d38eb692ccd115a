package analysis_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
)

// TestArchiveOfRun holds that a tar.gz of a run gives the same diagnosis as the
// folder, byte for byte apart from the paths, in whatever order it was packed.
func TestArchiveOfRun(t *testing.T) {
	const dir = "../testdata/cases/gpu/sweep-illegal-access/input"
	fsys := os.DirFS(dir)
	inputs, _, err := parse.FindFiles(fsys)
	if err != nil {
		t.Fatal(err)
	}
	want := diagnose(t, inputs)
	for _, backwards := range []bool{false, true} {
		data := packRun(t, fsys, inputs, backwards)
		in := parse.Input{Path: "run.tar.gz", Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
		got := bytes.ReplaceAll(diagnose(t, []parse.Input{in}), []byte("run.tar.gz/"), nil)
		if !bytes.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("backwards %v: reports differ at byte %d:\n got ...%.200s\nwant ...%.200s", backwards, i, got[max(0, i-60):], want[max(0, i-60):])
		}
	}
}

func diagnose(t *testing.T, inputs []parse.Input) []byte {
	t.Helper()
	doc, err := analysis.Run(context.Background(), inputs, analysis.Options{Label: "run"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.WriteJSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packRun makes a tar.gz of the inputs.
func packRun(t *testing.T, fsys fs.FS, inputs []parse.Input, backwards bool) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i := range inputs {
		in := inputs[i]
		if backwards {
			in = inputs[len(inputs)-1-i]
		}
		body, err := fs.ReadFile(fsys, in.Path)
		if err != nil {
			t.Fatal(err)
		}
		h := &tar.Header{Name: "./" + in.Path, Mode: 0o644, Size: int64(len(body)), ModTime: in.ModTime}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
