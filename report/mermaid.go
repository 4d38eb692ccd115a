package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/llmforensics/forensics"
)

// Mermaid's xychart has no number with an exponent, no gap in a line and no legend
// (https://mermaid.js.org/syntax/xyChart.html). So numbers are written out, a bar
// without a value is left out and named below the chart, and a gap in a line is
// drawn as zero and said to be one.

// maxMermaidBars and mermaidCells bound what a chart of some 700 pixels can show.
const (
	maxMermaidBars = 24
	mermaidCells   = 60
)

// mermaidText makes a text that may stand between double quotes in a diagram. It
// allows instead of escaping: the diagram's language has quotes without escapes,
// entities with "#" and ";", comments with "%%" and directives with "%%{", and the
// reader's version of it is not known.
func mermaidText(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,:()/+-_=°", r):
			return r
		}
		return ' '
	}, bound(clean(s), 80))
	return strings.ReplaceAll(strings.Join(strings.Fields(out), " "), "--", "-")
}

// mermaidNumber writes a number without an exponent.
func mermaidNumber(x float64) string {
	switch {
	case !(x > 0) || x > 1e15: // no quantity drawn here is below zero
		return "0"
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
}

// xyChart is one Mermaid chart.
type xyChart struct {
	title  string
	xTitle string
	names  []string // of bars; nil for a line over from..to
	from   float64
	to     float64
	yTitle string
	kind   string // "bar" or "line"
	values [][]float64
}

func (c *xyChart) String() string {
	top := 0.0
	for _, list := range c.values {
		for _, v := range list {
			if v > top && v <= 1e15 {
				top = v
			}
		}
	}
	if top == 0 {
		top = 1
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```mermaid\nxychart-beta\n    title \"%s\"\n", mermaidText(c.title))
	if c.names != nil {
		names := mapSlice(c.names, func(s string) string { return `"` + mermaidText(s) + `"` })
		fmt.Fprintf(&b, "    x-axis \"%s\" [%s]\n", mermaidText(c.xTitle), strings.Join(names, ", "))
	} else {
		fmt.Fprintf(&b, "    x-axis \"%s\" %s --> %s\n", mermaidText(c.xTitle), mermaidNumber(c.from), mermaidNumber(c.to))
	}
	fmt.Fprintf(&b, "    y-axis \"%s\" 0 --> %s\n", mermaidText(c.yTitle), mermaidNumber(math.Ceil(top)))
	for _, list := range c.values {
		fmt.Fprintf(&b, "    %s [%s]\n", c.kind, strings.Join(mapSlice(list, mermaidNumber), ", "))
	}
	b.WriteString("```\n")
	return b.String()
}

// mermaidSweep draws output throughput over what was varied, and names the points
// that have no value. It is empty if fewer than two have one.
func (m *markdown) mermaidSweep() string {
	cats, label := categories(m.doc)
	values := map[int]float64{}
	for _, r := range metricLine(cats, "output_throughput").runs {
		for _, xy := range r.mean {
			values[int(xy.X)] = xy.Y
		}
	}
	if len(values) < 2 {
		return ""
	}
	c := xyChart{title: "Output throughput", xTitle: label, yTitle: "tok/s", kind: "bar", names: []string{}, values: [][]float64{nil}}
	var without []string
	more := 0
	for i, cat := range cats {
		v, ok := values[i]
		switch {
		case !ok:
			if len(without) < maxMermaidBars {
				without = append(without, m.e.text(cat.name))
			}
		case len(c.names) == maxMermaidBars:
			more++
		default:
			c.names, c.values[0] = append(c.names, cat.name), append(c.values[0], v)
		}
	}
	out := c.String()
	if len(without) > 0 {
		out += "\nWithout a value and not drawn: " + strings.Join(without, ", ") + ".\n"
	}
	if more > 0 {
		out += fmt.Sprintf("\n%s more not drawn.\n", plural(more, "point"))
	}
	return out
}

// mermaidLoads are the quantities drawn over time, one chart each.
var mermaidLoads = []struct {
	title string
	names []string
	legend,
	unit string
}{
	{"Generation throughput", []string{forensics.ValGenThroughput}, "", "tok/s"},
	{"Requests in the server", []string{forensics.ValRunning, forensics.ValQueue}, "running, then queued", "requests"},
}

// mermaidLoad draws the server's load over time, each cell the mean of its time.
func (m *markdown) mermaidLoad() string {
	var b strings.Builder
	for _, l := range mermaidLoads {
		lo, hi, ok := m.loadSpan(l.names)
		if !ok {
			continue
		}
		c := xyChart{
			title: l.title, xTitle: "seconds since " + unixTime(lo).Format("2006-01-02 15:04:05"), to: hi - lo,
			yTitle: l.unit, kind: "line",
		}
		gaps := 0
		for _, name := range l.names {
			list := seriesOf(m.doc, name)
			if len(list) == 0 {
				continue
			}
			cells := spark(list, lo, hi, mermaidCells)
			gaps = max(gaps, countNaN(cells))
			c.values = append(c.values, cells)
		}
		if len(c.values) > 1 {
			c.title += " (" + l.legend + ")"
		}
		b.WriteString(c.String())
		if gaps > 0 {
			fmt.Fprintf(&b, "\nNo sample in %d of %d steps, drawn as 0.\n", gaps, mermaidCells)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func countNaN(cells []float64) int {
	n := 0
	for _, v := range cells {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}

// loadSpan is the time that series of these names cover, if it is worth a chart.
func (m *markdown) loadSpan(names []string) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, name := range names {
		for _, s := range seriesOf(m.doc, name) {
			a, b := s.extent()
			lo, hi = min(lo, a), max(hi, b)
		}
	}
	return lo, hi, hi > lo && hi-lo < 1e10
}

// sparkNames are the quantities of the block of sparklines.
var sparkNames = []string{
	forensics.ValGenThroughput, forensics.ValRunning, forensics.ValQueue, forensics.ValTokenUsage,
	forensics.ValGPUMemUsed, forensics.ValGPUPower, forensics.ValGPUUtil,
}

// sparkBlock shows several quantities over one time axis, added up over ranks and
// devices, in a code block.
func (m *markdown) sparkBlock() string {
	lo, hi, ok := m.loadSpan(sparkNames)
	if !ok {
		return ""
	}
	var rows []string
	for _, name := range sparkNames {
		list := seriesOf(m.doc, name)
		if len(list) == 0 {
			continue
		}
		cells, top := spark(list, lo, hi, mermaidCells), 0.0
		for _, v := range cells {
			if v > top {
				top = v
			}
		}
		u := UnitOf(name)
		what := u.Title
		if len(list) > 1 {
			what += fmt.Sprintf(" (%d added)", len(list))
		}
		line := sparkText(cells, top)
		pad := strings.Repeat(" ", max(0, mermaidCells-len([]rune(line))))
		rows = append(rows, fmt.Sprintf("%-32s %s%s  up to %s %s", what, line, pad, number(top), u.Unit))
	}
	if len(rows) == 0 {
		return ""
	}
	const layout = "2006-01-02 15:04:05"
	head := "From " + unixTime(lo).Format(layout) + " to " + unixTime(hi).Format(layout)
	if fail, failed := failureTime(m.doc); failed {
		head += ", failed " + fail.Format(layout)
	}
	return m.e.fenced(head+"\n"+strings.Join(rows, "\n"), 0)
}
