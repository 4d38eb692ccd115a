package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

const (
	tracebackHeader = "Traceback (most recent call last):"
	groupHeader     = "Exception Group Traceback (most recent call last):"
	directCause     = "The above exception was the direct cause of the following exception:"
	duringHandling  = "During handling of the above exception, another exception occurred:"
)

// header returns the text before a traceback header that ends the line, and
// whether the header is that of an exception group (PEP 654).
func header(text []byte) (lead []byte, group, ok bool) {
	for len(text) > 0 && text[len(text)-1] == ' ' {
		text = text[:len(text)-1]
	}
	lead, ok = bytes.CutSuffix(text, []byte(tracebackHeader))
	if !ok {
		return nil, false, false
	}
	if before, is := bytes.CutSuffix(lead, []byte("Exception Group ")); is {
		lead, group = before, true
	}
	return bytes.TrimSpace(lead), group, true
}

// exceptionSuffixes end the names of exception classes.
var exceptionSuffixes = []string{
	"Error", "Exception", "KeyboardInterrupt", "SystemExit", "Timeout", "OutOfResources", "Refused",
	"ExceptionGroup", "GeneratorExit", "StopIteration", "Unsupported", "RemoteTraceback", "CancelledError",
	"ServerDisconnected",
}

// exceptionName reports whether a dotted name looks like an exception class.
func exceptionName(typ string) bool {
	base := typ[strings.LastIndexByte(typ, '.')+1:]
	if i := strings.IndexByte(base, '('); i > 0 {
		base = base[:i]
	}
	for _, s := range exceptionSuffixes {
		if strings.HasSuffix(base, s) {
			return len(base) > len(s) || !bareWords[s]
		}
	}
	return false
}

// bareWords are endings that begin too many ordinary lines when they stand alone
// ("Error: no such file").
var bareWords = map[string]bool{"Timeout": true, "Error": true, "Refused": true, "Unsupported": true}

// splitException splits "Type: message" and "Type". The type is a dotted name at
// the very start of the line; Ray puts the original's name behind it in
// parentheses: "RayTaskError(ValueError): ...".
func splitException(text []byte) (typ, msg []byte, ok bool) {
	i := 0
	for i < len(text) && (isWordByte(text[i]) || text[i] == '.') {
		i++
	}
	if i == 0 || text[0] == '.' || text[0] >= '0' && text[0] <= '9' || text[i-1] == '.' || i > 160 {
		return nil, nil, false
	}
	if i < len(text) && text[i] == '(' && bytes.HasSuffix(text[:i], []byte("Error")) {
		if j := bytes.Index(text[i:], []byte("):")); j > 0 && j < 80 {
			i += j + 1
		}
	}
	switch {
	case i == len(text) || len(bytes.TrimSpace(text[i:])) == 0:
		if !hasUpper(text[:i]) && !exceptionName(view(text[:i])) {
			return nil, nil, false
		}
		return text[:i], nil, true
	case text[i] == ':' && (i+1 == len(text) || text[i+1] == ' '):
		return text[:i], bytes.TrimSpace(text[i+1:]), true
	}
	return nil, nil, false
}

func hasUpper(b []byte) bool {
	j := bytes.LastIndexByte(b, '.') + 1
	return j < len(b) && b[j] >= 'A' && b[j] <= 'Z' && bytes.ContainsAny(b[j:], "abcdefghijklmnopqrstuvwxyz")
}

// parseFrame reads `  File "f", line N, in g`, and faulthandler's form without
// the second comma.
func parseFrame(text []byte, names *interner) (forensics.Frame, bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte(`File "`))
	if !ok {
		return forensics.Frame{}, false
	}
	q := bytes.IndexByte(rest, '"')
	if q < 0 {
		return forensics.Frame{}, false
	}
	f := forensics.Frame{File: names.get(clipBytes(rest[:q], 300))}
	rest, ok = bytes.CutPrefix(rest[q+1:], []byte(", line "))
	if !ok {
		return f, true
	}
	i := 0
	for i < len(rest) && i < 9 && rest[i] >= '0' && rest[i] <= '9' {
		f.Line = f.Line*10 + int(rest[i]-'0')
		i++
	}
	rest = bytes.TrimPrefix(rest[i:], []byte(","))
	if fn, ok := bytes.CutPrefix(rest, []byte(" in ")); ok {
		f.Func = names.get(clipBytes(fn, 200))
	}
	return f, true
}

// isFrame reports whether a line is the first line of a frame.
func isFrame(text []byte) bool {
	return len(text) > 0 && (text[0] == ' ' || text[0] == '\t') &&
		bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte(`File "`))
}

// isMarker reports whether a line under a source line only points into it or
// stands for lines left out.
func isMarker(text []byte) bool {
	t := bytes.TrimSpace(text)
	return len(bytes.Trim(t, "~^ ")) == 0 || bytes.HasPrefix(t, []byte("...<")) || bytes.HasPrefix(t, []byte("[Previous line repeated "))
}

// isBlank reports whether a line shows nothing.
func isBlank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// linkOf returns the link that a sentence between two blocks states, "" for none.
func linkOf(text []byte) string {
	if len(text) != len(directCause) && len(text) != len(duringHandling) {
		return ""
	}
	switch string(text) {
	case directCause:
		return "cause"
	case duringHandling:
		return "context"
	}
	return ""
}

// nativeFrames are the beginnings of the lines that torch's C++ exceptions carry
// in their message: c10's stack, in which the Python text goes on afterwards.
var nativeFrames = []string{"frame #", "Exception raised from ", "<omitting python frames>", "C++ CapturedTraceback:"}

func isNativeFrame(text []byte) bool {
	return hasAnyPrefix(text, nativeFrames)
}

// messageTails begin lines that belong to the message above them even where
// nothing else says so: behind a blank line, or below an exception line that was
// printed without its traceback.
var messageTails = []string{
	"CUDA kernel errors might", "For debugging consider passing", "Compile with `TORCH_USE", "Search for `cuda",
	"Device-side assertions", "Last error:", "ncclSystemError:", "ncclInternalError:", "ncclUnhandledCudaError:",
	"ncclRemoteError:", "ncclInvalidUsage:", "Possible solutions:", "Set TORCHDYNAMO_VERBOSE", "from user code:",
	"You can suppress this exception", "For more information, try", "Original error:", "The above operation failed",
	"Loaded plan of size", "To fix this", "Duplicate GPU detected",
}

// recordStarts begin unprefixed lines that cannot be part of a message: shell
// prompts, wrappers' echoes, exit statuses, warnings of another process.
var recordStarts = []string{
	"$ ", "# ", "===", "--- ", "+ ", "exit status", "exit code", "Killed", "Aborted", "Terminated", "Process ", "ERROR:", "INFO:",
	"WARNING:", "/usr/lib/python", "Segmentation fault", "Fatal Python error", "terminate called", "root@", "srun:", "slurmstepd:",
	"Exception ignored in", "[rank", "*****", "Sending process", "bash: ", "sh: ",
}

// startsRecord reports whether an unprefixed line cannot be part of a message.
func startsRecord(text []byte) bool { return hasAnyPrefix(text, recordStarts) }

func hasAnyPrefix(text []byte, list []string) bool {
	for _, p := range list {
		if len(text) >= len(p) && text[0] == p[0] && string(text[:len(p)]) == p {
			return true
		}
	}
	return false
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

func clipBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	return bytes.ToValidUTF8(b[:n], nil)
}
