package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/glamour"
	"github.com/charmbracelet/glamour/ansi"
	"github.com/charmbracelet/glamour/styles"
	"github.com/muesli/termenv"
)

// WriteTerminal writes the report for a terminal of the given width (80 if it is
// not positive): the Markdown report without what a terminal cannot fold, with
// charts drawn in text. Without color it writes no escape sequence at all.
func WriteTerminal(w io.Writer, doc *Document, width int, color bool) error {
	if width <= 0 {
		width = 80
	}
	width = max(40, min(width, 200))
	m := newMarkdown(doc, Options{})
	m.e, m.width = escaper{term: true, plain: !color}, width
	m.report()
	return writeGlamour(w, m.b.Bytes(), width, color)
}

// writeGlamour sets Markdown for a terminal.
func writeGlamour(w io.Writer, text []byte, width int, color bool) error {
	style, profile := plainStyle(), termenv.Ascii
	if color {
		style, profile = styles.DarkStyleConfig, termenv.ANSI256
	}
	// With a margin the renderer wraps twice, at two widths, and leaves single
	// words on lines of their own.
	style.Document.Margin = new(uint)
	r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithWordWrap(width),
		glamour.WithColorProfile(profile))
	if err != nil {
		return fmt.Errorf("preparing terminal output: %w", err)
	}
	out, err := r.RenderBytes(text)
	if err != nil {
		return fmt.Errorf("rendering for the terminal: %w", err)
	}
	if _, err := io.WriteString(w, finish(string(out), color)); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

// plainStyle is glamour's style for output without colour, less the asterisks
// around strong text.
func plainStyle() ansi.StyleConfig {
	s := styles.NoTTYStyleConfig
	s.Strong, s.Emph = ansi.StylePrimitive{}, ansi.StylePrimitive{}
	return s
}

// colorSequence returns the length of the colour sequence that s begins with, 0 if
// there is none. It is the only kind of escape sequence that the renderer needs:
// it sets colours and weights, and can neither move the cursor nor talk to the
// terminal.
func colorSequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	n := len("\x1b[")
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ';') {
		n++
	}
	if n == len(s) || s[n] != 'm' {
		return 0
	}
	return n + 1
}

// trimPadding cuts the blanks and colour sequences at the end of a line, with
// which the renderer fills lines up.
func trimPadding(line string) string {
	end := 0 // behind the last visible character
	for i := 0; i < len(line); {
		if n := colorSequence(line[i:]); n > 0 {
			i += n
			continue
		}
		if i++; line[i-1] != ' ' && line[i-1] != '\t' {
			end = i
		}
	}
	return line[:end]
}

// finish makes the lines ready to print: no padding at their ends, and nothing
// that a terminal could act on.
func finish(s string, color bool) string {
	var b strings.Builder
	for line := range strings.SplitSeq(safeTerminal(s, color), "\n") {
		kept := trimPadding(line)
		b.WriteString(kept)
		if strings.Contains(kept, "\x1b") {
			b.WriteString("\x1b[0m")
		}
		b.WriteByte('\n')
	}
	return strings.Trim(putBack.Replace(b.String()), "\n") + "\n"
}

// safeTerminal is the last barrier before the terminal: whatever the layers above
// did, only colour sequences and line breaks remain of the control characters.
func safeTerminal(s string, color bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\x1b':
			seq := colorSequence(s)
			if color {
				b.WriteString(s[:seq])
			}
			n = max(n, seq)
		case r == '\n' || !isInvisible(r):
			b.WriteRune(r) // not the bytes: a broken one could be an 8-bit escape
		}
		s = s[n:]
	}
	return b.String()
}
