package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

// leadReach is how many lines may lie between a lead and its traceback when both
// carry a process prefix: other processes write in between.
const leadReach = 40

// leads keeps the last few lines that may announce a traceback: "WorkerProc hit
// an exception.", "Process SpawnProcess-1:", "Exception ignored in: ...".
type leads struct {
	ring [8]leadLine
	next int
}

type leadLine struct {
	key, text string
	line      int
}

// leadStarts begin unprefixed lines that only announce a traceback.
var leadStarts = []string{
	"Process ", "Exception in ", "Exception ignored in", "Task exception was never retrieved", "Future exception was never retrieved", "future: <",
	"Unhandled exception", "Error when serving", "Error in sys.excepthook", `"""`,
}

// note keeps the line if it may be a lead, and reports whether it is nothing else.
func (s *leads) note(l *line) bool {
	if isBlank(l.text) {
		return false
	}
	sure := !l.dated() && hasAnyPrefix(l.text, leadStarts)
	if sure && l.text[0] == 'P' {
		t := bytes.TrimSpace(l.text)
		sure = t[len(t)-1] == ':' && bytes.Count(t, []byte(" ")) == 1
	}
	switch {
	case sure && (l.text[0] == 'f' || l.text[0] == '"'):
		// asyncio prints the future below "Task exception was never retrieved", and
		// a RemoteTraceback's text begins with quotes.
		s.move(l)
	case sure || l.level >= forensics.LevelError:
		s.add(l, bytes.TrimSpace(l.text))
	}
	return sure && len(l.hits) == 0
}

func (s *leads) add(l *line, text []byte) {
	s.ring[s.next%len(s.ring)] = leadLine{l.key, string(clipBytes(text, 200)), l.pos.Line}
	s.next++
}

// move makes the lead on the line above reach over this line.
func (s *leads) move(l *line) {
	if p := s.find(l); p != nil {
		p.line = l.pos.Line
	}
}

func (s *leads) find(l *line) *leadLine {
	for i := 1; i <= len(s.ring) && i <= s.next; i++ {
		p := &s.ring[(s.next-i)%len(s.ring)]
		reach := leadReach
		if l.key == "" {
			reach = 2 // the same writer's line directly above, a blank one at most between
		}
		if p.text != "" && p.key == l.key && l.pos.Line-p.line <= reach && p.line < l.pos.Line {
			return p
		}
	}
	return nil
}

// take returns the lead of a traceback that begins on the line, "" if none.
func (s *leads) take(l *line) string {
	p := s.find(l)
	if p == nil {
		return ""
	}
	text := p.text
	p.text = ""
	return strings.TrimRight(text, ":. ")
}
