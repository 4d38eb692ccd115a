package parse

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// FileInput returns the input for a file of the operating system.
func FileInput(name, label string) Input {
	in := Input{Path: label, Size: -1, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	if info, err := os.Stat(name); err == nil {
		in.Size, in.ModTime = info.Size(), info.ModTime()
	}
	return in
}

// MaxFiles bounds the files of one run.
const MaxFiles = 100_000

// FindFiles lists the regular files of fsys in sorted order, hidden folders left
// out. Links are not followed, so that nothing outside is read and no loop
// arises; what was skipped is told in notes.
func FindFiles(fsys fs.FS) (inputs []Input, notes []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s: skipped: %v", name, err))
			return nil
		case d.IsDir() && len(d.Name()) > 1 && d.Name()[0] == '.':
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			notes = append(notes, fmt.Sprintf("%s: skipped: not a regular file", name))
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
	return inputs, notes, err
}
