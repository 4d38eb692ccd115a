package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// match makes incidents of the kept events.
func (a *analyst) match() {
	for _, e := range a.t.Events {
		if e.Quoting {
			continue
		}
		if e.Kind == forensics.KindTraceback {
			a.matchTrace(e)
			continue
		}
		if len(e.Hits) > 0 {
			if sig, hit := a.bestHit(e, e.Hits); sig != nil {
				a.addMatch(e, sig, forensics.Quote{Pos: hit.Pos, Text: hit.Text}, e.Text)
				a.addEchoes(e, sig, nil)
			}
		}
	}
}

// roleOrder ranks roles when signatures of one layer match the same line.
var roleOrder = map[signatures.Role]int{
	signatures.Cause: 0, signatures.Symptom: 1, signatures.Confirmation: 2, signatures.Advice: 3, signatures.Benign: 4,
}

// mute reports whether a signature marks text that is no evidence.
func mute(s *signatures.Signature) bool {
	return s.Role == signatures.Advice || s.Role == signatures.Benign
}

// better reports whether s says more about a line than o: the lower layer, then
// the stronger role; advice and benign lines silence what is no more specific.
func better(s, o *signatures.Signature) bool {
	if o == nil {
		return true
	}
	if mute(s) != mute(o) && (s.Role == signatures.Benign || o.Role == signatures.Benign) {
		// A line known to be harmless stays so unless something more specific fits.
		if mute(s) {
			return s.LayerNo() <= o.LayerNo()
		}
		return s.LayerNo() < o.LayerNo()
	}
	if s.LayerNo() != o.LayerNo() {
		return s.LayerNo() < o.LayerNo()
	}
	if roleOrder[s.Role] != roleOrder[o.Role] {
		return roleOrder[s.Role] < roleOrder[o.Role]
	}
	if s.File != o.File {
		return s.File < o.File
	}
	return s.LineNo < o.LineNo // packs list the most exact first
}

// bestHit returns the most telling signature among the hits of an event.
func (a *analyst) bestHit(e *timeline.Event, hits []forensics.Hit) (*signatures.Signature, forensics.Hit) {
	var best *signatures.Signature
	var at forensics.Hit
	for _, h := range hits {
		sig := a.set.Sigs[h.Sig]
		if sig.HasFrame() || !a.fits(sig, e) {
			continue
		}
		if better(sig, best) {
			best, at = sig, h
		}
	}
	return best, at
}

// addEchoes adds the consequences that the lines of an event name beside its best
// match: a watchdog line that carries a CUDA error is both.
func (a *analyst) addEchoes(e *timeline.Event, best *signatures.Signature, frames []string) {
	if mute(best) {
		return
	}
	for _, h := range e.Hits {
		sig := a.set.Sigs[h.Sig]
		if sig != best && sig.Role == signatures.Symptom && a.fits(sig, e) && sig.FrameOK(frames) && a.classOf(sig, e) != a.classOf(best, e) {
			a.addMatch(e, sig, forensics.Quote{Pos: h.Pos, Text: h.Text}, h.Text)
		}
	}
}

func mergeRanks(have, more []string) []string {
	for _, r := range more {
		if !slices.Contains(have, r) {
			have = append(have, r)
		}
	}
	return have
}

// addMatch makes an incident of a match, or counts it to the one already there
// of the same signature, writer and life. Advice and benign lines make none.
func (a *analyst) addMatch(e *timeline.Event, sig *signatures.Signature, q forensics.Quote, text string) *incident {
	if sig.Role == signatures.Advice || sig.Role == signatures.Benign {
		return nil
	}
	class, writer := a.classOf(sig, e), a.writerOf(e)
	if class == "launch.no-process" && e.Life >= 0 && launched(&a.t.Lives[e.Life]) {
		return nil // a tool that a running server misses is not its own launch
	}
	for _, in := range a.incidents {
		if in.Signature == sig.ID && in.Class == class && in.writer == writer && in.life == e.Life && in.ev.Pos.Source == e.Pos.Source {
			in.Count += e.Count
			in.line = max(in.line, e.Last.Line)
			if e.Proc.Rank != "" {
				in.Ranks = mergeRanks(in.Ranks, []string{e.Proc.Rank})
			}
			if len(in.Evidence) < 4 {
				in.Evidence = append(in.Evidence, q)
			}
			return in
		}
	}
	in := a.newIncident(e, class, q)
	in.Signature, in.role, in.layer, in.weak = sig.ID, sig.Role, sig.LayerNo(), sig.Weak
	caps := sig.Captures(text)
	in.module = caps["module"]
	in.Title = expand(sig.Title, caps)
	in.Detail = expand(strings.TrimSpace(sig.Means), caps)
	in.Remedy = expand(strings.TrimSpace(sig.Fix), caps)
	in.References, in.Affected, in.Fixed = sig.Refs, sig.Affected, sig.Fixed
	if ms := caps["ran_ms"]; ms != "" {
		in.when -= millis(ms)
		in.datedBack = true
	}
	return a.add(in)
}

func (a *analyst) newIncident(e *timeline.Event, class string, q forensics.Quote) *incident {
	in := &incident{
		ev: e, source: e.Pos.Source, line: max(e.Last.Line, e.Pos.Line), when: e.When, life: e.Life, serving: e.Serving, writer: a.writerOf(e),
	}
	in.Class, in.Proc, in.When, in.Count = class, e.Proc, e.When, e.Count
	in.Evidence = []forensics.Quote{q}
	if e.Proc.Rank != "" {
		in.Ranks = []string{e.Proc.Rank}
	}
	return in
}

// expand replaces {name} by the capture of that name.
func expand(s string, caps map[string]string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	for k, v := range caps {
		s = strings.ReplaceAll(s, "{"+k+"}", v)
	}
	return s
}

func millis(s string) int64 {
	var n int64
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil {
		return 0
	}
	return n * 1e6
}
