package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// attacks are log texts that try to act as something else.
var attacks = []string{
	"<script>alert(1)</script>",
	"</details></td><img src=x onerror=alert(1)>",
	"![x](javascript:alert(1)) [click](https://evil.example/)",
	"`code` ``` ````` end `",
	"```\n# heading\n```mermaid\ngraph TD; A-->B\n```",
	"a | b || c \\| d | `e | f`",
	"\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x1b[2J\x9b2J",
	"&#27;[2J &#x1b;]0;title&#7; &lt;b&gt; &amp;#27;",
	"\u202Egnp.exe\u202C \u2066x\u2069 \u200Fmark\uFEFF \U000E0041tag",
	"@octocat please see #1 and https://evil.example and www.evil.example or a@evil.example",
	"*bold* _it_ __b__ ~~gone~~ $$x^2$$ :tada: <https://evil.example>",
	"# heading", "- item", "1. item", "1) item", "> quote", "+ item", "===", "---", "    code", "\tcode", "[x]: https://evil.example",
	"%%{init: {}}%% --> click A \"javascript:alert(1)\"; end",
	"back\\slash \\` \\| \\* \\",
	"\xff\xfe broken \x00 utf-8 \xc3",
	"] ) > } \" ' <!-- comment --> <![CDATA[x]]> <?php ?>",
	"```", "`", "``", "|", "\\", "&", "<", "",
}

// poison replaces every text of a document by an attack, whatever its field.
func poison(v reflect.Value, next func() string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), next)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			// References become links by design, for addresses of a strict form.
			if name == "References" || name == "Outcome" || name == "RequestRate" || strings.HasSuffix(name, "Ms") {
				continue
			}
			poison(v.Field(i), next)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), next)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.String {
			for _, k := range v.MapKeys() {
				v.SetMapIndex(k, reflect.ValueOf(next()))
			}
			v.SetMapIndex(reflect.ValueOf(next()+"key"), reflect.ValueOf(next()))
		}
	case reflect.String:
		v.SetString(next())
	}
}

// poisoned returns the crash document with attack number i in every field, or
// with all attacks in turn for i < 0.
func poisoned(i int) *Document {
	doc := documents()["crash"]
	n := 0
	poison(reflect.ValueOf(doc), func() string {
		if i >= 0 {
			return attacks[i]
		}
		n++
		return attacks[n%len(attacks)]
	})
	doc.RootCause.References = append(doc.RootCause.References, attacks...)
	return doc
}

func eachPoisoned(t *testing.T, f func(t *testing.T, doc *Document)) {
	for i := -1; i < len(attacks); i++ {
		t.Run(fmt.Sprint("attack ", i), func(t *testing.T) { f(t, poisoned(i)) })
	}
}

// TestHostileMarkdown parses the report as GitHub does and looks for anything
// that our own text does not contain.
func TestHostileMarkdown(t *testing.T) {
	own := map[string]bool{"https://github.com/sgl-project/sglang/issues/1": true}
	ownHTML := []string{"<details><summary>", "</summary>", "</details>"}
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		var b bytes.Buffer
		if err := WriteMarkdown(&b, doc, Options{}); err != nil {
			t.Fatal(err)
		}
		src := b.Bytes()
		checkControls(t, b.String())
		tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
		headings := 0
		err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Image, *ast.Link, *ast.Blockquote, *ast.RawHTML:
				t.Errorf("%s from a log: %s", n.Kind(), dump(n, src))
			case *ast.AutoLink:
				if !own[string(n.URL(src))] {
					t.Errorf("link to %s", n.URL(src))
				}
			case *ast.HTMLBlock:
				rest := string(n.Lines().Value(src))
				for _, h := range ownHTML {
					rest = strings.ReplaceAll(rest, h, "")
				}
				if strings.ContainsAny(rest, "<>") {
					t.Errorf("HTML from a log: %q", rest)
				}
			case *ast.Heading:
				headings++
			case *ast.CodeBlock:
				t.Errorf("indented code: %q", n.Lines().Value(src))
			case *ast.FencedCodeBlock:
				if lang := string(n.Language(src)); lang != "text" {
					t.Errorf("code block in language %q", lang)
				}
			}
			if k := n.Kind().String(); k == "Strikethrough" || k == "TaskCheckBox" {
				t.Errorf("%s from a log: %s", k, dump(n, src))
			}
			if e, ok := n.(*ast.Emphasis); ok && e.Level == 1 {
				t.Errorf("emphasis from a log: %s", dump(n, src))
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count("\n"+b.String(), "\n## ") + 1; headings > want || headings > 14 {
			t.Errorf("%d headings, want at most %d:\n%s", headings, want, b.String())
		}
		if strings.Contains(stripCode(tree, src), "@octocat") {
			t.Error("a mention outside code")
		}
	})
}

