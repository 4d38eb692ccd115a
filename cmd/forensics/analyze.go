package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/signatures"
	"github.com/spf13/cobra"
)

// analyzeFlags are the flags of the analyze command.
type analyzeFlags struct {
	outputFlags
	baseline   string
	signatures string
	exitCode   bool
	quiet      bool
	verbose    bool
	sha256     bool
	hints      []string
}

func (a *app) analyzeCommand() *cobra.Command {
	var f analyzeFlags
	cmd := &cobra.Command{
		Use:   "analyze PATH...",
		Short: "Diagnose one run",
		Long: `Analyze reads the files and folders given ("-" is standard input) as the evidence
of one run and reports its root cause.

The format is "terminal" on a terminal and "markdown" otherwise. With -o FOLDER
the folder gets report.md, report.html, report.json and the charts as SVG and PNG.
Secrets are masked unless --redact off is given.

Exit status: 0 done, 1 with --exit-code when the run did not complete, 2 when the
job could not be done.`,
		Example: `  forensics analyze run/
  forensics analyze server.log bench.log gpu.csv
  ssh node dmesg -T | forensics analyze run/ -
  forensics analyze run/ -o report/
  forensics analyze --format html -o report.html run/
  forensics analyze --format json --exit-code run/ > diagnosis.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error { return a.analyze(f, paths) },
	}
	flags := cmd.Flags()
	f.register(flags)
	flags.StringVar(&f.signatures, "signatures", "", "folder with further signature packs (*.yaml)")
	flags.StringVar(&f.baseline, "baseline", "", "a good run (or its report.json) to judge the speed by")
	flags.BoolVar(&f.exitCode, "exit-code", false, "exit with status 1 when the run did not complete")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print no notes on standard error")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "tell on standard error what was read and as what")
	flags.BoolVar(&f.sha256, "sha256", false, "name sources over 64 MiB by SHA-256 too")
	flags.StringArrayVar(&f.hints, "format-hint", nil, "read a file as this format, as FILE=FORMAT; may be repeated")
	return cmd
}

func (a *app) analyze(f analyzeFlags, paths []string) error {
	if err := f.check(a); err != nil {
		return err
	}
	inputs, notes, err := parse.FindInputs(paths, a.stdin)
	if err != nil {
		return err
	}
	if !f.quiet {
		for _, n := range notes {
			fmt.Fprintln(a.stderr, "forensics:", n)
		}
	}
	hints, err := parse.ParseHints(f.hints, inputs)
	if err != nil {
		return err
	}
	set, err := loadSignatures(f.signatures)
	if err != nil {
		return err
	}
	doc, err := analysis.Run(a.ctx(), inputs, analysis.Options{
		Signatures: set, Label: label(paths), Version: versionText(), SHA256: f.sha256, Hints: hints,
	})
	if err != nil {
		return err
	}
	if f.baseline != "" {
		base, err := a.documentOf(f.baseline, f.signatures)
		if err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
		doc = analysis.WithBaseline(doc, base)
	}
	if f.verbose {
		for _, s := range doc.Sources {
			fmt.Fprintf(a.stderr, "%s: %s, %d lines, %d understood\n", s.Path, s.Format, s.Lines, s.Understood)
		}
	}
	if f.exitCode && doc.Outcome != "completed" {
		a.status = exitFailed
	}
	return a.writeReport(&f.outputFlags, doc)
}

func label(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		if names[i] = filepath.ToSlash(filepath.Clean(p)); p == "-" {
			names[i] = "standard input"
		}
	}
	return strings.Join(names, " ")
}

func loadSignatures(dir string) (*signatures.Set, error) {
	if dir == "" {
		return signatures.Load()
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--signatures %s: not a folder with *.yaml packs", dir)
	}
	return signatures.LoadWith(os.DirFS(dir))
}
