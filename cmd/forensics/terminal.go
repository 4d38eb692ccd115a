package main

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

func (a *app) ctx() context.Context { return context.Background() }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns the columns to fill: those of the terminal, at most 120
// so that lines stay readable, 80 elsewhere.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 20 {
			return min(cols, 120)
		}
	}
	return 80
}

// useColor follows the NO_COLOR convention (https://no-color.org).
func useColor(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" }
