package parse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/llmforensics/forensics"
)

// wrapText shows what a reader sees of wrapped lines: kind, stamp, inner stamp,
// process, level and text.
func wrapText(t *testing.T, text string) string {
	t.Helper()
	events, src := readText(t, text, nil)
	if n := src.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
		t.Errorf("lines %+v do not add up", n)
	}
	show := func(s forensics.Stamp) string {
		if s.IsZero() {
			return "-"
		}
		return time.Unix(0, s.Nanos).UTC().Format("01-02T15:04:05.999999999") + "/" + s.Clock.String()[:3]
	}
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %s %s", e.Pos.Line, e.Kind, show(e.Stamp), show(e.Inner))
		for _, s := range []string{e.Proc.Host, e.Proc.Name, e.Proc.Rank} {
			if s == "" {
				s = "-"
			}
			b.WriteString(" " + s)
		}
		text := e.Text
		if len(text) > 40 {
			text = fmt.Sprintf("%s...(%d)", text[:24], len(text))
		}
		fmt.Fprintf(&b, " %q\n", text)
	}
	return b.String()
}

const (
	decodeLine = "[2026-06-17 17:51:53 TP0] Decode batch, #running-req: 3, #token: 100, token usage: 0.01, gen throughput (token/s): 12.50, #queue-req: 0"
	vllmLine   = "(EngineCore_DP0 pid=559) INFO 06-17 17:51:53 [core.py:517] Graph capturing finished in 2 secs, took 0.11 GiB"
)

