package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/llmforensics/forensics"
)

// maxBars is how many bars a terminal has room for.
const maxBars = 24

// textCharts draws throughput over the points and over time with characters.
func (m *markdown) textCharts() {
	for _, chart := range []string{m.barChart(), m.sparkline()} {
		if chart != "" {
			m.b.WriteString(m.e.fenced(chart, 0) + "\n")
		}
	}
}

// barChart is a bar for each point that has a place on the axis of the sweep.
func (m *markdown) barChart() string {
	cats, label := categories(m.doc)
	line := metricLine(cats, "output_throughput")
	if len(cats) < 2 || len(line.runs) == 0 {
		return ""
	}
	values := map[int]float64{}
	top, name := 0.0, 0
	for _, r := range line.runs {
		for _, xy := range r.mean {
			values[int(xy.X)] = xy.Y
			top = max(top, xy.Y)
		}
	}
	for _, c := range cats {
		name = max(name, utf8.RuneCountInString(c.name))
	}
	room := max(8, min(m.width-name-30, 60))
	var b strings.Builder
	fmt.Fprintf(&b, "Output throughput (tok/s) by %s", label)
	for i, c := range cats {
		if i == maxBars {
			fmt.Fprintf(&b, "\n%d more not drawn", len(cats)-i)
			break
		}
		fmt.Fprintf(&b, "\n%*s ", name, c.name)
		if v, ok := values[i]; ok {
			b.WriteString(bar(v/top, room) + " " + number(v))
		}
		for _, x := range crosses(cats[i:i+1], "") {
			b.WriteString(" × " + x.label)
		}
	}
	return b.String()
}

// bar is a bar of a length between 0 and 1, in eighths of a character.
func bar(share float64, room int) string {
	if !(share > 0) {
		return ""
	}
	eighths := max(1, int(math.Round(min(share, 1)*float64(room)*8)))
	s := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	return s
}

// sparkline is the server's throughput over time, summed over its ranks, with the
// moment of failure marked below.
func (m *markdown) sparkline() string {
	list := seriesOf(m.doc, forensics.ValGenThroughput)
	if len(list) == 0 {
		return ""
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range list {
		a, b := s.extent()
		lo, hi = min(lo, a), max(hi, b)
	}
	fail, failed := failureTime(m.doc)
	x, where := float64(fail.UnixMilli())/1000, ""
	if failed {
		lo, hi, where = reach(lo, hi, x)
	}
	room := max(10, min(m.width-10, 100))
	cells := spark(list, lo, hi, room)
	top := 0.0
	for _, v := range cells {
		if v > top {
			top = v
		}
	}
	layout := "15:04:05"
	if (&xAxis{min: lo, max: hi}).dated() {
		layout = "2006-01-02 15:04:05"
	}
	head := fmt.Sprintf("Generation throughput from %s to %s, at most %s tok/s",
		unixTime(lo).Format(layout), unixTime(hi).Format(layout), number(top))
	out := strings.Join(wrapRunes(head, m.width-8), "\n") + "\n" + sparkText(cells, top)
	if failed && where == "" && hi > lo {
		at := min(int((x-lo)/(hi-lo)*float64(room)), room-1)
		label := "failed " + fail.Format(layout)
		if at+2+len(label) > m.width-8 {
			out += "\n" + strings.Repeat(" ", max(0, at-len(label)-1)) + label + " ×"
		} else {
			out += "\n" + strings.Repeat(" ", at) + "× " + label
		}
	}
	return out
}

// spark spreads series over n cells: in each the mean over time of every series,
// added up. NaN is a gap.
func spark(list []*Series, lo, hi float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	for _, s := range list {
		sum, count := make([]float64, n), make([]float64, n)
		for _, r := range runsOf(s, 1) {
			for i, xy := range r.mean {
				from := int((xy.X - lo) / max(hi-lo, 1e-9) * float64(n))
				to := from
				if i+1 < len(r.mean) { // a sample holds until the next one of its run
					to = int((r.mean[i+1].X - lo) / max(hi-lo, 1e-9) * float64(n))
				}
				for c := min(from, n-1); c <= min(max(from, to-1), n-1); c++ {
					sum[c] += xy.Y
					count[c]++
				}
			}
		}
		for i := range out {
			if count[i] > 0 {
				if math.IsNaN(out[i]) {
					out[i] = 0
				}
				out[i] += sum[i] / count[i]
			}
		}
	}
	return out
}

func sparkText(cells []float64, top float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range cells {
		if math.IsNaN(v) {
			b.WriteByte(' ')
			continue
		}
		i := 0
		if top > 0 {
			i = int(math.Round(v / top * float64(len(levels)-1)))
		}
		b.WriteRune(levels[min(max(i, 0), len(levels)-1)])
	}
	return strings.TrimRight(b.String(), " ")
}
