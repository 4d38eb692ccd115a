// Package parse turns bytes into events. A source is read as a stream of blocks;
// its lines are peeled layer by layer (carriage returns, terminal escapes,
// wrappers, logger prefixes), assembled into tracebacks, and offered to the
// readers of the format table. Nothing is kept but bounded open records, so
// memory does not depend on the size of the input.
//
// A file is not given to one reader: every line goes to the first reader that
// claims it, so one file may hold several formats one after another or
// interleaved. The source's format is the one with the highest score.
package parse

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/llmforensics/forensics"
	"github.com/zeebo/xxh3"
)

// Matcher recognises lines that matter for a diagnosis. *signatures.Set is one;
// this package knows no failure by itself.
type Matcher interface {
	// Literals lists texts one of which every matching line holds.
	Literals() []string
	// MatchLine appends to dst the numbers of what matches line; found are the
	// numbers of the literals that the line holds.
	MatchLine(line []byte, found []int, dst []int) []int
}

// Options steer the reading. The zero value reads without a matcher.
type Options struct {
	Matcher Matcher
	// SHA256 asks for SHA-256 digests of sources of any size.
	SHA256 bool
	// Hints names the formats of sources by their paths, where they are known
	// better than by looking. See [FormatNames].
	Hints map[string]string
}

// Input is one artefact to read.
type Input struct {
	// Path is the label of the source, slash separated.
	Path string
	Open func() (io.ReadCloser, error)
	// Size is the size in bytes if known, else -1.
	Size    int64
	ModTime time.Time
	// Once says that Open can be called only once, as for standard input.
	Once bool
}

// Reader reads sources. It is safe for concurrent use.
type Reader struct {
	opts   Options
	filter *prefilter
}

// NewReader prepares reading with the given options.
func NewReader(opts Options) *Reader {
	r := &Reader{opts: opts}
	if opts.Matcher != nil {
		if lits := opts.Matcher.Literals(); len(lits) > 0 {
			r.filter = newPrefilter(lits)
		}
	}
	return r
}

// sha256Limit is the size above which sources are named by a fast hash: hashing
// 1 GiB with SHA-256 costs as much as analysing it.
const sha256Limit = 64 << 20

// Read reads one source and hands its events to sink in the order of their
// first lines' ends. Events are reused: the sink must clone what it keeps. Only
// the error of opening or reading is returned; bad content becomes notes.
func (r *Reader) Read(in Input, index int, sink func(*forensics.Event)) (forensics.Source, error) {
	src := forensics.Source{Path: in.Path}
	if !in.ModTime.IsZero() {
		src.ModTime = in.ModTime.Unix()
	}
	f, err := in.Open()
	if err != nil {
		return src, fmt.Errorf("reading %s: %w", in.Path, err)
	}
	defer f.Close()
	sum := newDigest(in.Size, r.opts.SHA256)
	body, err := decode(io.TeeReader(f, sum))
	if err != nil && sum.n == 0 {
		return src, fmt.Errorf("reading %s: %w", in.Path, err)
	}
	if sum.n == 0 {
		src.Format, src.Digest = "empty", sum.String()
		return src, nil
	}
	sc := newScan(r, &src, index, sink)
	switch {
	case err != nil: // noted below
	case body.binary:
		_, err = io.Copy(io.Discard, body)
		sc.note(0, 0, "binary file, not read")
		src.Format = "binary"
	default:
		if sc.base = body.skipped; sc.base > 0 {
			sc.note(0, 0, fmt.Sprintf("begins with %d zero bytes: it was truncated while it was written, or is damaged", sc.base))
		}
		err = readLines(body, sc.block, sc.physical, sc.rest)
		sc.end()
	}
	src.Size = sum.n
	src.Digest = sum.String()
	if err != nil {
		sc.note(int(src.Lines.Read), 0, "reading stopped: "+err.Error())
		src.Lines.Damaged++
		src.Lines.Read++
	}
	return src, nil
}

// digest hashes a source while it is read. Which hash names it depends on the
// number of bytes, which is not known before for what comes out of compression
// or a pipe: both are computed then, up to the limit.
type digest struct {
	n      int64
	always bool
	sha    hash.Hash // nil once the source is known to be large
	fast   *xxh3.Hasher
}

func newDigest(size int64, always bool) *digest {
	d := &digest{always: always}
	if always || size <= sha256Limit {
		d.sha = sha256.New()
	}
	if !always && (size < 0 || size > sha256Limit) {
		d.fast = xxh3.New()
	}
	return d
}

func (d *digest) Write(p []byte) (int, error) {
	d.n += int64(len(p))
	if d.fast != nil && d.n > sha256Limit {
		d.sha = nil
	}
	if d.sha != nil {
		d.sha.Write(p)
	}
	if d.fast != nil {
		d.fast.Write(p)
	}
	return len(p), nil
}

func (d *digest) String() string {
	if d.sha == nil {
		return fmt.Sprintf("xxh3:%016x", d.fast.Sum64())
	}
	return "sha256:" + hex.EncodeToString(d.sha.Sum(nil))
}
