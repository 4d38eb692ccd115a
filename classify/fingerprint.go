package classify

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
)

var (
	hexRE    = regexp.MustCompile(`0x[0-9a-fA-F]+`)
	numberRE = regexp.MustCompile(`\d+(?:\.\d+)?`)
	pathRE   = regexp.MustCompile(`(?:/[\w.@+-]+){2,}`)
	uuidRE   = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	idRE     = regexp.MustCompile(`\b[0-9a-f]{12,}\b`)
)

// fingerprint names an unknown failure so that equal ones group: the root
// exception's type, the own-code frames without line numbers, and the message
// without numbers, addresses, ids and paths. Ranks and pids do not enter.
func fingerprint(tr *forensics.Trace) string {
	x := tr.Root()
	if x == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(x.BaseType())
	n := 0
	for i := len(x.Frames) - 1; i >= 0 && n < 5; i-- {
		f := x.Frames[i]
		if signatures.IsGlue(f.File + ":" + f.Func) {
			continue
		}
		b.WriteString("\x00" + shortPath(f.File) + ":" + f.Func)
		n++
	}
	b.WriteString("\x00" + normalMessage(x.Message))
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:6])
}

// normalMessage removes what differs between equal failures.
func normalMessage(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	s = uuidRE.ReplaceAllString(s, "U")
	s = hexRE.ReplaceAllString(s, "X")
	s = pathRE.ReplaceAllString(s, "P")
	s = idRE.ReplaceAllString(s, "U")
	return numberRE.ReplaceAllString(s, "N")
}

// ownFrame returns the innermost frame of the root exception that is neither
// library nor glue code, or nil.
func ownFrame(tr *forensics.Trace) *forensics.Frame {
	x := tr.Root()
	if x == nil {
		return nil
	}
	for i := len(x.Frames) - 1; i >= 0; i-- {
		if f := &x.Frames[i]; !signatures.IsGlue(f.File + ":" + f.Func) {
			return f
		}
	}
	return nil
}

// shortPath keeps the part of a path behind the package folder.
func shortPath(p string) string {
	for _, mark := range []string{"site-packages/", "dist-packages/", "/python/"} {
		if i := strings.LastIndex(p, mark); i >= 0 {
			return p[i+len(mark):]
		}
	}
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[i+1:]
	}
	return p
}
