package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// maxPods bounds the pairs of pod and container that are remembered.
const maxPods = 256

// peelStern removes stern's "pod container ", which nothing but the colour sets
// off from the message. A pair of words is one once an unmistakable line stood
// behind it; from then on every line with the pair is.
func (l *line) peelStern() bool {
	pod, container, rest, ok := sternPair(l.text)
	if !ok {
		return false
	}
	key := l.text[:len(l.text)-len(rest)]
	known := l.wrap.pods[view(key)]
	if !known {
		if _, n := dateTime(rest); n == 0 && !hasAnyPrefix(rest, payloadStarts) || len(l.wrap.pods) >= maxPods {
			return false
		}
		if l.wrap.pods == nil {
			l.wrap.pods = map[string]bool{}
		}
		l.wrap.pods[string(key)] = true
	}
	l.addKey(bytes.TrimRight(key, " "))
	l.proc.Host = l.names.get(append(append(bytes.Clone(pod), '/'), container...))
	l.text = rest
	return true
}

// sternPair cuts "vllm-0 server msg" after two names as Kubernetes allows them.
// The pod's has a hyphen; names are in lower case.
func sternPair(b []byte) (pod, container, rest []byte, ok bool) {
	i, hyphen, digit := 0, false, false
	for i < len(b) && i < 80 && (b[i] >= 'a' && b[i] <= 'z' || b[i] >= '0' && b[i] <= '9' || b[i] == '-' || b[i] == '.') {
		hyphen = hyphen || b[i] == '-'
		digit = digit || b[i] >= '0' && b[i] <= '9'
		i++
	}
	if i < 3 || i+2 >= len(b) || b[i] != ' ' || !hyphen || !digit {
		return nil, nil, nil, false
	}
	j := i + 1
	for j < len(b) && j < i+64 && (b[j] >= 'a' && b[j] <= 'z' || b[j] >= '0' && b[j] <= '9' || b[j] == '-') {
		j++
	}
	if j == i+1 || j+1 >= len(b) || b[j] != ' ' {
		return nil, nil, nil, false
	}
	return b[:i], b[i+1 : j], b[j+1:], true
}

// cloudLevels are the severities of Google Cloud that loggers do not use.
var cloudLevels = []struct {
	word  string
	level forensics.Level
}{
	{"DEFAULT", forensics.LevelNone}, {"NOTICE", forensics.LevelInfo}, {"ALERT", forensics.LevelFatal}, {"EMERGENCY", forensics.LevelFatal},
}

// peelCloud removes "ERROR 2026-02-18T14:43:05.82Z [severity: ERROR] ", as the
// consoles of clouds export text: level, date, and fields in brackets. A level
// before a date without zone is a logger's own.
func (l *line) peelCloud() bool {
	lv, n := levelWord(l.text)
	if n == 0 {
		for _, c := range cloudLevels {
			if bytes.HasPrefix(l.text, []byte(c.word)) {
				lv, n = c.level, len(c.word)
			}
		}
	}
	if n == 0 || n+20 > len(l.text) || l.text[n] != ' ' {
		return false
	}
	st, used := dateTime(bytes.TrimLeft(l.text[n:], " "))
	if used == 0 {
		return false
	}
	rest := bytes.TrimLeft(l.text[n:], " ")[used:]
	if len(rest) > 0 && rest[0] != ' ' && rest[0] != '\t' {
		return false
	}
	rest = bytes.TrimLeft(rest, " \t")
	if st.Clock != forensics.ClockAbsolute {
		l.setStamp(st)
		l.level, l.style, l.text = lv, styleISO, rest
		return true
	}
	for len(rest) > 2 && rest[0] == '[' {
		end := bytes.Index(rest, []byte("]"))
		colon := bytes.Index(rest, []byte(": "))
		if end < 0 || colon < 0 || colon > end || end > 200 || bytes.IndexByte(rest[:colon], ' ') >= 0 {
			break
		}
		if key := rest[1:colon]; bytes.HasSuffix(key, []byte("pod_name")) || bytes.HasSuffix(key, []byte("podName")) {
			l.proc.Host = l.names.get(rest[colon+2 : end])
		}
		rest = trimOne(rest[end+1:])
	}
	l.setStamp(st)
	l.level, l.wrapped, l.text = lv, true, rest
	return true
}

// lokiLabels removes `{app="vllm", pod="vllm-0"} `, which logcli prints between
// the date and the line.
func (l *line) lokiLabels(rest []byte) []byte {
	if len(rest) < 8 || rest[0] != '{' {
		return rest
	}
	end := bytes.Index(rest, []byte("\"} "))
	if end < 0 || end > 600 || bytes.IndexByte(rest[:end], '=') < 0 || rest[1] == '"' {
		return rest
	}
	if pod := between(rest[:end+1], `pod="`, `"`); len(pod) > 0 {
		l.proc.Host = l.names.get(pod)
	}
	return bytes.TrimLeft(rest[end+3:], " ")
}
