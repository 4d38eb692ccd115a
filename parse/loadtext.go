package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// loadText reads the words in which clients written by hand tell of their
// requests: "finished: 1840 ok, 160 failed", "completed 300/320 requests",
// "success: 100 errors: 20", "request 91 failed". Bare exceptions are read as
// tracebacks. It is the last reader of the table, and leaves alone what stands in
// a server's log or in the output of a benchmark client that has a reader.
type loadText struct {
	begun bool            // the step that says that requests are sent was emitted
	held  forensics.Event // the last summary, until the next
	open  bool
	ratio bool // the summary held is a state, "10/320"
	seen  int  // states seen
}

// maxLoadText is the longest line that is taken for a summary.
const maxLoadText = 240

func (r *loadText) end(s *scan) { r.flush(s) }

// flush emits the summary held. States of which there are several, the last
// short of the total, are progress.
func (r *loadText) flush(s *scan) {
	if !r.open {
		return
	}
	r.open = false
	e := &r.held
	done, _ := e.Value("completed")
	total, _ := e.Value("num_prompts")
	if r.ratio && r.seen > 1 && done < total {
		r.asProgress(e)
	}
	s.emit(e)
}

func (r *loadText) asProgress(e *forensics.Event) {
	done, _ := e.Value("completed")
	failed, _ := e.Value("failed")
	total, ok := e.Value("num_prompts")
	e.Attrs[0].Value = forensics.StepProgress
	if e.Values = e.Values[:0]; r.ratio {
		failed = 0
	}
	e.Values = append(e.Values, forensics.Value{Name: forensics.ValDone, X: done + failed})
	if ok {
		e.Values = append(e.Values, forensics.Value{Name: forensics.ValTotal, X: total})
	}
}

func (r *loadText) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if len(t) < 8 || l.style != styleNone && l.style != styleISO && l.style != styleRust || l.quoting ||
		s.role != forensics.RoleUnknown && s.role != forensics.RoleClient && s.role != forensics.RoleShell {
		return 0
	}
	if len(t) > maxLoadText || !tellsRequests(t) || otherClient(s) {
		return 0
	}
	var buf [maxLoadText]byte
	low := lower(buf[:0], t)
	var c loadCounts
	c.read(low)
	if c.summary(low) {
		return r.summary(&c, l, s)
	}
	switch {
	case isRequestFailure(low, l.level):
		return r.failed(t, l, s)
	case c.total > 0 && isSending(low):
		r.begin(l, s, c.total)
		return 3
	}
	return 0
}

// tellsRequests is the cheap test: most unclaimed lines hold none of the words.
func tellsRequests(t []byte) bool {
	return bytes.Contains(t, []byte("fail")) || bytes.Contains(t, []byte("equest")) || bytes.Contains(t, []byte("rror")) ||
		bytes.Contains(t, []byte("FAIL")) || bytes.Contains(t, []byte("ail:")) || bytes.Contains(t, []byte("Fail"))
}

// otherClient reports whether the source holds the output of a benchmark client
// that has a reader of its own: a wrapper's count of the same run is no second
// one.
func otherClient(s *scan) bool {
	for i, n := range s.score {
		if n > 0 && formats[i].role == forensics.RoleClient && formats[i].name != "load-script" {
			return true
		}
	}
	return false
}

// failed emits a failed request. That it failed later than at the door shows
// that requests were sent.
func (r *loadText) failed(t []byte, l *line, s *scan) int {
	if !isRefused(t) {
		r.begin(l, s, 0)
	}
	e := r.event(l, s, forensics.StepError)
	e.Attrs = append(e.Attrs, message(string(t))...)
	s.emit(e)
	return 3
}

// refusedWords tell that nobody took the request.
var refusedWords = []string{"onnection refused", "onnect call failed", "annot connect to host", "onnection attempts failed", "ConnectError", "ConnectionRefused", "not known", "establish a new connection"}

func isRefused(t []byte) bool { return containsAny(t, refusedWords) }

func (r *loadText) event(l *line, s *scan, step string) *forensics.Event {
	e := s.event(l, forensics.KindBench)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "step", Value: step}, forensics.Attr{Key: "client", Value: "script"})
	e.Proc.Role = forensics.RoleClient
	return e
}

// begin emits, once, that requests are sent.
func (r *loadText) begin(l *line, s *scan, total float64) {
	if r.begun {
		return
	}
	r.begun = true
	e := r.event(l, s, forensics.StepMain)
	if e.Hits = nil; total > 0 {
		put(e, "num_prompts", concurrency(total).Value)
	}
	s.emit(e)
}

// summary takes counts. The next ones replace them: scripts count as they go.
func (r *loadText) summary(c *loadCounts, l *line, s *scan) int {
	if r.open {
		r.asProgress(&r.held)
		s.emit(&r.held)
	}
	r.begun = true
	e := r.event(l, s, forensics.StepResult)
	e.Values = c.values(e.Values)
	e.Format = formats[s.current].name
	r.held, r.open, r.ratio = *e.Clone(), true, c.ratio
	r.held.Quotes = []forensics.Quote{{Pos: l.pos, Text: string(l.raw)}}
	r.seen++
	return 3
}

// isRequestFailure accepts "request 91 failed", "Request 3: timed out", "error
// in request 7: ...".
func isRequestFailure(low []byte, lv forensics.Level) bool {
	i := bytes.Index(low, []byte("request"))
	if i < 0 || i > 24 && lv < forensics.LevelWarning {
		return false
	}
	return containsAny(low, []string{" failed", "timed out", "timeout", " error", "error:", "refused", "reset by peer"}) &&
		(lv >= forensics.LevelWarning || i <= 12 || hasAnyPrefix(low, []string{"error", "[error", "failed", "fail"}))
}

// isSending accepts "sent 256 streaming requests to http://...".
func isSending(low []byte) bool {
	return hasAnyPrefix(low, []string{"sent ", "sending ", "launching ", "starting ", "running ", "firing ", "dispatching ", "submitting ", "issuing "})
}
