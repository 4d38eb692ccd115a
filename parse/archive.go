package parse

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// member is one file found by looking into an input: the input itself if it is
// no archive.
type member struct {
	path string
	size int64 // -1 if unknown
	mod  time.Time
	r    io.Reader
}

// walker looks into one input and visits its members in the order in which they
// stand there. An archive is read as a stream, so nothing is kept of a member
// that was passed.
type walker struct {
	// visit receives a member. It need not read it.
	visit func(m member) error
	// note receives remarks on archives by their path: what was left out and why.
	note func(archive, text string)

	in      int64 // bytes of the input read so far
	members int
}

// errStop ends a walk without being an error.
var errStop = errors.New("stop")

// walk visits the members of an input. The error is that of opening or reading
// the input itself.
func (w *walker) walk(in Input) error {
	f, err := in.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	count := &meter{r: f}
	m := member{path: in.Path, size: in.Size, mod: in.ModTime, r: &counted{count, &w.in}}
	ra, _ := f.(io.ReaderAt)
	if err := w.look(m, ra, 0, 0); err != nil && !errors.Is(err, errStop) {
		return err
	}
	return nil
}

// counted copies a meter's count to where the guards look for it.
type counted struct {
	*meter
	to *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.meter.Read(p)
	*c.to = c.meter.n
	return n, err
}

// look tells what a member is by its first bytes, and visits it or what it holds.
func (w *walker) look(m member, ra io.ReaderAt, layers, archives int) error {
	if m.size == 0 {
		return w.visit(m)
	}
	br := bufio.NewReaderSize(m.r, 32<<10)
	head, _ := br.Peek(headSize)
	m.r = br
	kind := sniffContainer(head)
	switch {
	case kind == noContainer:
		return w.visit(m)
	case kind == foreignFile:
		w.note(m.path, "an archive of a kind that is not read: unpack it and analyse the folder")
		return nil
	case layers >= MaxLayers || archives >= MaxArchives && (kind == tarFile || kind == zipFile):
		w.note(m.path, fmt.Sprintf("not read: more than %d archives lie in one another", MaxArchives))
		return nil
	case kind == tarFile:
		return w.tar(m, layers+1, archives+1)
	case kind == zipFile:
		return w.zip(m, ra, layers+1, archives+1)
	}
	return w.compressed(kind, m, layers+1, archives)
}

func (w *walker) compressed(kind container, m member, layers, archives int) error {
	body, done, err := decompress(kind, m.r)
	if err != nil {
		w.note(m.path, "cannot be decompressed: "+err.Error())
		return nil
	}
	defer done()
	var out int64
	m.size, m.r = -1, &guard{r: body, in: &w.in, out: &out}
	return w.look(m, nil, layers, archives)
}

func (w *walker) tar(m member, layers, archives int) error {
	tr := tar.NewReader(m.r)
	var out int64
	for n := 0; ; n++ {
		h, err := tr.Next()
		switch {
		case err == io.EOF:
			if n == 0 {
				w.note(m.path, "an archive without members")
			}
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			w.note(m.path, fmt.Sprintf("reading the archive stopped after %d members: %v", n, err))
			return nil
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			mode |= fs.ModeSymlink // to another member, or to anything
		}
		name, ok := w.admit(m.path, h.Name, mode)
		if !ok {
			continue
		}
		if w.members++; w.members > MaxMembers {
			w.note(m.path, fmt.Sprintf("more than %d members: the rest was left out", MaxMembers))
			return errStop
		}
		sub := member{path: name, size: h.Size, mod: h.ModTime, r: &guard{r: tr, in: &w.in, out: &out}}
		if err := w.look(sub, nil, layers, archives); err != nil {
			return err
		}
	}
}

// admit makes the label of a member, and says whether it is read. Nothing is
// ever written, so a bad name could do no harm but mislead.
func (w *walker) admit(archive, name string, mode fs.FileMode) (string, bool) {
	if mode.IsDir() {
		return "", false
	}
	clean, why := memberName(name)
	switch {
	case why == "" && !mode.IsRegular():
		why = "skipped: " + modeName(mode)
	case why == "" && isHidden(clean):
		return "", false
	}
	if why != "" {
		w.note(archive, fmt.Sprintf("member %q: %s", clip(name, 200), why))
		return "", false
	}
	return archive + "/" + clean, true
}

// memberName makes a relative, slash separated, printable name; why tells what is
// wrong with a name that leads out of the archive.
func memberName(name string) (clean, why string) {
	name = strings.ReplaceAll(name, `\`, "/") // some Windows tools
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", "skipped: its name leads out of the archive"
		}
	}
	clean = strings.TrimPrefix(path.Clean("/"+name), "/")
	if out, _ := printable([]byte(clean), nil); string(out) != clean {
		clean = string(out)
	}
	if clean == "" || len(clean) > 4096 {
		return "", "skipped: it has no usable name"
	}
	return clean, ""
}

// isHidden reports whether a name lies in a folder that is left out: hidden ones,
// as in folders on disk, and what macOS adds to archives.
func isHidden(name string) bool {
	dir, base := path.Split(name)
	if strings.HasPrefix(base, "._") || strings.HasPrefix(name, "__MACOSX/") {
		return true
	}
	for part := range strings.SplitSeq(dir, "/") {
		if len(part) > 1 && part[0] == '.' {
			return true
		}
	}
	return false
}

// modeName names a kind of file that is not read.
func modeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a link, which is not followed"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

func (w *walker) zip(m member, ra io.ReaderAt, layers, archives int) error {
	if ra == nil || m.size < 0 {
		data, err := io.ReadAll(io.LimitReader(m.r, MaxHeld+1))
		switch {
		case err != nil:
			w.note(m.path, "reading the archive stopped: "+err.Error())
			return nil
		case len(data) > MaxHeld:
			w.note(m.path, fmt.Sprintf("not read: a zip in an archive or on standard input may have %d MiB", MaxHeld>>20))
			return nil
		}
		ra, m.size = bytes.NewReader(data), int64(len(data))
	}
	zr, err := zip.NewReader(ra, m.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		w.note(m.path, "cannot be read: "+err.Error())
		return nil
	}
	if len(zr.File) == 0 {
		w.note(m.path, "an archive without members")
	}
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20)))
	w.in = max(w.in, m.size)
	var out int64
	for _, f := range zr.File {
		if err := w.zipMember(m.path, f, &out, layers, archives); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) zipMember(archive string, f *zip.File, out *int64, layers, archives int) error {
	mode := f.Mode()
	if strings.HasSuffix(f.Name, "/") {
		mode |= fs.ModeDir
	}
	name, ok := w.admit(archive, f.Name, mode)
	if !ok {
		return nil
	}
	if w.members++; w.members > MaxMembers {
		w.note(archive, fmt.Sprintf("more than %d members: the rest was left out", MaxMembers))
		return errStop
	}
	if f.Flags&1 != 0 {
		w.note(archive, fmt.Sprintf("member %q: skipped: it is encrypted", clip(f.Name, 200)))
		return nil
	}
	r, err := f.Open()
	if err != nil {
		w.note(archive, fmt.Sprintf("member %q: %v", clip(f.Name, 200), err))
		return nil
	}
	defer r.Close()
	sub := member{path: name, size: int64(f.UncompressedSize64), mod: f.Modified, r: &guard{r: r, in: &w.in, out: out}}
	return w.look(sub, nil, layers, archives)
}
