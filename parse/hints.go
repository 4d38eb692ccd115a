package parse

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// ParseHints reads hints given as FILE=FORMAT, for [Options]. FILE is the label
// of a source, the path of a file, or the path of an archive followed by that of
// a member; a hint for a file that is not among the inputs is an error, as it
// would silently do nothing.
func ParseHints(hints []string, inputs []Input) (map[string]string, error) {
	out := map[string]string{}
	for _, h := range hints {
		file, name, ok := cutLast(h, '=')
		if !ok || file == "" {
			return nil, fmt.Errorf("--format-hint %q: write it as FILE=FORMAT", h)
		}
		if !slices.Contains(FormatNames(), name) {
			return nil, fmt.Errorf("--format-hint %q: there is no format %q: use one of %s", h, name, strings.Join(FormatNames(), ", "))
		}
		label := hintLabel(path.Clean(strings.ReplaceAll(file, `\`, "/")), inputs)
		if label == "" {
			return nil, fmt.Errorf("--format-hint %q: %s is not among the files to read", h, file)
		}
		out[label] = name
	}
	return out, nil
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// hintLabel finds the label that a hint's file means. The file may be given as
// on the command line, where labels are relative to the folder.
func hintLabel(file string, inputs []Input) string {
	for try := file; ; {
		for _, in := range inputs {
			if in.Path == try || strings.HasPrefix(try, in.Path+"/") {
				return try
			}
		}
		_, rest, ok := strings.Cut(try, "/")
		if !ok {
			return ""
		}
		try = rest
	}
}

// formatIndex returns the place of a format in the table, -1 if there is none of
// that name.
func formatIndex(name string) int {
	return slices.IndexFunc(formats, func(f format) bool { return f.name == name })
}