func dump(n ast.Node, src []byte) string {
	for n != nil && n.Type() == ast.TypeInline {
		n = n.Parent()
	}
	if n == nil || n.Lines() == nil {
		return "?"
	}
	return fmt.Sprintf("%q", n.Lines().Value(src))
}

// stripCode returns the text that is not in code.
func stripCode(tree ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, ok := n.(*ast.CodeSpan); ok {
			return ast.WalkSkipChildren, nil
		}
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(src))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// checkControls looks for control characters and for those that change the
// reading direction.
func checkControls(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Error("broken UTF-8")
	}
	for _, r := range s {
		if r != '\n' && isInvisible(r) && string(r) != zwsp {
			t.Errorf("character %U", r)
			return
		}
	}
}

// TestHostileTables makes sure that no log text adds rows or cells.
func TestHostileTables(t *testing.T) {
	want := tableRows(t, documents()["crash"])
	if want < 20 {
		t.Fatalf("the crash document has only %d rows", want)
	}
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		if got := tableRows(t, doc); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	})
}

// tableRows counts the rows of all tables and checks that each row of a table has
// as many cells as its head.
func tableRows(t *testing.T, doc *Document) int {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, doc, Options{}); err != nil {
		t.Fatal(err)
	}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(b.Bytes()))
	rows := 0
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if k := n.Kind().String(); entering && (k == "TableRow" || k == "TableHeader") {
			rows++
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if c.Kind().String() != "TableCell" {
					t.Errorf("a %s in a row", c.Kind())
				}
			}
			if n.ChildCount() != n.Parent().FirstChild().ChildCount() {
				t.Errorf("a row of %d cells", n.ChildCount())
			}
		}
		return ast.WalkContinue, nil
	})
	return rows
}

// colors matches the escape sequences that are allowed, anywhere.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestHostileTerminal(t *testing.T) {
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		var plain, colored bytes.Buffer
		if err := WriteTerminal(&plain, doc, 90, false); err != nil {
			t.Fatal(err)
		}
		checkControls(t, plain.String())
		if err := WriteTerminal(&colored, doc, 90, true); err != nil {
			t.Fatal(err)
		}
		checkControls(t, colors.ReplaceAllString(colored.String(), ""))
		rest := colored.String()
		for {
			i := strings.IndexByte(rest, '\x1b')
			if i < 0 {
				break
			}
			seq := colors.FindString(rest[i:])
			if !strings.HasPrefix(rest[i:], seq) || seq == "" {
				t.Fatalf("escape sequence %q", rest[i:min(len(rest), i+20)])
			}
			rest = rest[i+len(seq):]
		}
	})
}

// TestTerminalCannotBeRecolored makes sure that entities in a log do not turn
// into escape sequences on the way through the renderer.
func TestTerminalCannotBeRecolored(t *testing.T) {
	doc := documents()["crash"]
	for _, s := range []string{"&#27;[35mX", "`&#27;[35mX`", "\\&#27;[35mX", "&amp;#27;[35mX", "&#27[35mX", "`&#x1b[35mX`"} {
		doc.Summary, doc.RootCause.Title, doc.Run = s, s, s
		doc.RootCause.Evidence[0].Text, doc.Timeline[0].Text, doc.Timeline[0].Kind = s, s, "kernel"
		for _, f := range formats[2:4] {
			if out := render(t, doc, f.write); bytes.Contains(out, []byte("\x1b[35m")) {
				t.Errorf("%q colors the terminal as %s", s, f.ext)
			}
		}
	}
}

// TestTerminalKeepsText compares what a terminal shows with what the log said.
func TestTerminalKeepsText(t *testing.T) {
	doc := documents()["empty"]
	const line = `C:\*x \| \_y_ &amp; <b> a.b-c [1] {2} \\n \# !`
	doc.RootCause.Title, doc.Summary, doc.Run = line, line, "a&amp;b&#38;"
	doc.RootCause.Evidence = []Evidence{{File: "a-b.log", Line: 3, Text: line}}
	for _, f := range formats[2:4] {
		out := colors.ReplaceAllString(string(render(t, doc, f.write)), "")
		if n := strings.Count(out, line); n != 3 {
			t.Errorf("%d of 3 places show the text as it is in %s:\n%s", n, f.ext, out)
		}
		if !strings.Contains(out, " a&amp;b&#38;") {
			t.Errorf("a code span changed its text in %s:\n%s", f.ext, out)
		}
	}
}

// TestFinish tests the last barrier alone, since nothing should come this far.
func TestFinish(t *testing.T) {
	const in = "\n\x1b[1mbold\x1b[0m  \x1b[0m \nx\x1b[2Jy\x9bz\x1b]8;;u\x07 \u202Ea\uE02Eb" + zwsp + "\r\n\n"
	if got, want := finish(in, true), "\x1b[1mbold\x1b[0m\nx[2Jy\uFFFDz]8;;u a.b\n"; got != want {
		t.Errorf("with color: got %q, want %q", got, want)
	}
	if got, want := finish(in, false), "bold\nx[2Jy\uFFFDz]8;;u a.b\n"; got != want {
		t.Errorf("without: got %q, want %q", got, want)
	}
}

