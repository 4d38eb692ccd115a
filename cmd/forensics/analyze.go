package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
	"github.com/llmforensics/forensics/signatures"
	"github.com/spf13/cobra"
)

// analyzeFlags are the flags of the analyze command.
type analyzeFlags struct {
	format     string
	output     string
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
	flags.StringVar(&f.format, "format", "", `report format: terminal, markdown, html or json`)
	flags.StringVarP(&f.output, "output", "o", "", "write to this file, or to this folder (an existing one, or a name that ends in /)")
	flags.StringVar(&f.signatures, "signatures", "", "folder with further signature packs (*.yaml)")
	flags.BoolVar(&f.exitCode, "exit-code", false, "exit with status 1 when the run did not complete")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print no notes on standard error")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "tell on standard error what was read and as what")
	flags.BoolVar(&f.sha256, "sha256", false, "name sources over 64 MiB by SHA-256 too")
	flags.StringArrayVar(&f.hints, "format-hint", nil, "read a file as this format, as FILE=FORMAT; may be repeated")
	return cmd
}

var formats = []string{"terminal", "markdown", "html", "json"}

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
	if f.verbose {
		for _, s := range doc.Sources {
			fmt.Fprintf(a.stderr, "%s: %s, %d lines, %d understood\n", s.Path, s.Format, s.Lines, s.Understood)
		}
	}
	if f.exitCode && doc.Outcome != "completed" {
		a.status = exitFailed
	}
	return a.write(f, doc)
}

func (f *analyzeFlags) check(a *app) error {
	if f.format == "" {
		f.format = "markdown"
		if f.output == "" && isTerminal(a.stdout) {
			f.format = "terminal"
		}
		if strings.HasSuffix(f.output, ".json") {
			f.format = "json"
		}
		if strings.HasSuffix(f.output, ".html") {
			f.format = "html"
		}
	}
	for _, known := range formats {
		if f.format == known {
			return nil
		}
	}
	return fmt.Errorf("--format %q is not known: use one of %s", f.format, strings.Join(formats, ", "))
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

// write renders the document to the output.
func (a *app) write(f analyzeFlags, doc *report.Document) error {
	if f.output == "" {
		return a.render(a.stdout, f.format, doc)
	}
	if info, err := os.Stat(f.output); err == nil && info.IsDir() || strings.HasSuffix(f.output, "/") {
		return writeFolder(f.output, doc)
	}
	var buf bytes.Buffer
	if err := a.render(&buf, f.format, doc); err != nil {
		return err
	}
	return os.WriteFile(f.output, buf.Bytes(), 0o644)
}

func (a *app) render(w io.Writer, format string, doc *report.Document) error {
	switch format {
	case "json":
		return report.WriteJSON(w, doc)
	case "html":
		return report.WriteHTML(w, doc)
	case "terminal":
		return report.WriteTerminal(w, doc, terminalWidth(a.stdout), useColor(a.stdout))
	}
	return report.WriteMarkdown(w, doc, report.Options{})
}

// writeFolder writes every form of the report into a folder.
func writeFolder(dir string, doc *report.Document) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	save := func(name string, render func(io.Writer) error) error {
		var buf bytes.Buffer
		if err := render(&buf); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return os.WriteFile(filepath.Join(dir, name), buf.Bytes(), 0o644)
	}
	charts, err := report.Charts(doc)
	if err != nil {
		return err
	}
	var files []report.ChartFile
	for _, c := range charts {
		files = append(files, report.ChartFile{Name: c.Name, Alt: c.Alt, Path: c.Name + ".svg"})
		if err := save(c.Name+".svg", c.WriteSVG); err != nil {
			return err
		}
		if err := save(c.Name+".png", c.WritePNG); err != nil {
			return err
		}
	}
	if err := save("report.json", func(w io.Writer) error { return report.WriteJSON(w, doc) }); err != nil {
		return err
	}
	if err := save("report.html", func(w io.Writer) error { return report.WriteHTML(w, doc) }); err != nil {
		return err
	}
	return save("report.md", func(w io.Writer) error {
		return report.WriteMarkdown(w, doc, report.Options{Charts: files})
	})
}
