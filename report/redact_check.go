package report

import (
	"fmt"
	"html"
	"regexp"
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
	if err := r.checkRules(name, text); err != nil {
		return err
	}
	for v, kind := range r.values {
		// A short name may be a word of the report's own.
		if len(v) >= 8 && strings.Contains(text, v) && kind != "user" {
			return leakError(name, kind)
		}
	}
	return nil
}

var masks = regexp.MustCompile(redactedMark + `[a-z]+(?:-[a-z]+)*`)

// checkRules runs the rules for secrets over finished text.
func (r *Redactor) checkRules(name, text string) error {
	for line := range strings.Lines(text) {
		// A page writes quotes as entities. The name of a mask ("REDACTED-hf-token")
		// must not read as the name of an option.
		line = masks.ReplaceAllString(html.UnescapeString(line), "REDACTED")
		lower := strings.ToLower(line)
		for i := range r.rules {
			c := &r.rules[i]
			if c.name == "" && c.mayMatch(line, lower) && r.finds(c, line) {
				return leakError(name, c.kind)
			}
		}
	}
	return nil
}

func leakError(name, kind string) error {
	return fmt.Errorf("%s: the finished output still holds what looks like a secret or a name (%s), so nothing was written: "+
		"please report the rule, and use --redact off only for readers who may see everything", name, kind)
}

// finds reports whether a rule finds a value that it does not keep.
func (r *Redactor) finds(c *compiledRule, s string) bool {
	for pos := 0; pos < len(s); {
		m := c.re.FindStringSubmatchIndex(s[pos:])
		if m == nil {
			return false
		}
		from, to := takenGroup(m)
		v := s[from+pos : to+pos]
		if v != "" && !strings.Contains(v, "REDACTED") && (c.keep == nil || !c.keep(v)) {
			return true
		}
		pos += max(to, 1)
	}
	return false
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
