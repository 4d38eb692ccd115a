package parse

import (
	"bytes"
	"time"

	"github.com/llmforensics/forensics"
)

// style names the logger that printed a line's prefix.
type style uint8

const (
	styleNone    style = iota
	styleSGLang        // [2026-03-11 09:09:38 TP0] msg
	styleVLLM          // INFO 06-15 13:57:57 [core.py:517] msg
	styleUvicorn       // INFO:     msg
	styleC10           // [E1130 22:03:15.410365793 ProcessGroupNCCL.cpp:2119] msg
	styleGlog          // E0325 20:57:27.620000 2606 api.py:869] msg
	styleTRT           // [11/30/2026-22:03:15] [TRT-LLM] [I] msg
	styleNCCL          // host:pid:tid [dev] NCCL INFO msg
	styleRust          // 2026-01-02T03:04:05Z  INFO module: msg
	styleKernel        // dmesg or kernel journal
	styleSyslog        // Jun 24 15:44:42 host unit[pid]: msg
	styleISO           // a date in front of anything else
)

// line is one logical line on its way through the layers.
type line struct {
	pos forensics.Pos
	// raw is the line as evidence; text what is left behind the prefixes.
	raw, text []byte
	stamp     forensics.Stamp
	proc      forensics.Process
	level     forensics.Level
	style     style
	// loc is the source location the logger printed ("core.py:517").
	loc []byte
	// key is the process prefix that every line of a process carries
	// ("(EngineCore pid=3)", "[rank1]:"), "" for none.
	key string
	// wrapped is true when a container or scheduler wrapper stamped the line.
	wrapped bool
	// inner is the logger's own stamp behind a wrapper's with a zone.
	inner forensics.Stamp
	// partial marks a line that is a part of a message and was held back, joined
	// one whose text was put together from parts.
	partial, joined bool
	hits            []forensics.Hit
	damaged         bool
	// repeats is how often Ray says that the line was "repeated".
	repeats int
	// quoting is true for lines that repeat foreign text.
	quoting bool
	names   *interner
	wrap    *wrappers
}

// dated reports whether the line carries a stamp of its own logger.
func (l *line) dated() bool { return l.style != styleNone && l.style != styleUvicorn }

// peel removes the prefixes of loggers and launchers from l.text, outermost
// first, and records what they say: at most six.
func (l *line) peel() {
	for range 6 {
		if len(l.text) == 0 || !l.peelOne() {
			return
		}
	}
}

func (l *line) peelOne() bool {
	if l.style == styleNone && l.peelWrapper() {
		return true
	}
	switch c := l.text[0]; {
	case c == '[':
		return l.peelBracket()
	case c == '(':
		return l.peelParen()
	case c >= '0' && c <= '9':
		return l.peelDate()
	case c >= 'A' && c <= 'Z' && l.style == styleNone:
		return l.peelLevel() || l.peelGlog(l.text) || l.peelSyslog() || l.peelNCCL()
	case l.style == styleNone || l.style == styleSGLang:
		return l.peelNCCL()
	}
	return false
}

func (l *line) peelBracket() bool {
	b := l.text
	if l.style == styleNone {
		if st, n := dateTime(b[1:]); n > 0 {
			return l.peelSGLang(st, n+1)
		}
		if _, _, n := clockTime(b[1:]); n > 0 {
			// SGLang of 2024 printed no date.
			return l.peelSGLang(forensics.Stamp{}, n+1)
		}
		if l.peelDmesg() || l.peelTRT() {
			return true
		}
	}
	if l.peelRank() {
		return true
	}
	if l.style != styleC10 && len(b) > 8 && (b[1] == 'I' || b[1] == 'W' || b[1] == 'E' || b[1] == 'F') && (b[2] == ' ' || digits(b, 2, 1) >= 0) {
		return l.peelC10()
	}
	if rest, ok := bytes.CutPrefix(b, []byte("[Router (Rust)] ")); ok {
		l.proc.Role, l.text = forensics.RoleRouter, rest
		return true
	}
	return false
}

func trimOne(b []byte) []byte {
	if len(b) > 0 && b[0] == ' ' {
		return b[1:]
	}
	return b
}

// peelSGLang reads the rest of "[date RANKS] msg" behind the date.
func (l *line) peelSGLang(st forensics.Stamp, n int) bool {
	b := l.text
	i := bytes.IndexByte(b[n:], ']')
	if i < 0 || i > 60 {
		return false
	}
	ranks := bytes.TrimSpace(b[n : n+i])
	if !isRanks(ranks) {
		return false
	}
	rest := trimOne(b[n+i+1:])
	if len(ranks) == 0 && !st.IsZero() && l.isOuterStamp(rest) {
		l.setStamp(st)
		l.wrapped, l.text = true, rest
		return true
	}
	l.style = styleSGLang
	l.setStamp(st)
	l.proc.Rank = l.names.get(ranks)
	l.text = rest
	l.peelSGLangLevel()
	return true
}

