package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// wrappers is what a source has shown of the tools its lines went through. Some
// wrappers are only sure once a line with an unmistakable payload was seen.
type wrappers struct {
	srun  bool            // "0: " of srun --label
	pods  map[string]bool // "pod container " of stern
	json  []byte
	parts map[string]*part // messages under way that a runtime has split
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
	case c == '[':
		return l.peelPod()
	case c == '<':
		return l.peelPriority()
	case c >= '0' && c <= '9':
		return l.peelSrun() || l.peelCompose() || l.peelStern()
	case c >= 'A' && c <= 'Z':
		return l.peelCloud() || l.peelCompose() || l.peelStep()
	case isWordByte(c):
		return l.peelCompose() || l.peelStern() || l.peelStep()
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

// peelStamped handles what follows a date with zone at the start of a line:
// kubectl logs --timestamps, docker logs -t, CRI files and CI logs put one before
// lines that have their own prefix. It returns false for a logger's own date.
func (l *line) peelStamped(st forensics.Stamp, rest []byte) bool {
	if st.Clock != forensics.ClockAbsolute {
		return false
	}
	rest = l.lokiLabels(trimOne(rest))
	if l.wrap != nil && l.peelCRI(st, rest) {
		return true
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

// peelCRI reads what follows the date in a container's log file on a Kubernetes
// node: "stdout F msg". P marks a part of a message that goes on in the next
// line of the same stream.
func (l *line) peelCRI(st forensics.Stamp, rest []byte) bool {
	if len(rest) < 8 || rest[0] != 's' || rest[6] != ' ' || string(rest[:6]) != "stdout" && string(rest[:6]) != "stderr" {
		return false
	}
	tag, text := rest[7], rest[8:]
	if len(text) > 0 && text[0] == ':' { // further tags are reserved: "P:..."
		text = text[min(len(text), max(0, bytes.IndexByte(text, ' '))):]
	}
	if tag != 'F' && tag != 'P' || len(text) > 0 && text[0] != ' ' {
		return false
	}
	l.stamp, l.wrapped = st, true
	p := l.wrap.part(l.key + l.names.get(rest[:6]))
	if text = trimOne(text); tag == 'P' {
		p.hold(text, l)
		l.partial, l.text = true, nil
		return true
	}
	l.text, l.joined = p.join(text, l)
	return true
}

// peelPriority removes syslog's and dmesg --raw's "<6>", and the header of RFC
// 5424: "<165>1 2026-06-24T15:44:42.003Z host app 812 - - msg".
func (l *line) peelPriority() bool {
	b := l.text
	i := bytes.IndexByte(b[:min(len(b), 5)], '>')
	pri := digits(b, 1, i-1)
	if i < 2 || pri < 0 || i+2 >= len(b) {
		return false
	}
	rest := b[i+1:]
	if bytes.HasPrefix(rest, []byte("1 ")) {
		return l.peelSyslog5424(rest[2:], pri)
	}
	if _, n := syslogStamp(rest); n == 0 && rest[0] != '[' {
		return false
	}
	l.level, l.text = levelOfPriority(pri&7), rest
	return true
}

func (l *line) peelSyslog5424(b []byte, pri int) bool {
	st, n := dateTime(b)
	if n == 0 || n >= len(b) || b[n] != ' ' {
		return false
	}
	host, rest := cutWord(b[n:])
	app, rest := cutWord(rest)
	pid, rest := cutWord(rest)
	_, rest = cutWord(rest) // message id
	switch {
	case len(rest) == 0:
		return false
	case rest[0] == '-':
		rest = rest[1:]
	case rest[0] == '[':
		i := bytes.Index(rest, []byte("] "))
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	l.level = levelOfPriority(pri & 7)
	l.setStamp(st)
	l.setSyslog(l.names.get(host), l.names.get(app), max(digits(pid, 0, len(pid)), 0), trimOne(rest))
	return true
}

// peelStep removes "job\tstep\t2026-06-01T12:00:00.1234567Z " of `gh run view
// --log`, which puts job and step before the stamped lines of GitHub Actions.
func (l *line) peelStep() bool {
	head := l.text[:min(len(l.text), 200)]
	i := bytes.IndexByte(head, '\t')
	if i < 0 {
		return false
	}
	j := bytes.IndexByte(head[i+1:], '\t')
	if j < 0 {
		return false
	}
	rest := bytes.TrimPrefix(l.text[i+j+2:], []byte("\xef\xbb\xbf"))
	if st, n := dateTime(rest); n == 0 || st.Clock != forensics.ClockAbsolute {
		return false
	}
	l.addKey(l.text[:i+j+1])
	l.text = rest
	return true
}

// setStamp records the stamp of an inner layer, unless a wrapper gave one that
// says more. Then it is kept beside the wrapper's: their difference tells the
// zone of a logger that prints none.
func (l *line) setStamp(st forensics.Stamp) {
	switch {
	case l.stamp.Clock != forensics.ClockAbsolute:
		l.stamp = st
	case l.wrapped && l.inner.IsZero():
		l.inner = st
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
