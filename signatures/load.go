package signatures

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

//go:embed packs/*.yaml classes.yaml frames.yaml
var embedded embed.FS

// Load returns the signatures embedded in the binary.
func Load() (*Set, error) {
	s := &Set{byID: map[string]int{}}
	if err := s.addFS(embedded, "packs/*.yaml"); err != nil {
		return nil, fmt.Errorf("embedded signatures: %w", err)
	}
	return s, s.seal()
}

// LoadWith returns the embedded signatures together with the packs *.yaml and
// *.yml of fsys. A user's signature replaces an embedded one of the same id.
func LoadWith(fsys fs.FS) (*Set, error) {
	s, err := Load()
	if err != nil {
		return nil, err
	}
	s.replace = true
	if err := errors.Join(s.addFS(fsys, "*.yaml"), s.addFS(fsys, "*.yml")); err != nil {
		return nil, err
	}
	return s, s.seal()
}

func (s *Set) addFS(fsys fs.FS, glob string) error {
	names, err := fs.Glob(fsys, glob)
	if err != nil {
		return err
	}
	sort.Strings(names)
	var errs []error
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err == nil {
			err = s.Add(path.Base(name), data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Add reads one pack. Errors name the file and line and say what to write.
func (s *Set) Add(name string, data []byte) error {
	var pack Pack
	if err := yaml.UnmarshalWithOptions(data, &pack, yaml.Strict()); err != nil {
		return fmt.Errorf("%s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	lines := signatureLines(data)
	var errs []error
	for i := range pack.Signatures {
		sig := &pack.Signatures[i]
		sig.File = name
		if i < len(lines) {
			sig.LineNo = lines[i]
		}
		if err := sig.compile(); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: signature %q: %w", name, sig.LineNo, sig.ID, err))
			continue
		}
		if at, dup := s.byID[sig.ID]; dup {
			if !s.replace {
				errs = append(errs, fmt.Errorf("%s:%d: signature %q is already defined at %s:%d: choose another id",
					name, sig.LineNo, sig.ID, s.Sigs[at].File, s.Sigs[at].LineNo))
				continue
			}
			s.Sigs[at] = sig
			continue
		}
		s.byID[sig.ID] = len(s.Sigs)
		s.Sigs = append(s.Sigs, sig)
	}
	return errors.Join(errs...)
}

// signatureLines returns the line of each entry of the "signatures" list.
func signatureLines(data []byte) []int {
	file, err := parser.ParseBytes(data, 0)
	if err != nil || len(file.Docs) == 0 {
		return nil
	}
	p, err := yaml.PathString("$.signatures")
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(file)
	if err != nil {
		return nil
	}
	seq, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	var lines []int
	for _, v := range seq.Values {
		lines = append(lines, v.GetToken().Position.Line)
	}
	return lines
}

var (
	idRE     = regexp.MustCompile(`^[a-z0-9]+(?:[.-][a-z0-9]+)+$`)
	engines  = []string{"sglang", "vllm", "trtllm", "tgi", "llama.cpp", "triton", "dynamo", "ray"}
	roleList = []string{"server", "client", "router", "gpu", "kernel", "shell", "scheduler"}
)

// compile checks one signature and prepares its patterns.
func (s *Signature) compile() error {
	if !idRE.MatchString(s.ID) {
		return fmt.Errorf("id must look like engine.short-name: lower case letters, digits, hyphens, a dot")
	}
	switch s.Layer {
	case "bug":
		s.layer = Bug
	case "family":
		s.layer = Family
	case "fallback":
		s.layer = Fallback
	default:
		return fmt.Errorf("layer is %q: write bug, family or fallback", s.Layer)
	}
	if !slices.Contains([]Role{Cause, Symptom, Confirmation, Advice, Benign}, s.Role) {
		return fmt.Errorf("role is %q: write cause, symptom, confirmation, advice or benign", s.Role)
	}
	if err := s.checkScope(); err != nil {
		return err
	}
	if len(s.Line)+len(s.Exception) == 0 {
		return fmt.Errorf("nothing to match: give at least one pattern under line or exception")
	}
	if len(s.Examples.Match) == 0 {
		return fmt.Errorf("no example under examples.match: give a text that must match")
	}
	return s.compilePatterns()
}

func (s *Signature) checkScope() error {
	if s.Title == "" {
		return fmt.Errorf("title is missing")
	}
	for _, class := range []string{s.Class, s.ClassAtLaunch, s.ClassInClient} {
		if class != "" && ClassByID(class) == nil {
			return fmt.Errorf("class %q is not in the taxonomy: forensics signatures list --classes shows them", class)
		}
	}
	if s.Role == Cause && s.Class == "" && s.ClassAtLaunch == "" {
		return fmt.Errorf("a cause needs a class")
	}
	if s.Role == Cause && (s.Means == "" || s.Fix == "") {
		return fmt.Errorf("a cause needs means and fix: say what it means and what to do")
	}
	for _, e := range s.Engine {
		if !slices.Contains(engines, e) {
			return fmt.Errorf("engine %q is not known: use one of %s", e, strings.Join(engines, ", "))
		}
	}
	for _, r := range s.In {
		if !slices.Contains(roleList, r) {
			return fmt.Errorf("in %q is not known: use one of %s", r, strings.Join(roleList, ", "))
		}
	}
	if s.Phase != "" && s.Phase != "launch" && s.Phase != "serving" {
		return fmt.Errorf("phase is %q: write launch or serving, or leave it out", s.Phase)
	}
	return nil
}

func (s *Signature) compilePatterns() error {
	s.lines, s.excs, s.vetoes, s.frame = nil, nil, nil, nil
	for _, src := range s.Line {
		p, err := compilePattern(src)
		if err != nil {
			return fmt.Errorf("line %q: %w", src, err)
		}
		if len(p.literals) == 0 {
			return fmt.Errorf("line %q has no fixed text of %d characters or more that every match holds: "+
				"put the constant words of the message into the pattern, outside optional parts and without (?i)", src, MinLiteral)
		}
		s.lines = append(s.lines, p)
	}
	for _, src := range s.Exception {
		p, err := compilePattern(src)
		if err != nil {
			return fmt.Errorf("exception %q: %w", src, err)
		}
		s.excs = append(s.excs, p)
	}
	for _, src := range s.Not {
		re, err := regexp.Compile(src)
		if err != nil {
			return fmt.Errorf("not %q: %w", src, err)
		}
		s.vetoes = append(s.vetoes, re)
	}
	if s.Frame != "" {
		re, err := regexp.Compile(s.Frame)
		if err != nil {
			return fmt.Errorf("frame %q: %w", s.Frame, err)
		}
		s.frame = re
	}
	return nil
}

func compilePattern(src string) (pattern, error) {
	re, err := regexp.Compile(src)
	if err != nil {
		return pattern{}, err
	}
	lits, err := requiredLiterals(src)
	return pattern{src: src, re: re, literals: lits}, err
}
