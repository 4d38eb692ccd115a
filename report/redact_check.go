package report

import (
	"fmt"
	"strings"
)

// Check looks at finished output once more: the rules for secrets run over it
// again, and nothing that was masked may stand in it. An error means that the
// output must not be given away; it names the kind and never the value. Rules for
// hosts, addresses and paths are not run again, because a page has addresses and
// numbers of its own.
func (r *Redactor) Check(name string, out []byte) error {
	if r.level == RedactOff {
		return nil
	}
	text := string(out)
	lower := strings.ToLower(text)
	for i := range r.rules {
		c := &r.rules[i]
		if c.name != "" || !hasWord(lower, c.words) {
			continue
		}
		if v := r.firstFound(c, text); v != "" {
			return leakError(name, c.kind)
		}
	}
	for v, kind := range r.values {
		// A short name may be a word of the report's own.
		if len(v) >= 8 && strings.Contains(text, v) && kind != "user" {
			return leakError(name, kind)
		}
	}
	return nil
}

func leakError(name, kind string) error {
	return fmt.Errorf("%s: the finished output still holds what looks like a secret or a name (%s), so nothing was written: "+
		"please report the rule, and use --redact off only for readers who may see everything", name, kind)
}

// firstFound is the first value that a rule finds and does not keep.
func (r *Redactor) firstFound(c *compiledRule, s string) string {
	for pos := 0; pos < len(s); {
		m := c.re.FindStringSubmatchIndex(s[pos:])
		if m == nil {
			return ""
		}
		from, to := takenGroup(m)
		v := s[from+pos : to+pos]
		if v != "" && !strings.Contains(v, redactedMark) && !(c.keep != nil && c.keep(v)) {
			return v
		}
		pos += max(to, 1)
	}
	return ""
}

// redaction says in the report what was masked.
func (m *markdown) redaction() {
	red := m.doc.Redaction
	if red == nil || len(red.Kinds) == 0 {
		return
	}
	m.printf("Masked before this report was written (level %s); equal names have equal numbers.\n\n", m.e.text(red.Level))
	var rows [][]cell
	for _, k := range red.Kinds {
		rows = append(rows, []cell{m.textCell(k.Kind), m.textCell(number(float64(k.Values))), m.textCell(number(float64(k.Places)))})
	}
	m.table([]string{"Kind", "Different values", "Places"}, []bool{false, true, true}, rows)
}
