package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/llmforensics/forensics/signatures"
	"github.com/spf13/cobra"
)

func (a *app) signaturesLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint [PATH...]",
		Short: "Check packs: form, patterns, examples, doubles",
		Long: `Lint checks packs, files or folders of *.yaml, by default those in the program. Every
finding is one line, FILE:LINE: ID: what is wrong and what to write instead.

Exit status: 0 nothing found, 1 findings, 2 a pack could not be read.`,
		Example: `  forensics signatures lint packs/
  forensics signatures lint mine.yaml
  forensics signatures lint                     # the packs in the program`,
		RunE: func(_ *cobra.Command, paths []string) error { return a.lintSignatures(paths) },
	}
}

func (a *app) lintSignatures(paths []string) error {
	names, texts, err := readPacks(paths)
	if err != nil {
		return err
	}
	linter := signatures.NewLinter()
	found := 0
	for i, name := range names {
		for _, p := range linter.Pack(name, texts[i]) {
			fmt.Fprintln(a.stdout, p)
			found++
		}
	}
	if found > 0 {
		a.status = exitFailed
	}
	fmt.Fprintf(a.stderr, "%s, %s\n", count(len(names), "pack"), count(found, "finding"))
	return nil
}

// readPacks reads the packs under the paths, the embedded ones for none.
func readPacks(paths []string) (names []string, texts [][]byte, err error) {
	if len(paths) == 0 {
		return signatures.Embedded()
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p, bareError(err))
		}
		files := []string{p}
		if info.IsDir() {
			files = nil
			for _, glob := range []string{"*.yaml", "*.yml"} {
				more, _ := filepath.Glob(filepath.Join(p, glob)) // the pattern is sound
				files = append(files, more...)
			}
			if len(files) == 0 {
				return nil, nil, fmt.Errorf("%s: no pack (*.yaml) in it", p)
			}
			slices.Sort(files)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f, bareError(err))
			}
			names, texts = append(names, f), append(texts, data)
		}
	}
	return names, texts, nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// bareError takes the operation and the path off an error about a file.
func bareError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
