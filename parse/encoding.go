package parse

import (
	"bytes"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

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
