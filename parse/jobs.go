package parse

import (
	"bytes"
	"strconv"

	"github.com/llmforensics/forensics"
)

// jobs reads what schedulers and container runtimes say about a run: Slurm,
// Kubernetes, Docker and systemd.
type jobs struct {
	table   []string // columns of the kubectl or sacct table under way
	tableAt int
	kind    string // what the table lists
	widths  []int  // of its columns, if a rule tells
	piped   bool   // its cells are separated by "|"
	pod     podState
}

func (r *jobs) end(s *scan) { r.pod.flush(s) }

// jobLine is a kind of line known by its beginning.
type jobLine struct {
	prefix string
	read   func(l *line, s *scan, rest []byte) int
}

var jobLines = []jobLine{
	{"slurmstepd: error: ", readSlurmStep},
	{"slurmd: error: ", readSlurmStep},
	{"srun: error: ", readSrun},
	{"srun: Job step aborted", func(l *line, s *scan, _ []byte) int { return s.quiet(l, 10) }},
	{"srun: Force Terminated ", readForced},
	{"srun: ", func(l *line, s *scan, _ []byte) int { return s.quiet(l, 3) }},
	{"sbatch: error: ", readSrun},
	{"Submitted batch job ", func(l *line, s *scan, _ []byte) int { return s.quiet(l, 10) }},
	{"command terminated with exit code ", readCommandTerminated},
}

func (r *jobs) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 4 {
		r.end(s)
		return 0
	}
	if v := r.pod.line(l, s); v != 0 {
		return v
	}
	c := t[0]
	if c == 's' || c == 'S' || c == 'c' {
		for i := range jobLines {
			if rest, ok := bytes.CutPrefix(t, []byte(jobLines[i].prefix)); ok {
				return jobLines[i].read(l, s, rest)
			}
		}
	}
	if v := r.row(l, s); v != 0 {
		return v
	}
	return readStateLine(l, s)
}

// stateEvent begins an event about a job.
func stateEvent(l *line, s *scan, what string) *forensics.Event {
	e := s.event(l, forensics.KindState)
	put(e, "what", what)
	return e
}

// readSlurmStep reads "*** JOB 6611 ON node CANCELLED AT 2024-08-05T18:45:02 DUE
// TO TIME LIMIT ***" and "Detected 1 oom_kill event in StepId=113.0.".
func readSlurmStep(l *line, s *scan, rest []byte) int {
	e := stateEvent(l, s, "slurm")
	switch {
	case bytes.HasPrefix(rest, []byte("*** ")):
		put(e, "name", view(between(rest, "*** ", " ON ")))
		put(e, "host", view(between(rest, " ON ", " ")))
		put(e, "state", "CANCELLED")
		at := wordAfter(rest, "CANCELLED AT ")
		if st, n := dateTime(at); n > 0 && e.Stamp.IsZero() {
			e.Stamp = st
		}
		put(e, "reason", view(bytes.TrimSpace(between(rest, "DUE TO ", "***"))))
		if !bytes.Contains(rest, []byte("CANCELLED")) {
			e.Attrs[len(e.Attrs)-1].Value = "FAILED"
		}
	case bytes.Contains(rest, []byte("oom_kill event")) || bytes.Contains(rest, []byte("oom-kill event")):
		put(e, "state", "OUT_OF_MEMORY")
		put(e, "reason", "oom-kill")
		put(e, "name", view(wordAfter(rest, "StepId=", " in step ")))
	default:
		return s.quiet(l, 10)
	}
	s.emit(e)
	return 10
}

// readSrun reads "node01: task 0: Exited with exit code 1" and "node01: tasks
// 2,4-5: Terminated".
func readSrun(l *line, s *scan, rest []byte) int {
	parts := bytes.SplitN(rest, []byte(": "), 3)
	e := stateEvent(l, s, "slurm")
	if len(parts) < 3 || !bytes.HasPrefix(parts[1], []byte("task")) {
		put(e, "state", "ERROR")
		put(e, "reason", view(rest))
		s.emit(e)
		return 10
	}
	put(e, "host", view(parts[0]))
	put(e, "name", view(parts[1]))
	put(e, "state", view(parts[2]))
	put(e, "exit_code", view(number0(wordAfter(parts[2], "exit code "))))
	if sig := signalOf(parts[2]); sig != nil {
		put(e, "exit_code", strconv.Itoa(128+sig.number))
		put(e, "signal", sig.name)
	}
	s.emit(e)
	return 10
}

func readForced(l *line, s *scan, rest []byte) int {
	e := stateEvent(l, s, "slurm")
	put(e, "name", view(rest))
	put(e, "state", "FORCE_TERMINATED")
	s.emit(e)
	return 10
}

func readCommandTerminated(l *line, s *scan, rest []byte) int {
	e := s.event(l, forensics.KindExit)
	putCode(e, rest)
	s.emit(e)
	return 10
}
