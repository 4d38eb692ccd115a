package report

import (
	"fmt"
	"slices"
	"strings"
)

// outcomeWords open the report.
var outcomeWords = map[string]string{
	"completed": "Completed", "degraded": "Degraded", "failed": "Failed", "inconclusive": "Inconclusive",
}

func (m *markdown) verdict() {
	d, root := m.doc, &m.doc.RootCause
	word := outcomeWords[d.Outcome]
	if word == "" {
		word = m.e.text(d.Outcome)
	}
	m.printf("# %s: %s\n\n", word, m.e.prose(orElse(root.Title, root.Class)))
	m.printf("%s\n\n", strings.Join(m.verdictFacts(), " · "))
	if d.Summary != "" {
		m.printf("%s\n\n", m.e.prose(d.Summary))
	}
	if root.Detail != "" && !strings.Contains(d.Summary, root.Detail) {
		m.printf("%s\n\n", m.e.prose(root.Detail))
	}
	// The one line that proves it; with a chain it is quoted there.
	if len(d.Chain) == 0 && len(root.Evidence) > 0 {
		m.printf("%s\n\n", m.at(root.Evidence[0]))
		m.block(0, root.Evidence[0])
		m.printf("\n")
	}
	m.chart("server-load")
}

// verdictFacts is the line under the heading: class, confidence, when and who.
func (m *markdown) verdictFacts() []string {
	root := &m.doc.RootCause
	label := "Root cause"
	if root.Class == "ok" {
		label = "Verdict"
	}
	facts := []string{fmt.Sprintf("%s **%s**", label, m.e.code(root.Class))}
	if root.Confidence != "" {
		facts = append(facts, fmt.Sprintf("confidence **%s**", m.e.text(root.Confidence)))
	}
	if t := m.face.show(root.Time); t != "" {
		facts = append(facts, m.e.text(t))
	}
	if root.Process != "" {
		facts = append(facts, m.e.text(root.Process))
	}
	if len(root.Ranks) > 1 {
		facts = append(facts, fmt.Sprintf("on %d ranks", len(root.Ranks)))
	}
	if m.doc.Run != "" {
		facts = append(facts, "run "+m.e.code(m.doc.Run))
	}
	return facts
}

func (m *markdown) chain() {
	for i, s := range m.doc.Chain {
		lead := ""
		if t := m.face.show(s.Time); t != "" {
			lead = "**" + m.e.text(t) + "** "
		}
		text := m.e.prose(s.Text)
		if s.Class != "" {
			text += " (" + m.e.code(s.Class) + ")"
		}
		m.printf("%d. %s%s", i+1, lead, text)
		if s.Evidence.File != "" {
			m.printf(" — %s", m.at(s.Evidence))
		}
		m.printf("\n")
		if s.Evidence.Text != "" && !m.shown[place{s.Evidence.File, s.Evidence.Line}] {
			indent := len(fmt.Sprintf("%d. ", i+1))
			m.printf("\n")
			m.block(indent, s.Evidence)
			m.printf("\n")
		}
	}
}

// evidence quotes the lines of the root cause that were not quoted yet, and says
// why the confidence is what it is.
func (m *markdown) evidence() {
	root := &m.doc.RootCause
	for _, ev := range root.Evidence {
		if ev.Text == "" || m.shown[place{ev.File, ev.Line}] {
			continue
		}
		m.printf("%s\n\n", m.at(ev))
		m.block(0, ev)
		m.printf("\n")
	}
	if len(root.Reasons) > 0 {
		m.printf("Why the confidence is %s:\n\n", m.e.text(root.Confidence))
		for _, r := range root.Reasons {
			m.printf("- %s\n", m.e.prose(r))
		}
	}
	if root.Fingerprint != "" {
		m.printf("\nFingerprint for finding equal failures: %s\n", m.e.code(root.Fingerprint))
	}
}

func (m *markdown) remedy() {
	root := &m.doc.RootCause
	if root.Remedy != "" {
		m.printf("%s\n\n", m.e.prose(root.Remedy))
	}
	if root.Affected != "" {
		m.printf("- Affected versions: %s\n", m.e.prose(root.Affected))
	}
	if root.Fixed != "" {
		m.printf("- Fixed in: %s\n", m.e.prose(root.Fixed))
	}
	for _, r := range root.References {
		if isURL(r) && !m.e.term {
			m.printf("- <%s>\n", r)
			continue
		}
		m.printf("- %s\n", m.e.text(r))
	}
}

func (m *markdown) symptoms() {
	inChain := map[string]bool{}
	for _, s := range m.doc.Chain {
		inChain[s.Class] = true
	}
	for i := range m.doc.Symptoms {
		if s := &m.doc.Symptoms[i]; !inChain[s.Class] {
			m.finding(s)
		}
	}
}

func (m *markdown) earlier() {
	for i := range m.doc.Earlier {
		m.finding(&m.doc.Earlier[i])
	}
}

// finding writes a symptom as one bullet.
func (m *markdown) finding(x *Finding) {
	m.printf("- %s %s", m.e.code(x.Class), m.e.prose(x.Title))
	var notes []string
	if x.Count > 1 {
		notes = append(notes, fmt.Sprintf("seen %s times", number(float64(x.Count))))
	}
	if t := m.face.show(x.Time); t != "" {
		notes = append(notes, m.e.text(t))
	}
	if x.Process != "" {
		notes = append(notes, m.e.text(x.Process))
	}
	if len(notes) > 0 {
		m.printf(" (%s)", strings.Join(notes, ", "))
	}
	if x.ExplainedBy != "" {
		m.printf("; explained by %s", m.e.code(x.ExplainedBy))
	}
	if x.Why != "" {
		m.printf(": %s", m.e.prose(x.Why))
	}
	if len(x.Evidence) > 0 {
		m.printf(" — %s", m.at(x.Evidence[0]))
	}
	m.printf("\n")
}

func (m *markdown) rejected() {
	for _, r := range m.doc.Rejected {
		m.printf("- %s", m.e.code(r.Class))
		if r.Title != "" {
			m.printf(" %s", m.e.prose(r.Title))
		}
		m.printf(": %s", m.e.prose(r.Reason))
		if len(r.Evidence) > 0 {
			m.printf(" — %s", m.at(r.Evidence[0]))
		}
		m.printf("\n")
	}
}

func (m *markdown) missing() {
	c := &m.doc.Coverage
	for _, s := range c.MissingSources {
		m.printf("- %s\n", m.e.prose(s))
	}
	if len(c.LookedFor) > 0 {
		if len(c.MissingSources) > 0 {
			m.printf("\n")
		}
		m.printf("Looked for and not found: ")
		m.printf("%s.\n", strings.TrimSuffix(strings.Join(mapSlice(c.LookedFor, m.e.prose), "; "), "."))
	}
}

// orElse returns the first text that is not empty.
func orElse(texts ...string) string {
	if i := slices.IndexFunc(texts, func(s string) bool { return s != "" }); i >= 0 {
		return texts[i]
	}
	return ""
}
