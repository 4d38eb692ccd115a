package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/llmforensics/forensics/analysis"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
	"github.com/spf13/cobra"
)

// compareFlags are the flags of the compare command.
type compareFlags struct {
	format, output, redact, signatures string
	exitCode                           bool
}

var compareFormats = []string{"terminal", "markdown", "json"}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Tell what changed between two runs",
		Long: `Compare analyses two runs and tells what differs: configuration, environment, the
metrics of the points they have in common, the first event that differs, and
failures that are new or gone. BASE and HEAD are files, folders, or reports that
analyze wrote with --format json. Points with failed requests are not compared.

Exit status: 0 done, 1 with --exit-code when HEAD is clearly slower or has a failure
that BASE has not, 2 when the job could not be done.`,
		Example: `  forensics compare yesterday/ today/
  forensics compare --exit-code --format json base.json run/`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, paths []string) error { return a.compare(f, paths[0], paths[1]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "format: "+strings.Join(compareFormats, ", "))
	flags.StringVarP(&f.output, "output", "o", "", "write to this file")
	flags.StringVar(&f.redact, "redact", report.RedactSecrets, "what to mask: off, secrets or strict")
	flags.StringVar(&f.signatures, "signatures", "", "folder with further signature packs (*.yaml)")
	flags.BoolVar(&f.exitCode, "exit-code", false, "exit with status 1 when HEAD is slower or fails anew")
	return cmd
}

func (a *app) compare(f compareFlags, base, head string) error {
	if f.format == "" {
		f.format = "markdown"
		if f.output == "" && isTerminal(a.stdout) {
			f.format = "terminal"
		}
	}
	if !slices.Contains(compareFormats, f.format) {
		return fmt.Errorf("--format %q is not known: use one of %s", f.format, strings.Join(compareFormats, ", "))
	}
	red, err := report.NewRedactor(f.redact)
	if err != nil {
		return fmt.Errorf("--redact: %w", err)
	}
	var docs [2]*report.Document
	for i, path := range []string{base, head} {
		doc, err := a.documentOf(path, f.signatures)
		if err != nil {
			return err
		}
		docs[i] = doc
		red.LearnDocument(doc) // a name that one run tells is masked in both
	}
	docs[0], docs[1] = red.Document(docs[0]), red.Document(docs[1])
	c := analysis.Compare(docs[0], docs[1])
	if f.exitCode && (c.Regression || len(c.NewFailures) > 0) {
		a.status = exitFailed
	}
	var buf bytes.Buffer
	switch f.format {
	case "json":
		err = report.WriteComparisonJSON(&buf, c)
	case "terminal":
		err = report.WriteComparisonTerminal(&buf, c, terminalWidth(a.stdout), useColor(a.stdout))
	default:
		err = report.WriteComparison(&buf, c)
	}
	if err != nil {
		return err
	}
	return a.deliver(f.output, buf.Bytes(), red)
}

// maxDocument bounds a report that is read back.
const maxDocument = 256 << 20

// documentOf analyses a path, or reads a report in JSON back.
func (a *app) documentOf(path, packs string) (*report.Document, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && strings.HasSuffix(path, ".json") && info.Size() < maxDocument {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var doc report.Document
		if json.Unmarshal(data, &doc) == nil && doc.Schema == report.Schema {
			return &doc, nil
		}
	}
	inputs, _, err := parse.FindInputs([]string{path}, a.stdin)
	if err != nil {
		return nil, err
	}
	set, err := loadSignatures(packs)
	if err != nil {
		return nil, err
	}
	return analysis.Run(a.ctx(), inputs, analysis.Options{Signatures: set, Label: label([]string{path}), Version: versionText()})
}
