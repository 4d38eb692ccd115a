package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
	"github.com/spf13/cobra"
)

func (a *app) redactCommand() *cobra.Command {
	var level, out string
	cmd := &cobra.Command{
		Use:   "redact PATH -o OUT",
		Short: "Copy the evidence of a run with everything masked that must not be shared",
		Long: `Redact writes a copy of a file or folder that is safe to share: the same file
names and line numbers, with secrets, hosts, addresses, users, paths and prompts
replaced by stable names (host-1, user-2). The copy is diagnosed like the original.

Files that are no text (archives, compressed files) are left out: unpack them first.`,
		Example: `  forensics redact run/ -o shareable/
  forensics redact run/ --redact secrets -o copy/`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error { return a.redact(paths[0], out, level) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder for the copy; it must not exist or be empty")
	cmd.Flags().StringVar(&level, "redact", report.RedactStrict, "what to mask: secrets, or strict (also hosts, addresses, users, paths and prompts)")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func (a *app) redact(path, out, level string) error {
	red, err := report.NewRedactor(level)
	if err != nil {
		return fmt.Errorf("--redact: %w", err)
	}
	if level == report.RedactOff {
		return errors.New("--redact off would copy everything as it is: use secrets or strict")
	}
	root, names, err := filesOf(path)
	if err != nil {
		return err
	}
	if err := checkTarget(path, out); err != nil {
		return err
	}
	kept, left, err := learnAll(red, root, names)
	if err != nil {
		return err
	}
	for _, n := range kept {
		if err := copyMasked(red, filepath.Join(root, n), filepath.Join(out, n), n); err != nil {
			return err
		}
	}
	a.tellRedaction(red, kept, left)
	return a.compareDiagnosis(path, out)
}

// filesOf lists the regular files of a folder, or the one file, relative to root.
func filesOf(path string) (root string, names []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		return filepath.Dir(path), []string{filepath.Base(path)}, nil
	}
	inputs, _, err := parse.FindFiles(os.DirFS(path))
	if err != nil {
		return "", nil, err
	}
	for _, in := range inputs {
		names = append(names, filepath.FromSlash(in.Path))
	}
	if len(names) == 0 {
		return "", nil, fmt.Errorf("%s: no file in it to copy", path)
	}
	return path, names, nil
}

// checkTarget makes sure that nothing is overwritten and nothing is copied into
// what is being read.
func checkTarget(path, out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: name a new folder", out)
	}
	from, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	to, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if to == from || strings.HasPrefix(to, from+string(filepath.Separator)) {
		return fmt.Errorf("%s lies inside %s: name a folder outside of it", out, path)
	}
	return nil
}

// learnAll reads all files once for names, and sorts out those that are no text.
func learnAll(red *report.Redactor, root string, names []string) (kept, left []string, err error) {
	for _, n := range names {
		err := withFile(filepath.Join(root, n), red.LearnFrom)
		switch {
		case errors.Is(err, report.ErrNotText):
			left = append(left, n)
		case err != nil:
			return nil, nil, fmt.Errorf("reading %s: %w", n, err)
		default:
			kept = append(kept, n)
		}
	}
	return kept, left, nil
}

func withFile(name string, f func(io.Reader) error) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return f(in)
}

// copyMasked writes one file of the copy. A copy that fails is removed, so that
// no half of a file stays behind.
func copyMasked(red *report.Redactor, from, to, name string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	err = withFile(from, func(in io.Reader) error { return red.Copy(name, out, in) })
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// tellRedaction says what was copied and masked.
func (a *app) tellRedaction(red *report.Redactor, kept, left []string) {
	fmt.Fprintf(a.stdout, "%d files copied\n", len(kept))
	for _, n := range left {
		fmt.Fprintf(a.stdout, "left out: %s: %v\n", n, report.ErrNotText)
	}
	for _, n := range kept {
		if slash := filepath.ToSlash(n); red.Text(slash) != slash {
			fmt.Fprintf(a.stdout, "the name of this file tells a name, and was kept: %s\n", slash)
		}
	}
	for _, k := range red.Summary().Kinds {
		fmt.Fprintf(a.stdout, "%-18s %5d different, %6d places\n", k.Kind, k.Values, k.Places)
	}
}

// compareDiagnosis analyses both and says whether the copy still tells the same.
func (a *app) compareDiagnosis(path, out string) error {
	var verdicts [2]string
	for i, p := range []string{path, out} {
		inputs, _, err := parse.FindInputs([]string{p}, a.stdin)
		if err != nil {
			return err
		}
		doc, err := analysis.Run(a.ctx(), inputs, analysis.Options{Version: versionText()})
		if err != nil {
			return err
		}
		verdicts[i] = doc.RootCause.Class + ", " + doc.Outcome
	}
	if verdicts[0] != verdicts[1] {
		fmt.Fprintf(a.stdout, "the copy is diagnosed as %s, the original as %s: masking took away something that matters\n", verdicts[1], verdicts[0])
		return nil
	}
	fmt.Fprintf(a.stdout, "the copy is diagnosed as the original: %s\n", verdicts[0])
	return nil
}
