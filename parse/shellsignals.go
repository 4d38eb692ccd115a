package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// signal is a signal that ends processes, and the words that shells print for it.
type signal struct {
	number int
	name   string
	words  string // bash and srun; zsh prints them in lower case
}

var signals = []signal{
	{9, "KILL", "Killed"}, {15, "TERM", "Terminated"}, {6, "ABRT", "Aborted"}, {11, "SEGV", "Segmentation fault"},
	{7, "BUS", "Bus error"}, {4, "ILL", "Illegal instruction"}, {2, "INT", "Interrupt"}, {1, "HUP", "Hangup"},
	{3, "QUIT", "Quit"}, {8, "FPE", "Floating point exception"}, {5, "TRAP", "Trace/breakpoint trap"},
	{13, "PIPE", "Broken pipe"}, {9, "KILL", "Out Of Memory"},
}

// signalOf returns the signal whose words b begins with, in any case.
func signalOf(b []byte) *signal {
	if len(b) == 0 {
		return nil
	}
	for i := range signals {
		w := signals[i].words
		if b[0]|0x20 == w[0]|0x20 && len(b) >= len(w) && strings.EqualFold(view(b[:len(w)]), w) {
			return &signals[i]
		}
	}
	return nil
}

// signalNamed returns the signal called "SIGKILL" or "KILL".
func signalNamed(b []byte) *signal {
	name := bytes.TrimPrefix(bytes.TrimSpace(b), []byte("SIG"))
	for i := range signals {
		if len(name) > 0 && signals[i].name == string(name) {
			return &signals[i]
		}
	}
	return nil
}

// putCode adds an exit code, and the signal that it stands for: 128+n in a
// shell, -n in Python.
func putCode(e *forensics.Event, b []byte) bool {
	neg := len(b) > 0 && b[0] == '-'
	num := number0(bytes.TrimPrefix(b, []byte("-")))
	if len(num) == 0 || len(num) > 3 {
		return false
	}
	code := digits(num, 0, len(num))
	if neg {
		code = -code
	}
	put(e, "code", strconv.Itoa(code))
	sig := code - 128
	if neg {
		sig = -code
	}
	for i := range signals {
		if signals[i].number == sig {
			put(e, "signal", signals[i].name)
			break
		}
	}
	return true
}

// putSignal adds a signal and the exit code that a shell makes of it.
func putSignal(e *forensics.Event, sig *signal) {
	put(e, "code", strconv.Itoa(128+sig.number))
	put(e, "signal", sig.name)
}
