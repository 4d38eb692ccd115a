package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// dcgm reads the reports of `dcgmi diag` and `dcgmi health`, which are boxes of
// two columns, and the health messages of the host engine's log. Source: DCGM's
// dcgmi/Diag.cpp and Health.cpp.
//
// What a test found goes on in the next rows, with an empty first column or one
// that only says "Info", "Warning" or "Error".
type dcgm struct {
	report string // "dcgm-diag" or "dcgm-health", "" if none is under way
	last   int
	head   forensics.Event // the report's first line
	ev     forensics.Event // the finding under way
	open   bool
	entity string // "GPU 0"
	passed int
	failed int
}

const maxDCGMReason = 500

func (r *dcgm) end(s *scan) { r.finish(s) }

func (r *dcgm) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if len(t) < 4 {
		return 0
	}
	if r.report != "" && l.pos.Line > r.last+2 {
		r.finish(s)
	}
	switch c := t[0]; {
	case c == '|':
		return r.row(t, l, s)
	case c == '+' && r.report != "" && len(bytes.Trim(t, "+-=")) == 0:
		return r.take(l, s, 3)
	case c == 'S' && bytes.HasPrefix(t, []byte("Successfully ran diagnostic for group")):
		return s.quiet(l, 3)
	case c == 'H' && bytes.HasPrefix(t, []byte("Health monitor systems report")):
		return s.quiet(l, 3)
	case c == '[' || c == 'D':
		return r.message(t, l, s)
	}
	return 0
}

// message reads "[[Health]] Detected a WARNING in health system Thermal: 'text'"
// of nv-hostengine's log.
func (r *dcgm) message(t []byte, l *line, s *scan) int {
	_, rest, ok := bytes.Cut(t[:len(t):len(t)], []byte("Detected a "))
	if !ok {
		return 0
	}
	level, rest, ok := bytes.Cut(rest, []byte(" in health system "))
	if !ok || len(level) > 16 {
		return 0
	}
	system, text, _ := bytes.Cut(rest, []byte(": "))
	e := stateEvent(l, s, "dcgm-health")
	text = bytes.Trim(text, "' ")
	put(e, "name", view(system))
	put(e, "state", dcgmState(level))
	put(e, "index", view(number0(wordAfter(text, "in GPU ", "for GPU ", "GPU "))))
	put(e, "reason", view(text))
	s.emit(e)
	return 10
}

func (r *dcgm) take(l *line, s *scan, weight int) int {
	r.last = l.pos.Line
	s.own()
	return s.quiet(l, weight)
}

// row reads a row of a box.
func (r *dcgm) row(t []byte, l *line, s *scan) int {
	cells := strings.Split(strings.Trim(string(t), "|"), "|")
	left, right := strings.TrimSpace(cells[0]), ""
	if len(cells) > 1 {
		right = strings.TrimSpace(cells[1])
	}
	switch {
	case len(cells) > 2 || len(t) > 300:
		return 0
	case left == "Diagnostic" && right == "Result":
		r.begin("dcgm-diag", l, s)
		return r.take(l, s, 10)
	case strings.HasPrefix(left, "Health Monitor Report"), strings.HasPrefix(left, "Overall Health"):
		if r.report != "dcgm-health" {
			r.begin("dcgm-health", l, s)
		}
	}
	if r.report == "" {
		return 0
	}
	if left == "" && right == "" || strings.HasPrefix(left, "---") {
		return r.take(l, s, 1)
	}
	if r.report == "dcgm-diag" {
		r.diagRow(left, right, l, s)
	} else {
		r.healthRow(left, right, l, s)
	}
	return r.take(l, s, 3)
}

// isDCGMHead accepts the headings of DCGM's boxes, whose first rule looks like
// that of nvidia-smi.
func isDCGMHead(t []byte) bool {
	return hasAnyPrefix(t, []string{"| Diagnostic  ", "| Health Monitor Report", "| Overall Health"})
}

func (r *dcgm) begin(report string, l *line, s *scan) {
	r.finish(s)
	*r = dcgm{report: report}
	hits := l.hits
	r.head = *s.event(l, forensics.KindEnv).Clone()
	r.head.Hits, l.hits = nil, hits
	r.head.Format = formats[s.current].name
}

// dcgmStates are the words that a result begins with.
var dcgmStates = []string{"Pass", "Fail", "Warn", "Skip", "Healthy", "Warning", "Failure", "Error", "Not Run"}