// TestWrappers reads one line of a server out of every wrapper: the wrapper's
// stamp orders it, the logger's own is kept beside it.
func TestWrappers(t *testing.T) {
	const (
		batch = ` "Decode batch, #running-r...(109)"` + "\n"
		want  = "1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc - - TP0" + batch
	)
	long := strings.Repeat("x", 100)
	tests := []struct{ name, text, want string }{
		{"none", decodeLine, "1 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"docker json-file", `{"log":"` + decodeLine + `\n","stream":"stderr","time":"2026-06-17T17:51:53.29Z"}`, want},
		{"docker json-file, split", `{"log":"` + decodeLine[:50] + `","stream":"stderr","time":"2026-06-17T17:51:53.29Z"}` + "\n" +
			`{"log":"out\n","stream":"stdout","time":"2026-06-17T17:51:53.3Z"}` + "\n" +
			`{"log":"` + decodeLine[50:] + `\n","stream":"stderr","time":"2026-06-17T17:51:54Z"}`, want},
		{"docker json-file, split and cut", `{"log":"` + decodeLine + `","stream":"stderr","time":"2026-06-17T17:51:53.29Z"}`, want},
		{"docker logs -t", "2026-06-17T17:51:53.29Z " + decodeLine, want},
		{"CRI", "2026-06-17T19:51:53.29+02:00 stderr F " + decodeLine, want},
		{"CRI, split", "2026-06-17T17:51:53.29Z stderr P " + decodeLine[:30] + "\n2026-06-17T17:51:53.3Z stdout F \n2026-06-17T17:51:55Z stderr P " +
			decodeLine[30:60] + "\n2026-06-17T17:51:56Z stderr F " + decodeLine[60:], want},
		{"CRI, split and cut", "2026-06-17T17:51:53.29Z stderr P " + decodeLine, want},
		{"kubectl --timestamps", "2026-06-17T17:51:53.29Z " + decodeLine, want},
		{"kubectl --prefix --timestamps", "[pod/sgl-0/server] 2026-06-17T17:51:53.29Z " + decodeLine,
			"1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc sgl-0/server - TP0" + batch},
		{"compose -t", "sglang-1  | 2026-06-17T17:51:53.29Z " + decodeLine, want},
		{"compose", "sglang_1  | " + decodeLine, "1 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"journald short", "Jun 17 17:51:54 n1 sglang[812]: " + decodeLine, "1 batch 06-17T17:51:53/loc - n1 sglang TP0" + batch},
		{"journald short-iso", "2026-06-17T17:51:53+0000 n1 sglang[812]: " + decodeLine, "1 batch 06-17T17:51:53/abs 06-17T17:51:53/loc n1 sglang TP0" + batch},
		{"journald short-iso-precise", "2026-06-17T17:51:53.290000+0000 n1 sglang[812]: " + decodeLine, "1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc n1 sglang TP0" + batch},
		{"journald short-unix", "1781718713.290000 n1 sglang[812]: " + decodeLine, "1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc n1 sglang TP0" + batch},
		{"journald json", `{"__CURSOR":"s=1;i=2","__REALTIME_TIMESTAMP":"1781718713290000","PRIORITY":"6","_HOSTNAME":"n1","SYSLOG_IDENTIFIER":"sglang","_PID":"812","MESSAGE":"` + decodeLine + `"}`,
			"1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc n1 sglang TP0" + batch},
		{"journald json, bytes", `{"MESSAGE":[27,91,51,50,109` + bytesOf(decodeLine+"\x1b[0m") + `],"__REALTIME_TIMESTAMP" : "1781718713290000","_TRANSPORT":"stdout","_SYSTEMD_UNIT":"x.service"}`,
			"1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc - x.service TP0" + batch},
		{"journald json, kernel", `{"_TRANSPORT":"kernel","MESSAGE":"NVRM: Xid (PCI:0000:70:00): 79, GPU has fallen off the bus.","__REALTIME_TIMESTAMP":"1781718713290000","_HOSTNAME":"n1"}`,
			`1 kernel 06-17T17:51:53.29/abs - n1 - - "NVRM: Xid (PCI:0000:70:0...(59)"` + "\n"},
		{"syslog", "<30>Jun 17 17:51:54 n1 sglang[812]: " + decodeLine, "1 batch 06-17T17:51:53/loc - n1 sglang TP0" + batch},
		{"syslog RFC 5424", "<165>1 2026-06-17T17:51:53.29Z n1 sglang 812 - - " + decodeLine, "1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc n1 sglang TP0" + batch},
		{"srun --label", "3: " + decodeLine, "1 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"Ray", "(RayWorkerWrapper pid=2416, ip=10.0.0.2) " + vllmLine[len("(EngineCore_DP0 pid=559) "):] + " [repeated 3x across cluster]",
			`1 phase 06-17T17:51:53/yea - 10.0.0.2 RayWorkerWrapper - "Graph capturing finished...(49)"` + "\n"},
		{"Ray around vLLM", "(run(RayWorker) pid=9) " + vllmLine, `1 phase 06-17T17:51:53/yea - - EngineCore_DP0 DP0 "Graph capturing finished...(49)"` + "\n"},
		{"torchrun", "[default3]:" + decodeLine, "1 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"ts", "Jun 17 19:51:53 " + decodeLine, "1 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"ts in brackets", "[2026-06-17 19:51:53] " + decodeLine, "1 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"ts in brackets, vLLM", "[2026-06-17 19:51:53] " + vllmLine, `1 phase 06-17T17:51:53/yea - - EngineCore_DP0 DP0 "Graph capturing finished...(49)"` + "\n"},
		{"ts %.s", "1781718713.290000 " + decodeLine, want},
		{"GitHub Actions", "2026-06-17T17:51:53.2900000Z " + decodeLine, want},
		{"gh run view --log", "bench\tRun server\t2026-06-17T17:51:53.2900000Z " + decodeLine, want},
		{"script", "Script started on 2026-06-17 17:51:53+00:00 [COMMAND=\"x\" TERM=\"xterm\"]\r\n" + decodeLine + "\r\n",
			"1 mark 06-17T17:51:53/abs - - - - \"Script started on 2026-0...(70)\"\n2 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"byte-order mark of a second file", "x\n\xef\xbb\xbf" + decodeLine, "2 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"zero bytes before a line", "x\n\x00\x00\x00\x00" + decodeLine, "2 batch 06-17T17:51:53/loc - - - TP0" + batch},
		{"no wrapper of ours", `{"log":{"a":1},"level":"info"}` + "\n" + long, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrapText(t, tt.text); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func bytesOf(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, ",%d", c)
	}
	return b.String()
}

// TestWrappedTraceback holds that a traceback is put together through a wrapper,
// though each of its lines comes in an object of its own or all in one.
func TestWrappedTraceback(t *testing.T) {
	lines := []string{"Traceback (most recent call last):", `  File "a.py", line 3, in f`, "    x = y", "ValueError: bad \"thing\""}
	var docker, cri, journal strings.Builder
	for _, l := range lines {
		q := strings.ReplaceAll(l, `"`, `\"`)
		fmt.Fprintf(&docker, `{"log":"%s\n","stream":"stderr","time":"2026-06-17T17:51:53.29Z"}`+"\n", q)
		fmt.Fprintf(&cri, "2026-06-17T17:51:53.29Z stderr F %s\n", l)
	}
	fmt.Fprintf(&journal, `{"MESSAGE":"%s","__REALTIME_TIMESTAMP":"1781718713290000"}`+"\n", strings.ReplaceAll(strings.Join(lines, `\n`), `"`, `\"`))
	for name, text := range map[string]string{"docker": docker.String(), "cri": cri.String(), "journal": journal.String()} {
		events, _ := readText(t, text, nil)
		if len(events) != 1 || events[0].Trace == nil || events[0].Trace.Last().Message != `bad "thing"` || len(events[0].Trace.Chain[0].Frames) != 1 {
			t.Errorf("%s: events %s", name, dump(events, forensics.Source{}))
		}
	}
}

// FuzzWrappers feeds wrapped lines in any arrangement: no panic, and lines add up.
func FuzzWrappers(f *testing.F) {
	f.Add(`{"log":"a","stream":"stderr","time":"2026-06-17T17:51:53.29Z"}` + "\n" + `{"log":"b\n","stream":"stderr"}`)
	f.Add("2026-06-17T17:51:53.29Z stderr P a\n2026-06-17T17:51:53.29Z stderr F b\n<165>1 2026-06-17T17:51:53.29Z n1 s 8 - - x\n")
	f.Add(`{"MESSAGE":[27,91,51],"__REALTIME_TIMESTAMP":"1781718713290000"}`)
	f.Add("bench\tRun\t2026-06-17T17:51:53.2900000Z x\n[2026-06-17 19:51:53] " + decodeLine)
	f.Fuzz(checkText)
}
