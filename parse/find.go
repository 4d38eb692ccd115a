package parse

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// MaxFiles bounds the files of one run.
const MaxFiles = 100_000

// FileInput returns the input for a file of the operating system.
func FileInput(name, label string) Input {
	in := Input{Path: label, Size: -1, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	if info, err := os.Stat(name); err == nil {
		in.Size, in.ModTime = info.Size(), info.ModTime()
	}
	return in
}

// FindInputs lists the files under the paths; "-" is stdin. A path that does not
// exist or is no file is an error; what cannot be read in folders is told in
// notes. Labels are relative to the path they were found under, with that path
// in front where two would be the same.
func FindInputs(paths []string, stdin io.Reader) (inputs []Input, notes []string, err error) {
	var found []Input
	var from []string // the path each was found under
	for _, p := range paths {
		one, skipped, err := findUnder(p, stdin)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, skipped...)
		for _, in := range one {
			found, from = append(found, in), append(from, p)
		}
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("%s: no file in it to read", strings.Join(paths, " "))
	}
	seen := map[string]int{}
	for _, in := range found {
		seen[in.Path]++
	}
	given := map[string]bool{}
	for i, in := range found {
		if seen[in.Path] > 1 && from[i] != "-" {
			if in.Path = path.Join(filepath.ToSlash(from[i]), in.Path); !isDir(from[i]) {
				in.Path = filepath.ToSlash(filepath.Clean(from[i]))
			}
		}
		if !given[in.Path] { // a file given twice is read once
			given[in.Path] = true
			inputs = append(inputs, in)
		}
	}
	return inputs, notes, nil
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// findUnder lists the files under one path.
func findUnder(p string, stdin io.Reader) ([]Input, []string, error) {
	if p == "-" {
		data := io.NopCloser(stdin)
		return []Input{{Path: "stdin", Size: -1, Once: true, Open: func() (io.ReadCloser, error) { return data, nil }}}, nil, nil
	}
	info, err := os.Stat(p)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", p, bare(err))
	case info.IsDir():
		found, skipped, err := FindFiles(os.DirFS(p))
		if err != nil {
			err = fmt.Errorf("%s: %w", p, bare(err))
		}
		return found, skipped, err
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s: %s", p, notRegular(info.Mode()))
	}
	return []Input{FileInput(p, filepath.Base(p))}, nil, nil
}

// notRegular tells what a path that is no regular file is instead.
func notRegular(mode fs.FileMode) string {
	if what := modeName(mode); what != "not a regular file" {
		return "not a regular file but " + what
	}
	return "not a regular file"
}

// bare returns an error without the path, which messages name already.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// FindFiles lists the regular files of fsys in sorted order, hidden folders left
// out. Links are not followed, so that nothing outside is read and no loop
// arises; what was skipped is told in notes.
func FindFiles(fsys fs.FS) (inputs []Input, notes []string, err error) {
	skipped := 0
	note := func(name, why string) {
		if skipped++; skipped <= maxNotes {
			notes = append(notes, fmt.Sprintf("%s: skipped: %s", name, why))
		}
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			note(name, bare(err).Error())
			return nil
		case d.IsDir() && len(d.Name()) > 1 && d.Name()[0] == '.':
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			note(name, modeName(d.Type()))
			return nil
		case len(inputs) >= MaxFiles:
			notes = append(notes, fmt.Sprintf("more than %d files: the rest was left out", MaxFiles))
			return fs.SkipAll
		}
		in := Input{Path: name, Size: -1, Open: func() (io.ReadCloser, error) { return fsys.Open(name) }}
		if info, err := d.Info(); err == nil {
			in.Size, in.ModTime = info.Size(), info.ModTime()
		}
		inputs = append(inputs, in)
		return nil
	})
	if skipped > maxNotes {
		notes = append(notes, fmt.Sprintf("%d more were skipped", skipped-maxNotes))
	}
	return inputs, notes, err
}
