package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// maxRedactLine bounds a line of evidence that is copied; a longer one ends the
// copy, because what is not looked at must not be given away.
const maxRedactLine = 256 << 20

// ErrNotText is returned for evidence that cannot be masked because it is no text:
// archives, compressed and binary files.
var ErrNotText = errors.New("not a text file: unpack it first, or leave it out")

// colorCodes would hide the beginning of a token from the rules.
var colorCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// LearnFrom looks for names in a stream of lines; see [Redactor.Learn].
func (r *Redactor) LearnFrom(in io.Reader) error {
	return eachLine(in, func(line string) error {
		r.Learn(line)
		return nil
	})
}

// Copy copies a stream of lines with everything masked. Every line stays a line,
// so that line numbers stay what they are; colour codes are dropped and UTF-16 is
// written as UTF-8. Each finished line is looked at again, and a line that still
// holds a secret ends the copy with an error. name is for that error.
func (r *Redactor) Copy(name string, out io.Writer, in io.Reader) error {
	w := bufio.NewWriter(out)
	key := 0 // lines that a private key may still have
	err := eachLine(in, func(line string) error {
		text, end := splitEnd(line)
		masked := ""
		switch {
		case key > 0:
			masked, key = r.keyLine(text, key)
		default:
			masked = r.Text(text)
			if i := strings.Index(text, "-----BEGIN "); i >= 0 && strings.Contains(text[i:], "PRIVATE KEY") && !strings.Contains(text[i:], "-----END") {
				key = 200
			}
		}
		if err := r.checkRules(name, masked); err != nil {
			return err
		}
		_, err := w.WriteString(masked + end)
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// keyLine masks a line inside a private key, and says how many more there may be.
func (r *Redactor) keyLine(text string, left int) (string, int) {
	if strings.Contains(text, "-----END") {
		return r.Text(text), 0
	}
	r.count("private-key", text)
	return redactedMark + "private-key", left - 1
}

// splitEnd parts a line from its line break.
func splitEnd(line string) (text, end string) {
	text = strings.TrimRight(line, "\r\n")
	return text, line[len(text):]
}

// eachLine passes every line with its line break.
func eachLine(in io.Reader, f func(line string) error) error {
	text, err := readableText(in)
	if err != nil {
		return err
	}
	for {
		line, err := readLine(text)
		if line != "" {
			if err := f(colorCodes.ReplaceAllString(line, "")); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func readLine(b *bufio.Reader) (string, error) {
	var line []byte
	for {
		piece, err := b.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxRedactLine {
			return "", fmt.Errorf("a line of more than %d bytes", maxRedactLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
	}
}

// readableText decodes UTF-16 and refuses what is no text.
func readableText(in io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(4096)
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		dec := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		return bufio.NewReaderSize(transform.NewReader(b, dec), 1<<16), nil
	case isPacked(head) || bytes.Count(head, []byte{0})*20 > len(head):
		return nil, ErrNotText
	}
	return b, nil
}

// packedMarks begin compressed files and archives.
var packedMarks = []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "PK\x03\x04", "PK\x05\x06", "7z\xbc\xaf"}

func isPacked(head []byte) bool {
	for _, m := range packedMarks {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return len(head) > 262 && string(head[257:262]) == "ustar"
}
