package parse

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Limits on what archives and compressed files may hold. Reaching one ends the
// reading of the archive with a note; what was read before stays.
const (
	// MaxMembers bounds the members of one archive that are read.
	MaxMembers = 100_000
	// MaxExpanded bounds what one archive or compressed file may grow to.
	MaxExpanded = 64 << 30
	// MaxRatio bounds the growth once more than RatioFrom bytes came out. Logs
	// seldom shrink by more than 100:1, zeros by about 1000:1 in gzip and far more
	// in zstd, xz and bzip2.
	MaxRatio  = 500
	RatioFrom = 1 << 30
	// MaxArchives is how many archives may lie in one another, and MaxLayers how
	// many layers of any kind: "run.tar.gz" with "node1.zip" inside has three.
	MaxArchives = 2
	MaxLayers   = 5
	// MaxHeld bounds the archives held in memory: those on standard input, which
	// cannot be read twice, and a zip within another archive, whose directory
	// stands at its end.
	MaxHeld = 64 << 20
)

// container is a kind of file that holds other files, or one.
type container uint8

const (
	noContainer container = iota
	gzipFile
	zstdFile
	xzFile
	bzip2File
	tarFile
	zipFile
	foreignFile // an archive that is recognised and not read
)

// containerMagic tells containers by their first bytes; names are not asked.
var containerMagic = []struct {
	magic string
	kind  container
}{
	{"\x1f\x8b\x08", gzipFile},
	{"\x28\xb5\x2f\xfd", zstdFile},
	{"\xfd7zXZ\x00", xzFile},
	{"PK\x03\x04", zipFile},
	{"PK\x05\x06", zipFile}, // without members
	{"7z\xbc\xaf\x27\x1c", foreignFile},
	{"Rar!\x1a\x07", foreignFile},
}

// headSize is how much of a file tells its kind: one block of a tar.
const headSize = 512

// sniffContainer tells the kind of container by the first headSize bytes.
func sniffContainer(head []byte) container {
	for i := range containerMagic {
		if bytes.HasPrefix(head, []byte(containerMagic[i].magic)) {
			return containerMagic[i].kind
		}
	}
	switch {
	case isBzip2(head):
		return bzip2File
	case isSkippableFrame(head):
		return zstdFile
	case isTar(head):
		return tarFile
	}
	return noContainer
}

// isBzip2 accepts "BZh", the block size, and the number that begins a block or,
// in an empty file, the end.
func isBzip2(head []byte) bool {
	return len(head) >= 10 && bytes.HasPrefix(head, []byte("BZh")) && head[3] >= '1' && head[3] <= '9' &&
		(bytes.HasPrefix(head[4:], []byte("\x31\x41\x59\x26\x53\x59")) || bytes.HasPrefix(head[4:], []byte("\x17\x72\x45\x38\x50\x90")))
}

// isSkippableFrame accepts the frames that pzstd and seekable files begin with.
func isSkippableFrame(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// isTar checks the checksum of a tar header, which every tar since 1979 has.
func isTar(head []byte) bool {
	if len(head) < headSize || head[0] == 0 {
		return false
	}
	want, seen := 0, false
	for _, c := range head[148:156] {
		switch {
		case c >= '0' && c <= '7':
			want, seen = want<<3|int(c-'0'), true
		case c != ' ' && c != 0:
			return false
		}
	}
	sum, signed := 8*int(' '), 8*int(' ')
	for i, c := range head[:headSize] {
		if i < 148 || i >= 156 {
			sum += int(c)
			signed += int(int8(c))
		}
	}
	return seen && (sum == want || signed == want)
}

// decompress opens a compressed stream.
func decompress(kind container, r io.Reader) (io.Reader, func(), error) {
	none := func() {}
	switch kind {
	case gzipFile:
		z, err := gzip.NewReader(r)
		return z, none, err
	case zstdFile:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, none, err
		}
		return z, z.Close, nil
	case xzFile:
		z, err := xz.NewReader(bufio.NewReaderSize(r, 64<<10))
		return z, none, err
	}
	return bzip2.NewReader(bufio.NewReaderSize(r, 64<<10)), none, nil
}

// errLimit ends the reading of an archive.
var errLimit = errors.New("limit reached")

// meter counts the bytes of a stream.
type meter struct {
	r io.Reader
	n int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	return n, err
}

// guard passes on what comes out of an archive until it is more than the bytes
// that went in can honestly hold.
type guard struct {
	r   io.Reader
	in  *int64 // bytes of the file read so far
	out *int64 // bytes that came out so far
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	*g.out += int64(n)
	switch {
	case *g.out > MaxExpanded:
		return n, fmt.Errorf("%w: more than %d GiB came out of the archive", errLimit, MaxExpanded>>30)
	case *g.out > RatioFrom && *g.out/MaxRatio > *g.in:
		return n, fmt.Errorf("%w: it expands more than %d:1, which no log does", errLimit, MaxRatio)
	}
	return n, err
}
