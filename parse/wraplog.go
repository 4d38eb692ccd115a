package parse

import (
	"bytes"
	"strings"
	"time"

	"github.com/llmforensics/forensics"
)

// maxNested is how many layers of structured logging are undone: a collector's
// object around a logger's object around a logger's line.
const maxNested = 3

// The fields of the objects that loggers and collectors write. Sources: zap,
// logrus, slog, zerolog, bunyan and pino (msg, level, ts or time), python-json-
// logger and structlog (message or event, levelname, asctime, exc_info), tracing-
// subscriber's JSON (fields), Elastic Common Schema (@timestamp, log.level),
// Fluent Bit and Fluentd (log), Google Cloud Logging (textPayload, jsonPayload,
// severity), CloudWatch (@message), Loki (line), Datadog (content).
var (
	logMessages = wordSet("message msg log textPayload @message line event MESSAGE body short_message")
	logTimes    = wordSet("timestamp time ts @timestamp asctime datetime date t receiveTimestamp eventTime")
	logLevels   = wordSet("level severity levelname lvl loglevel log_level log.level @level status")
	logErrors   = wordSet("exc_info exception stack_trace stacktrace stack traceback error err error.stack_trace exc_text")
	logNested   = wordSet("jsonPayload fields _source content attributes")
	logHosts    = wordSet("pod pod_name podName hostname host _HOSTNAME k8s.pod.name")
	logLoggers  = wordSet("logger name target module logger_name logging.logger")
)

// logRecord is what a line of structured logging says.
type logRecord struct {
	message, errText []byte // with escapes undone
	stamp            forensics.Stamp
	level            forensics.Level
	host, logger     string
	hasMessage       bool
	hasTime          bool
	hasLevel         bool
}

// ok reports whether the record is a line of a log: a result file's objects have
// no message, and an API's error has neither time nor level.
func (r *logRecord) ok() bool { return r.hasMessage && (r.hasTime || r.hasLevel) }

// structured reads a line that a logger or collector wrote as JSON or as logfmt,
// `time="..." level=error msg="..."`. depth is how many layers are undone
// already.
func (s *scan) structured(b []byte, depth int) (w jsonLine) {
	if depth >= maxNested || len(b) < 16 {
		return w
	}
	var r logRecord
	switch c := b[0]; {
	case c == '{':
		if !mayBeRecord(b) {
			return w
		}
		s.jsonRecord(b, &r, 0)
	case c == 't' || c == 'l' || c == 'm':
		if !isLogfmt(b) {
			return w
		}
		s.logfmtRecord(b, &r)
	default:
		return w
	}
	if !r.ok() {
		return w
	}
	w.ok, w.text = true, bytes.TrimRight(r.message, "\r\n ")
	if len(r.errText) > 0 && !bytes.Contains(w.text, r.errText) {
		sep := byte('\n')
		if bytes.IndexByte(r.errText, '\n') < 0 {
			w.text = append(w.text, ':')
			sep = ' '
		}
		w.text = append(append(w.text, sep), bytes.TrimRight(r.errText, "\r\n")...)
	}
	w.outer = line{stamp: r.stamp, level: r.level, wrapped: r.hasTime}
	w.outer.proc.Host = r.host
	w.outer.style = loggerStyle(r.logger, w.text)
	return w
}

// loggerStyle says whose line a message without a prefix is, by the logger's name.
func loggerStyle(logger string, text []byte) style {
	st := styleNone
	switch {
	case logger == "vllm" || strings.HasPrefix(logger, "vllm."):
		st = styleVLLM
	case logger == "sglang" || strings.HasPrefix(logger, "sglang."):
		st = styleSGLang
	default:
		return st
	}
	try := line{text: text}
	if try.peelOne() {
		return styleNone // it has its own prefix as well
	}
	return st
}

// mayBeRecord is the cheap test: every key of a message is followed by a string.
func mayBeRecord(b []byte) bool {
	if len(b) < 2 || b[1] != '"' && b[1] != ' ' {
		return false
	}
	head := b[:min(len(b), 8192)]
	for _, key := range [][]byte{[]byte(`essage"`), []byte(`msg"`), []byte(`"log"`), []byte(`Payload"`), []byte(`"line"`), []byte(`"event"`), []byte(`MESSAGE"`), []byte(`"body"`)} {
		if bytes.Contains(head, key) {
			return true
		}
	}
	return false
}

// jsonRecord fills the record from an object.
func (s *scan) jsonRecord(b []byte, r *logRecord, depth int) {
	jsonFields(b, func(key, value []byte, quoted bool) {
		k := string(key)
		switch {
		case logNested[k] && !quoted && len(value) > 1 && value[0] == '{' && depth < 2:
			s.jsonRecord(value, r, depth+1)
		case logMessages[k] && quoted && !r.hasMessage:
			r.message, _ = jsonText(value, nil)
			r.hasMessage = len(r.message) > 0
		case logErrors[k] && quoted && len(r.errText) == 0:
			r.errText, _ = jsonText(value, nil)
		default:
			r.field(s, k, bytes.TrimSuffix(value, []byte(`"`)))
		}
	})
}

// field takes what is neither message nor error.
func (r *logRecord) field(s *scan, key string, value []byte) {
	switch {
	case logTimes[key]:
		if st, ok := recordTime(value); ok && !r.hasTime {
			r.stamp, r.hasTime = st, true
		}
	case logLevels[key]:
		if lv, ok := recordLevel(value); ok && !r.hasLevel {
			r.level, r.hasLevel = lv, true
		}
	case logHosts[key]:
		r.host = s.names.get(value)
	case logLoggers[key] && r.logger == "":
		r.logger = s.names.get(value)
	}
}

