package signatures

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
)

// embedded holds the sources. Load reads the compact form made of them.
//
//go:embed packs/*.yaml classes.yaml frames.yaml
var embedded embed.FS

// decoded is the compact form, read at most once; its signatures are shared by
// all sets and never changed.
var decoded = sync.OnceValues(func() (*library, error) { return readCompact(compact) })

// Load returns the signatures embedded in the binary, without their examples: see
// LoadPacks for these.
func Load() (*Set, error) {
	lib, err := decoded()
	if err != nil {
		return nil, fmt.Errorf("embedded signatures: %w", err)
	}
	s := newSet(len(lib.sigs))
	for _, sig := range lib.sigs {
		s.byID[sig.ID] = len(s.Sigs)
		s.Sigs = append(s.Sigs, sig)
	}
	s.seal()
	return s, nil
}

// LoadPacks reads the packs that the embedded signatures are made of, examples
// included. It parses and compiles everything, which takes some 150 ms.
func LoadPacks() (*Set, error) {
	s := newSet(0)
	var err error
	if s.classes, _, err = readTables(); err != nil {
		return nil, err
	}
	if err := s.addFS(embedded, "packs/*.yaml"); err != nil {
		return nil, fmt.Errorf("embedded signatures: %w", err)
	}
	s.seal()
	return s, nil
}

// LoadWith returns the embedded signatures together with the packs *.yaml and
// *.yml of fsys. A user's signature replaces an embedded one of the same id. The
// error joins one Problem for each mistake.
func LoadWith(fsys fs.FS) (*Set, error) {
	s, err := Load()
	if err != nil {
		return nil, err
	}
	s.replaceable = len(s.Sigs)
	if err := errors.Join(s.addFS(fsys, "*.yaml"), s.addFS(fsys, "*.yml")); err != nil {
		return nil, err
	}
	s.seal()
	return s, nil
}

func (s *Set) addFS(fsys fs.FS, glob string) error {
	names, err := fs.Glob(fsys, glob)
	if err != nil {
		return err
	}
	slices.Sort(names)
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

// Add reads one pack. The error joins one Problem for each mistake; signatures
// without mistakes are added all the same. Matching sees them after Seal.
func (s *Set) Add(name string, data []byte) error {
	classes := s.classes
	if classes == nil {
		classes = Classes()
	}
	pack, problems := parsePack(name, data, classes)
	for _, sig := range pack.Signatures {
		if sig.ready() != nil || !sig.sound {
			continue // told as a problem
		}
		at, dup := s.byID[sig.ID]
		switch {
		case !dup:
			s.byID[sig.ID] = len(s.Sigs)
			s.Sigs = append(s.Sigs, sig)
		case at < s.replaceable:
			s.Sigs[at] = sig
		default:
			o := s.Sigs[at]
			problems = append(problems, Problem{name, sig.LineNo, sig.ID,
				fmt.Sprintf("the id is already taken at %s:%d: choose another", o.File, o.LineNo)})
		}
	}
	return joinProblems(problems)
}

// Seal prepares matching after Add.
func (s *Set) Seal() { s.seal() }