// dcgmState returns the state that a result tells, "" if it tells none.
func dcgmState(result []byte) string {
	for _, w := range dcgmStates {
		if n := len(w); len(result) >= n && strings.EqualFold(view(result[:n]), w) && (len(result) == n || !isWordByte(result[n])) {
			switch w {
			case "Warning":
				return "Warn"
			case "Failure", "Error":
				return "Fail"
			}
			return w
		}
	}
	return ""
}

// diagRow reads a row of the diagnostic: "PCIe | Fail - GPU: 0", and "Warning |
// GPU 0 ..." below it.
func (r *dcgm) diagRow(left, right string, l *line, s *scan) {
	state := dcgmState([]byte(right))
	switch {
	case left == "" || left == "Info" || left == "Warning" || left == "Error":
		r.more(right, l)
	case state == "" && strings.Contains(left, "Version"):
		// The table's own facts.
	case state == "":
		r.more(right, l)
	default:
		r.close(s)
		switch state {
		case "Fail", "Warn":
			r.failed++
			_, detail, _ := strings.Cut(right, " - ")
			r.find(left, state, detail, l, s)
		case "Pass":
			r.passed++
		}
	}
}

// healthRow reads a row of the health report, of which there are two forms:
// "GPU ID: 0 | Warning" over "| PCIe system: Warning - text", and "-> 0 |
// Warning" over "-> Memory system | Warning".
func (r *dcgm) healthRow(left, right string, l *line, s *scan) {
	name := strings.TrimLeft(left, "-> ")
	if name == "" && strings.Contains(right, " system: ") {
		name, right, _ = strings.Cut(right, " system: ")
		name += " system"
	} else if k, v, ok := strings.Cut(left, "Overall Health:"); ok && k == "" {
		name, right = "Overall Health", strings.TrimSpace(v)
	}
	if name == "Overall Health" {
		r.entity = ""
	}
	state := dcgmState([]byte(right))
	switch {
	case name == "GPU" || name == "Errors" || strings.HasPrefix(name, "Health Monitor"):
		r.close(s)
	case name == "" || state == "":
		r.more(right, l)
	case digits([]byte(name), 0, len(name)) >= 0 && name != "", strings.HasPrefix(name, "GPU ID"):
		r.close(s)
		r.entity = string(number0(bytes.TrimLeft([]byte(strings.TrimPrefix(name, "GPU ID")), ": ")))
	default:
		r.close(s)
		if state == "Healthy" || state == "Pass" {
			r.passed++
			return
		}
		r.failed++
		_, detail, _ := strings.Cut(right, " - ")
		r.find(name, state, detail, l, s)
	}
}

// find begins a finding.
func (r *dcgm) find(name, state, detail string, l *line, s *scan) {
	hits := l.hits
	e := stateEvent(l, s, r.report)
	put(e, "name", strings.Clone(name))
	put(e, "state", state)
	put(e, "index", r.entity)
	put(e, "reason", detail)
	e.Format = formats[s.current].name
	r.ev, r.open = *e.Clone(), true
	r.ev.Hits, l.hits = nil, hits
	if r.entity == "" {
		put(&r.ev, "index", string(number0(wordAfter([]byte(detail), "GPU: ", "GPU "))))
	}
}

// more appends to what the finding tells.
func (r *dcgm) more(text string, l *line) {
	if !r.open || text == "" {
		return
	}
	r.ev.Lines = l.pos.Line - r.ev.Pos.Line + 1
	for i := range r.ev.Attrs {
		if a := &r.ev.Attrs[i]; a.Key == "reason" {
			a.Value = clip(a.Value+" "+text, maxDCGMReason)
			return
		}
	}
	put(&r.ev, "reason", clip(text, maxDCGMReason))
}

func (r *dcgm) close(s *scan) {
	if r.open {
		r.open = false
		s.emit(&r.ev)
	}
}

// finish ends a report and says how many tests passed.
func (r *dcgm) finish(s *scan) {
	r.close(s)
	if r.report == "" {
		return
	}
	key := strings.ReplaceAll(r.report, "-", "_")
	r.report = ""
	if r.passed+r.failed == 0 {
		return
	}
	put(&r.head, key, strconv.Itoa(r.passed)+" passed, "+strconv.Itoa(r.failed)+" failed")
	s.emit(&r.head)
}
