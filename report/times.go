package report

import (
	"math"
	"strings"
	"time"
)

// timeLayout is the form of times in the document, on the run's axis.
const timeLayout = "2006-01-02T15:04:05.000"

// stampOf formats Unix nanoseconds on the run's axis, "" for the unknown time 0.
func stampOf(nanos int64) string {
	if nanos == 0 {
		return ""
	}
	return time.Unix(0, nanos).UTC().Format(timeLayout)
}

// parseTime reads a time of the document, and says whether it is one.
func parseTime(s string) (time.Time, bool) {
	t, err := time.Parse(timeLayout, s)
	return t, err == nil
}

// failureTime returns when the run failed, if it did and if the time is known.
func failureTime(doc *Document) (time.Time, bool) {
	if doc.Outcome != "failed" && doc.Outcome != "degraded" || doc.RootCause.Class == "ok" {
		return time.Time{}, false
	}
	return parseTime(doc.RootCause.Time)
}

// clockFace is how times are shown: the time of day alone if all that the report
// shows happened within one day.
type clockFace struct {
	day    string // the one day, "" if there are several or none
	oneDay bool
}

// faceOf looks at every time that a table shows.
func faceOf(doc *Document) clockFace {
	days := map[string]bool{}
	see := func(times ...string) {
		for _, s := range times {
			if _, ok := parseTime(s); ok {
				days[s[:len("2006-01-02")]] = true
			}
		}
	}
	see(doc.RootCause.Time)
	for _, s := range doc.Chain {
		see(s.Time)
	}
	for _, e := range doc.Timeline {
		see(e.Time)
	}
	for _, p := range doc.Points {
		see(p.Start, p.End)
	}
	f := clockFace{oneDay: len(days) <= 1}
	for d := range days {
		if f.oneDay {
			f.day = d
		}
	}
	return f
}

// show formats a time of the document for people. A time that is not of the
// document's form is shown as it is.
func (f clockFace) show(s string) string {
	if _, ok := parseTime(s); !ok {
		return s
	}
	s = strings.TrimSuffix(s, ".000")
	if f.oneDay {
		return s[len("2006-01-02T"):]
	}
	return strings.Replace(s, "T", " ", 1)
}

// span formats a duration for people, two units at most.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// seconds makes a duration of a number of seconds, 0 if it is not one.
func seconds(n Number) time.Duration {
	x := float64(n) * 1e9
	if !n.IsSet() || math.Abs(x) > math.MaxInt64/2 {
		return 0
	}
	return time.Duration(x)
}
