package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// app carries the streams and the exit status through the commands.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	status         int
}

// complain prints an error the way all commands do.
func (a *app) complain(err error) { fmt.Fprintf(a.stderr, "forensics: %v\n", err) }

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "forensics",
		Short: "Find out why a benchmark sweep of an LLM server died",
		Long: `forensics reads what a benchmark run left behind - server logs, bench client
output, nvidia-smi dumps, kernel log, shell transcripts - builds one timeline,
finds the root cause behind the symptoms, says how sure it is and why, and
renders a report. It works offline; same input, same report.`,
		Example: `  forensics analyze run/                      # terminal or Markdown report
  forensics analyze run/ -o report/           # report.md, report.json and charts
  forensics analyze --format json run/ | jq .root_cause.class`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(a.analyzeCommand(), a.compareCommand(), a.redactCommand(), a.signaturesCommand(), a.versionCommand())
	return root
}

// version is set by release builds (-ldflags "-X main.version=v1.2.3").
var version = ""

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  forensics version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.stdout, "forensics", versionText())
			return err
		},
	}
}
