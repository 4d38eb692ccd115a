package parse

import (
	"bytes"
	"unicode/utf8"
)

// stripANSI removes terminal escape sequences: CSI (colours, cursor moves), OSC
// (titles, links), and two-byte escapes. It returns b itself when there is none.
func stripANSI(b, dst []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	dst = dst[:0]
	for i := 0; i < len(b); i++ {
		if b[i] != 0x1b || i+1 >= len(b) {
			if b[i] != 0x1b {
				dst = append(dst, b[i])
			}
			continue
		}
		switch b[i+1] {
		case '[':
			i += 2
			for i < len(b) && (b[i] < 0x40 || b[i] > 0x7e) {
				i++
			}
		case ']', 'P', 'X', '^', '_':
			i += 2
			for i < len(b) && b[i] != 0x07 && !(b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\') {
				i++
			}
			if i < len(b) && b[i] == 0x1b {
				i++
			}
		default:
			i++
		}
	}
	return dst
}

// printable returns the line as evidence: control bytes removed (tabs kept as
// spaces), invalid UTF-8 replaced, at most maxRaw bytes.
func printable(b, dst []byte) (out []byte, damaged bool) {
	if len(b) > maxRaw {
		b = b[:maxRaw]
		for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
		if n := len(b); n > 0 && b[n-1] >= utf8.RuneSelf {
			b = b[:n-1]
		}
	}
	if plainText(b) {
		return b, false
	}
	dst = dst[:0]
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, "\uFFFD"...)
			damaged = true
		case r == '\t':
			dst = append(dst, ' ')
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' ||
			r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u200e' || r == '\u200f':
		default:
			dst = append(dst, b[:n]...)
		}
		b = b[n:]
	}
	return dst, damaged
}

// maxRaw bounds the text of an event, in bytes. Start-up configurations are read
// from the whole line before it is cut.
const maxRaw = 4 << 10

func plainText(b []byte) bool {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f {
			return false
		}
	}
	return true
}

// isBar reports whether a chunk is a progress bar of tqdm or alike: it has "%|",
// a rate in "it/s]" or "s/it]", or an elapsed time and a "<". Every line is asked,
// so the rarest byte of each is looked for first.
func isBar(b []byte) bool {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '/')
		if i < 0 {
			break
		}
		at += i + 1
		before, after := b[:at-1], b[at:]
		if bytes.HasPrefix(after, []byte("s]")) && bytes.HasSuffix(before, []byte("it")) ||
			bytes.HasPrefix(after, []byte("it]")) && bytes.HasSuffix(before, []byte("s")) {
			return true
		}
	}
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '|')
		if i < 0 {
			break
		}
		at += i + 1
		if at > 1 && b[at-2] == '%' {
			return true
		}
	}
	return bytes.IndexByte(b, '<') >= 0 && bytes.Contains(b, []byte("[00:"))
}

// chunks splits a line at carriage returns and hands out what a person would
// have seen: of a run of progress-bar states only the last. A log line glued to
// the end of a bar becomes a chunk of its own.
func chunks(b []byte, fn func(chunk []byte, at int)) {
	at := 0
	for at <= len(b) {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\r'); i >= 0 {
			end = at + i
		}
		chunk := b[at:end]
		if len(chunk) > 0 && !(isBar(chunk) && barFollows(b, end, chunk)) {
			handOut(chunk, at, fn)
		} else if len(chunk) > 0 {
			// a superseded state of a bar; text glued to it still counts
			if i := glued(chunk); i > 0 {
				handOut(chunk[i:], at+i, fn)
			}
		}
		at = end + 1
	}
}

// barFollows reports whether the next chunk after end is a later state of the
// same bar.
func barFollows(b []byte, end int, chunk []byte) bool {
	for end < len(b) && b[end] == '\r' {
		end++
	}
	if end >= len(b) {
		return false
	}
	next := b[end:]
	if i := bytes.IndexByte(next, '\r'); i >= 0 {
		next = next[:i]
	}
	return isBar(next) && bytes.Equal(barLabel(chunk), barLabel(next))
}

// barLabel returns the text of a bar before its numbers.
func barLabel(b []byte) []byte {
	if i := bytes.IndexAny(b, "0123456789"); i >= 0 {
		return bytes.TrimSpace(b[:i])
	}
	return b
}

func handOut(chunk []byte, at int, fn func([]byte, int)) {
	if i := glued(chunk); i > 0 {
		fn(chunk[:i], at)
		fn(chunk[i:], at+i)
		return
	}
	fn(chunk, at)
}

// glued returns where a log line begins in the middle of a progress bar, 0 if
// nowhere. Writers share a terminal, and a bar has no line feed.
func glued(b []byte) int {
	if !isBar(b) {
		return 0
	}
	close := bytes.LastIndex(b, []byte("it/s]"))
	if j := bytes.LastIndex(b, []byte("s/it]")); j > close {
		close = j
	}
	if j := bytes.LastIndex(b, []byte("toks/s]")); j > close {
		close = j + 2
	}
	if close < 0 || close+5 >= len(b) {
		return 0
	}
	if rest := bytes.TrimLeft(b[close+5:], " "); len(rest) > 0 {
		return len(b) - len(rest)
	}
	return 0
}
