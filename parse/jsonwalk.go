package parse

import "errors"

const (
	// maxJSONDepth bounds the nesting of objects read; deeper ones are broken.
	maxJSONDepth = 200
	// maxJSONToken bounds the part of a string that is kept, in bytes.
	maxJSONToken = 4 << 10
	// maxJSONPath is how many levels of keys are kept for path.
	maxJSONPath = 8
)

// jsonWalk reads one JSON object that arrives in pieces and hands out its
// scalars. Nothing else is kept, so objects of any size need no memory: result
// files hold lists of a million token times.
//
// The bare words Infinity, -Infinity and NaN are values, as Python's json module
// writes them; encoding/json would refuse the whole object.
type jsonWalk struct {
	// value receives every scalar: the keys on the way to it at depth 1 and 2
	// (key2 is empty at depth 1), its depth, and its text. A string's text is
	// unquoted and cut at maxJSONToken.
	value func(depth int, key1, key2 string, text []byte, quoted bool)
	// closed, if not nil, is told when an object or list at that depth has ended.
	closed func(depth int)
	// pieces says that a piece may end anywhere, even within a number.
	pieces bool

	stack  []byte // open brackets
	state  jsonState
	keys   [2]string
	deep   [maxJSONPath - 2][]byte // keys of the levels below those
	tok    []byte
	quoted bool // within a string
	escape int  // bytes of an escape still to come
	code   rune // of a \u escape
	bare   bool // within a number or word
}

type jsonState uint8

const (
	wantKey jsonState = iota
	wantKeyOrEnd
	wantColon
	wantValue
	wantValueOrEnd
	wantComma
)

var errJSON = errors.New("not JSON")

// reset prepares for another object.
func (w *jsonWalk) reset() {
	*w = jsonWalk{value: w.value, closed: w.closed, stack: w.stack[:0], tok: w.tok[:0], deep: w.deep}
}

// path returns the key at a level, counted from 1: "" for the level of a list,
// and for levels below the one at hand.
func (w *jsonWalk) path(level int) string {
	switch {
	case level > len(w.stack) || level > maxJSONPath || w.stack[level-1] == '[':
		return ""
	case level <= 2:
		return w.keys[level-1]
	}
	return view(w.deep[level-3])
}

// feed reads the next piece. It returns how much of it was used and whether the
// object ended there. A piece must not end within a number or word unless it
// ends there by itself, as at the end of a line.
func (w *jsonWalk) feed(b []byte) (used int, done bool, err error) {
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case w.quoted:
			i += w.inString(b[i:])
			continue
		case w.bare && isBareByte(c):
			w.keep(c)
		default:
			if w.bare {
				w.endBare()
			}
			if err := w.punct(c); err != nil {
				return i, false, err
			}
			if len(w.stack) == 0 {
				return i + 1, true, nil
			}
		}
		i++
	}
	if w.bare && !w.pieces {
		w.endBare()
	}
	return len(b), false, nil
}

func isBareByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

func (w *jsonWalk) keep(c byte) {
	if len(w.tok) < maxJSONToken {
		w.tok = append(w.tok, c)
	}
}

// inString reads on in a string and returns the number of bytes used.
func (w *jsonWalk) inString(b []byte) int {
	c := b[0]
	switch {
	case w.escape == 5: // the byte behind the backslash
		w.escape = 0
		switch c {
		case 'u':
			w.escape, w.code = 4, 0
		case 'n':
			w.keep('\n')
		case 't':
			w.keep('\t')
		case 'r', 'b', 'f':
			w.keep(' ')
		default:
			w.keep(c)
		}
	case w.escape > 0:
		w.code = w.code<<4 | hexValue(c)
		if w.escape--; w.escape == 0 && len(w.tok) < maxJSONToken {
			w.tok = append(w.tok, string(w.code)...)
		}
	case c == '\\':
		w.escape = 5
	case c == '"':
		w.quoted = false
		w.endString()
	default:
		n := 1
		for n < len(b) && b[n] != '"' && b[n] != '\\' {
			n++
		}
		w.tok = append(w.tok, b[:min(n, maxJSONToken-min(len(w.tok), maxJSONToken))]...)
		return n
	}
	return 1
}

func hexValue(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return 0
}

// punct reads a byte outside of strings and words.
func (w *jsonWalk) punct(c byte) error {
	switch c {
	case ' ', '\t', '\r', '\n':
		return nil
	case '{', '[':
		return w.push(c)
	case '}', ']':
		return w.pop(c)
	case ',':
		if w.state != wantComma {
			return errJSON
		}
		w.state = wantValue
		if w.stack[len(w.stack)-1] == '{' {
			w.state = wantKey
		}
		return nil
	case ':':
		if w.state != wantColon {
			return errJSON
		}
		w.state = wantValue
		return nil
	case '"':
		if w.state == wantColon || w.state == wantComma || len(w.stack) == 0 {
			return errJSON
		}
		w.quoted, w.tok = true, w.tok[:0]
		return nil
	}
	if !isBareByte(c) || w.state != wantValue && w.state != wantValueOrEnd || len(w.stack) == 0 {
		return errJSON
	}
	w.bare, w.tok = true, append(w.tok[:0], c)
	return nil
}

func (w *jsonWalk) push(c byte) error {
	if len(w.stack) == 0 && c == '{' {
		w.stack, w.state = append(w.stack, c), wantKeyOrEnd
		return nil
	}
	if w.state != wantValue && w.state != wantValueOrEnd || len(w.stack) == 0 || len(w.stack) >= maxJSONDepth {
		return errJSON
	}
	w.stack = append(w.stack, c)
	w.state = wantValueOrEnd
	if c == '{' {
		w.state = wantKeyOrEnd
	}
	if len(w.stack) == 2 {
		w.keys[1] = ""
	}
	return nil
}

func (w *jsonWalk) pop(c byte) error {
	n := len(w.stack)
	if n == 0 || w.stack[n-1] != c-2 || w.state != wantComma && w.state != wantKeyOrEnd && w.state != wantValueOrEnd {
		return errJSON
	}
	if w.closed != nil {
		w.closed(n)
	}
	w.stack, w.state = w.stack[:n-1], wantComma
	if n == 2 {
		w.keys[1] = ""
	}
	return nil
}

func (w *jsonWalk) endString() {
	if w.state == wantKey || w.state == wantKeyOrEnd {
		if n := len(w.stack); n <= 2 {
			w.keys[n-1] = string(w.tok)
		} else if n <= maxJSONPath {
			w.deep[n-3] = append(w.deep[n-3][:0], w.tok...)
		}
		w.state = wantColon
		return
	}
	w.state = wantComma
	w.value(len(w.stack), w.keys[0], w.keys[1], w.tok, true)
}

func (w *jsonWalk) endBare() {
	w.bare, w.state = false, wantComma
	w.value(len(w.stack), w.keys[0], w.keys[1], w.tok, false)
}
