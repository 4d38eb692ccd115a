package parse

import (
	"bytes"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// decoded is a source as UTF-8 text.
type decoded struct {
	io.Reader
	binary  bool
	skipped int64 // zero bytes left out at the beginning
}

// headLen is how much of a source tells its encoding.
const headLen = 4096

// decode looks at the first bytes: a byte-order mark or the zero bytes of UTF-16
// select the encoding, other zero bytes mean that the file is no text. Zero bytes
// alone at the beginning are left out: a log that is truncated while a process
// has it open begins with a hole.
func decode(r io.Reader) (decoded, error) {
	head, err := readHead(r, make([]byte, headLen))
	skipped := int64(0)
	for len(head) > 0 && len(bytes.TrimLeft(head, "\x00")) == 0 && err == nil {
		skipped += int64(len(head))
		head, err = readHead(r, head[:headLen])
	}
	if err != nil && err != io.EOF {
		if len(head) == 0 {
			return decoded{}, err
		}
		r = failing{err}
	}
	if skipped > 0 {
		text := bytes.TrimLeft(head, "\x00")
		skipped += int64(len(head) - len(text))
		head = text
		if len(head) == 0 {
			return decoded{Reader: bytes.NewReader(nil), binary: true}, nil
		}
	}
	rest := io.MultiReader(bytes.NewReader(head), r)
	if text, ok := bytes.CutPrefix(head, []byte("\xef\xbb\xbf")); ok {
		return decoded{Reader: io.MultiReader(bytes.NewReader(text), r), skipped: skipped}, nil
	}
	if dec := utf16Decoder(head); dec != nil {
		return decoded{Reader: dec.Reader(rest), skipped: skipped}, nil
	}
	zeros := bytes.Count(head, []byte{0})
	return decoded{Reader: rest, binary: zeros > 0 && zeros*20 > len(head) || looksPacked(head), skipped: skipped}, nil
}

// readHead fills head as far as the reader goes. Other than [io.ReadFull] it
// leaves the error alone: a cut archive is no short file.
func readHead(r io.Reader, head []byte) ([]byte, error) {
	n := 0
	for n < len(head) {
		k, err := r.Read(head[n:])
		if n += k; err != nil {
			return head[:n], err
		}
	}
	return head, nil
}

// failing repeats the error that ended the reading of the head.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// utf16Decoder returns a decoder if the text begins with a UTF-16 byte-order
// mark, or has the zero bytes of UTF-16 English text without one.
func utf16Decoder(head []byte) *encoding.Decoder {
	end := unicode.LittleEndian
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		end = unicode.BigEndian
	default:
		odd, even := 0, 0
		for i, c := range head {
			if c == 0 && i%2 == 1 {
				odd++
			} else if c == 0 {
				even++
			}
		}
		half := len(head) / 2
		switch {
		case half >= 8 && odd*10 > half*7 && even*10 < half:
		case half >= 8 && even*10 > half*7 && odd*10 < half:
			end = unicode.BigEndian
		default:
			return nil
		}
	}
	return unicode.UTF16(end, unicode.UseBOM).NewDecoder()
}

// packedMagic are the first bytes of files that are no text even without zero
// bytes in their head.
var packedMagic = []string{"\x89PNG", "\x7fELF", "%PDF-", "\x1f\x8b", "PK\x03\x04", "\x28\xb5\x2f\xfd", "\xfd7zXZ", "BZh", "\xff\xd8\xff", "GIF8", "PAR1", "SQLite format 3"}

func looksPacked(head []byte) bool {
	for _, m := range packedMagic {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return false
}
