package signatures

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// SchemaURL is the address of the packs' JSON Schema, for editors.
const SchemaURL = "https://raw.githubusercontent.com/llmforensics/forensics/main/signatures/pack.schema.json"

// Failure is what a draft is made of.
type Failure struct {
	Engine string // "" if unknown
	// Class is a first guess; Choices are others that are worth a thought.
	Class   string
	Choices []string
	// Type and Message are the exception's, or Line is a bare line.
	Type, Message, Line string
	// Frame is the innermost frame of the engine's own code, as "path:function",
	// and FrameLine its line number.
	Frame     string
	FrameLine int
	// Source says where the text was found, as "file:line".
	Source string
}

// Draft returns a pack with one signature for a failure that none knows. It
// passes the linter as it is; what the writer must decide is marked TODO. taken
// reports whether an id is used already.
func Draft(f Failure, taken func(id string) bool) string {
	if !slices.Contains(engineNames, f.Engine) {
		f.Engine = ""
	}
	text := f.Line
	if f.Type != "" {
		text = firstLine(f.Type[strings.LastIndexByte(f.Type, '.')+1:] + ": " + f.Message)
	}
	text = clipWords(strings.TrimSpace(strings.TrimSuffix(text, ": ")), 200)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# A draft made of %s. Lines marked TODO need a decision;", f.Source)
	line("# remove from the example what must not be shared, then:")
	line("#   forensics signatures lint FILE; forensics signatures test FILE LOG")
	line("# yaml-language-server: $schema=%s", SchemaURL)
	line("pack: my-signatures")
	line("signatures:")
	line("  - id: %s", freeID(f.Engine, text, f.Message, taken))
	line("    class: %s # TODO: a guess; or %s (all: forensics signatures list --classes)", f.Class, strings.Join(f.Choices, ", "))
	line("    title: %s", quoteYAML(clipWords(plainText(text), 80)))
	line("    layer: bug # TODO: family if the pattern fits many bugs of a kind")
	line("    role: cause")
	if f.Engine != "" {
		line("    engine: [%s]", f.Engine)
	}
	if f.Type != "" {
		line("    exception:")
	} else {
		line("    line:")
	}
	line("      - %s", quoteYAML(Generalize(text)))
	if f.Frame != "" {
		line("    frame: %s # TODO: drop it if the message alone is unmistakable", quoteYAML(framePattern(f.Frame)))
	}
	line("    means: 'TODO: say in plain words what happened and why.'")
	line("    fix: 'TODO: say what to change, and how to get by until then.'")
	line("    refs: [] # TODO: issues, pull requests, manuals")
	line("    examples:")
	line("      match:")
	if f.Frame != "" {
		path, fn, _ := cutLast(f.Frame, ":")
		line("        - |")
		line("          File %q, line %d, in %s", path, max(f.FrameLine, 1), fn)
		line("          %s", text)
	} else {
		line("        - %s", quoteYAML(text))
	}
	return b.String()
}

// variableRE finds the parts of a message that differ between equal failures.
var variableRE = regexp.MustCompile(`0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-f]{12,}\b|(?:/[\w.@+=-]+){2,}/?|\d+(?:\.\d+)+|\d+`)

// Generalize returns a pattern that matches a text and those that differ from it
// in numbers, addresses, ids and paths only.
func Generalize(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range variableRE.FindAllStringIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[at:m[0]]))
		at = m[1]
		switch part := text[m[0]:m[1]]; {
		case strings.HasPrefix(part, "0x"):
			b.WriteString(`0x[0-9a-fA-F]+`)
		case strings.HasPrefix(part, "/"):
			b.WriteString(`/\S+`)
			// \S+ takes what follows the path up to a space.
			for at < len(text) && text[at] != ' ' {
				at++
			}
		case strings.Trim(part, "0123456789") == "" && len(part) < 12:
			b.WriteString(`\d+`)
		case strings.Trim(part, "0123456789.") == "":
			b.WriteString(`[\d.]+`)
		default:
			b.WriteString(`[0-9a-fA-F-]+`)
		}
	}
	b.WriteString(regexp.QuoteMeta(text[at:]))
	return b.String()
}

// framePattern keeps the last two elements of a frame's path, and its function.
func framePattern(frame string) string {
	path, fn, _ := cutLast(frame, ":")
	parts := strings.Split(path, "/")
	return regexp.QuoteMeta(strings.Join(parts[max(0, len(parts)-2):], "/") + ":" + fn)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// clipWords bounds a text at a word's end.
func clipWords(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if i := strings.LastIndexByte(s[:limit], ' '); i > 0 {
		return s[:i]
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// plainText removes what would be taken for a placeholder.
func plainText(s string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(s) }

func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

var wordRE = regexp.MustCompile(`[a-z][a-z0-9]+`)

// freeID makes an id of the engine and the first telling words of the message, or
// of the whole text if it has none.
func freeID(engine, text, message string, taken func(string) bool) string {
	if engine == "" {
		engine = "my"
	}
	words := tellingWords(firstLine(message))
	if len(words) == 0 {
		words = tellingWords(text)
	}
	if len(words) == 0 {
		words = []string{"failure"}
	}
	id := engine + "." + strings.Join(words, "-")
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s.%s-%d", engine, strings.Join(words, "-"), n)
	}
	return id
}

func tellingWords(text string) []string {
	var words []string
	for _, w := range wordRE.FindAllString(strings.ToLower(variableRE.ReplaceAllString(text, " ")), -1) {
		if !dullWords[w] && len(words) < 5 {
			words = append(words, w)
		}
	}
	return words
}

var dullWords = map[string]bool{
	"the": true, "an": true, "of": true, "to": true, "is": true, "in": true, "for": true, "and": true, "or": true, "be": true,
	"runtimeerror": true, "valueerror": true, "error": true, "with": true, "has": true, "no": true, "was": true, "on": true, "at": true,
}