// TestCellEnds makes sure that a text stays in its cell; a parser drops the cells
// that are too many, so counting them shows nothing.
func TestCellEnds(t *testing.T) {
	p := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	for _, a := range attacks {
		for _, c := range []string{(escaper{}).cell(a), (escaper{}).text(a), (escaper{}).prose(a)} {
			src := []byte("| a | b |\n| --- | --- |\n| " + c + " | end |\n")
			row := p.Parse(text.NewReader(src)).FirstChild().LastChild()
			var got strings.Builder
			_ = ast.Walk(row.LastChild(), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
				if x, ok := n.(*ast.Text); ok && entering {
					got.Write(x.Segment.Value(src))
				}
				return ast.WalkContinue, nil
			})
			if got.String() != "end" {
				t.Errorf("%q leaves its cell in %q: the next one is %q", a, src, got.String())
			}
		}
	}
}

func TestHostileSVG(t *testing.T) {
	eachPoisoned(t, func(t *testing.T, doc *Document) {
		fresh := documents()["crash"]
		for i := range doc.Points { // keep the times, which place the boxes
			doc.Points[i].Start, doc.Points[i].End, doc.Points[i].MaxConcurrency = fresh.Points[i].Start, fresh.Points[i].End, nil
			doc.Points[i].RequestRate = ""
		}
		for i := range doc.Series {
			doc.Series[i].Name = fresh.Series[i].Name
		}
		doc.RootCause.Time = fresh.RootCause.Time
		charts, err := Charts(doc)
		if err != nil {
			t.Fatal(err)
		}
		if len(charts) == 0 {
			t.Fatal("no chart")
		}
		for _, c := range charts {
			var b bytes.Buffer
			if err := c.WriteSVG(&b); err != nil {
				t.Fatal(err)
			}
			checkSVG(t, b.String())
		}
	})
}

func checkSVG(t *testing.T, s string) {
	t.Helper()
	allowed := map[string]bool{"svg": true, "g": true, "path": true, "text": true, "title": true}
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok && !allowed[e.Name.Local] {
			t.Errorf("element %s", e.Name.Local)
		}
	}
}

func TestEscapeText(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":           "plain text",
		"max_running_requests": "max_running_requests",
		"__init__":             `\_\_init\_\_`,
		"a*b [c] `d`":          "a\\*b \\[c\\] \\`d\\`",
		"<b> & |":              "&lt;b&gt; &amp; &#124;",
		"0.5.3":                "0.5.3",
		"1. first":             `1\. first`,
		"# x":                  `\# x`,
		"see #12 by @me":       "see #" + zwsp + "12 by @" + zwsp + "me",
		"https://x.y":          "https&#58;//x.y",
		"a\x1b[31mb\u202Ec\nd": `a\[31mbc d`,
	} {
		if got := (escaper{}).text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestEscapeCode(t *testing.T) {
	for in, want := range map[string]string{
		"a b": "`a b`", "a`b": "`` a`b ``", "``": "``` `` ```", "x\ny": "`x y`", "": "", " ": "",
	} {
		if got := (escaper{}).code(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestEscapeProse(t *testing.T) {
	for in, want := range map[string]string{
		"Set `--a_b*` to 1.":   "Set `--a_b*` to 1.",
		"odd ` backtick":       "odd \\` backtick",
		"empty `` pair":        "empty \\`\\` pair",
		"`a` <b> `c`":          "`a` &lt;b&gt; `c`",
		"say `x`, then *stop*": "say `x`, then \\*stop\\*",
	} {
		if got := (escaper{}).prose(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"äöü", 3, "äöü"}, {"", 0, ""}, {"0123456789abcdefghij", 19, "012345678 [...] hij"},
	} {
		if got := bound(c.in, c.n); got != c.want {
			t.Errorf("%q in %d: got %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, a := range attacks {
		f.Add(a)
	}
	parser := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	f.Fuzz(func(t *testing.T, s string) {
		e := escaper{}
		src := []byte("| a | b |\n| --- | --- |\n| " + e.text(s) + " | " + e.cell(s) + " |\n\n- " + e.prose(s) + "\n\n" + e.fenced(s, 0))
		tree := parser.Parse(text.NewReader(src))
		cells, blocks := 0, 0
		_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n.Kind().String() {
			case "TableCell":
				cells++
			case "FencedCodeBlock":
				blocks++
			case "RawHTML", "HTMLBlock", "Link", "Image", "AutoLink", "Heading", "Emphasis", "Strikethrough", "Blockquote":
				t.Errorf("%q makes a %s in %q", s, n.Kind(), src)
			}
			return ast.WalkContinue, nil
		})
		if cells != 4 || blocks != 1 {
			t.Errorf("%q: %d cells and %d code blocks in %q", s, cells, blocks, src)
		}
	})
}