// isOuterStamp reports whether a stamp in brackets is not SGLang's own but that
// of ts '[%F %T]', as what follows has a logger's prefix.
func (l *line) isOuterStamp(rest []byte) bool {
	if len(rest) < 20 {
		return false
	}
	switch c := rest[0]; {
	case c == '[':
		_, n := dateTime(rest[1:])
		return n > 0
	case c == '(':
		return bytes.Contains(rest[:min(len(rest), 60)], []byte(" pid="))
	case c >= 'A' && c <= 'Z':
		try := *l
		try.text = rest
		return try.peelLevel() && try.style == styleVLLM
	}
	return false
}

// peelSGLangLevel removes "WARNING server_args.py:1177: ", which some builds print.
// So are uvicorn's lines, "INFO:     ".
func (l *line) peelSGLangLevel() {
	lv, n := levelWord(l.text)
	if n > 0 && bytes.HasPrefix(l.text[n:], []byte(":  ")) {
		l.level, l.text = lv, bytes.TrimLeft(l.text[n+1:], " ")
		return
	}
	if n == 0 || n >= len(l.text) || l.text[n] != ' ' {
		return
	}
	rest := l.text[n+1:]
	i := bytes.Index(rest, []byte(": "))
	if i < 0 || !bytes.Contains(rest[:i], []byte(".py:")) || bytes.IndexByte(rest[:i], ' ') >= 0 {
		return
	}
	l.level, l.loc, l.text = lv, rest[:i], rest[i+2:]
}

var rankWords = [][]byte{[]byte("DP"), []byte("PP"), []byte("TP"), []byte("EP"), []byte("ATTN_CP"), []byte("MOE_DP"), []byte("CP")}

