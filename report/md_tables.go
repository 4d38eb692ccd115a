package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// pointName names a point by what was varied; i is its index, the last resort.
func pointName(p Point, i int) string {
	switch {
	case p.MaxConcurrency != nil:
		return "concurrency " + strconv.Itoa(*p.MaxConcurrency)
	case p.RequestRate != "" && p.RequestRate != "inf":
		return "rate " + string(p.RequestRate)
	case p.Label != "":
		return p.Label
	}
	return "#" + strconv.Itoa(i+1)
}

// sweepColumn is a column of the table of points. A column in which no point has
// a value is left out. The terminal has short heads.
type sweepColumn struct {
	head, short string
	right       bool
	cell        func(m *markdown, p *Point, i int) string // plain text; "" is no value
}

var sweepColumns = []sweepColumn{
	{"Point", "Point", false, func(_ *markdown, p *Point, i int) string {
		if p.MaxConcurrency != nil {
			return ""
		}
		return pointName(*p, i)
	}},
	{"Concurrency", "Conc", true, func(_ *markdown, p *Point, _ int) string { return count(p.MaxConcurrency) }},
	{"Rate req/s", "Rate", true, func(m *markdown, p *Point, _ int) string {
		if !m.ratesDiffer() {
			return ""
		}
		return string(p.RequestRate)
	}},
	{"Prompts", "Prompts", true, func(_ *markdown, p *Point, _ int) string { return count(p.NumPrompts) }},
	{"Status", "Status", false, func(_ *markdown, p *Point, _ int) string { return p.Status }},
	{"Completed", "Done", true, func(_ *markdown, p *Point, _ int) string { return count(p.Completed) }},
	{"Failed", "Failed", true, func(_ *markdown, p *Point, _ int) string { return count(p.Failed) }},
	metricColumn("Output tok/s", "tok/s", "output_throughput"),
	metricColumn("TTFT mean ms", "TTFT ms", "mean_ttft_ms"),
	metricColumn("TPOT mean ms", "TPOT ms", "mean_tpot_ms"),
	metricColumn("ITL mean ms", "ITL ms", "mean_itl_ms"),
}

func metricColumn(head, short, name string) sweepColumn {
	return sweepColumn{head, short, true, func(_ *markdown, p *Point, _ int) string {
		x, ok := p.Metrics[name]
		switch {
		case !ok:
			return ""
		case isNoData(p, x):
			return "no data"
		}
		return number(float64(x))
	}}
}

// isNoData tells a metric that says nothing: not a number, or the 0.00 that
// clients print when no request was served.
func isNoData(p *Point, x Number) bool {
	return !x.IsSet() || x == 0 && (p.Completed == nil || *p.Completed == 0)
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return number(float64(*n))
}

// ratesDiffer reports whether the request rate was varied; one rate for all
// points is said once, under the table.
func (m *markdown) ratesDiffer() bool {
	for _, p := range m.doc.Points {
		if p.RequestRate != m.doc.Points[0].RequestRate {
			return true
		}
	}
	return false
}

func (m *markdown) pointNote(p *Point) string {
	var notes []string
	if p.Status != "completed" && p.Why != "" {
		notes = append(notes, m.e.prose(p.Why))
	}
	if p.ExitStatus != nil && *p.ExitStatus != 0 {
		notes = append(notes, fmt.Sprintf("client exit status %d", *p.ExitStatus))
	}
	if p.Filtered != "" {
		notes = append(notes, "output cut by "+m.e.cell(p.Filtered))
	}
	if p.Status != "completed" && len(p.Evidence) > 0 {
		notes = append(notes, m.at(p.Evidence[len(p.Evidence)-1]))
	}
	return strings.Join(notes, "; ")
}

func (m *markdown) sweep() {
	points := m.doc.Points
	if len(points) == 0 {
		return
	}
	var head []string
	var right []bool
	rows := make([][]cell, len(points))
	for _, c := range sweepColumns {
		cells, used := m.column(c)
		if !used {
			continue
		}
		name := c.head
		if m.e.term {
			name = c.short
		}
		head, right = append(head, name), append(right, c.right)
		for i := range points {
			rows[i] = append(rows[i], cells[i])
		}
	}
	notes, noted := m.notes()
	if noted && !m.e.term {
		head, right = append(head, "Note"), append(right, false)
		for i := range points {
			rows[i] = append(rows[i], cell{md: orElse(notes[i], "-")})
		}
	}
	m.table(head, right, rows)
	if m.e.term {
		m.noteList(notes)
		m.textCharts()
	}
	if r := points[0].RequestRate; r != "" && !m.ratesDiffer() {
		m.printf("Request rate: %s for every point.\n\n", m.e.text(string(r)))
	}
	m.chart("sweep")
}

// column makes the cells of a column and says whether any has a value.
func (m *markdown) column(c sweepColumn) (cells []cell, used bool) {
	for i := range m.doc.Points {
		p := &m.doc.Points[i]
		s := c.cell(m, p, i)
		used = used || s != "" && s != "no data"
		x := m.textCell(orElse(s, "-"))
		if c.head == "Status" && s != "completed" {
			x.md = "**" + x.md + "**"
		}
		cells = append(cells, x)
	}
	return cells, used
}