// recordTime reads a date, or a number of seconds, milliseconds, microseconds or
// nanoseconds since the epoch.
func recordTime(v []byte) (forensics.Stamp, bool) {
	if st, n := dateTime(v); n > 0 {
		return st, true
	}
	whole, _, fraction := bytes.Cut(v, []byte("."))
	n := digits(whole, 0, len(whole))
	if n <= 0 || len(whole) > 19 {
		return forensics.Stamp{}, false
	}
	switch len(whole) {
	case 10:
		if fraction {
			if st, used := epochTime(append(bytes.Clone(v), "000"...)); used > 0 {
				return st, true
			}
		}
		return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(n) * 1e9, Res: time.Second}, true
	case 13:
		return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(n) * 1e6, Res: time.Millisecond}, true
	case 16:
		return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(n) * 1e3, Res: time.Microsecond}, true
	case 19:
		return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(n), Res: 1}, true
	}
	return forensics.Stamp{}, false
}

// recordLevel reads a level in any case, with the names of syslog and of Google
// Cloud, and the numbers of bunyan and pino.
func recordLevel(v []byte) (forensics.Level, bool) {
	var buf [16]byte
	switch string(lower(buf[:0], v[:min(len(v), 12)])) {
	case "info", "information", "notice", "i", "30", "default":
		return forensics.LevelInfo, true
	case "warn", "warning", "w", "40":
		return forensics.LevelWarning, true
	case "error", "err", "e", "50", "eror":
		return forensics.LevelError, true
	case "fatal", "critical", "crit", "panic", "dpanic", "alert", "emergency", "emerg", "f", "60":
		return forensics.LevelFatal, true
	case "debug", "trace", "d", "10", "20":
		return forensics.LevelDebug, true
	}
	return forensics.LevelNone, false
}

// logfmtStarts are the keys that a line of logfmt begins with.
var logfmtStarts = []string{"time=", "ts=", "t=", "timestamp=", "level=", "lvl=", "msg="}

// isLogfmt is the cheap test for logfmt.
func isLogfmt(b []byte) bool {
	return hasAnyPrefix(b, logfmtStarts) && (bytes.Contains(b, []byte(" msg=")) || bytes.HasPrefix(b, []byte("msg=")) || bytes.Contains(b, []byte(" message=")))
}

// logfmtRecord reads `time="2026-..." level=warning msg="..." error="..."`.
func (s *scan) logfmtRecord(b []byte, r *logRecord) {
	for range maxJSONFields {
		b = bytes.TrimLeft(b, " ")
		i := bytes.IndexByte(b, '=')
		if i <= 0 || bytes.IndexByte(b[:i], ' ') >= 0 {
			return
		}
		key := string(b[:i])
		b = b[i+1:]
		var value []byte
		if len(b) > 0 && b[0] == '"' {
			text, n := jsonText(b[1:], nil)
			if value = text; n < 0 {
				b = nil
			} else {
				b = b[1+n:]
			}
		} else {
			value, b, _ = bytes.Cut(b, []byte(" "))
		}
		switch {
		case (key == "msg" || key == "message") && !r.hasMessage:
			r.message, r.hasMessage = bytes.Clone(value), true
		case logErrors[key] && len(r.errText) == 0:
			r.errText = value
		default:
			r.field(s, key, value)
		}
	}
}

// inside undoes the structured logging that stands behind a wrapper's prefix:
// "vllm-1  | {...}", "2026-...Z stdout F time=... msg=...", and Fluentd's "date
// tag {...}". It reports whether it did.
func (s *scan) inside(l *line, raw []byte, depth int) (verdict int, done bool) {
	text := bytes.TrimLeft(l.text, "\t")
	if len(text) < 16 {
		return 0, false
	}
	if !l.stamp.IsZero() && text[0] != '{' {
		if i := bytes.Index(text[:min(len(text), 128)], []byte("\t{")); i > 0 && bytes.IndexByte(text[:i], ' ') < 0 {
			text = text[i+1:]
		}
	}
	if c := text[0]; c != '{' && c != 't' && c != 'l' && c != 'm' || l.style != styleNone && l.style != styleISO {
		return 0, false
	}
	w := s.structured(text, depth)
	if !w.ok {
		return 0, false
	}
	o := &w.outer
	o.pos, o.key, o.inner = l.pos, l.key, l.inner
	if host := o.proc.Host; host == "" {
		o.proc = l.proc
	}
	if l.stamp.Clock == forensics.ClockAbsolute {
		o.inner, o.stamp, o.wrapped = o.stamp, l.stamp, true
	} else if o.stamp.IsZero() {
		o.stamp = l.stamp
	}
	return s.nested(&w, raw, depth+1), true
}

// nested handles the message of a record, which may be a record again.
func (s *scan) nested(w *jsonLine, raw []byte, depth int) int {
	verdict := plainLine
	if len(w.text) == 0 {
		verdict = knownLine
	}
	many := bytes.IndexByte(w.text, '\n') >= 0
	for text := range bytes.SplitSeq(w.text, []byte("\n")) {
		chunks(bytes.TrimRight(text, "\r"), func(chunk []byte, _ int) {
			evidence := raw
			if many {
				evidence = nil
			}
			verdict = max(verdict, s.messageAt(chunk, evidence, &w.outer, depth))
		})
	}
	return verdict
}
