package signatures

import (
	"fmt"
	"slices"
)

// Linter checks packs as their writers want them checked: form, patterns,
// examples, and doubles among all packs given.
type Linter struct {
	ids      map[string]*Signature
	patterns map[string]*Signature
}

// NewLinter returns a linter that has seen nothing.
func NewLinter() *Linter {
	return &Linter{ids: map[string]*Signature{}, patterns: map[string]*Signature{}}
}

// Pack returns the problems of one pack, in the order of its lines.
func (l *Linter) Pack(name string, data []byte) []Problem {
	pack, problems := ParsePack(name, data)
	for _, sig := range pack.Signatures {
		problems = append(problems, l.doubles(sig)...)
		if sig.sound && sig.ready() == nil {
			problems = append(problems, sig.Prove()...)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return problems
}

// doubles reports ids and patterns that an earlier signature has.
func (l *Linter) doubles(s *Signature) []Problem {
	c := checker{sig: s, pos: s.pos}
	if o := l.ids[s.ID]; o != nil && s.ID != "" {
		c.fail("id", "the id is already taken at %s:%d: choose another", o.File, o.LineNo)
	}
	l.ids[s.ID] = s
	for _, f := range []struct {
		key  string
		list []string
	}{{"line", s.Line}, {"exception", s.Exception}} {
		for i, src := range f.list {
			key := fmt.Sprintf("%s.%d", f.key, i)
			scope := fmt.Sprint(f.key, src, s.Frame, s.Not, s.Engine, s.In, s.Phase)
			if o := l.patterns[scope]; o != nil {
				c.fail(key, "%s (%s:%d) has the same pattern: drop one", o.ID, o.File, o.LineNo)
				continue
			}
			l.patterns[scope] = s
		}
	}
	return c.problems
}

// Embedded returns the names and texts of the embedded packs, in order.
func Embedded() (names []string, texts [][]byte, err error) {
	entries, err := embedded.ReadDir("packs")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		data, err := embedded.ReadFile("packs/" + e.Name())
		if err != nil {
			return nil, nil, err
		}
		names, texts = append(names, "signatures/packs/"+e.Name()), append(texts, data)
	}
	return names, texts, nil
}