// isRanks accepts "", "TP0", "DP4 PP0 TP4" in any order.
func isRanks(b []byte) bool {
	for len(b) > 0 {
		word := b
		if i := bytes.IndexByte(b, ' '); i >= 0 {
			word, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		ok := false
		for _, w := range rankWords {
			if rest, has := bytes.CutPrefix(word, w); has && len(rest) > 0 && len(rest) < 6 && digits(rest, 0, len(rest)) >= 0 {
				ok = true
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

var levelWords = []struct {
	word  string
	level forensics.Level
}{
	{"INFO", forensics.LevelInfo}, {"WARNING", forensics.LevelWarning}, {"ERROR", forensics.LevelError},
	{"DEBUG", forensics.LevelDebug}, {"CRITICAL", forensics.LevelFatal}, {"WARN", forensics.LevelWarning},
	{"TRACE", forensics.LevelDebug}, {"FATAL", forensics.LevelFatal},
}

// levelWord reads a level at the start of b and returns its length.
func levelWord(b []byte) (forensics.Level, int) {
	for _, w := range levelWords {
		if len(b) >= len(w.word) && string(b[:len(w.word)]) == w.word &&
			(len(b) == len(w.word) || !isWordByte(b[len(w.word)])) {
			return w.level, len(w.word)
		}
	}
	return 0, 0
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// peelLevel reads vLLM's "INFO 06-15 13:57:57 [core.py:517] " (V0: no opening
// bracket) and uvicorn's "INFO:     ".
func (l *line) peelLevel() bool {
	lv, n := levelWord(l.text)
	if n == 0 {
		return false
	}
	b := l.text[n:]
	if bytes.HasPrefix(b, []byte(":  ")) {
		l.level, l.style, l.text = lv, styleUvicorn, bytes.TrimLeft(b[1:], " ")
		return true
	}
	if len(b) < 16 || b[0] != ' ' || b[3] != '-' || b[6] != ' ' {
		return false
	}
	st, used := yearlessStamp(digits(b, 1, 2), digits(b, 4, 2), b[7:])
	if used == 0 {
		return false
	}
	rest := trimOne(b[7+used:])
	i := bytes.IndexByte(rest, ']')
	if i < 0 || i > 120 {
		return false
	}
	loc := bytes.TrimPrefix(rest[:i], []byte("["))
	if bytes.IndexByte(loc, ':') < 0 {
		return false
	}
	l.level, l.style, l.loc = lv, styleVLLM, loc
	l.setStamp(st)
	l.text = trimOne(rest[i+1:])
	return true
}

// peelC10 reads torch's C++ logger: "[E1130 22:03:15.410365793 file.cpp:2119] ".
// The date is month*100+day without padding: the last two digits are the day.
func (l *line) peelC10() bool {
	b := l.text
	end := bytes.IndexByte(b, ']')
	if end < 0 || end > 120 {
		return false
	}
	if i := bytes.IndexByte(b, ' '); i > 0 && i < end {
		md := digits(b, 2, i-2)
		if st, n := yearlessStamp(md/100, md%100, b[i+1:]); md > 100 && n > 0 {
			l.setStamp(st)
			l.loc = bytes.TrimSpace(b[i+1+n : end])
		} else if !bytes.Contains(b[:end], []byte(".cpp:")) {
			return false
		} else {
			l.loc = b[i+1 : end]
		}
	}
	l.level, l.style = levelOfLetter(b[1]), styleC10
	l.text = trimOne(b[end+1:])
	return true
}

func levelOfLetter(c byte) forensics.Level {
	switch c {
	case 'W':
		return forensics.LevelWarning
	case 'E':
		return forensics.LevelError
	case 'F':
		return forensics.LevelFatal
	}
	return forensics.LevelInfo
}

// maxPID is the largest process id of a 64-bit Linux (PID_MAX_LIMIT).
const maxPID = 1 << 22

// peelGlog reads "E0325 20:57:27.620000 2606 site-packages/api.py:869] ".
func (l *line) peelGlog(b []byte) bool {
	if len(b) < 22 || bytes.IndexByte([]byte("IWEF"), b[0]) < 0 {
		return false
	}
	i := bytes.IndexByte(b[:12], ' ')
	if i != 5 && i != 9 {
		return false
	}
	st, n := yearlessStamp(digits(b, i-4, 2), digits(b, i-2, 2), b[i+1:])
	if n == 0 {
		return false
	}
	end := bytes.IndexByte(b, ']')
	if end < 0 || end > 200 {
		return false
	}
	if i == 9 {
		if d, ok := days(digits(b, 1, 4), digits(b, 5, 2), digits(b, 7, 2)); ok {
			st.Clock = forensics.ClockLocal
			st.Nanos = d*nsPerDay + st.Nanos%nsPerDay
		}
	}
	l.level, l.style = levelOfLetter(b[0]), styleGlog
	l.setStamp(st)
	rest := bytes.Fields(b[i+1+n : end])
	if len(rest) > 1 {
		// Old loggers print pthread's id, which is no process id.
		if pid := digits(rest[0], 0, len(rest[0])); pid > 0 && pid <= maxPID {
			l.proc.PID = pid
		}
	}
	if len(rest) > 0 {
		l.loc = rest[len(rest)-1]
	}
	l.text = trimOne(b[end+1:])
	return true
}

// peelDmesg reads "[   55.234205] " and "[Wed Mar 11 14:03:52 2026] ".
func (l *line) peelDmesg() bool {
	b := l.text
	end := bytes.IndexByte(b, ']')
	if end < 4 || end > 40 {
		return false
	}
	inner := bytes.TrimLeft(b[1:end], " ")
	if st, n := ctimeStamp(inner); n > 0 && n == len(inner) {
		l.setStamp(st)
	} else if dot := bytes.IndexByte(inner, '.'); dot > 0 && len(inner)-dot-1 == 6 {
		sec, frac := digits(inner, 0, dot), digits(inner, dot+1, 6)
		if sec < 0 || frac < 0 {
			return false
		}
		l.setStamp(forensics.Stamp{Clock: forensics.ClockUptime, Nanos: int64(sec)*1e9 + int64(frac)*1e3, Res: time.Microsecond})
	} else {
		return false
	}
	l.style, l.proc.Role = styleKernel, forensics.RoleKernel
	l.text = trimOne(b[end+1:])
	return true
}

// peelTRT reads "[MM/DD/YYYY-HH:MM:SS] [TRT-LLM] [RANK 1] [I] ".
func (l *line) peelTRT() bool {
	b := l.text
	if len(b) < 23 || b[3] != '/' || b[6] != '/' || b[11] != '-' {
		return false
	}
	day, ok := days(digits(b, 7, 4), digits(b, 1, 2), digits(b, 4, 2))
	ns, res, n := clockTime(b[12:])
	if !ok || n == 0 || 12+n >= len(b) || b[12+n] != ']' {
		return false
	}
	l.setStamp(forensics.Stamp{Clock: forensics.ClockLocal, Nanos: day*nsPerDay + ns, Res: res})
	l.style = styleTRT
	rest := trimOne(b[13+n:])
	for len(rest) > 0 && rest[0] == '[' {
		i := bytes.IndexByte(rest, ']')
		if i < 0 {
			break
		}
		tag := rest[1:i]
		switch {
		case len(tag) == 1:
			l.level = levelOfLetter(tag[0])
		case bytes.HasPrefix(tag, []byte("RANK ")):
			l.proc.Rank = "rank" + l.names.get(tag[5:])
		}
		rest = trimOne(rest[i+1:])
	}
	l.text = rest
	return true
}
