package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// htmlLine is a line of a file that something in the report rests on.
type htmlLine struct {
	ID   string // of the element that quotes it
	File string
	Line int
	Text string
	Uses []htmlUse
}

// htmlUse is a place of the report that cites a line.
type htmlUse struct{ ID, Label string }

// htmlPlace cites a line: with a link if the line is among the evidence, and as
// plain text otherwise.
type htmlPlace struct {
	Line *htmlLine
	At   string // "server.log:120"
	Text string
}

// htmlFile is the evidence from one file, in the order of its lines.
type htmlFile struct {
	Name  string
	Lines []*htmlLine
}

// lineKey tells lines apart; texts only where there is no line number.
type lineKey struct {
	file string
	line int
	text string
}

func keyOf(ev Evidence) lineKey {
	if ev.Line > 0 {
		return lineKey{ev.File, ev.Line, ""}
	}
	return lineKey{ev.File, 0, ev.Text}
}

// evidenceIndex collects the lines that are cited, each once.
type evidenceIndex struct{ lines map[lineKey]*htmlLine }

func newEvidenceIndex() *evidenceIndex { return &evidenceIndex{map[lineKey]*htmlLine{}} }

// cite adds lines to the evidence for the element with the given id.
func (x *evidenceIndex) cite(id, label string, evs ...Evidence) []htmlPlace {
	var out []htmlPlace
	for _, ev := range evs {
		if ev.File == "" {
			continue
		}
		k := keyOf(ev)
		l := x.lines[k]
		if l == nil {
			l = &htmlLine{File: ev.File, Line: ev.Line, Text: ev.Text}
			x.lines[k] = l
		}
		if use := (htmlUse{id, label}); !slices.Contains(l.Uses, use) {
			l.Uses = append(l.Uses, use)
		}
		out = append(out, htmlPlace{l, placeText(ev), ev.Text})
	}
	return out
}

// place cites a line without making it evidence.
func (x *evidenceIndex) place(ev Evidence) htmlPlace {
	return htmlPlace{x.lines[keyOf(ev)], placeText(ev), ev.Text}
}

func placeText(ev Evidence) string {
	if ev.File == "" || ev.Line == 0 {
		return ev.File
	}
	return ev.File + ":" + strconv.Itoa(ev.Line)
}

// files groups the lines by file and gives each its id.
func (x *evidenceIndex) files() []htmlFile {
	var all []*htmlLine
	for _, l := range x.lines {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *htmlLine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	var out []htmlFile
	for i, l := range all {
		l.ID = fmt.Sprintf("line-%d", i+1)
		if len(out) == 0 || out[len(out)-1].Name != l.File {
			out = append(out, htmlFile{Name: l.File})
		}
		f := &out[len(out)-1]
		f.Lines = append(f.Lines, l)
	}
	return out
}
