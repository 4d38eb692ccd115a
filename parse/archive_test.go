package parse

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/llmforensics/forensics"
	"github.com/ulikunitz/xz"
)

// file is a member to pack.
type file struct {
	name, body string
	flag       byte // of tar, 0 for a regular file
}

func tarOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: f.flag, Mode: 0o644, ModTime: time.Unix(1700000000, 0)}
		switch f.flag {
		case 0:
			h.Size = int64(len(f.body))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = f.body
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if f.flag == 0 {
			io.WriteString(w, f.body)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		m, err := w.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(m, f.body)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pack compresses data.
func pack(t testing.TB, kind container, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch kind {
	case gzipFile:
		w = gzip.NewWriter(&b)
	case zstdFile:
		w, err = zstd.NewWriter(&b)
	case xzFile:
		w, err = xz.NewWriter(&b)
	case bzip2File:
		return bzip2Fixture(t, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bzip2Fixture returns testdata/archive/hello.log.bz2: the standard library can
// only read bzip2.
func bzip2Fixture(t testing.TB, data []byte) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/archive/hello.log.bz2")
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != helloLog {
		t.Fatal("the bzip2 fixture holds another text")
	}
	return b
}

const helloLog = "[2026-03-11 09:09:38 TP0] Decode batch, #running-req: 3, #token: 100, token usage: 0.01, gen throughput (token/s): 12.50, #queue-req: 0\n"

// readPlan reads inputs and returns the sources by path, and the paths that
// events came from.
func readPlan(t testing.TB, opts Options, inputs ...Input) ([]forensics.Source, map[string]int) {
	t.Helper()
	p := NewReader(opts).Plan(inputs)
	srcs := make([]forensics.Source, len(p.Paths))
	events := map[string]int{}
	for u := range p.Units() {
		p.Read(u, func(i int) func(*forensics.Event) {
			return func(e *forensics.Event) {
				if e.Pos.Source != i {
					t.Errorf("event of source %d has source %d", i, e.Pos.Source)
				}
				events[p.Paths[i]]++
			}
		}, func(i int, s forensics.Source, err error) {
			if err != nil {
				s.Format, s.Notes = "unreadable", append(s.Notes, forensics.Note{Text: err.Error()})
			}
			srcs[i] = s
		})
	}
	for i, s := range srcs {
		if s.Path != p.Paths[i] {
			t.Errorf("source %d is %q, planned as %q", i, s.Path, p.Paths[i])
		}
	}
	return srcs, events
}

// bytesInput is an input from memory that cannot be read at an offset, like a
// member of an fs.FS.
func bytesInput(name string, data []byte) Input {
	return Input{Path: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func describeSources(srcs []forensics.Source) string {
	var b strings.Builder
	for _, s := range srcs {
		fmt.Fprintf(&b, "%s %s %d", s.Path, s.Format, s.Lines.Read)
		for _, n := range s.Notes {
			fmt.Fprintf(&b, " | %s", n.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestContainers reads the same log out of every container and every nesting,
// under names that tell nothing.
func TestContainers(t *testing.T) {
	run := []file{{name: "run/b.log", body: helloLog}, {name: "run/a.log", body: "plain\n"}, {name: "run/empty.log"}, {name: "run/", flag: tar.TypeDir}}
	plain := tarOf(t, run...)
	inTar := "x/run/a.log text 1\nx/run/b.log sglang-server 1\nx/run/empty.log empty 0\n"
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"plain", []byte(helloLog), "x sglang-server 1\n"},
		{"gz", pack(t, gzipFile, []byte(helloLog)), "x sglang-server 1\n"},
		{"zst", pack(t, zstdFile, []byte(helloLog)), "x sglang-server 1\n"},
		{"xz", pack(t, xzFile, []byte(helloLog)), "x sglang-server 1\n"},
		{"bz2", pack(t, bzip2File, []byte(helloLog)), "x sglang-server 1\n"},
		{"gz of two parts", append(pack(t, gzipFile, []byte(helloLog)), pack(t, gzipFile, []byte(helloLog))...), "x sglang-server 2\n"},
		{"tar", plain, inTar},
		{"tar.gz", pack(t, gzipFile, plain), inTar},
		{"tar.zst", pack(t, zstdFile, plain), inTar},
		{"tar.xz", pack(t, xzFile, plain), inTar},
		{"zip", zipOf(t, run[:3]...), inTar},
		{"gz in tar", tarOf(t, file{name: "s.log.gz", body: string(pack(t, gzipFile, []byte(helloLog)))}), "x/s.log.gz sglang-server 1\n"},
		{"tar.gz in zip", zipOf(t, file{name: "n1.tgz", body: string(pack(t, gzipFile, tarOf(t, run[0])))}), "x/n1.tgz/run/b.log sglang-server 1\n"},
		{"zip in tar.gz", pack(t, gzipFile, tarOf(t, file{name: "n1.zip", body: string(zipOf(t, run[0]))})), "x/n1.zip/run/b.log sglang-server 1\n"},
		{"too deep", tarOf(t, file{name: "1.tar", body: string(tarOf(t, file{name: "2.tar", body: string(tarOf(t, run[0]))}))}),
			"x/1.tar/2.tar archive 0 | not read: more than 2 archives lie in one another\n"},
		{"no members", tarOf(t, file{name: "d/", flag: tar.TypeDir}), ""},
		{"7z", []byte("7z\xbc\xaf\x27\x1c\x00\x04"), "x archive 0 | an archive of a kind that is not read: unpack it and analyse the folder\n"},
		{"replaced", tarOf(t, file{name: "a", body: "old\n"}, file{name: "a", body: "new\nnew\n"}),
			"x archive 0 | \"x/a\" stands in the archive more than once: the last one was read\nx/a text 2\n"},
		{"hidden", tarOf(t, file{name: ".git/config", body: "a\n"}, file{name: "./._b", body: "a\n"}, file{name: "__MACOSX/c", body: "a\n"}, file{name: "./d", body: "a\n"}), "x/d text 1\n"},
		{"cut gz", pack(t, gzipFile, []byte(strings.Repeat(helloLog, 3)))[:60], "x text 2 | reading stopped: unexpected EOF\n"},
		{"broken gz", []byte("\x1f\x8b\x08\xffgarbage that is no gzip"), "x archive 0 | cannot be decompressed: unexpected EOF\n"},
		{"broken zip", []byte("PK\x03\x04garbage"), "x archive 0 | cannot be read: zip: not a valid zip file\n"},
		{"zeros", make([]byte, 5000), "x binary 0 | binary file, not read\n"},
		{"log with a hole", append(make([]byte, 10000), helloLog...),
			"x sglang-server 1 | begins with 10000 zero bytes: it was truncated while it was written, or is damaged\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srcs, _ := readPlan(t, Options{}, bytesInput("x", tt.data))
			if got := describeSources(srcs); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			once := bytesInput("x", tt.data) // as on standard input
			once.Once, once.Size = true, -1
			if srcs, _ = readPlan(t, Options{}, once); describeSources(srcs) != tt.want {
				t.Errorf("read once: got\n%swant\n%s", describeSources(srcs), tt.want)
			}
		})
	}
}

// TestArchiveTricks holds that nothing in an archive reaches outside of it, and
// that each attempt is told.
func TestArchiveTricks(t *testing.T) {
	data := tarOf(t,
		file{name: "../../etc/passwd", body: "root:x:0:0\n"}, file{name: "a/../../b", body: "x\n"}, file{name: `..\..\c`, body: "x\n"},
		file{name: "/etc/shadow", body: "root:*\n"}, file{name: "link", body: "/etc/passwd", flag: tar.TypeSymlink},
		file{name: "hard", body: "/etc/passwd", flag: tar.TypeLink}, file{name: "pipe", flag: tar.TypeFifo},
		file{name: "dev", flag: tar.TypeChar}, file{name: "loop", body: "loop", flag: tar.TypeSymlink},
		file{name: "good\x1b[31m.log", body: "fine\n"})
	srcs, _ := readPlan(t, Options{}, bytesInput("x", data))
	var paths []string
	for _, s := range srcs {
		paths = append(paths, s.Path)
	}
	if want := []string{"x", "x/etc/shadow", "x/good[31m.log"}; !slices.Equal(paths, want) {
		t.Errorf("sources %q, want %q", paths, want)
	}
	if got := len(srcs[0].Notes); got != 8 {
		t.Errorf("%d notes, want 8:\n%s", got, describeSources(srcs))
	}
	for _, n := range srcs[0].Notes {
		if !strings.Contains(n.Text, "skipped: ") {
			t.Errorf("note %q does not say that it was skipped", n.Text)
		}
	}
	srcs, _ = readPlan(t, Options{}, bytesInput("z", zipOf(t, file{name: "../up", body: "x\n"}, file{name: "ok", body: "x\n"})))
	if got, want := describeSources(srcs), "z archive 0 | member \"../up\": skipped: its name leads out of the archive\nz/ok text 1\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// zeroReader yields zeros without end.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestBomb feeds 10 GB of zeros in 10 MB: it ends at the limit with a note.
func TestBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	// One block repeated: gzip streams may be concatenated.
	var part bytes.Buffer
	pw, _ := gzip.NewWriterLevel(&part, gzip.BestCompression)
	io.CopyN(pw, zeroReader{}, 100<<20)
	pw.Close()
	w.Close()
	for range 100 {
		b.Write(part.Bytes())
	}
	start := time.Now()
	srcs, _ := readPlan(t, Options{}, bytesInput("bomb.gz", b.Bytes()))
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("took %v", d)
	}
	text := describeSources(srcs)
	if !strings.Contains(text, "expands more than 500:1") {
		t.Errorf("%d bytes of bomb: %s", b.Len(), text)
	}
	if srcs[0].Size > RatioFrom+1<<20 {
		t.Errorf("read %d bytes", srcs[0].Size)
	}
}

func TestMemberLimit(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range MaxMembers + 10 {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("f%06d", i), Mode: 0o644, Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	p := NewReader(Options{}).Plan([]Input{bytesInput("x", b.Bytes())})
	if got := len(p.Paths); got != MaxMembers+1 {
		t.Errorf("%d sources, want %d members and the archive's note", got, MaxMembers)
	}
}

// TestFind lists a folder with everything that is no file.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(dir, filepath.Join(dir, "loop")))
	must(os.Symlink("/etc/passwd", filepath.Join(dir, "outside")))
	must(makeFIFO(filepath.Join(dir, "pipe")))
	must(os.WriteFile(filepath.Join(dir, "a.log"), []byte(helloLog), 0o644))
	must(os.Mkdir(filepath.Join(dir, ".hidden"), 0o755))
	must(os.WriteFile(filepath.Join(dir, ".hidden", "x"), nil, 0o644))
	inputs, notes, err := FindInputs([]string{dir}, nil)
	must(err)
	if len(inputs) != 1 || inputs[0].Path != "a.log" {
		t.Errorf("inputs %v", inputs)
	}
	want := []string{"loop: skipped: a link, which is not followed", "outside: skipped: a link, which is not followed", "pipe: skipped: a named pipe"}
	if !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	if _, _, err := FindInputs([]string{filepath.Join(dir, "pipe")}, nil); err == nil || !strings.Contains(err.Error(), "a named pipe") {
		t.Errorf("error %v for a pipe", err)
	}
	if inputs, _, err = FindInputs([]string{dir, filepath.Join(dir, "a.log"), dir}, nil); err != nil || len(inputs) != 1 {
		t.Errorf("the same file thrice gives %d inputs, error %v", len(inputs), err)
	}
}

// failFS has a file that cannot be opened.
type failFS struct{ fstest.MapFS }

func (f failFS) Open(name string) (fs.File, error) {
	if name == "secret.log" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.Open(name)
}

func TestUnreadable(t *testing.T) {
	inputs, _, err := FindFiles(failFS{fstest.MapFS{"a.log": {Data: []byte(helloLog)}, "secret.log": {Data: []byte("x\n")}}})
	if err != nil {
		t.Fatal(err)
	}
	srcs, _ := readPlan(t, Options{}, inputs...)
	want := "a.log sglang-server 1\nsecret.log unreadable 0 | reading secret.log: open secret.log: permission denied\n"
	if got := describeSources(srcs); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestManyEmptyFiles holds that 100,000 empty files cost little.
func TestManyEmptyFiles(t *testing.T) {
	var inputs []Input
	for i := range MaxFiles {
		inputs = append(inputs, Input{Path: fmt.Sprint(i), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }})
	}
	start := time.Now()
	srcs, _ := readPlan(t, Options{}, inputs...)
	if d := time.Since(start); d > 10*time.Second || len(srcs) != MaxFiles || srcs[7].Format != "empty" {
		t.Errorf("%d sources in %v", len(srcs), d)
	}
}

func TestHints(t *testing.T) {
	in := []Input{bytesInput("dir/x.txt", []byte("1, 2 MiB\nfoo\n"))}
	hints, err := ParseHints([]string{"run/dir/x.txt=nvidia-smi-csv"}, in)
	if err != nil {
		t.Fatal(err)
	}
	srcs, _ := readPlan(t, Options{Hints: hints}, in...)
	if srcs[0].Format != "nvidia-smi-csv" || srcs[0].Role != forensics.RoleGPU {
		t.Errorf("format %q, role %q", srcs[0].Format, srcs[0].Role)
	}
	for _, bad := range []string{"x", "=kernel", "dir/x.txt=nonsense", "other=kernel"} {
		if _, err := ParseHints([]string{bad}, in); err == nil {
			t.Errorf("hint %q is accepted", bad)
		}
	}
}

// FuzzContainer feeds any bytes as an input: no panic, bounded, and both passes
// see the same members.
func FuzzContainer(f *testing.F) {
	run := []file{{name: "run/b.log", body: helloLog}, {name: "run/a.log", body: "plain\n"}}
	f.Add(tarOf(f, run...))
	f.Add(zipOf(f, run...))
	for _, kind := range []container{gzipFile, zstdFile, xzFile, bzip2File} {
		f.Add(pack(f, kind, []byte(helloLog)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		srcs, _ := readPlan(t, Options{}, bytesInput("x", data))
		for _, s := range srcs {
			if n := s.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
				t.Errorf("lines %+v do not add up", n)
			}
		}
	})
}
