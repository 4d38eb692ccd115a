package report

import (
	"fmt"
	"slices"
	"strings"
)

// htmlTable is a table of points.
type htmlTable struct {
	Head []htmlCell
	Rows []htmlRow
	Note string
}

// htmlCell is a cell; Right sets it like a number.
type htmlCell struct {
	Text  string
	Right bool
	Bad   bool
}

type htmlRow struct {
	ID     string
	Cells  []htmlCell
	Notes  []string
	Places []htmlPlace
}

// HasNotes reports whether any row has something to say beside its values.
func (t htmlTable) HasNotes() bool {
	return slices.ContainsFunc(t.Rows, func(r htmlRow) bool { return len(r.Notes)+len(r.Places) > 0 })
}

// sweepTable has the columns of the Markdown report, with the same rule: a column
// without any value is left out.
func (p *htmlPage) sweepTable() htmlTable {
	var t htmlTable
	m := newMarkdown(p.Document, Options{})
	t.Rows = make([]htmlRow, len(p.Points))
	for i := range p.Points {
		t.Rows[i] = p.pointRow(i)
	}
	for _, c := range sweepColumns {
		texts := make([]string, len(p.Points))
		used := false
		for i := range p.Points {
			texts[i] = c.cell(m, &p.Points[i], i)
			used = used || texts[i] != "" && texts[i] != "no data"
		}
		if !used {
			continue
		}
		t.Head = append(t.Head, htmlCell{Text: c.head, Right: c.right})
		for i, s := range texts {
			bad := c.head == "Status" && s != "completed"
			t.Rows[i].Cells = append(t.Rows[i].Cells, htmlCell{orElse(s, "–"), c.right, bad})
		}
	}
	if len(p.Points) > 0 && p.Points[0].RequestRate != "" && !m.ratesDiffer() {
		t.Note = "Request rate: " + string(p.Points[0].RequestRate) + " for every point."
	}
	return t
}

// pointRow is what stands beside the values of a point. Points that completed
// need no evidence.
func (p *htmlPage) pointRow(i int) htmlRow {
	x := &p.Points[i]
	r := htmlRow{ID: fmt.Sprintf("point-%d", i+1)}
	bad := x.Status != "completed"
	if bad && x.Why != "" {
		r.Notes = append(r.Notes, x.Why)
	}
	if x.ExitStatus != nil && *x.ExitStatus != 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("client exit status %d", *x.ExitStatus))
	}
	if x.Filtered != "" {
		r.Notes = append(r.Notes, "output cut by `"+x.Filtered+"`")
	}
	if n := len(x.Evidence); bad && n > 0 {
		r.Places = p.index.cite(r.ID, fmt.Sprintf("point %d", i+1), x.Evidence[n-1])
	}
	return r
}

// maxMetricColumns is how many points the table of all metrics has room for.
const maxMetricColumns = 24

// metricTable has a row for each metric that any point printed and a column for
// each point.
func metricTable(doc *Document) htmlTable {
	if len(doc.Points) == 0 || len(doc.Points) > maxMetricColumns {
		return htmlTable{}
	}
	t := htmlTable{Head: []htmlCell{{Text: "Metric"}}}
	names := map[string]bool{}
	for i := range doc.Points {
		t.Head = append(t.Head, htmlCell{Text: pointName(doc.Points[i], i), Right: true})
		for k, x := range doc.Points[i].Metrics {
			names[k] = names[k] || !isNoData(&doc.Points[i], x)
		}
	}
	for _, k := range sortedKeys(names) {
		if !names[k] {
			continue
		}
		u := UnitOf(k)
		name := u.Title
		if u.Unit != "" && !strings.HasSuffix(name, u.Unit) {
			name += " (" + u.Unit + ")"
		}
		row := htmlRow{Cells: []htmlCell{{Text: name}}}
		for i := range doc.Points {
			text := "–"
			if x, ok := doc.Points[i].Metrics[k]; ok {
				if text = number(float64(x)); isNoData(&doc.Points[i], x) {
					text = "no data"
				}
			}
			row.Cells = append(row.Cells, htmlCell{Text: text, Right: true})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// htmlSource is a row of the table of sources.
type htmlSource struct {
	Source
	Share  string // of lines understood
	Remark []htmlPlace
	More   int // notes that are not shown
}

// maxNotesShown is how many notes on a source a reader needs to see the pattern.
const maxNotesShown = 3

func (p *htmlPage) sources() {
	for _, s := range p.Document.Sources {
		h := htmlSource{Source: s, Share: "–"}
		if s.Lines > 0 {
			h.Share = fmt.Sprintf("%.0f %%", 100*float64(s.Understood)/float64(s.Lines))
		}
		for _, n := range s.Notes[:min(len(s.Notes), maxNotesShown)] {
			h.Remark = append(h.Remark, htmlPlace{At: placeText(n), Text: n.Text})
		}
		h.More = len(s.Notes) - len(h.Remark)
		p.Inputs = append(p.Inputs, h)
	}
	for i := range p.Clocks {
		if s := clockText(&p.Clocks[i]); s != "" {
			p.Inexact = append(p.Inexact, s)
		}
	}
}

// clockText says how the stamps of a source were placed, if they are not exact.
func clockText(c *Clock) string {
	exact := c.Kind == "absolute" || c.Kind == "local"
	if exact && c.OffsetS == 0 && c.UncertaintyS == 0 {
		return ""
	}
	s := "`" + strings.ReplaceAll(c.Source, "`", "'") + "`: " + clockWords[c.Kind]
	if c.OffsetS != 0 {
		s += ", shifted by " + span(seconds(c.OffsetS))
	}
	if c.UncertaintyS != 0 {
		s += ", ± " + span(seconds(c.UncertaintyS))
	}
	if c.How != "" {
		s += " (" + c.How + ")"
	}
	return s
}

// HasRemarks reports whether there is a note on any source.
func (p *htmlPage) HasRemarks() bool {
	return slices.ContainsFunc(p.Inputs, func(s htmlSource) bool { return len(s.Remark) > 0 })
}
