package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// All text that comes from a log is hostile: it may hold terminal escapes, HTML,
// Markdown, mentions of people, or characters that reverse the reading order.
// Two rules keep it inert. Text is cleaned once where the document is frozen, and
// again by every renderer, because a document may also come from a JSON file.
// And a renderer writes log text only through [escaper].

// maxText bounds a quoted text, in runes.
const maxText = 500

// clean makes one line of plain text: control characters, characters that change
// the reading direction and invisible tags are removed, white space other than
// a blank becomes a blank, broken UTF-8 becomes U+FFFD.
func clean(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			return ' '
		case isInvisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// isPlain is the quick answer for the usual line: printable ASCII that neither
// starts nor ends with a blank.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s == "" || s[0] != ' ' && s[len(s)-1] != ' '
}

// isInvisible tells the characters that change how the text around them is read
// without being seen themselves.
func isInvisible(r rune) bool {
	switch {
	case unicode.IsControl(r): // C0, DEL, C1
		return true
	case r == '\u061C' || r == '\uFEFF' || r == '\u2060':
		return true
	case r >= '\u200B' && r <= '\u200F': // zero width, direction marks
		return true
	case r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069':
		return true
	case r >= '\uFFF9' && r <= '\uFFFB': // interlinear annotation
		return true
	}
	return r >= 0xE0000 && r <= 0xE007F // tags
}

// cleanBlock is [clean] for text of several lines: line breaks and indentation stay.
func cleanBlock(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		body := strings.TrimLeft(l, " ")
		lines[i] = l[:len(l)-len(body)] + clean(body)
	}
	return strings.Join(lines, "\n")
}

// bound cuts s to at most n runes. It keeps head and tail, since a log line
// often ends with what matters.
func bound(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	const gap = " [...] "
	r := []rune(s)
	tail := max(0, (n-len(gap))/4)
	head := max(0, n-len(gap)-tail)
	return string(r[:head]) + gap + string(r[len(r)-tail:])
}

// escaper writes hostile text into Markdown. The zero value writes for GitHub and
// other CommonMark readers. With term set it writes for the terminal renderer,
// which deviates from CommonMark: it decodes entities inside code spans and,
// without colour (plain), takes backslashes in code blocks for escapes.
type escaper struct{ term, plain bool }

// zwsp breaks mentions and issue references without being seen.
const zwsp = "\u200B"

// The terminal renderer breaks lines at these characters, also inside a file name
// or an option. Until the lines are set, private characters stand in for them;
// [finish] puts the real ones back.
var (
	keepWhole = strings.NewReplacer(".", "\uE02E", "-", "\uE02D", ",", "\uE02C", "+", "\uE02B", ";", "\uE03B")
	putBack   = strings.NewReplacer("\uE02E", ".", "\uE02D", "-", "\uE02C", ",", "\uE02B", "+", "\uE03B", ";")
)

// maxUnbroken is the longest code span that is kept on one terminal line if it
// has no blanks.
const maxUnbroken = 60

// text escapes s as one line of running text that has no structure at all.
func (e escaper) text(s string) string {
	s = clean(s)
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i, r := range s {
		switch r {
		case '\\', '`', '*', '[', ']':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '|':
			b.WriteString("&#124;") // a backslash before it could end the cell after all
		case '_':
			// Between letters an underscore has no meaning, and escaping it
			// would make every option name hard to read in the raw text.
			if !wordAt(s, i-1) || !wordAt(s, i+1) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '~':
			b.WriteString("&#126;")
		case '$':
			b.WriteString("&#36;")
		default:
			rest(&b, s, i, r)
		}
	}
	return b.String()
}

// rest escapes what is special only in some places: the start of a line, links
// without brackets, mentions, references to issues.
func rest(b *strings.Builder, s string, i int, r rune) {
	switch {
	case i == 0 && (r == '#' || r == '-' || r == '+'):
		b.WriteByte('\\')
		b.WriteRune(r)
	case i == 0 && r == '=':
		b.WriteString("&#61;")
	case (r == '.' || r == ')') && i > 0 && allDigits(s[:i]) && (i+1 == len(s) || s[i+1] == ' '):
		if r == ')' {
			b.WriteString("&#41;")
			return
		}
		b.WriteString(`\.`)
	case r == ':' && strings.HasPrefix(s[i:], "://"):
		b.WriteString("&#58;")
	case r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
		b.WriteString(`\.`)
	case r == '@' || r == '#' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
		b.WriteRune(r)
		b.WriteString(zwsp)
	default:
		b.WriteRune(r)
	}
}

// prose escapes a sentence of a signature or of the diagnosis. Pairs of single
// backticks become code spans; everything else is text. What stands inside may
// have been captured from a log, so both parts are escaped.
func (e escaper) prose(s string) string {
	parts := strings.Split(clean(s), "`")
	if len(parts)%2 == 0 { // an odd backtick: no pairing is certain
		return e.text(s)
	}
	var b strings.Builder
	for i, p := range parts {
		switch {
		case i%2 == 1 && strings.TrimSpace(p) == "":
			return e.text(s)
		case i%2 == 1:
			b.WriteString(e.cell(p)) // prose stands in tables too
		default:
			b.WriteString(e.inner(p, i == 0))
		}
	}
	return b.String()
}

// inner escapes a stretch of text inside a line and keeps the blanks at its ends.
func (e escaper) inner(s string, first bool) string {
	body := strings.TrimSpace(s)
	if body == "" {
		if first {
			return ""
		}
		return strings.Repeat(" ", min(1, len(s)))
	}
	lead := s[:strings.Index(s, body)]
	trail := s[len(lead)+len(body):]
	if first {
		lead = ""
	}
	return lead + e.text(body) + trail
}

// code makes a code span. Its fence is longer than any run of backticks inside.
func (e escaper) code(s string) string {
	s = clean(s)
	if s == "" {
		return ""
	}
	if e.term {
		if len(s) <= maxUnbroken {
			s = keepWhole.Replace(s)
		}
		s = strings.ReplaceAll(s, "&", "&amp;")
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if len(fence) > 1 || s[0] == '`' {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// cell makes a code span for a table. Readers disagree on pipes in code after a
// backslash, so text with a pipe is escaped text there.
func (e escaper) cell(s string) string {
	if strings.Contains(s, "|") {
		return e.text(s)
	}
	return e.code(s)
}

// fenced makes a code block of indent blanks in front of each line.
func (e escaper) fenced(s string, indent int) string {
	s = cleanBlock(s)
	if e.plain {
		s = strings.ReplaceAll(s, `\`, `\\`)
	}
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString(pad + fence + "text\n")
	for l := range strings.SplitSeq(s, "\n") {
		b.WriteString(pad + l + "\n")
	}
	b.WriteString(pad + fence + "\n")
	return b.String()
}

// wordAt reports whether the byte at i is an ASCII letter or digit.
func wordAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func longestRun(s string, c byte) int {
	best, n := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		best = max(best, n)
	}
	return best
}
