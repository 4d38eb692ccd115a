package signatures

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var idRE = regexp.MustCompile(`^[a-z0-9]+(?:[.-][a-z0-9]+)+$`)

// The values of the fields that take a word from a list.
var (
	engineNames = []string{"sglang", "vllm", "trtllm", "tgi", "llama.cpp", "triton", "dynamo", "ray"}
	writerNames = []string{"server", "client", "router", "gpu", "kernel", "shell", "scheduler"}
	phaseNames  = []string{"launch", "serving"}
	layerNames  = []string{"bug", "family", "fallback"}
	roleNames   = []string{"cause", "symptom", "confirmation", "advice", "benign"}
)

// ready derives what matching needs from the fields of the pack. The patterns
// must be there already.
func (s *Signature) ready() error {
	n := slices.Index(layerNames, s.Layer)
	if n < 0 {
		return fmt.Errorf("layer is %q", s.Layer)
	}
	s.layer = Layer(n + 1)
	s.vetoes, s.frame = nil, nil
	for _, src := range s.Not {
		s.vetoes = append(s.vetoes, &expr{src: src})
	}
	if s.Frame != "" {
		s.frame = &expr{src: s.Frame}
	}
	return nil
}

// checker finds the mistakes of one signature.
type checker struct {
	sig      *Signature
	pos      positions
	known    []Class
	problems []Problem
}

// fail notes a mistake at a key such as "line" or "line.2".
func (c *checker) fail(key, format string, args ...any) {
	line := c.sig.LineNo
	if n, ok := c.pos[key]; ok {
		line = n
	} else if parent, _, ok := strings.Cut(key, "."); ok && c.pos[parent] > 0 {
		line = c.pos[parent]
	}
	c.problems = append(c.problems, Problem{c.sig.File, line, c.sig.ID, fmt.Sprintf(format, args...)})
}

// check looks at everything but the examples and prepares the patterns.
func (c *checker) check() {
	s := c.sig
	s.Means, s.Fix = strings.TrimSpace(s.Means), strings.TrimSpace(s.Fix)
	if !idRE.MatchString(s.ID) {
		c.fail("id", "id %q: write engine.short-name in lower case letters, digits and hyphens, with a dot", s.ID)
	}
	c.word("layer", s.Layer, layerNames)
	c.word("role", string(s.Role), roleNames)
	if s.Phase != "" {
		c.word("phase", s.Phase, phaseNames)
	}
	c.words("engine", s.Engine, engineNames)
	c.words("in", s.In, writerNames)
	c.classes()
	c.texts()
	c.patterns()
	if len(s.Examples.Match) == 0 {
		c.fail("examples", "no example: give a text that must match under examples.match")
	}
}

func (c *checker) word(key, value string, known []string) {
	if !slices.Contains(known, value) {
		if value == "" {
			c.fail(key, "%s is missing: use one of %s", key, strings.Join(known, ", "))
			return
		}
		c.fail(key, "%s %q is not known: %s", key, value, suggest(value, known))
	}
}

func (c *checker) words(key string, values, known []string) {
	for i, v := range values {
		c.word(fmt.Sprintf("%s.%d", key, i), v, known)
	}
}

func (c *checker) classes() {
	s := c.sig
	for _, f := range []struct{ key, class string }{
		{"class", s.Class}, {"class_at_launch", s.ClassAtLaunch}, {"class_in_client", s.ClassInClient},
	} {
		if f.class != "" && !slices.ContainsFunc(c.known, func(k Class) bool { return k.ID == f.class }) {
			c.fail(f.key, "class %q is not in the taxonomy: %s (all of them: forensics signatures list --classes)",
				f.class, c.suggestClass(f.class))
		}
	}
	if s.Role == Cause && s.Class == "" && s.ClassAtLaunch == "" {
		c.fail("role", "a cause needs a class: forensics signatures list --classes shows them")
	}
}

// suggestClass returns the nearest class, or those of the same area.
func (c *checker) suggestClass(word string) string {
	var ids, area []string
	prefix, _, _ := strings.Cut(word, ".")
	for _, k := range c.known {
		ids = append(ids, k.ID)
		if strings.HasPrefix(k.ID, prefix+".") {
			area = append(area, k.ID)
		}
	}
	if near := suggest(word, ids); strings.HasPrefix(near, "write ") || len(area) == 0 {
		return strings.Replace(near, strings.Join(ids, ", "), "launch.*, runtime.*, attention.*, gpu.*, host.*, client.*", 1)
	}
	return "use one of " + strings.Join(area, ", ")
}

func (c *checker) texts() {
	s := c.sig
	if s.Title == "" {
		c.fail("title", "title is missing: name the failure in a few words")
	}
	if s.Role == Cause && s.Means == "" {
		c.fail("role", "a cause needs means: say in plain words what happened")
	}
	if s.Role == Cause && s.Fix == "" {
		c.fail("role", "a cause needs fix: say what to do")
	}
	for i, ref := range s.Refs {
		if !strings.HasPrefix(ref, "https://") && !strings.HasPrefix(ref, "http://") {
			c.fail(fmt.Sprintf("refs.%d", i), "ref %q: give a full address, https://...", ref)
		}
	}
}

// patterns compiles the patterns and checks what can be said of them.
func (c *checker) patterns() {
	s := c.sig
	if len(s.Line)+len(s.Exception) == 0 {
		c.fail("", "nothing to match: give at least one pattern under line or exception")
	}
	s.lines = c.compile("line", s.Line)
	s.excs = c.compile("exception", s.Exception)
	for i, e := range s.lines {
		if len(e.literals) == 0 {
			c.fail(fmt.Sprintf("line.%d", i), "pattern %q has no fixed text of %d bytes or more that every match holds: "+
				"put the constant words of the message into it, outside optional parts and without (?i)", e.src, MinLiteral)
		}
	}
	c.compile("not", s.Not)
	if s.Frame != "" {
		c.compile("frame", []string{s.Frame})
	}
	names := map[string]bool{}
	for _, e := range append(append(exprs{}, s.lines...), s.excs...) {
		for _, name := range e.get().SubexpNames() {
			names[name] = true
		}
	}
	for _, f := range []struct{ key, text string }{{"title", s.Title}, {"means", s.Means}, {"fix", s.Fix}} {
		for _, m := range placeholderRE.FindAllStringSubmatch(f.text, -1) {
			if !names[m[1]] {
				c.fail(f.key, "{%s} in %s: no pattern has a group (?P<%s>...)", m[1], f.key, m[1])
			}
		}
	}
}

var placeholderRE = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

func (c *checker) compile(key string, list []string) exprs {
	var out exprs
	for i, src := range list {
		e, err := newExpr(src)
		if err != nil {
			c.fail(fmt.Sprintf("%s.%d", key, i), "%s %q: %v: patterns are Go RE2 (no look-around, no back-references)", key, src, err)
			continue
		}
		out = append(out, e)
	}
	return out
}
