package parse

import (
	"time"

	"github.com/llmforensics/forensics"
)

// yearless is the year given to stamps that print none: a leap year.
const yearless = 1972

// digits reads n decimal digits at b[i:], or returns -1.
func digits(b []byte, i, n int) int {
	if i < 0 || n < 0 || i+n > len(b) {
		return -1
	}
	v := 0
	for _, c := range b[i : i+n] {
		if c < '0' || c > '9' {
			return -1
		}
		v = v*10 + int(c-'0')
	}
	return v
}

// clockTime reads "HH:MM:SS" with an optional fraction behind '.' or ','. It
// returns nanoseconds since midnight, the resolution and the bytes used, or n 0.
func clockTime(b []byte) (ns int64, res time.Duration, n int) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return 0, 0, 0
	}
	h, m, s := digits(b, 0, 2), digits(b, 3, 2), digits(b, 6, 2)
	if h < 0 || m < 0 || s < 0 || h > 23 || m > 59 || s > 60 {
		return 0, 0, 0
	}
	ns = int64(h*3600+m*60+s) * int64(time.Second)
	res, n = time.Second, 8
	if n < len(b) && (b[n] == '.' || b[n] == ',') {
		unit := int64(time.Second)
		i := n + 1
		for ; i < len(b) && i <= n+9 && b[i] >= '0' && b[i] <= '9'; i++ {
			unit /= 10
			ns += int64(b[i]-'0') * unit
		}
		if i > n+1 {
			res, n = time.Duration(max(unit, 1)), i
		}
	}
	return ns, res, n
}

// days returns the days since the epoch of a civil date, and whether it exists.
func days(y, m, d int) (int64, bool) {
	if y < 1970 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	// Howard Hinnant's days_from_civil.
	yy := int64(y)
	if m <= 2 {
		yy--
	}
	era := yy / 400
	yoe := yy - era*400
	mp := int64((m + 9) % 12)
	doy := (153*mp+2)/5 + int64(d) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468, true
}

const nsPerDay = int64(24 * time.Hour)

// dateTime reads "2006-01-02 15:04:05[.fraction][zone]" with '-' or '/' in the
// date and ' ', 'T' or '_' between date and time. It returns the bytes used.
func dateTime(b []byte) (forensics.Stamp, int) {
	if len(b) < 19 || b[4] != b[7] || (b[4] != '-' && b[4] != '/') || (b[10] != ' ' && b[10] != 'T' && b[10] != '_') {
		return forensics.Stamp{}, 0
	}
	day, ok := days(digits(b, 0, 4), digits(b, 5, 2), digits(b, 8, 2))
	if !ok {
		return forensics.Stamp{}, 0
	}
	ns, res, n := clockTime(b[11:])
	if n == 0 {
		return forensics.Stamp{}, 0
	}
	st := forensics.Stamp{Clock: forensics.ClockLocal, Nanos: day*nsPerDay + ns, Res: res}
	n += 11
	if off, used := zone(b[n:]); used > 0 {
		st.Clock = forensics.ClockAbsolute
		st.Nanos -= int64(off)
		n += used
	}
	return st, n
}

// epochTime reads seconds since the epoch with a fraction, as journalctl -o
// short-unix and ts %.s print them: "1750779882.123456".
func epochTime(b []byte) (forensics.Stamp, int) {
	if len(b) < 14 || b[10] != '.' {
		return forensics.Stamp{}, 0
	}
	sec, n := digits(b, 0, 10), 11
	if sec < 1e9 {
		return forensics.Stamp{}, 0
	}
	ns, unit := int64(0), int64(time.Second)
	for ; n < len(b) && n < 20 && b[n] >= '0' && b[n] <= '9'; n++ {
		unit /= 10
		ns += int64(b[n]-'0') * unit
	}
	if n < 14 {
		return forensics.Stamp{}, 0
	}
	return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(sec)*int64(time.Second) + ns, Res: time.Duration(max(unit, 1))}, n
}

// zone reads "Z", "+00:00" or "+0000".
func zone(b []byte) (time.Duration, int) {
	if len(b) == 0 {
		return 0, 0
	}
	if b[0] == 'Z' {
		return 0, 1
	}
	if b[0] != '+' && b[0] != '-' {
		return 0, 0
	}
	h, m, n := digits(b, 1, 2), digits(b, 3, 2), 5
	if len(b) > 3 && b[3] == ':' {
		m, n = digits(b, 4, 2), 6
	}
	if h < 0 || m < 0 || h > 15 || m > 59 {
		return 0, 0
	}
	off := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if b[0] == '-' {
		off = -off
	}
	return off, n
}

var monthNames = map[string]int{
	"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6,
	"Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12,
}

// yearlessStamp builds a stamp from month, day and clock time.
func yearlessStamp(month, day int, clock []byte) (forensics.Stamp, int) {
	d, ok := days(yearless, month, day)
	if !ok {
		return forensics.Stamp{}, 0
	}
	ns, res, n := clockTime(clock)
	if n == 0 {
		return forensics.Stamp{}, 0
	}
	return forensics.Stamp{Clock: forensics.ClockYearless, Nanos: d*nsPerDay + ns, Res: res}, n
}

// syslogStamp reads "Jun 24 15:44:42" with a day padded by zero or space.
func syslogStamp(b []byte) (forensics.Stamp, int) {
	if len(b) < 15 || b[3] != ' ' || b[6] != ' ' {
		return forensics.Stamp{}, 0
	}
	month, ok := monthNames[string(b[:3])]
	if !ok {
		return forensics.Stamp{}, 0
	}
	day := digits(b, 4, 2)
	if b[4] == ' ' {
		day = digits(b, 5, 1)
	}
	st, n := yearlessStamp(month, day, b[7:])
	if n == 0 {
		return st, 0
	}
	return st, 7 + n
}

// ctimeStamp reads "Wed Jun 24 15:44:42 2026", as dmesg -T, date and nvidia-smi
// print it; date puts a zone name before the year.
func ctimeStamp(b []byte) (forensics.Stamp, int) {
	if len(b) < 24 || b[3] != ' ' {
		return forensics.Stamp{}, 0
	}
	st, n := syslogStamp(b[4:])
	if n == 0 {
		return st, 0
	}
	n += 4
	i := n + 1
	utc := false
	if i < len(b) && b[i] >= 'A' && b[i] <= 'Z' {
		j := i
		for j < len(b) && b[j] != ' ' {
			j++
		}
		utc = string(b[i:j]) == "UTC" || string(b[i:j]) == "GMT"
		i = j + 1
	}
	y := digits(b, i, 4)
	month := monthNames[string(b[4:7])]
	day := digits(b, 8, 2)
	if b[8] == ' ' {
		day = digits(b, 9, 1)
	}
	d, ok := days(y, month, day)
	if !ok {
		return forensics.Stamp{}, 0
	}
	st.Clock = forensics.ClockLocal
	if utc {
		st.Clock = forensics.ClockAbsolute
	}
	st.Nanos = d*nsPerDay + ((st.Nanos%nsPerDay)+nsPerDay)%nsPerDay
	return st, i + 4
}
