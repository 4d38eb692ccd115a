package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// shellFact is a line that tells of the machine, known by its beginning. key is
// the name of the fact, "" for lines that are understood and not kept.
type shellFact struct{ prefix, key string }

var shellFacts = []shellFact{
	{"curl: (", "curl"},
	{"nohup: ignoring input", ""},
	{"Script started on ", "script"},
	{"Script done on ", "script"},
	{"Error response from daemon: ", "docker_error"},
	{"docker: Error response from daemon: ", "docker_error"},
	{"Filesystem ", ""},
	{"logout", ""},
	{"Connection to ", ""},
}

// fact reads curl's errors, Docker's, and rows of df, free and ls.
func (r *shell) fact(t []byte, l *line, s *scan) int {
	for _, f := range shellFacts {
		if t[0] != f.prefix[0] || !bytes.HasPrefix(t, []byte(f.prefix)) {
			continue
		}
		if f.key == "" {
			return s.quiet(l, 1)
		}
		rest := t[len(f.prefix):]
		if f.key == "script" {
			return scriptMark(rest, l, s)
		}
		if f.key == "curl" {
			rest = t[len("curl: "):]
		}
		e := s.event(l, forensics.KindEnv)
		put(e, f.key, view(rest))
		s.emit(e)
		return 10
	}
	switch c := t[0]; {
	case c == 'M' && bytes.HasPrefix(t, []byte("Mem: ")):
		return memoryRow(t, l, s)
	case c == 'S' && bytes.HasPrefix(t, []byte("Swap: ")) && len(bytes.Fields(t)) == 4, isFreeHead(t):
		return s.quiet(l, 3)
	case c == '-' || c == 'd' || c == 'l':
		if isMode(t) {
			return s.quiet(l, 3)
		}
		fallthrough
	case c == '/' || c == 's' || c == 't' || c == 'o':
		return diskRow(t, l, s)
	}
	return 0
}

// scriptMark reads the first and last line of script(1), which hold the date and
// what became of the command: [COMMAND_EXIT_CODE="1"].
func scriptMark(rest []byte, l *line, s *scan) int {
	e := s.event(l, forensics.KindMark)
	st, n := dateTime(rest)
	if n == 0 {
		st, n = ctimeStamp(rest)
	}
	if n > 0 && e.Stamp.IsZero() {
		e.Stamp, s.stamp = st, st
	}
	if code := between(rest, `COMMAND_EXIT_CODE="`, `"`); putCode(e, code) {
		e.Kind = forensics.KindExit
	} else if e.Stamp.IsZero() {
		return s.quiet(l, 3)
	}
	s.emit(e)
	return 10
}

// isMode accepts a row of ls -l: "-rw-r--r-- 1 user group 66 Feb  3 14:20 name".
func isMode(t []byte) bool {
	mode, rest := cutWord(t)
	if len(mode) < 10 || len(mode) > 11 {
		return false
	}
	for _, c := range mode[1:10] {
		if bytes.IndexByte([]byte("rwxsStT-"), c) < 0 {
			return false
		}
	}
	n, _ := cutWord(rest)
	return len(n) > 0 && digits(n, 0, len(n)) >= 0
}

func isFreeHead(t []byte) bool {
	f := bytes.Fields(t[:min(len(t), 120)])
	return len(f) == 6 && string(f[0]) == "total" && string(f[1]) == "used" && string(f[2]) == "free"
}

// memoryRow reads free's "Mem: 2015Gi 1200Gi 100Gi 3.0Gi 700Gi 800Gi": total,
// used, free, shared, cache, available.
func memoryRow(t []byte, l *line, s *scan) int {
	f := bytes.Fields(t)
	if len(f) != 7 {
		return 0
	}
	for _, w := range f[1:] {
		if w[0] < '0' || w[0] > '9' {
			return 0
		}
	}
	e := s.event(l, forensics.KindEnv)
	put(e, "memory_total", view(f[1]))
	put(e, "memory_used", view(f[2]))
	put(e, "memory_available", view(f[6]))
	s.emit(e)
	return 10
}

// diskRow reads a row of df: "shm  64M  60M  4.1M  94% /dev/shm".
func diskRow(t []byte, l *line, s *scan) int {
	p := bytes.Index(t, []byte("% /"))
	if p < 0 || len(t) > 200 {
		return 0
	}
	f := bytes.Fields(t)
	if len(f) != 6 || f[4][len(f[4])-1] != '%' {
		return 0
	}
	for _, w := range f[1:5] {
		if w[0] != '-' && (w[0] < '0' || w[0] > '9') {
			return 0
		}
	}
	e := s.event(l, forensics.KindEnv)
	put(e, "disk_used:"+string(f[5]), string(f[4])+" of "+string(f[1]))
	s.emit(e)
	return 10
}

// date reads the output of date(1): "Mon Nov 30 22:27:23 UTC 2026" and "Mon 30
// Nov 2026 10:27:23 PM UTC".
func (r *shell) date(t []byte, l *line, s *scan) int {
	if len(t) < 24 || len(t) > 40 || l.style != styleNone || t[3] != ' ' || !isWeekday(t[:3]) {
		return 0
	}
	st, n := ctimeStamp(t)
	if n != len(t) {
		if st, n = dateStamp(t); n != len(t) {
			return 0
		}
	}
	s.stamp = st
	e := s.event(l, forensics.KindMark)
	e.Stamp = st
	s.emit(e)
	return 3
}

func isWeekday(b []byte) bool {
	switch string(b) {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// dateStamp reads the form of date(1) in locales with a 12-hour clock, and the
// 24-hour one of en_GB: "Mon 30 Nov 22:27:23 UTC 2026".
func dateStamp(t []byte) (forensics.Stamp, int) {
	f := bytes.Fields(t)
	if len(f) < 5 {
		return forensics.Stamp{}, 0
	}
	month := monthNames[string(f[2])]
	day := digits(f[1], 0, len(f[1]))
	year, clock, zone := f[3], f[4], []byte(nil)
	rest := f[5:]
	if bytes.IndexByte(f[3], ':') > 0 { // time before the year
		clock, year = f[3], f[len(f)-1]
		rest = f[4 : len(f)-1]
	}
	half := -1
	for _, w := range rest {
		switch string(w) {
		case "AM":
			half = 0
		case "PM":
			half = 12
		default:
			zone = w
		}
	}
	if len(clock) == 7 {
		clock = append([]byte("0"), clock...)
	}
	d, ok := days(digits(year, 0, len(year)), month, day)
	ns, res, n := clockTime(clock)
	if !ok || n != len(clock) || len(year) != 4 {
		return forensics.Stamp{}, 0
	}
	if half >= 0 {
		const hour = int64(3600e9)
		ns = ns%(12*hour) + int64(half)*hour
	}
	st := forensics.Stamp{Clock: forensics.ClockLocal, Nanos: d*nsPerDay + ns, Res: res}
	if z := string(zone); z == "UTC" || z == "GMT" {
		st.Clock = forensics.ClockAbsolute
	}
	return st, len(t)
}
