package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// wrappers is what a source has shown of the tools its lines went through. Some
// wrappers are only sure once a line with an unmistakable payload was seen.
type wrappers struct {
	srun bool // "0: " of srun --label
	json []byte
}

// payloadStarts begin payloads that leave no doubt that what stands before them
// is a wrapper's.
var payloadStarts = []string{"[20", "Traceback (most", "  File \"", "INFO ", "ERROR ", "WARNING ", "(EngineCore", "(APIServer", "(Worker", "[rank", "INFO:  "}

// peelWrapper removes the prefix of a container runtime, scheduler or launcher.
func (l *line) peelWrapper() bool {
	if l.wrap == nil || len(l.text) < 4 {
		return false
	}
	switch c := l.text[0]; {
	case c == '{':
		return l.peelDockerJSON()
	case c == '[':
		return l.peelPod()
	case c >= '0' && c <= '9':
		return l.peelSrun() || l.peelCompose()
	case isWordByte(c):
		return l.peelCompose()
	}
	return false
}

// peelSrun removes the task number of srun --label, "12: ". What a line of a
// numbered list looks like too is one only after a sure line.
func (l *line) peelSrun() bool {
	i := 0
	for i < min(5, len(l.text)) && l.text[i] >= '0' && l.text[i] <= '9' {
		i++
	}
	if i == 0 || i+1 >= len(l.text) || l.text[i] != ':' || l.text[i+1] != ' ' {
		return false
	}
	rest := l.text[i+2:]
	if !l.wrap.srun && !hasAnyPrefix(rest, payloadStarts) {
		return false
	}
	l.wrap.srun = true
	l.addKey(l.text[:i+1])
	l.text = rest
	return true
}

// peelCompose removes docker compose's "service-1  | ".
func (l *line) peelCompose() bool {
	b := l.text
	i, sure := 0, false
	for i < len(b) && i < 64 && (isWordByte(b[i]) || b[i] == '-' || b[i] == '.') {
		sure = sure || b[i] == '-' || b[i] == '_'
		i++
	}
	j := i
	for j < len(b) && j < 80 && b[j] == ' ' {
		j++
	}
	if j == i || j >= len(b) || b[j] != '|' || j+1 < len(b) && b[j+1] != ' ' || !sure && j-i < 2 {
		return false
	}
	l.addKey(b[:i])
	l.text = trimOne(b[j+1:])
	return true
}

// peelPod removes kubectl's "[pod/NAME/CONTAINER] ".
func (l *line) peelPod() bool {
	if !bytes.HasPrefix(l.text, []byte("[pod/")) {
		return false
	}
	i := bytes.Index(l.text, []byte("] "))
	if i < 0 || i > 200 {
		return false
	}
	l.addKey(l.text[:i+1])
	l.proc.Host = l.names.get(l.text[5:i])
	l.text = l.text[i+2:]
	return true
}

// peelDockerJSON reads a line of docker's json-file driver,
// {"log":"...\n","stream":"stderr","time":"2026-..."}.
func (l *line) peelDockerJSON() bool {
	rest, ok := bytes.CutPrefix(l.text, []byte(`{"log":"`))
	if !ok {
		return false
	}
	text, n := jsonText(rest, l.wrap.json[:0])
	if n < 0 {
		return false
	}
	l.wrap.json = text
	if i := bytes.Index(rest[n:], []byte(`"time":"`)); i >= 0 {
		if st, used := dateTime(rest[n+i+8:]); used > 0 {
			l.setStamp(st)
		}
	}
	l.wrapped = true
	l.text = bytes.TrimRight(text, "\r\n")
	return true
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
		case 'r', 'b', 'f':
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
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return dst
		}
	}
	return append(dst, string(r)...)
}

// peelStamped handles what follows a date with zone at the start of a line:
// kubectl logs --timestamps, docker logs -t, CRI files and CI logs put one before
// lines that have their own prefix. It returns false for a logger's own date.
func (l *line) peelStamped(st forensics.Stamp, rest []byte) bool {
	if st.Clock != forensics.ClockAbsolute {
		return false
	}
	rest = trimOne(rest)
	for _, s := range []string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
		if r, ok := bytes.CutPrefix(rest, []byte(s)); ok {
			rest = r
			break
		}
	}
	if lv, n := levelWord(bytes.TrimLeft(rest, " ")); n > 0 {
		// "2026-01-02T03:04:05Z  INFO module: msg" is a Rust logger's own line.
		try := *l
		try.style, try.text = styleNone, rest
		if !try.peelLevel() {
			return false
		}
		_ = lv
	} else if _, _, _, _, ok := syslogTail(rest); ok {
		return false
	}
	l.stamp, l.wrapped, l.text = st, true, rest
	return true
}

// setStamp records the stamp of an inner layer, unless a wrapper gave one that
// says more.
func (l *line) setStamp(st forensics.Stamp) {
	if l.stamp.Clock != forensics.ClockAbsolute {
		l.stamp = st
	}
}

// addKey appends a prefix to the line's process key.
func (l *line) addKey(prefix []byte) {
	if l.key == "" {
		l.key = l.names.get(prefix)
		return
	}
	var buf [256]byte
	l.key = l.names.get(append(append(buf[:0], l.key...), prefix...))
}
