package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
	"github.com/spf13/cobra"
)

func (a *app) signaturesScaffoldCommand() *cobra.Command {
	var line int
	cmd := &cobra.Command{
		Use:   "scaffold LOG...",
		Short: "Write a draft signature for an unknown failure",
		Long: `Scaffold finds the first failure in a log that no signature explains, an exception or
else an error line, and writes a pack with a signature for it: numbers, addresses
and paths of the message generalised, the frame that raised it, the text as
example. The draft passes lint; decide what is marked TODO, and look whether the
example holds something that must not be shared.

Exit status: 0 a draft was written, 1 every failure in the log is known, 2 the job
could not be done.`,
		Example: `  forensics signatures scaffold server.log > mine.yaml
  forensics signatures scaffold --line 4711 server.log     # the failure at that line`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, logs []string) error { return a.scaffoldSignature(logs, line) },
	}
	cmd.Flags().IntVar(&line, "line", 0, "take the failure at this line, known or not")
	return cmd
}

func (a *app) scaffoldSignature(logs []string, line int) error {
	set, err := signatures.Load()
	if err != nil {
		return err
	}
	s := scaffold{set: set, line: line, known: map[string]bool{}}
	t, err := a.readTimeline(set, logs, s.sawLine)
	if err != nil {
		return err
	}
	s.t = t
	f, ok := s.fromTraces()
	if !ok {
		f, ok = s.fromLine()
	}
	if !ok && line > 0 {
		return fmt.Errorf("%s: no failure at line %d: give the line of the exception's message or of the error", label(logs), line)
	}
	if !ok {
		a.status = exitFailed
		known := "nothing in it looks like a failure"
		if ids := s.knownIDs(); ids != "" {
			known = "what failed in it is known: " + ids
		}
		_, err := fmt.Fprintf(a.stderr, "forensics: %s: %s; --line N takes a line all the same\n", label(logs), known)
		return err
	}
	taken := func(id string) bool { return set.ByID(id) != nil }
	_, err = fmt.Fprint(a.stdout, signatures.Draft(f, taken))
	return err
}

// scaffold looks for the failure that a draft is made of.
type scaffold struct {
	set  *signatures.Set
	t    *timeline.Timeline
	line int // asked for, 0 for none
	// first is the first error line that no signature knows.
	first *forensics.Event
	known map[string]bool // signatures that explain failures in the log
}

var errorRE = regexp.MustCompile(`\b(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Ff]ailed|FAILED|[Aa]borted|[Cc]rashed|[Pp]anic)\b`)

// sawLine remembers the first error line without a signature, or the line asked
// for.
func (s *scaffold) sawLine(e *forensics.Event) {
	if s.first != nil || e.Quoting || e.Kind == forensics.KindTraceback {
		return
	}
	if s.line > 0 {
		if e.Pos.Line == s.line {
			s.first = e.Clone()
		}
		return
	}
	bad := e.Level >= forensics.LevelError || e.Level == forensics.LevelNone && errorRE.MatchString(e.Text)
	if bad && len(e.Hits) == 0 && (e.Kind == forensics.KindLine || e.Kind == forensics.KindMark) {
		s.first = e.Clone()
	}
}

// fromTraces takes the first exception that only fallbacks know, the server's
// before others.
func (s *scaffold) fromTraces() (signatures.Failure, bool) {
	var best *timeline.Event
	var class string
	for _, e := range s.t.Events {
		if e.Trace == nil || e.Trace.Root() == nil || e.Trace.Native == "py-spy" || e.Quoting {
			continue
		}
		guess, known := s.judge(e)
		if s.line > 0 {
			known = e.Trace.Root().Pos.Line != s.line && !(e.Pos.Line <= s.line && s.line < e.Pos.Line+e.Lines)
		}
		if known {
			continue
		}
		if best == nil || s.writer(best) != forensics.RoleServer && s.writer(e) == forensics.RoleServer {
			best, class = e, guess
		}
	}
	if best == nil {
		return signatures.Failure{}, false
	}
	x := best.Trace.Root()
	f := s.failure(best, class, x.Pos)
	f.Type, f.Message = x.Type, x.Message
	for i := len(x.Frames) - 1; i >= 0; i-- {
		fr := &x.Frames[i]
		if key := fr.File + ":" + fr.Func; !signatures.IsGlue(key) {
			f.Frame, f.FrameLine = key, fr.Line
			break
		}
	}
	return f, true
}

// judge returns the class that the fallbacks give an exception, and whether a
// signature of a bug or family knows it, or it is known to be harmless.
func (s *scaffold) judge(e *timeline.Event) (class string, known bool) {
	place := (&trial{t: s.t}).place(e)
	frames := framesOf(e.Trace)
	eachException(e.Trace, func(x *forensics.Exception) {
		text := strings.TrimSuffix(x.Type+": "+x.Message, ": ")
		nums := s.set.MatchException(text, frames, nil)
		for _, h := range e.Hits {
			if h.Pos == x.Pos && s.set.Sigs[h.Sig].Vetoed(h.Text) == "" && s.set.Sigs[h.Sig].FrameOK(frames) {
				nums = append(nums, h.Sig)
			}
		}
		for _, n := range nums {
			sig := s.set.Sigs[n]
			switch {
			case sig.OutOfScope(place) != "":
			case sig.LayerNo() != signatures.Fallback:
				known = true
				s.known[sig.ID] = true
			case class == "" && sig.Role == signatures.Cause:
				class = sig.Class
				if !e.Serving && sig.ClassAtLaunch != "" {
					class = sig.ClassAtLaunch
				}
			}
		}
	})
	return class, known
}

// fromLine makes a draft of the first unknown error line.
func (s *scaffold) fromLine() (signatures.Failure, bool) {
	if s.first == nil || s.line == 0 && len(s.known) > 0 {
		return signatures.Failure{}, false
	}
	e := &timeline.Event{Event: *s.first, Life: -1}
	f := s.failure(e, "", e.Pos)
	f.Line = e.Text
	return f, true
}

func (s *scaffold) failure(e *timeline.Event, class string, pos forensics.Pos) signatures.Failure {
	choices := []string{"runtime.scheduler-bug", "runtime.kernel-error", "attention.metadata"}
	switch writer := s.writer(e); {
	case writer == forensics.RoleClient:
		choices = []string{"client.setup", "client.bad-request", "client.resources"}
	case writer == forensics.RoleKernel || writer == forensics.RoleGPU:
		choices = []string{"gpu.driver", "host.killed", "gpu.ecc"}
	case e.Life >= 0 && !e.Serving:
		choices = []string{"launch.bad-arguments", "launch.unsupported-model", "launch.unsupported-hardware"}
	}
	if class == "" {
		class = choices[0]
	}
	choices = slices.DeleteFunc(choices, func(c string) bool { return c == class })
	return signatures.Failure{Engine: s.t.Engine, Class: class, Choices: choices, Source: s.t.Run.At(pos)}
}

func (s *scaffold) writer(e *timeline.Event) forensics.Role {
	return forensics.Role((&trial{t: s.t}).place(e).Writer)
}

// knownIDs lists the signatures that explain failures in the log.
func (s *scaffold) knownIDs() string {
	var ids []string
	for id := range s.known {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}
