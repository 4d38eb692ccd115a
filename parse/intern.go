package parse

import "bytes"

// maxNames bounds an interner: a log names few processes and source files, so
// the bound is only met by input made to meet it.
const maxNames = 1 << 13

// interner makes strings of byte slices that recur: process names, ranks, source
// files. A repeated text costs no allocation. The strings are copies and stay
// valid, unlike views.
type interner struct{ m map[string]string }

func (n *interner) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := n.m[string(b)]; ok {
		return s
	}
	b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	s := string(b)
	if n.m == nil {
		n.m = make(map[string]string)
	}
	if len(n.m) < maxNames {
		n.m[s] = s
	}
	return s
}
