package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// MaxIssue is the most characters that GitHub takes in the body of an issue.
const MaxIssue = 65536

// IssueOptions steer [WriteIssue].
type IssueOptions struct {
	// Template names the project whose bug template is filled: one of
	// [IssueTemplates], or "" for none.
	Template string
}

// WriteIssue writes the report as the body of a GitHub issue: it needs no
// attachment, and has at most [MaxIssue] characters whatever the document is. What
// is worth least is shortened or left out first, and the text says so.
func WriteIssue(w io.Writer, doc *Document, opts IssueOptions) error {
	t, err := templateOf(opts.Template)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, newIssue(doc, t).fit(MaxIssue)); err != nil {
		return fmt.Errorf("writing issue: %w", err)
	}
	return nil
}

// part is a piece of an issue. Its forms go from the full one to the shortest; if
// value is 0 the part always stays in its first form and must be short.
type part struct {
	name  string
	value int
	forms []string
	at    int // the form chosen
}

// issue is one issue as it is put together.
type issue struct {
	*markdown
	tmpl  issueTemplate
	parts []part
}

// newIssue renders all parts in the order of the template.
func newIssue(doc *Document, t issueTemplate) *issue {
	x := &issue{markdown: newMarkdown(doc, Options{}), tmpl: t}
	x.add("title", 0, x.title)
	for _, f := range t.fields {
		if f.heading != "" {
			x.add("heading", 0, func() { x.printf("\n### %s\n\n", f.heading) })
		}
		f.body(x)
	}
	x.add("footer", 0, x.issueFooter)
	return x
}

// add renders a part, and shorter forms of it. The last form of a part of some
// value is nothing.
func (x *issue) add(name string, value int, forms ...func()) {
	p := part{name: name, value: value}
	for _, f := range forms {
		if s := x.capture(f); len(p.forms) == 0 || len(s) < len(p.forms[len(p.forms)-1]) {
			p.forms = append(p.forms, s)
		}
	}
	if value > 0 && p.forms[len(p.forms)-1] != "" {
		p.forms = append(p.forms, "")
	}
	x.parts = append(x.parts, p)
}

// capture renders something on its own. Lines that it quotes do not count as
// shown, because the part may be left out later.
func (x *issue) capture(f func()) string {
	x.b.Reset()
	f()
	s := x.b.String()
	x.b.Reset()
	clear(x.shown)
	return s
}

// fold is a body that is folded away under its title, or nothing.
func (x *issue) fold(title string, body func()) func() {
	return func() {
		if s := x.inside(body); s != "" {
			x.printf("\n<details><summary>%s</summary>\n\n%s\n\n</details>\n", title, s)
		}
	}
}

// headed is a heading in bold letters, a body, or nothing.
func (x *issue) headed(title string, body func()) func() {
	return func() {
		if s := x.inside(body); s != "" {
			x.printf("\n**%s**\n\n%s\n", title, s)
		}
	}
}

// inside renders the body of a section apart from what is written so far.
func (x *issue) inside(body func()) string {
	before := x.b.Len()
	body()
	s := strings.Trim(string(x.b.Bytes()[before:]), "\n")
	x.b.Truncate(before)
	return s
}

// fit chooses the forms so that the issue has at most limit characters. Bytes are
// counted, the strictest way to count characters.
func (x *issue) fit(limit int) string {
	for {
		s := x.join()
		if len(s) <= limit {
			return s
		}
		if !x.shorten() {
			// Every part of value is gone, and the others are bounded: they come
			// nowhere near the limit.
			return cutBytes(s, limit)
		}
	}
}

// shorten takes the next form of the part that is worth least.
func (x *issue) shorten() bool {
	least := -1
	for i := range x.parts {
		p := &x.parts[i]
		if p.value > 0 && p.at < len(p.forms)-1 && (least < 0 || p.value < x.parts[least].value) {
			least = i
		}
	}
	if least >= 0 {
		x.parts[least].at++
	}
	return least >= 0
}

func (x *issue) join() string {
	var b strings.Builder
	var short, gone []string
	for _, p := range x.parts {
		b.WriteString(p.forms[p.at])
		switch {
		case p.at == 0:
		case p.forms[p.at] == "":
			gone = append(gone, p.name)
		default:
			short = append(short, p.name)
		}
	}
	var notes []string
	if len(short) > 0 {
		notes = append(notes, "Shortened: "+strings.Join(short, ", ")+".")
	}
	if len(gone) > 0 {
		notes = append(notes, "Left out: "+strings.Join(gone, ", ")+".")
	}
	if len(notes) > 0 {
		fmt.Fprintf(&b, "\nGitHub takes %s characters in an issue. %s\n", number(MaxIssue), strings.Join(notes, " "))
	}
	return collapse(b.String())
}

// collapse leaves one empty line where there are several outside code blocks; log
// text has none, so it is safe inside them too.
func collapse(s string) string {
	for strings.Contains(s, "\n\n\n") {
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return strings.TrimLeft(s, "\n")
}

// cutBytes cuts s to at most n bytes at the end of a character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
