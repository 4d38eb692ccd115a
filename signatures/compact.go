package signatures

import (
	_ "embed" // for compact
	"fmt"
	"strconv"
	"strings"
)

// The compact form of the packs is what Load reads: lines of "key value", where a
// signature starts with its id, and a pattern is followed by its literals. Values
// that hold a line break or start with a quote are quoted as in Go. Parsing YAML
// and extracting literals takes 150 ms, this takes one. Examples are left out.
//
// A line form rather than JSON: it is read by slicing one string, and two people
// who add signatures can merge their work.
//
//go:generate go test -run ^TestCompact$ -update .
//go:embed packs.gen.txt
var compact string

const compactHeader = "# Generated from classes.yaml, frames.yaml and packs/*.yaml by: go generate ./signatures. DO NOT EDIT."

// textFields and listFields are the fields of the compact form, with their keys.
var textFields = []struct {
	key string
	of  func(*Signature) *string
}{
	{"class", func(s *Signature) *string { return &s.Class }},
	{"class_at_launch", func(s *Signature) *string { return &s.ClassAtLaunch }},
	{"class_in_client", func(s *Signature) *string { return &s.ClassInClient }},
	{"title", func(s *Signature) *string { return &s.Title }},
	{"layer", func(s *Signature) *string { return &s.Layer }},
	{"role", func(s *Signature) *string { return (*string)(&s.Role) }},
	{"phase", func(s *Signature) *string { return &s.Phase }},
	{"frame", func(s *Signature) *string { return &s.Frame }},
	{"means", func(s *Signature) *string { return &s.Means }},
	{"fix", func(s *Signature) *string { return &s.Fix }},
	{"affected", func(s *Signature) *string { return &s.Affected }},
	{"fixed", func(s *Signature) *string { return &s.Fixed }},
	{"file", func(s *Signature) *string { return &s.File }},
}

var listFields = []struct {
	key string
	of  func(*Signature) *[]string
}{
	{"engine", func(s *Signature) *[]string { return &s.Engine }},
	{"in", func(s *Signature) *[]string { return &s.In }},
	{"config", func(s *Signature) *[]string { return &s.Config }},
	{"not", func(s *Signature) *[]string { return &s.Not }},
	{"ref", func(s *Signature) *[]string { return &s.Refs }},
}

// writeCompact returns the compact form of classes, glue frames and signatures.
func writeCompact(classes []Class, glue []string, sigs []*Signature) string {
	var b strings.Builder
	put := func(key, value string) {
		if value == "" {
			return
		}
		if value[0] == '"' || strings.ContainsAny(value, "\n\r") {
			value = strconv.Quote(value)
		}
		b.WriteString(key + " " + value + "\n")
	}
	b.WriteString(compactHeader + "\n")
	for _, c := range classes {
		put("root", c.ID)
		put("root-means", c.Means)
		put("root-fix", c.Fix)
	}
	for _, g := range glue {
		put("glue", g)
	}
	for _, s := range sigs {
		put("id", s.ID)
		put("at", strconv.Itoa(s.LineNo))
		if s.Weak {
			put("weak", "true")
		}
		for _, f := range textFields {
			put(f.key, *f.of(s))
		}
		for _, f := range listFields {
			for _, v := range *f.of(s) {
				put(f.key, v)
			}
		}
		for _, l := range s.lines {
			put("line", l.src)
			for _, lit := range l.literals {
				put("line-literal", lit)
			}
		}
		for _, x := range s.excs {
			put("exception", x.src)
			for _, lit := range x.literals {
				put("exception-literal", lit)
			}
		}
	}
	return b.String()
}

// library is what the compact form holds.
type library struct {
	classes []Class
	glue    []string
	sigs    []*Signature
}

// readCompact decodes the compact form. Errors mean that the file was edited by
// hand or cut.
func readCompact(text string) (*library, error) {
	text, ok := strings.CutPrefix(text, compactHeader+"\n")
	if !ok {
		return nil, fmt.Errorf("packs.gen.txt: unknown header: run go generate ./signatures")
	}
	setters := compactSetters()
	lib := &library{}
	for no := 2; text != ""; no++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		key, value, _ := strings.Cut(line, " ")
		if strings.HasPrefix(value, `"`) {
			var err error
			if value, err = strconv.Unquote(value); err != nil {
				return nil, fmt.Errorf("packs.gen.txt:%d: %w: run go generate ./signatures", no, err)
			}
		}
		set := setters[key]
		if set == nil {
			return nil, fmt.Errorf("packs.gen.txt:%d: unknown key %q: run go generate ./signatures", no, key)
		}
		set(lib, value)
	}
	for _, s := range lib.sigs {
		if err := s.ready(); err != nil {
			return nil, fmt.Errorf("packs.gen.txt: signature %q: %w: run go generate ./signatures", s.ID, err)
		}
	}
	return lib, nil
}

// compactSetters returns what to do with a value under each key. Keys of a
// signature come after its id, literals after their pattern: writeCompact sees
// to it.
func compactSetters() map[string]func(*library, string) {
	last := func(lib *library) *Signature { return lib.sigs[len(lib.sigs)-1] }
	m := map[string]func(*library, string){
		"root":       func(lib *library, v string) { lib.classes = append(lib.classes, Class{ID: v}) },
		"root-means": func(lib *library, v string) { lib.classes[len(lib.classes)-1].Means = v },
		"root-fix":   func(lib *library, v string) { lib.classes[len(lib.classes)-1].Fix = v },
		"glue":       func(lib *library, v string) { lib.glue = append(lib.glue, v) },
		"id":         func(lib *library, v string) { lib.sigs = append(lib.sigs, &Signature{ID: v}) },
		"at":         func(lib *library, v string) { last(lib).LineNo, _ = strconv.Atoi(v) },
		"weak":       func(lib *library, v string) { last(lib).Weak = v == "true" },
		"line": func(lib *library, v string) {
			s := last(lib)
			s.Line, s.lines = append(s.Line, v), append(s.lines, &expr{src: v})
		},
		"exception": func(lib *library, v string) {
			s := last(lib)
			s.Exception, s.excs = append(s.Exception, v), append(s.excs, &expr{src: v})
		},
		"line-literal":      func(lib *library, v string) { last(lib).lines.addLiteral(v) },
		"exception-literal": func(lib *library, v string) { last(lib).excs.addLiteral(v) },
	}
	for _, f := range textFields {
		m[f.key] = func(lib *library, v string) { *f.of(last(lib)) = v }
	}
	for _, f := range listFields {
		m[f.key] = func(lib *library, v string) { p := f.of(last(lib)); *p = append(*p, v) }
	}
	return m
}

// exprs are the patterns of one field.
type exprs []*expr

// addLiteral adds a literal to the last pattern.
func (l exprs) addLiteral(lit string) {
	e := l[len(l)-1]
	e.literals = append(e.literals, lit)
}