func (m *markdown) notes() (notes []string, used bool) {
	for i := range m.doc.Points {
		notes = append(notes, m.pointNote(&m.doc.Points[i]))
		used = used || notes[i] != ""
	}
	return notes, used
}

// noteList puts the notes under the table, where lines can be wrapped.
func (m *markdown) noteList(notes []string) {
	for i, n := range notes {
		if n != "" {
			m.printf("- %s: %s\n", m.e.text(pointName(m.doc.Points[i], i)), n)
		}
	}
	m.printf("\n")
}

func (m *markdown) timeline() {
	if len(m.doc.Timeline) == 0 {
		return
	}
	if m.face.day != "" {
		m.printf("All times are of %s, on the clock of the run. A time after ≈ is taken from neighbouring lines.\n\n",
			m.face.day)
	}
	var rows [][]cell
	for _, e := range m.doc.Timeline {
		t := m.face.show(e.Time)
		if t != "" && e.Placed {
			t = "≈" + t
		}
		what := m.eventText(&e)
		if e.Count > 1 {
			what += fmt.Sprintf(" (%s times)", number(float64(e.Count)))
		}
		rows = append(rows, []cell{m.textCell(orElse(t, "?")), m.textCell(e.Process), {md: what}, {md: m.at(e.Evidence)}})
	}
	if m.e.term {
		m.timelineList(rows)
		return
	}
	m.table([]string{"Time", "Process", "What", "Where"}, make([]bool, 4), rows)
}

// eventText is our own words as prose and a log's words as code.
func (m *markdown) eventText(e *Event) string {
	s := bound(e.Text, 160)
	switch e.Kind {
	case "phase", "ready", "stop", "point-start", "point-end":
		return m.e.text(s)
	case "death":
		if ours, line, ok := strings.Cut(s, ": "); ok {
			return m.e.text(ours) + ": " + m.e.cell(line)
		}
	case "finding":
		if e.Class != "" && e.Text != e.Evidence.Text {
			return m.e.prose(s) + " (" + m.e.cell(e.Class) + ")"
		}
	}
	return m.e.cell(s)
}

// timelineList is the timeline for the terminal, where a table of four columns
// would leave a few characters for each.
func (m *markdown) timelineList(rows [][]cell) {
	for _, r := range rows {
		m.printf("- %s %s %s", r[0].md, r[3].md, r[2].md)
		if r[1].md != "" {
			m.printf(" (%s)", r[1].md)
		}
		m.printf("\n")
	}
}

func (m *markdown) gpuChart() { m.chart("gpu") }

func (m *markdown) sources() {
	if len(m.doc.Sources) == 0 {
		return
	}
	var rows [][]cell
	for i := range m.doc.Sources {
		s := &m.doc.Sources[i]
		understood := "-"
		if s.Lines > 0 {
			understood = fmt.Sprintf("%.0f %%", 100*float64(s.Understood)/float64(s.Lines))
		}
		rows = append(rows, []cell{
			m.codeCell(s.Path), m.textCell(s.Format), m.textCell(number(float64(s.Lines))),
			m.textCell(understood), m.textCell(number(float64(s.Damaged))),
		})
	}
	if m.doc.Truncated {
		m.printf("The record is larger than the limits of this report; repeated events were dropped.\n\n")
	}
	fold := len(rows) > 20 && !m.e.term
	if fold {
		m.printf("<details><summary>%d sources</summary>\n\n", len(rows))
	}
	m.table([]string{"File", "Format", "Lines", "Understood", "Damaged"}, []bool{false, false, true, true, true}, rows)
	if fold {
		m.printf("</details>\n\n")
	}
	for i := range m.doc.Sources {
		for j, n := range m.doc.Sources[i].Notes {
			if j == 3 {
				m.printf("- %s: %d more notes\n", m.e.code(n.File), len(m.doc.Sources[i].Notes)-j)
				break
			}
			m.printf("- %s: %s\n", m.at(n), m.e.text(n.Text))
		}
	}
}

// clocks lists the sources whose stamps are not exact.
func (m *markdown) clocks() {
	for i := range m.doc.Clocks {
		c := &m.doc.Clocks[i]
		exact := c.Kind == "absolute" || c.Kind == "local"
		if exact && c.OffsetS == 0 && c.UncertaintyS == 0 {
			continue
		}
		m.printf("- %s: %s", m.e.code(c.Source), clockWords[c.Kind])
		if c.OffsetS != 0 {
			m.printf(", shifted by %s", span(seconds(c.OffsetS)))
		}
		if c.UncertaintyS != 0 {
			m.printf(", ± %s", span(seconds(c.UncertaintyS)))
		}
		if c.How != "" {
			m.printf(" (%s)", m.e.prose(c.How))
		}
		m.printf("\n")
	}
}

var clockWords = map[string]string{
	"none": "no stamps", "absolute": "stamps with zone", "local": "stamps without zone",
	"yearless": "stamps without year", "uptime": "seconds since boot", "": "unknown clock",
}

func (m *markdown) footer() {
	t := &m.doc.Tool
	if t.Name == "" {
		return
	}
	m.trimEnd()
	m.printf("\n---\n\n%s %s, %s, on %s.\n", m.e.text(t.Name), m.e.text(t.Version),
		plural(t.Signatures, "signature"), plural(len(m.doc.Sources), "source"))
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](values map[string]V) []string {
	return slices.Sorted(maps.Keys(values))
}
