package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

const (
	// maxParts bounds the messages under way that a container runtime has split,
	// one per stream of a container.
	maxParts = 64
	// maxJSONFields bounds the fields of a journal record.
	maxJSONFields = 200
)

// part is the beginning of a message that a runtime split: docker at 16 KiB, the
// CRI where the container had written no line feed yet.
type part struct {
	text []byte
	head line // of the first part: position and stamp
	open bool
}

// parts returns the message under way of a stream.
func (w *wrappers) part(stream string) *part {
	p := w.parts[stream]
	if p == nil {
		if w.parts == nil {
			w.parts = map[string]*part{}
		}
		if len(w.parts) >= maxParts {
			stream = "" // only input made for it has so many
			if p = w.parts[stream]; p != nil {
				return p
			}
		}
		p = &part{}
		w.parts[stream] = p
	}
	return p
}

// hold keeps a part of a message, up to the length of a line.
func (p *part) hold(text []byte, l *line) {
	if !p.open {
		p.open, p.text, p.head = true, p.text[:0], *l
	}
	if n := MaxLine - len(p.text); n > 0 {
		p.text = append(p.text, text[:min(len(text), n)]...)
	}
}

// join ends a message: text is its last part. It reports whether there was
// another before.
func (p *part) join(text []byte, l *line) ([]byte, bool) {
	if !p.open {
		return text, false
	}
	p.hold(text, l)
	p.open = false
	l.pos, l.stamp = p.head.pos, p.head.stamp
	return p.text, true
}

// jsonLine is a line that a wrapper put into a JSON object.
type jsonLine struct {
	outer   line   // what the wrapper knows: stamp, process, level
	text    []byte // the message
	stream  string // not empty for docker
	partial bool   // docker: the message goes on in the next object
	ok      bool
}

// jsonWrapped reads a line of docker's json-file driver or of `journalctl -o
// json`. Other JSON is the business of the readers.
func (s *scan) jsonWrapped(b []byte) (w jsonLine) {
	if bytes.HasPrefix(b, []byte(`{"log":"`)) {
		s.dockerLine(b, &w)
	} else if len(b) > 20 && (bytes.Contains(b[:min(len(b), 4096)], []byte(`"__REALTIME_TIMESTAMP"`)) || bytes.Contains(b[max(0, len(b)-512):], []byte(`"__REALTIME_TIMESTAMP"`))) {
		s.journalLine(b, &w)
	}
	return w
}

// dockerLine reads {"log":"...\n","stream":"stderr","time":"2026-..."}. A message
// of more than 16 KiB is split over several objects; only the last one's text
// ends in a line feed.
func (s *scan) dockerLine(b []byte, w *jsonLine) {
	jsonFields(b, func(key, value []byte, quoted bool) {
		switch string(key) {
		case "log":
			w.ok = quoted
			s.wrap.json, _ = jsonText(value, s.wrap.json[:0])
			w.text = s.wrap.json
		case "stream":
			w.stream = s.names.get(bytes.TrimSuffix(value, []byte(`"`)))
		case "time":
			if st, n := dateTime(value); n > 0 {
				w.outer.stamp = st
			}
		}
	})
	w.outer.wrapped = true
	w.partial = !bytes.HasSuffix(w.text, []byte("\n"))
	w.text = bytes.TrimRight(w.text, "\r\n")
}

