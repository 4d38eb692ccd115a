package parse

import (
	"bytes"
	"strings"

	"github.com/llmforensics/forensics"
)

// slurmStates are Slurm's states of a job, with the short forms of squeue. sacct
// cuts names at the width of the column: "OUT_OF_ME+". Source: squeue(1), sacct(1).
var slurmStates = []struct{ code, name string }{
	{"BF", "BOOT_FAIL"}, {"CA", "CANCELLED"}, {"CD", "COMPLETED"}, {"CF", "CONFIGURING"}, {"CG", "COMPLETING"}, {"DL", "DEADLINE"},
	{"F", "FAILED"}, {"NF", "NODE_FAIL"}, {"OOM", "OUT_OF_MEMORY"}, {"PD", "PENDING"}, {"PR", "PREEMPTED"}, {"R", "RUNNING"},
	{"RH", "RESV_DEL_HOLD"}, {"RF", "REQUEUE_FED"}, {"RQ", "REQUEUED"}, {"RS", "RESIZING"}, {"RV", "REVOKED"}, {"SI", "SIGNALING"},
	{"SE", "SPECIAL_EXIT"}, {"SO", "STAGE_OUT"}, {"ST", "STOPPED"}, {"S", "SUSPENDED"}, {"TO", "TIMEOUT"},
}

// putState adds the state of a job, Slurm's with its whole name.
func putState(e *forensics.Event, state, kind string) {
	if kind != "slurm" {
		put(e, "state", state)
		return
	}
	name := state
	if cut, ok := strings.CutSuffix(name, "+"); ok && len(cut) > 3 {
		for _, st := range slurmStates {
			if strings.HasPrefix(st.name, cut) {
				name = st.name
				break
			}
		}
	}
	put(e, "state", name)
}

// headWidths returns where the columns of a heading begin. A name of two words
// ("LAST SEEN") is one.
func headWidths(t []byte, dst []int) []int {
	dst = dst[:0]
	for i := range t {
		if t[i] == ' ' || i > 0 && t[i-1] != ' ' {
			continue
		}
		if i >= 5 && bytes.HasPrefix(t[i:], []byte("SEEN")) && (bytes.HasSuffix(t[:i], []byte("LAST ")) || bytes.HasSuffix(t[:i], []byte("FIRST "))) {
			continue
		}
		dst = append(dst, i)
	}
	return dst
}

// cellsAt cuts a row where its columns begin, if a space stands before each.
func cellsAt(t []byte, at []int) []string {
	var cells []string
	for i, from := range at {
		if from >= len(t) || from > 0 && t[from-1] != ' ' {
			return nil
		}
		to := len(t)
		if i+1 < len(at) {
			to = min(at[i+1], to)
		}
		cells = append(cells, strings.TrimSpace(string(t[from:to])))
	}
	return cells
}

// slurmQueue reads the rows of squeue and the record that `scontrol show job`
// prints, whose pairs of key and value go over several lines.
type slurmQueue struct {
	columns []string // of squeue's heading
	at      int      // line of the heading or of the last row
	job     forensics.Event
	open    bool
	last    int
}

func (r *slurmQueue) end(s *scan) { r.flush(s) }

func (r *slurmQueue) flush(s *scan) {
	if r.open {
		r.open = false
		if r.job.Attr("state") != "" {
			s.emit(&r.job)
		}
	}
}

func (r *slurmQueue) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if len(t) < 6 || l.style != styleNone && l.style != styleISO {
		r.flush(s)
		return 0
	}
	switch {
	case r.open && l.pos.Line == r.last+1 && bytes.IndexByte(t, '=') > 0 && l.text[0] == ' ':
		r.fields(t)
		r.last = l.pos.Line
		r.job.Lines = l.pos.Line - r.job.Pos.Line + 1
		s.own()
		return s.quiet(l, 3)
	case t[0] == 'J' && bytes.HasPrefix(t, []byte("JobId=")) && bytes.Contains(t, []byte("JobName=")):
		return r.begin(t, l, s)
	}
	r.flush(s)
	switch {
	case t[0] == 'J' && bytes.HasPrefix(t, []byte("JOBID ")) && bytes.Contains(t, []byte(" ST")):
		r.columns, r.at = strings.Fields(string(t)), l.pos.Line
		s.own()
		return s.quiet(l, 10)
	case r.at > 0 && l.pos.Line == r.at+1 && t[0] >= '0' && t[0] <= '9':
		return r.row(t, l, s)
	}
	return 0
}

// begin reads "JobId=449917 JobName=vllm-bench", the first line of a record;
// with -o the whole record stands on it.
func (r *slurmQueue) begin(t []byte, l *line, s *scan) int {
	r.flush(s)
	hits := l.hits
	e := stateEvent(l, s, "slurm")
	e.Format = formats[s.current].name
	e.Hits = nil
	r.job, r.open, r.last = *e.Clone(), true, l.pos.Line
	l.hits = hits
	r.fields(t)
	s.own()
	return s.quiet(l, 10)
}

// jobFields are the fields that are kept.
var jobFields = map[string]string{
	"JobId": "name", "JobName": "job_name", "Reason": "reason", "RunTime": "elapsed", "TimeLimit": "time_limit", "NodeList": "host", "BatchHost": "batch_host",
}

func (r *slurmQueue) fields(t []byte) {
	e := &r.job
	for _, f := range bytes.Fields(t) {
		key, value, ok := strings.Cut(string(f), "=")
		if !ok || value == "(null)" || value == "None" || value == "Unknown" {
			continue
		}
		switch name := jobFields[key]; {
		case key == "JobState":
			putState(e, value, "slurm")
		case key == "ExitCode":
			putSlurmCode(e, value)
		case key == "EndTime":
			if st, n := dateTime([]byte(value)); n > 0 && e.Stamp.IsZero() && e.Attr("state") != "RUNNING" && e.Attr("state") != "PENDING" {
				e.Stamp = st
			}
		case name != "" && e.Attr(name) == "":
			put(e, name, value)
		}
	}
}

// row reads a job of squeue's list. The last column holds the nodes, or in
// parentheses why there are none.
func (r *slurmQueue) row(t []byte, l *line, s *scan) int {
	cells := strings.Fields(string(t))
	n := len(r.columns)
	if len(cells) < n-1 || len(cells) > n+8 {
		return 0
	}
	e := stateEvent(l, s, "slurm")
	for i, c := range r.columns {
		if i >= len(cells) {
			break
		}
		v := cells[i]
		if i == n-1 {
			v = strings.Join(cells[i:], " ")
		}
		switch c {
		case "JOBID":
			put(e, "name", v)
		case "NAME":
			put(e, "job_name", v)
		case "ST", "STATE":
			for _, st := range slurmStates {
				if st.code == v {
					v = st.name
				}
			}
			putState(e, v, "slurm")
		case "TIME":
			put(e, "elapsed", v)
		case "TIME_LIMI", "TIME_LIMIT":
			put(e, "time_limit", v)
		case "NODELIST(REASON)":
			if why, ok := strings.CutPrefix(v, "("); ok {
				put(e, "reason", strings.TrimSuffix(why, ")"))
			} else {
				put(e, "host", v)
			}
		}
	}
	r.at = l.pos.Line
	s.own()
	s.emit(e)
	return 10
}
