package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/llmforensics/forensics/report"
	"github.com/spf13/pflag"
)

// outputFlags say how a finished document leaves the program.
type outputFlags struct {
	format   string
	output   string
	template string
	redact   string
}

func (o *outputFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&o.format, "format", "", "report format: "+strings.Join(formatNames(), ", "))
	flags.StringVarP(&o.output, "output", "o", "", "write to this file, or to this folder (an existing one, or a name that ends in /)")
	flags.StringVar(&o.template, "template", "", "with --format issue, the project whose bug template is filled: "+
		strings.Join(report.IssueTemplates(), " or "))
	flags.StringVar(&o.redact, "redact", report.RedactSecrets,
		"what to mask: off, secrets, or strict (also hosts, addresses, users, paths and prompts)")
}

// formats are the report formats, in the order of the help text. Endings name
// the files of which a format is the default.
var formats = []struct {
	name   string
	ending string
	write  func(a *app, o *outputFlags, w io.Writer, doc *report.Document) error
}{
	{"terminal", "", func(a *app, _ *outputFlags, w io.Writer, doc *report.Document) error {
		return report.WriteTerminal(w, doc, terminalWidth(a.stdout), useColor(a.stdout))
	}},
	{"markdown", ".md", func(_ *app, _ *outputFlags, w io.Writer, doc *report.Document) error {
		return report.WriteMarkdown(w, doc, report.Options{})
	}},
	{"html", ".html", func(_ *app, _ *outputFlags, w io.Writer, doc *report.Document) error { return report.WriteHTML(w, doc) }},
	{"issue", "", func(_ *app, o *outputFlags, w io.Writer, doc *report.Document) error {
		return report.WriteIssue(w, doc, report.IssueOptions{Template: o.template})
	}},
	{"json", ".json", func(_ *app, _ *outputFlags, w io.Writer, doc *report.Document) error { return report.WriteJSON(w, doc) }},
	{"junit", ".xml", func(_ *app, _ *outputFlags, w io.Writer, doc *report.Document) error {
		return report.WriteJUnit(w, doc)
	}},
	{"sarif", ".sarif", func(_ *app, _ *outputFlags, w io.Writer, doc *report.Document) error {
		return report.WriteSARIF(w, doc)
	}},
}

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// check fills in the format and looks for mistakes before any work is done.
func (o *outputFlags) check(a *app) error {
	if o.format == "" {
		o.format = "markdown"
		if o.output == "" && isTerminal(a.stdout) {
			o.format = "terminal"
		}
		for _, f := range formats {
			if f.ending != "" && strings.HasSuffix(o.output, f.ending) {
				o.format = f.name
			}
		}
	}
	known := false
	for _, f := range formats {
		known = known || f.name == o.format
	}
	if !known {
		return fmt.Errorf("--format %q is not known: use one of %s", o.format, strings.Join(formatNames(), ", "))
	}
	if o.template != "" && o.format != "issue" {
		return fmt.Errorf("--template %s needs --format issue", o.template)
	}
	if err := report.CheckIssueTemplate(o.template); err != nil {
		return fmt.Errorf("--template: %w", err)
	}
	if _, err := report.NewRedactor(o.redact); err != nil {
		return fmt.Errorf("--redact: %w", err)
	}
	return nil
}

// writeReport masks the document once, renders it to the output, and looks at the
// finished bytes before they leave the program.
func (a *app) writeReport(o *outputFlags, doc *report.Document) error {
	red, err := report.NewRedactor(o.redact)
	if err != nil {
		return err
	}
	doc = red.Document(doc)
	if isFolder(o.output) {
		return writeFolder(o.output, doc, red)
	}
	var buf bytes.Buffer
	for _, f := range formats {
		if f.name == o.format {
			if err := f.write(a, o, &buf, doc); err != nil {
				return err
			}
		}
	}
	return a.deliver(o.output, buf.Bytes(), red)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() || strings.HasSuffix(name, "/")
}

// deliver writes finished bytes to a file, or to standard output if name is empty,
// unless they still hold what was to be masked.
func (a *app) deliver(name string, out []byte, red *report.Redactor) error {
	if err := red.Check(orElse(name, "report"), out); err != nil {
		return err
	}
	if name == "" {
		_, err := a.stdout.Write(out)
		return err
	}
	return os.WriteFile(name, out, 0o644)
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// writeFolder writes every form of the report into a folder. Everything is
// rendered and looked at before the first file is written.
func writeFolder(dir string, doc *report.Document, red *report.Redactor) error {
	files, err := renderFolder(doc)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := red.Check(f.name, f.data); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

type outputFile struct {
	name string
	data []byte
}

// renderFolder renders the files of a report's folder.
func renderFolder(doc *report.Document) ([]outputFile, error) {
	var files []outputFile
	add := func(name string, render func(io.Writer) error) error {
		var buf bytes.Buffer
		if err := render(&buf); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, outputFile{name, buf.Bytes()})
		return nil
	}
	charts, err := report.Charts(doc)
	if err != nil {
		return nil, err
	}
	var refs []report.ChartFile
	for _, c := range charts {
		refs = append(refs, report.ChartFile{Name: c.Name, Alt: c.Alt, Path: c.Name + ".svg"})
		if err := add(c.Name+".svg", c.WriteSVG); err != nil {
			return nil, err
		}
		if err := add(c.Name+".png", c.WritePNG); err != nil {
			return nil, err
		}
	}
	if err := add("report.json", func(w io.Writer) error { return report.WriteJSON(w, doc) }); err != nil {
		return nil, err
	}
	if err := add("report.html", func(w io.Writer) error { return report.WriteHTML(w, doc) }); err != nil {
		return nil, err
	}
	err = add("report.md", func(w io.Writer) error { return report.WriteMarkdown(w, doc, report.Options{Charts: refs}) })
	return files, err
}
