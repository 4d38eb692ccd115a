package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
	"github.com/spf13/cobra"
)

func (a *app) signaturesTryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test PACK LOG...",
		Short: "Run a pack against logs: what matched, what lost and why",
		Long: `Test reads logs as analyze does, with the signatures of PACK (a file or folder)
beside those in the program. For every line that a signature of PACK has a pattern
for it tells which signature wins, and why the others lose: vetoed by "not", out of
scope (engine, in, phase), no such frame, or outranked (layer, role, order). Of the
signatures in the program it tells those that only ranking keeps from winning.

Exit status: 0 a signature of PACK won somewhere, 1 none did, 2 the job could not
be done.`,
		Example: `  forensics signatures test mine.yaml server.log
  forensics signatures test packs/ run/
  zcat server.log.gz | forensics signatures test mine.yaml -`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.trySignatures(args[0], args[1:]) },
	}
}

func (a *app) trySignatures(pack string, logs []string) error {
	set, err := loadPacks(pack)
	if err != nil {
		return err
	}
	own := ownSignatures(set)
	if len(own) == 0 {
		return fmt.Errorf("%s: no signature in it", pack)
	}
	t, err := a.readTimeline(set, logs, nil)
	if err != nil {
		return err
	}
	tr := trial{app: a, set: set, t: t, own: own, won: map[int]int{}, lost: map[int]int{}}
	for _, e := range t.Events {
		tr.event(e)
	}
	return tr.summary()
}

// ownSignatures returns the numbers of the signatures that are not embedded: only
// these have examples.
func ownSignatures(set *signatures.Set) map[int]bool {
	own := map[int]bool{}
	for n, s := range set.Sigs {
		if len(s.Examples.Match) > 0 {
			own[n] = true
		}
	}
	return own
}

// readTimeline reads logs with every candidate signature. seen, if not nil, is
// called with all events as they are read.
func (a *app) readTimeline(set *signatures.Set, logs []string, seen func(*forensics.Event)) (*timeline.Timeline, error) {
	inputs, _, err := parse.FindInputs(logs, a.stdin)
	if err != nil {
		return nil, err
	}
	r := parse.NewReader(parse.Options{Matcher: signatures.Candidates{Set: set}})
	run := &forensics.Run{Label: label(logs)}
	var cols []*timeline.Collector
	for i, in := range inputs {
		col := timeline.NewCollector(i)
		src, err := r.Read(in, i, func(e *forensics.Event) {
			if seen != nil {
				seen(e)
			}
			col.Sink(e)
		})
		if err != nil {
			return nil, err
		}
		run.Sources, cols = append(run.Sources, src), append(cols, col)
	}
	return timeline.Build(run, cols), nil
}

// trial is a run of signatures test.
type trial struct {
	*app
	set       *signatures.Set
	t         *timeline.Timeline
	own       map[int]bool
	won, lost map[int]int
}

// attempt is one text that signatures are tried on.
type attempt struct {
	pos    forensics.Pos
	text   string // as shown
	sigs   []int  // those with a pattern for it
	match  string // what the patterns were searched in
	frames []string
}

// event tells what became of an event's lines and exceptions.
func (tr *trial) event(e *timeline.Event) {
	if e.Quoting {
		return
	}
	for _, at := range tr.attempts(e) {
		if slices.ContainsFunc(at.sigs, func(n int) bool { return tr.own[n] }) {
			tr.judge(e, at)
		}
	}
}

// attempts lists the texts of an event, one for each line of the source.
func (tr *trial) attempts(e *timeline.Event) []attempt {
	var list []attempt
	frames := framesOf(e.Trace)
	add := func(pos forensics.Pos, shown, match string, n int) {
		for i := range list {
			if list[i].pos == pos {
				if !slices.Contains(list[i].sigs, n) {
					list[i].sigs = append(list[i].sigs, n)
				}
				return
			}
		}
		list = append(list, attempt{pos, shown, []int{n}, match, frames})
	}
	eachException(e.Trace, func(x *forensics.Exception) {
		text := strings.TrimSuffix(x.Type+": "+x.Message, ": ")
		for _, n := range tr.set.TryException(text) {
			add(x.Pos, x.Text, text, n)
		}
	})
	for _, h := range e.Hits {
		add(h.Pos, h.Text, h.Text, h.Sig)
	}
	return list
}

// judge prints the fate of every signature that has a pattern for a text.
func (tr *trial) judge(e *timeline.Event, at attempt) {
	place := tr.place(e)
	reasons := map[int]string{}
	best := -1
	for _, n := range at.sigs {
		s := tr.set.Sigs[n]
		switch veto, scope := s.Vetoed(at.match), s.OutOfScope(place); {
		case veto != "":
			reasons[n] = fmt.Sprintf("veto: not %q matches too", veto)
		case scope != "":
			reasons[n] = scope
		case !s.FrameOK(at.frames):
			reasons[n] = fmt.Sprintf("frame: no frame of the traceback matches %q", s.Frame)
		default:
			if best < 0 {
				best = n
			} else if wins, _ := s.Outranks(tr.set.Sigs[best]); wins {
				best = n
			}
		}
	}
	fmt.Fprintf(tr.stdout, "%s: %s\n", tr.t.Run.At(at.pos), at.text)
	if best >= 0 {
		s := tr.set.Sigs[best]
		tr.won[best]++
		fmt.Fprintf(tr.stdout, "    wins   %s (%s, %s, %s)\n", s.ID, s.Layer, s.Role, orDash(s.Class))
	}
	for _, n := range at.sigs {
		if n == best {
			continue
		}
		tr.lost[n]++
		why := reasons[n]
		if why != "" && !tr.own[n] {
			continue // the pack's writer cannot know of it
		}
		if why == "" {
			_, why = tr.set.Sigs[best].Outranks(tr.set.Sigs[n])
		}
		fmt.Fprintf(tr.stdout, "    loses  %s: %s\n", tr.set.Sigs[n].ID, why)
	}
}

func (tr *trial) place(e *timeline.Event) signatures.Place {
	writer := e.Proc.Role
	if writer == "" {
		writer = tr.t.Run.Sources[e.Pos.Source].Role
	}
	return signatures.Place{Writer: string(writer), Engine: tr.t.Engine, Launched: e.Serving, Lived: e.Life >= 0}
}

// summary counts for every signature of the pack.
func (tr *trial) summary() error {
	any := false
	for n, s := range tr.set.Sigs {
		if !tr.own[n] {
			continue
		}
		any = any || tr.won[n] > 0
		text := fmt.Sprintf("won %s, lost %d", count(tr.won[n], "place"), tr.lost[n])
		if tr.won[n]+tr.lost[n] == 0 {
			text = "no line or exception matches its patterns"
		}
		fmt.Fprintf(tr.stdout, "%s: %s\n", s.ID, text)
	}
	if !any {
		tr.status = exitFailed
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// eachException calls f with all exceptions of a trace, members of groups included.
func eachException(t *forensics.Trace, f func(*forensics.Exception)) {
	if t == nil {
		return
	}
	for i := range t.Chain {
		f(&t.Chain[i])
		for g := range t.Chain[i].Group {
			eachException(&t.Chain[i].Group[g], f)
		}
	}
}

// framesOf returns all frames of a trace in the form that signatures match.
func framesOf(t *forensics.Trace) []string {
	var keys []string
	eachException(t, func(x *forensics.Exception) {
		for _, f := range x.Frames {
			keys = append(keys, f.File+":"+f.Func)
		}
	})
	return keys
}