// journalLine reads a record of `journalctl -o json`. MESSAGE is a string, or a
// list of bytes when it holds escapes or broken UTF-8, or null when it is too
// long for the journal's export.
func (s *scan) journalLine(b []byte, w *jsonLine) {
	o := &w.outer
	unit := ""
	jsonFields(b, func(key, value []byte, quoted bool) {
		text := bytes.TrimSuffix(value, []byte(`"`))
		switch string(key) {
		case "MESSAGE":
			w.ok = true
			switch {
			case !quoted && len(value) > 0 && value[0] == '[':
				s.wrap.json = byteList(value[1:], s.wrap.json[:0])
			case quoted:
				s.wrap.json, _ = jsonText(value, s.wrap.json[:0])
			default:
				s.wrap.json = s.wrap.json[:0]
			}
			w.text = s.wrap.json
		case "__REALTIME_TIMESTAMP":
			if us := digits(text, 0, len(text)); us > 0 && len(text) < 19 {
				o.stamp = forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(us) * 1000, Res: 1000}
			}
		case "_HOSTNAME":
			o.proc.Host = s.names.get(text)
		case "_PID":
			o.proc.PID = max(digits(text, 0, len(text)), 0)
		case "SYSLOG_IDENTIFIER":
			o.proc.Name = s.names.get(text)
		case "_SYSTEMD_UNIT":
			unit = s.names.get(text)
		case "_TRANSPORT":
			if string(text) == "kernel" {
				o.style, o.proc.Role = styleKernel, forensics.RoleKernel
			}
		case "PRIORITY":
			o.level = levelOfPriority(digits(text, 0, len(text)))
		}
	})
	w.ok = w.ok && !o.stamp.IsZero()
	if o.wrapped = true; o.style == styleKernel {
		o.proc.Name, o.proc.PID = "", 0
	} else if o.proc.Name == "" {
		o.proc.Name = unit
	}
}

// levelOfPriority maps syslog's priorities.
func levelOfPriority(p int) forensics.Level {
	switch {
	case p < 0 || p > 7:
		return forensics.LevelNone
	case p <= 2:
		return forensics.LevelFatal
	case p == 3:
		return forensics.LevelError
	case p == 4:
		return forensics.LevelWarning
	case p == 7:
		return forensics.LevelDebug
	}
	return forensics.LevelInfo
}

// byteList reads "72,101,108]".
func byteList(b, dst []byte) []byte {
	v, seen := 0, false
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v, seen = (v*10+int(c-'0'))&0xfff, true
		case c == ',' || c == ']':
			if seen {
				dst = append(dst, byte(v))
			}
			if v, seen = 0, false; c == ']' {
				return dst
			}
		}
	}
	return dst
}

// jsonFields hands out the fields of the object at the start of b: for a string
// the text behind the opening quote with its escapes, the closing quote included
// if it is there, and for anything else the text up to the next field. A cut
// object yields what is there.
func jsonFields(b []byte, fn func(key, value []byte, quoted bool)) {
	b = b[1:]
	for range maxJSONFields {
		b = bytes.TrimLeft(b, " \t,")
		if len(b) == 0 || b[0] != '"' {
			return
		}
		n := jsonEnd(b[1:])
		if n < 0 {
			return
		}
		key := b[1:n]
		b = bytes.TrimLeft(b[n+1:], " \t")
		if len(b) == 0 || b[0] != ':' {
			return
		}
		b = bytes.TrimLeft(b[1:], " \t")
		value := b
		n = jsonValueEnd(b)
		value, b = b[:n], b[n:]
		quoted := len(value) > 0 && value[0] == '"'
		if quoted {
			value = value[1:]
		}
		fn(key, value, quoted)
	}
}

// jsonEnd returns the length of a string up to its closing quote plus one, -1 if
// it is cut.
func jsonEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// jsonValueEnd returns the length of the value at the start of b.
func jsonValueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			n := jsonEnd(b[i+1:])
			if n < 0 {
				return len(b)
			}
			i += n
			if depth == 0 {
				return i + 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth <= 0 {
				return i + 1 + min(depth, 0)
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

// jsonText undoes the escapes of a JSON string up to its closing quote, and
// returns the bytes used, -1 if the string is cut.
func jsonText(b, dst []byte) ([]byte, int) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '"' {
			return dst, i + 1
		}
		if c != '\\' || i+1 >= len(b) {
			dst = append(dst, c)
			continue
		}
		i++
		switch b[i] {
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 'b', 'f':
		case 't':
			dst = append(dst, '\t')
		case 'u':
			if i+4 < len(b) {
				dst = appendEscape(dst, b[i+1:i+5])
				i += 4
			}
		default:
			dst = append(dst, b[i])
		}
	}
	return dst, -1
}

func appendEscape(dst, hex []byte) []byte {
	r := rune(0)
	for _, c := range hex {
		if !isHex(c) {
			return dst
		}
		r = r<<4 | hexValue(c)
	}
	return append(dst, string(r)...)
}
