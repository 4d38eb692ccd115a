package classify

import (
	"fmt"
	"strings"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/timeline"
)

// summary says in one to three sentences what happened and why.
func (a *analyst) summary(d *forensics.Diagnosis, root *incident) string {
	var s []string
	switch {
	case root.Class == "ok":
		s = append(s, a.okSummary(root))
	case root.Class == "evidence.truncated" || root.Class == "evidence.filtered":
		s = append(s, root.Title+": what failed, if anything, cannot be told from this record.")
	default:
		s = append(s, a.causeSentence(root))
	}
	if p := a.pointsSentence(); p != "" && root.Class != "ok" {
		s = append(s, p)
	}
	if len(d.Earlier) > 0 {
		s = append(s, fmt.Sprintf("An earlier run in the same folder had failed: %s (%s).", d.Earlier[0].Title, d.Earlier[0].Class))
	}
	return strings.Join(s, " ")
}

func (a *analyst) okSummary(root *incident) string {
	n := 0
	for i := range a.t.Points {
		if a.t.Points[i].Status == timeline.PointCompleted {
			n++
		}
	}
	switch n {
	case 0:
		return root.Title + "."
	case 1:
		return "The benchmark finished and all requests were served."
	}
	return fmt.Sprintf("All %d benchmark points finished and all requests were served.", n)
}

func (a *analyst) causeSentence(root *incident) string {
	where := ""
	if len(root.Evidence) > 0 {
		where = " (" + a.t.Run.At(root.Evidence[0].Pos) + ")"
	}
	who := ""
	if len(root.Ranks) > 0 {
		who = " on " + strings.Join(root.Ranks[:min(len(root.Ranks), 8)], ", ")
	}
	if root.life >= 0 && !root.serving && strings.HasPrefix(root.Class, "launch.") {
		return fmt.Sprintf("The server never got ready: %s%s%s.", strings.TrimSuffix(root.Title, "."), who, where)
	}
	return fmt.Sprintf("%s%s%s.", strings.TrimSuffix(root.Title, "."), who, where)
}

// pointsSentence tells how far the sweep got.
func (a *analyst) pointsSentence() string {
	var ok, died, never []string
	for i := range a.t.Points {
		p := &a.t.Points[i]
		name := pointShort(p)
		switch p.Status {
		case timeline.PointCompleted:
			ok = append(ok, name)
		case timeline.PointDied:
			died = append(died, name)
		case timeline.PointNeverStarted:
			never = append(never, name)
		}
	}
	if len(a.t.Points) < 2 {
		return ""
	}
	var parts []string
	if len(ok) > 0 {
		parts = append(parts, "points "+strings.Join(ok, ", ")+" finished")
	}
	if len(died) > 0 {
		parts = append(parts, strings.Join(died, ", ")+" died")
	}
	if len(never) > 0 {
		parts = append(parts, strings.Join(never, ", ")+" never started")
	}
	return sentence(parts)
}

func pointShort(p *timeline.Point) string {
	switch {
	case p.MaxConcurrency > 0:
		return fmt.Sprint(p.MaxConcurrency)
	case p.RequestRate != "":
		return "rate " + p.RequestRate
	}
	return fmt.Sprintf("#%d", p.Order+1)
}

// coverage names what was not there and what it would settle, and what was
// looked for in vain.
func (a *analyst) coverage(d *forensics.Diagnosis, root *incident) {
	if root.Class == "ok" {
		return
	}
	if !a.hasRole(forensics.RoleServer) && root.Class != "launch.no-process" {
		d.Missing = append(d.Missing, "server log: it would say why the server was away or what it answered")
	}
	vague := covers([]string{"runtime.unknown-exit", "evidence.*", "runtime.hang", "runtime.segfault", "client.*", "runtime.collective"}, root.Class)
	if !a.hasRole(forensics.RoleKernel) && vague {
		d.Missing = append(d.Missing, "kernel log (dmesg -T): without it an OOM kill, an Xid or a segfault cannot be excluded")
	}
	if !a.hasRole(forensics.RoleGPU) && (vague || strings.HasPrefix(root.Class, "launch.")) {
		d.Missing = append(d.Missing, "nvidia-smi output: it would show whether the GPUs were free, busy or lost")
	}
	exit := false
	for _, e := range a.t.Events {
		exit = exit || e.Kind == forensics.KindExit
	}
	if !exit && vague {
		d.Missing = append(d.Missing, "exit status of the server: it would tell a signal from an orderly end")
	}
	if a.hasRole(forensics.RoleKernel) {
		if !a.has("host.oom-killed") {
			d.LookedFor = append(d.LookedFor, "an OOM kill in the kernel log")
		}
		if !a.has("gpu.*") {
			d.LookedFor = append(d.LookedFor, "an Xid in the kernel log")
		}
	}
}
