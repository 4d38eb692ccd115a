// Command forensics reads the folder that a benchmark sweep left behind and names
// the root cause of its failure.
package main

import (
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // only with --exit-code: the run did not complete
	exitUsage  = 2 // the job could not be done
)

// run is the whole program: it parses args, does the job and returns the exit
// status. Tests call it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := app.command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		app.complain(err)
		return exitUsage
	}
	return app.status
}
