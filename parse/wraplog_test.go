package parse

import (
	"strings"
	"testing"
)

// TestLogRecords reads one line of a server out of the objects and lines that
// loggers and collectors put around it.
func TestLogRecords(t *testing.T) {
	const (
		batch = ` "Decode batch, #running-r...(109)"` + "\n"
		want  = "1 batch 06-17T17:51:53.29/abs 06-17T17:51:53/loc - - TP0" + batch
		stamp = "2026-06-17T17:51:53.29Z"
	)
	tests := []struct{ name, text, want string }{
		{"Datadog", `{"message":"` + decodeLine + `","timestamp":"` + stamp + `","status":"info","service":"llm"}`, want},
		{"Datadog export", `{"id":"A","content":{"timestamp":"` + stamp + `","host":"n1","message":"` + decodeLine + `"}}`,
			strings.Replace(want, " - - TP0", " n1 - TP0", 1)},
		{"ELK", `{"@timestamp":"` + stamp + `","log.level":"INFO","message":"` + decodeLine + `","ecs.version":"1.6.0"}`, want},
		{"ELK hit", `{"_index":"logs","_source":{"@timestamp":"` + stamp + `","message":"` + decodeLine + `"}}`, want},
		{"zap", `{"level":"info","ts":1781718713.29,"caller":"a.go:1","msg":"` + decodeLine + `"}`, want},
		{"epoch in milliseconds", `{"timestamp":1781718713290,"message":"` + decodeLine + `"}`, want},
		{"Google Cloud, JSON", `{"textPayload":"` + decodeLine + `","timestamp":"` + stamp + `","severity":"ERROR","insertId":"x"}`, want},
		{"Google Cloud, jsonPayload", `{"insertId":"x","jsonPayload":{"message":"` + decodeLine + `"},"timestamp":"` + stamp + `"}`, want},
		{"Google Cloud, text", "ERROR " + stamp + " [severity: ERROR] " + decodeLine, want},
		{"Google Cloud, text with labels", "DEFAULT " + stamp + " [resource.labels.podName: sgl-0] " + decodeLine,
			strings.Replace(want, " - - TP0", " sgl-0 - TP0", 1)},
		{"CloudWatch", `{"@timestamp":"2026-06-17 17:51:53.290Z","@message":"` + decodeLine + `"}`, want},
		{"Loki, JSON lines", `{"labels":{"app":"sgl"},"line":"` + decodeLine + `","timestamp":"` + stamp + `"}`, want},
		{"Loki, text", stamp + ` {app="sgl", pod="sgl-0"} ` + decodeLine, strings.Replace(want, " - - TP0", " sgl-0 - TP0", 1)},
		{"Fluentd", "2026-06-17T17:51:53.290+00:00\tkube.sgl\t" + `{"log":"` + decodeLine + `","level":"info"}`, want},
		{"Fluent Bit without stream", `{"date":1781718713.290000,"log":"` + decodeLine + `"}`, want},
		{"CRI around JSON", stamp + ` stdout F {"level":"info","msg":"` + decodeLine + `"}`, want},
		{"compose around JSON", `sgl-1  | {"time":"` + stamp + `","msg":"` + decodeLine + `"}`, want},
		{"docker around JSON", `{"log":"{\"level\":\"info\",\"msg\":\"` + decodeLine + `\"}\n","stream":"stderr","time":"` + stamp + `"}`, want},
		{"logfmt", `time="` + stamp + `" level=info msg="` + decodeLine + `"`, want},
		{"slog", "time=" + stamp + ` level=INFO msg="` + decodeLine + `"`, want},
		{"vLLM's own JSON", `{"timestamp":"` + stamp + `","level":"INFO","logger":"vllm.v1.core","message":"Graph capturing finished in 2 secs, took 0.11 GiB"}`,
			`1 phase 06-17T17:51:53.29/abs - - - - "Graph capturing finished...(49)"` + "\n"},
		{"stern", "sgl-7d9-x2 server " + decodeLine + "\nsgl-7d9-x2 server Killed\n", strings.Replace(strings.Replace(want, "53.29/abs 06-17T17:51:53/loc", "53/loc -", 1), " - - TP0", " sgl-7d9-x2/server - TP0", 1) +
			"2 exit - - sgl-7d9-x2/server - - \"Killed\"\n"},
		{"stern -t", "sgl-7d9-x2 server " + stamp + " " + decodeLine, strings.Replace(want, " - - TP0", " sgl-7d9-x2/server - TP0", 1)},
		{"a level before a local date", "ERROR 2026-06-17 17:51:53,290 the engine has ended", "1 mark 06-17T17:51:53.29/loc - - - - \"the engine has ended\"\n"},
		{"objects that are no log", `{"object":"error","message":"bad","type":"x","code":400}` + "\n" + `{"level":"x"}` + "\n" + `{"type":"Point","metric":"http_reqs","data":{"time":"` + stamp + `"}}`, ""},
		{"prose", "sgl-7 server restarted\nlevel=high\ntime= 3 msg= x\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrapText(t, tt.text); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestRecordedTraceback holds that an exception which a logger put into a field
// of its own becomes a traceback.
func TestRecordedTraceback(t *testing.T) {
	text := `{"level":"error","time":"2026-06-17T17:51:53Z","msg":"request failed","exc_info":"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    x = y\nValueError: bad"}` + "\n"
	events, src := readText(t, text, nil)
	found := false
	for _, e := range events {
		found = found || e.Trace != nil && e.Trace.Last().Type == "ValueError" && e.Stamp.Nanos > 0
	}
	if !found {
		t.Errorf("no traceback: %s", dump(events, src))
	}
}

// FuzzLogRecords feeds structured lines in any arrangement.
func FuzzLogRecords(f *testing.F) {
	f.Add(`{"level":"info","ts":1781718713.29,"msg":"a\nb","exc_info":"c"}` + "\n" + `{"jsonPayload":{"fields":{"message":"x"}},"time":1}`)
	f.Add("time=2026-06-17T17:51:53Z level=info msg=\"a\nts=1 msg=\n" + `t="\"" msg="\\" error="`)
	f.Add("ERROR 2026-02-18T14:43:05.82Z [a: b] [c: d] msg\nvllm-0 s INFO x\nvllm-0 s y\n2026-06-17T17:51:53Z {a=\"b\"} x\n")
	f.Add("2026-06-17T17:51:53Z\ttag\t{\"log\":\"x\",\"level\":\"info\"}\n" + `{"log":"{\"msg\":\"{\\\"msg\\\":1}\",\"level\":\"info\"}","level":"info"}`)
	f.Fuzz(checkText)
}
