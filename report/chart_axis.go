package report

import (
	"math"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// xAxis is the horizontal axis that all panels of a figure share.
type xAxis struct {
	min, max float64
	label    string
	// ticks chooses the ticks for a width, so that labels never touch.
	ticks func(a *xAxis, width vg.Length) []plot.Tick
}

// tickStyle is the text of tick labels.
func tickStyle() text.Style { return textStyle(7.5, colorInk, text.XCenter, text.YTop) }

// timeSteps are the distances between time ticks that people can count in.
var timeSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 28 * 24 * time.Hour, 364 * 24 * time.Hour,
}

// timeAxis is an axis in Unix seconds.
func timeAxis(lo, hi float64) *xAxis {
	a := &xAxis{min: lo, max: hi, ticks: timeTicks}
	a.label = "time of day, " + unixTime(lo).Format(time.DateOnly)
	if a.dated() {
		a.label = "time of day and date"
	}
	return a
}

// unixTime converts the seconds of a time axis, to the millisecond.
func unixTime(s float64) time.Time { return time.UnixMilli(int64(math.Round(s * 1000))).UTC() }

// dated reports whether a time axis touches more than one day.
func (a *xAxis) dated() bool {
	return unixTime(a.min).Format(time.DateOnly) != unixTime(a.max).Format(time.DateOnly)
}

// timeTicks labels round times as HH:MM:SS. When the axis touches several days,
// the date stands under the first label and under the first one of each day.
func timeTicks(a *xAxis, width vg.Length) []plot.Tick {
	span := time.Duration((a.max - a.min) * float64(time.Second))
	step := timeSteps[len(timeSteps)-1]
	layout := "15:04:05"
	for _, s := range timeSteps {
		l := "15:04:05"
		if s < time.Second {
			l = "15:04:05.000"
		}
		room := float64(tickStyle().Width(l)) + 16
		if float64(span)/float64(s)*room <= float64(width) {
			step, layout = s, l
			break
		}
	}
	var ticks []plot.Tick
	day := 0
	t := unixTime(a.min).Truncate(step)
	for ; t.UnixMilli() <= int64(a.max*1000) && len(ticks) < 200; t = t.Add(step) {
		x := float64(t.UnixMilli()) / 1000
		if x < a.min {
			continue
		}
		label := t.Format(layout)
		if a.dated() && t.YearDay() != day {
			label += "\n" + t.Format(time.DateOnly)
			day = t.YearDay()
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	return ticks
}

// categoryAxis puts names at equal distances, at 0, 1, 2 ...
func categoryAxis(names []string, label string) *xAxis {
	return &xAxis{min: -0.5, max: float64(len(names)) - 0.5, label: label,
		ticks: func(_ *xAxis, width vg.Length) []plot.Tick { return categoryTicks(names, width) }}
}

// categoryTicks labels every name if they fit, else every second, fifth, tenth...
func categoryTicks(names []string, width vg.Length) []plot.Tick {
	widest := vg.Length(0)
	for i, n := range names {
		names[i] = bound(n, 24)
		widest = max(widest, tickStyle().Width(names[i]))
	}
	each := 1
	for f := 0; float64(widest+8)*float64(len(names))/float64(each) > float64(width) && each < len(names); f++ {
		each *= []int{2, 5, 5}[f%3] // 1 2 10 50 100 500 ...
	}
	var ticks []plot.Tick
	for i := 0; i < len(names); i += each {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: names[i]})
	}
	return ticks
}

// niceTicks gives at most n ticks at round numbers from 0 to hi.
func niceTicks(hi float64, n int) []plot.Tick {
	if hi <= 0 || math.IsInf(hi, 0) || math.IsNaN(hi) {
		return []plot.Tick{{Value: 0, Label: "0"}}
	}
	step := math.Pow(10, math.Floor(math.Log10(hi/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if hi/(step*f) <= float64(n) {
			step *= f
			break
		}
	}
	var ticks []plot.Tick
	for i := 0; float64(i)*step <= hi*1.0001; i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: axisFigure(float64(i)*step, step)})
	}
	return ticks
}

// axisFigure writes a tick value with the decimals that its step needs.
func axisFigure(x, step float64) string {
	if step >= 1 {
		return group(trimZeros(formatFixed(x, 0)))
	}
	return formatFixed(x, int(math.Ceil(-math.Log10(step)-1e-9)))
}

// logTicks gives round numbers between lo and hi: 1, 2 and 5 times powers of ten,
// or the powers alone if that is enough.
func logTicks(lo, hi float64) []plot.Tick {
	factors := []float64{1, 2, 5}
	if hi/lo > 300 {
		factors = factors[:1]
	}
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, f := range factors {
			if x := f * math.Pow(10, e); x >= lo*0.999 && x <= hi*1.001 {
				ticks = append(ticks, plot.Tick{Value: x, Label: axisFigure(x, math.Pow(10, e))})
			}
		}
	}
	return ticks
}
