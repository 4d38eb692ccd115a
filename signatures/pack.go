package signatures

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Pack is one YAML file.
type Pack struct {
	// Pack names the file's subject; About says what is in it.
	Pack       string       `yaml:"pack"`
	About      string       `yaml:"about"`
	Signatures []*Signature `yaml:"signatures"`
}

// Problem is a mistake in a pack: where it is, and what to write instead.
type Problem struct {
	File string
	Line int
	ID   string // of the signature, "" for the file itself
	Text string
}

func (p Problem) Error() string {
	if p.ID == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.ID, p.Text)
}

func joinProblems(list []Problem) error {
	errs := make([]error, len(list))
	for i, p := range list {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Problems returns the problems that an error of LoadWith or Add joins.
func Problems(err error) []Problem {
	var p Problem
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []Problem
		for _, e := range joined.Unwrap() {
			list = append(list, Problems(e)...)
		}
		return list
	}
	if errors.As(err, &p) {
		return []Problem{p}
	}
	return nil
}

// ParsePack reads a pack, checks its form and returns every mistake found, in the
// order of the lines. Signatures with mistakes are in the pack too, but a Set
// does not take them.
func ParsePack(name string, data []byte) (Pack, []Problem) {
	return parsePack(name, data, Classes())
}

func parsePack(name string, data []byte, classes []Class) (Pack, []Problem) {
	var pack Pack
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return pack, []Problem{yamlProblem(name, err)}
	}
	pos, problems := layout(name, file)
	if err := yaml.Unmarshal(data, &pack); err != nil {
		return Pack{}, append(problems, yamlProblem(name, err))
	}
	if len(pack.Signatures) == 0 {
		problems = append(problems, Problem{name, 1, "", "no signature in it: list them under the key signatures"})
	}
	pack.Signatures = slices.DeleteFunc(pack.Signatures, func(s *Signature) bool { return s == nil })
	for i, sig := range pack.Signatures {
		c := checker{sig: sig, known: classes}
		sig.File = name
		if i < len(pos) {
			c.pos, sig.LineNo = pos[i], pos[i][""]
		}
		sig.pos = c.pos
		c.check()
		problems = append(problems, c.problems...)
		sig.sound = len(c.problems) == 0
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return pack, problems
}

// yamlProblem turns an error of the YAML package into a problem.
func yamlProblem(name string, err error) Problem {
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return Problem{name, 1, "", err.Error()}
	}
	line := 1
	if t := ye.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	text := ye.GetMessage()
	if _, ok := err.(*yaml.SyntaxError); ok || strings.Contains(text, "mapping") || strings.Contains(text, "token") {
		text += `: if the text holds ": ", "#", a quote or a leading bracket, put it between single quotes and double those inside`
	}
	return Problem{name, line, "", text}
}

// positions are the lines of a signature's keys: "" is the signature, "line" the
// key, "line.0" the first pattern under it.
type positions map[string]int

// layout returns where the signatures of a pack stand and which keys are unknown.
func layout(name string, file *ast.File) ([]positions, []Problem) {
	var list []positions
	var problems []Problem
	for _, doc := range file.Docs {
		top, ok := doc.Body.(ast.MapNode)
		if !ok {
			problems = append(problems, Problem{name, 1, "", "not a pack: write the keys pack, about and signatures"})
			continue
		}
		problems = append(problems, unknownKeys(name, "", top, reflect.TypeFor[Pack]())...)
		eachKey(top, func(key string, _ *token.Token, value ast.Node) {
			seq, ok := value.(*ast.SequenceNode)
			if key != "signatures" || !ok {
				return
			}
			for _, entry := range seq.Values {
				pos, found := signatureLayout(name, entry)
				list, problems = append(list, pos), append(problems, found...)
			}
		})
	}
	return list, problems
}

func signatureLayout(name string, entry ast.Node) (positions, []Problem) {
	pos := positions{}
	m, ok := entry.(ast.MapNode)
	if !ok {
		return pos, nil // the decoder complains
	}
	id := ""
	first := 0
	eachKey(m, func(key string, at *token.Token, value ast.Node) {
		pos[key] = at.Position.Line
		if first == 0 {
			first = at.Position.Line
		}
		if key == "id" {
			id = value.String()
		}
		itemLines(pos, key, value)
	})
	pos[""] = first
	return pos, unknownKeys(name, id, m, reflect.TypeFor[Signature]())
}

// itemLines notes the lines of list items, also those below examples.
func itemLines(pos positions, key string, value ast.Node) {
	switch v := value.(type) {
	case *ast.SequenceNode:
		for i, item := range v.Values {
			pos[fmt.Sprintf("%s.%d", key, i)] = item.GetToken().Position.Line
		}
	case ast.MapNode:
		eachKey(v, func(sub string, _ *token.Token, value ast.Node) { itemLines(pos, key+"."+sub, value) })
	}
}

func eachKey(m ast.MapNode, f func(key string, at *token.Token, value ast.Node)) {
	for it := m.MapRange(); it.Next(); {
		at := it.Key().GetToken()
		f(at.Value, at, it.Value())
	}
}

// unknownKeys reports the keys of a mapping that the type has no field for.
func unknownKeys(name, id string, m ast.MapNode, t reflect.Type) []Problem {
	known := fieldNames(t)
	var problems []Problem
	eachKey(m, func(key string, at *token.Token, value ast.Node) {
		if !slices.Contains(known, key) {
			text := fmt.Sprintf("unknown key %q: %s", key, suggest(key, known))
			problems = append(problems, Problem{name, at.Position.Line, id, text})
		}
		if sub, ok := value.(ast.MapNode); ok && key == "examples" {
			problems = append(problems, unknownKeys(name, id, sub, reflect.TypeFor[Examples]())...)
		}
	})
	return problems
}

// fieldNames returns the YAML keys of a struct type.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("yaml"); tag != "" && tag != "-" {
			names = append(names, tag)
		}
	}
	return names
}
