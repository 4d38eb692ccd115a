package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

const (
	// maxTableGap is how many lines of other writers may stand within a table:
	// standard error is often merged in.
	maxTableGap = 12
	// maxTableLines is the distance from one row to the next beyond which they
	// are not of one table.
	maxTableLines = 60
	maxTableRows  = 200
)

// quotedRows are the rows that prove how a run ended.
var quotedRows = map[string]bool{"completed": true, "failed": true, "output_throughput": true, "request_throughput": true}

// benchTable is a summary table under way. Its strings are copies.
type benchTable struct {
	open   bool
	fenced bool // the opening fence was seen
	strong bool
	rows   int
	gap    int // foreign lines since the last row
	first  forensics.Event
	last   int // number of the last line that belongs to it
	values []forensics.Value
	params []forensics.Attr
	quotes []forensics.Quote
}

// tableLine offers a line to the table under way, or begins one. It returns 0 if
// the line is no part of a table.
func (b *bench) tableLine(t []byte, l *line, s *scan) int {
	tb := &b.table
	if tb.open && l.pos.Line-tb.last > maxTableLines {
		b.closeTable(s, false)
	}
	switch benchFence(t) {
	case openFence:
		b.closeTable(s, false)
		b.openTable(l, s)
		tb.fenced = true
		return b.claim(l, s, 10)
	case closeFence:
		if !tb.open {
			return 0
		}
		tb.last = l.pos.Line
		b.closeTable(s, true)
		return b.claim(l, s, 3)
	case innerFence, sectionHeader:
		if tb.open {
			tb.touch(l, s)
		}
		return b.claim(l, s, 3)
	}
	if row, id, value := benchRow(t); row != nil {
		return b.row(row, id, value, l, s)
	}
	if !tb.open {
		return 0
	}
	if tb.fenced && isUnknownRow(t) {
		tb.touch(l, s)
		return b.claim(l, s, 3)
	}
	if tb.gap++; tb.gap > maxTableGap || !tb.fenced && tb.gap > 2 {
		b.closeTable(s, false)
	}
	return 0
}

// isUnknownRow reports whether a line within the fences has the shape of a row:
// later versions print labels that this table does not know.
func isUnknownRow(t []byte) bool {
	i := bytes.Index(t, []byte(": "))
	if i < 2 || i > 60 {
		return false
	}
	v := bytes.TrimLeft(t[i+1:], " ")
	return len(v) > 0 && len(v) < 32 && (v[0] >= '0' && v[0] <= '9' || string(v) == "nan" || string(v) == "N/A" || string(v) == "inf")
}

func (tb *benchTable) touch(l *line, s *scan) {
	tb.last, tb.gap = l.pos.Line, 0
	s.own()
}

// row adds a row, and begins a table where the label alone tells enough.
func (b *bench) row(row *benchLabel, id string, value []byte, l *line, s *scan) int {
	tb := &b.table
	if tb.open && !tb.fenced && tb.has(id) || tb.rows >= maxTableRows {
		// The same row again: the next run's table, its fences filtered away.
		b.closeTable(s, false)
	}
	if !tb.open {
		if !b.mayOpen(row, id, s) {
			return 0
		}
		b.openTable(l, s)
	}
	tb.touch(l, s)
	tb.rows++
	if i := bytes.IndexByte(value, ' '); i > 0 && row.kind != rowParam {
		value = value[:i] // "1.23 requests/s" of early 2024
	}
	switch {
	case row.kind == rowParam:
		if v := string(value); v != "not set" && v != "" && v != "None" {
			if i := strings.IndexByte(v, ' '); i > 0 {
				v = v[:i] // "1.0 (Poisson process)"
			}
			tb.params = append(tb.params, forensics.Attr{Key: id, Value: v})
		}
	default:
		if x, err := strconv.ParseFloat(strings.TrimSuffix(string(value), "%"), 64); err == nil && !tb.has(id) {
			tb.values = append(tb.values, forensics.Value{Name: id, X: x})
			tb.strong = tb.strong || row.kind == rowStrong
			if quotedRows[id] {
				tb.quotes = append(tb.quotes, forensics.Quote{Pos: l.pos, Text: string(l.raw)})
			}
		}
	}
	if row.kind == rowWeak {
		return b.claim(l, s, 1)
	}
	return b.claim(l, s, 3)
}

// mayOpen reports whether a table may begin with this row.
func (b *bench) mayOpen(row *benchLabel, id string, s *scan) bool {
	switch row.kind {
	case rowStrong:
		return true
	case rowWeak:
		return b.stage > 0 || s.role != forensics.RoleServer
	case rowParam:
		return b.stage > 0 || id != "backend"
	}
	return false
}

func (tb *benchTable) has(id string) bool {
	for i := range tb.values {
		if tb.values[i].Name == id {
			return true
		}
	}
	for i := range tb.params {
		if tb.params[i].Key == id {
			return true
		}
	}
	return false
}

func (b *bench) openTable(l *line, s *scan) {
	b.flushPlanned(s)
	b.table = benchTable{open: true, last: l.pos.Line, values: b.table.values[:0], params: b.table.params[:0]}
	b.table.first = *s.event(l, forensics.KindBench).Clone()
	b.table.first.Hits = nil
	s.own()
}

// closeTable ends the table and emits its result; fenced tells that the closing
// fence was seen. Rows that prove nothing are dropped, but parameters among them
// are kept for the run: vLLM prints those before it begins.
func (b *bench) closeTable(s *scan, fenced bool) {
	tb := &b.table
	if !tb.open {
		return
	}
	tb.open = false
	if len(tb.values) == 0 || !tb.fenced && !tb.strong && tb.rows < 2 {
		for _, p := range tb.params {
			b.run.set(p.Key, p.Value)
		}
		return
	}
	b.enter(stageResult)
	e := tb.first
	e.Lines = tb.last - e.Pos.Line + 1
	e.Attrs = append(b.attrs(forensics.StepResult), tb.params...)
	for _, p := range b.run.params {
		if !tb.has(p.Key) {
			e.Attrs = append(e.Attrs, p)
		}
	}
	if tb.has("batch_size") && b.run.get("client") == "" {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "client", Value: "sglang.bench_one_batch_server"})
	}
	if cut := tb.cut(fenced); cut != "" {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "cut", Value: cut})
	}
	e.Values = tb.values
	e.Quotes = tb.quotes
	b.emit(&e, s)
}

func (tb *benchTable) cut(closed bool) string {
	switch {
	case tb.fenced && closed:
		return ""
	case tb.fenced:
		return "tail"
	case closed:
		return "head"
	}
	return "both"
}
