package parse

import (
	"bytes"
	"strconv"

	"github.com/llmforensics/forensics"
)

// sglang reads SGLang server logs. Sources of the labels: sglang/srt/managers/
// scheduler_metrics_mixin.py, model_runner.py, server_args.py, http_server.py of
// the releases 0.1 (2024) to 0.5.20 (2026).
type sglang struct{}

func (*sglang) end(*scan) {}

func (r *sglang) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 8 {
		return 0
	}
	switch t[0] {
	case 'D', 'P':
		if bytes.HasPrefix(t, []byte("Decode batch")) || bytes.HasPrefix(t, []byte("Prefill batch")) {
			return r.batch(l, s)
		}
	case 's':
		if bytes.HasPrefix(t, []byte("server_args=")) || bytes.HasPrefix(t, []byte("server_args: ")) {
			return r.config(l, s)
		}
	}
	if v := r.phase(l, s); v != 0 {
		return v
	}
	if (t[0] == 'u' || t[0] == 'l') && (bytes.HasPrefix(t, []byte("usage: launch_server.py")) || bytes.HasPrefix(t, []byte("launch_server.py: error: "))) {
		return s.quiet(l, 10) // argparse
	}
	return 0
}

// batchLabels maps the labels of batch lines to value names. The lines are read
// label by label, so that order and additions of a version do not matter.
var batchLabels = []struct {
	label string
	name  string
}{
	{"#running-req", forensics.ValRunning},
	{"#queue-req", forensics.ValQueue},
	{"gen throughput (token/s)", forensics.ValGenThroughput},
	{"input throughput (token/s)", forensics.ValInputThroughput},
	{"token usage", forensics.ValTokenUsage},
	{"#new-token", forensics.ValNewTokens},
	{"#new-seq", forensics.ValNewSeqs},
	{"#cached-token", forensics.ValCachedTokens},
	{"#retracted-req", forensics.ValRetracted},
	{"cuda graph", forensics.ValGraph},
	{"full token usage", forensics.ValTokenUsage},
}

// batch reads "Decode batch, #running-req: 64, #token: 4096, ...". Until autumn
// 2025 a full stop stood where the comma is now; "[iter]" and "(mixed ...)" may
// follow the kind.
func (r *sglang) batch(l *line, s *scan) int {
	t := l.text
	i := bytes.IndexByte(t, '#')
	if i < 0 || i > 60 {
		return 0
	}
	e := s.event(l, forensics.KindBatch)
	phase := "prefill"
	if t[0] == 'D' {
		phase = "decode"
	}
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: phase})
	for rest := t[i:]; len(rest) > 0; {
		colon := bytes.Index(rest, []byte(": "))
		if colon < 0 {
			break
		}
		label := rest[:colon]
		rest = rest[colon+2:]
		end := bytes.Index(rest, []byte(", "))
		val := rest
		if end >= 0 {
			val, rest = rest[:end], rest[end+2:]
		} else {
			rest = nil
		}
		addBatchValue(e, label, bytes.TrimRight(val, ", \t"))
	}
	if len(e.Values) == 0 {
		return -1
	}
	s.emit(e)
	return 10
}

func addBatchValue(e *forensics.Event, label, val []byte) {
	for i := range batchLabels {
		if string(label) != batchLabels[i].label {
			continue
		}
		if x, ok := number(val); ok {
			e.Values = append(e.Values, forensics.Value{Name: batchLabels[i].name, X: x})
		}
		return
	}
}

// number reads a decimal number without allocating, and True and False.
func number(b []byte) (float64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	switch string(b) {
	case "True":
		return 1, true
	case "False":
		return 0, true
	}
	neg := b[0] == '-'
	if neg {
		b = b[1:]
	}
	var mant int64
	frac, dot, n := 1.0, false, 0
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			if n < 18 {
				mant = mant*10 + int64(c-'0')
				if dot {
					frac *= 10
				}
			} else if !dot {
				x, err := strconv.ParseFloat(string(b), 64)
				return x, err == nil
			}
			n++
		case c == '.' && !dot:
			dot = true
		default:
			x, err := strconv.ParseFloat(string(b), 64)
			if neg {
				x = -x
			}
			return x, err == nil
		}
	}
	if n == 0 {
		return 0, false
	}
	x := float64(mant) / frac
	if neg {
		x = -x
	}
	return x, true
}

// sglangPhases maps the beginnings of log lines to launch phases.
var sglangPhases = []struct{ prefix, phase string }{
	{"Init torch distributed begin", forensics.PhaseDistributed},
	{"Load weight begin", forensics.PhaseWeights},
	{"Load weight end", forensics.PhaseWeights},
	{"KV Cache is allocated", forensics.PhaseKVCache},
	{"Memory pool end", forensics.PhaseKVCache},
	{"The available memory for KV cache", forensics.PhaseKVCache},
	{"Capture cuda graph begin", forensics.PhaseCapture},
	{"Capture npu graph begin", forensics.PhaseCapture},
	{"Capture draft cuda graph begin", forensics.PhaseCapture},
	{"Capture target", forensics.PhaseCapture},
	{"Capture cuda graph end", forensics.PhaseCapture},
	{"Entering DeepGEMM JIT Pre-Compile session", forensics.PhaseCompile},
	{"max_total_num_tokens=", forensics.PhaseKVCache},
	{"The server is fired up and ready to roll", forensics.PhaseReady},
	{"Dummy health check server started", forensics.PhaseHTTP},
	{"SIGTERM received", forensics.PhaseStopping},
	{"Gracefully exiting", forensics.PhaseStopping},
	{"Received sigquit from a child proc", forensics.PhaseDying},
	{"SIGQUIT received", forensics.PhaseDying},
	{"kill_process_tree called", forensics.PhaseDying},
	{"Scheduler or DataParallelController", forensics.PhaseDying},
}

func (r *sglang) phase(l *line, s *scan) int {
	for i := range sglangPhases {
		p := &sglangPhases[i]
		if l.text[0] != p.prefix[0] || !bytes.HasPrefix(l.text, []byte(p.prefix)) {
			continue
		}
		e := s.event(l, forensics.KindPhase)
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: p.phase})
		if p.phase == forensics.PhaseKVCache && l.text[0] == 'm' {
			fields, _ := pyFields(string(l.text))
			for _, f := range fields {
				e.Attrs = append(e.Attrs, forensics.Attr{Key: f.key, Value: f.value})
			}
		}
		if rest, ok := bytes.CutPrefix(l.text, []byte("Load weight end.")); ok {
			fields, _ := pyFields(string(rest))
			for _, f := range fields {
				e.Attrs = append(e.Attrs, forensics.Attr{Key: f.key, Value: f.value})
			}
		}
		s.emit(e)
		return 10
	}
	return 0
}

// config reads "server_args=ServerArgs(...)", and the dict form of late 2026. A
// cut line yields what is whole.
func (r *sglang) config(l *line, s *scan) int {
	i := bytes.IndexAny(l.text, "=:")
	fields, whole := pyFields(string(l.text[i+1:]))
	e := s.event(l, forensics.KindConfig)
	for _, f := range fields {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: f.key, Value: f.value})
	}
	if len(fields) == 0 {
		return -1
	}
	if !whole {
		s.note(l.pos.Line, l.pos.Offset, "the server's arguments are cut: later keys are missing")
	}
	s.emit(e)
	return 10
}

// uvicorn reads the lines of the ASGI server under SGLang, vLLM and others.
type uvicorn struct{}

func (*uvicorn) end(*scan) {}

var uvicornPhases = []struct{ prefix, phase string }{
	{"Started server process [", forensics.PhaseHTTP},
	{"Uvicorn running on", forensics.PhaseHTTP},
	{"Application startup complete", forensics.PhaseHTTP},
	{"Shutting down", forensics.PhaseStopping},
	{"Application shutdown complete", forensics.PhaseStopping},
	{"Finished server process", forensics.PhaseStopping},
}

func (r *uvicorn) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 8 || l.level == forensics.LevelNone {
		return 0
	}
	if q := bytes.Index(t, []byte(` - "`)); q > 0 && q < 60 {
		if status, path, ok := accessLine(t[q+4:]); ok {
			e := s.event(l, forensics.KindHTTP)
			e.Values = append(e.Values, forensics.Value{Name: forensics.ValStatus, X: float64(status)})
			e.Attrs = append(e.Attrs, forensics.Attr{Key: "path", Value: view(path)})
			s.emit(e)
			return 1
		}
	}
	for _, p := range uvicornPhases {
		if bytes.HasPrefix(t, []byte(p.prefix)) {
			e := s.event(l, forensics.KindPhase)
			e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: p.phase})
			if rest, ok := bytes.CutPrefix(t, []byte("Started server process [")); ok {
				e.Attrs = append(e.Attrs, forensics.Attr{Key: "pid", Value: string(bytes.TrimRight(rest, "] "))})
			}
			s.emit(e)
			return 1
		}
	}
	return 0
}

// accessLine reads `POST /v1/completions HTTP/1.1" 200 OK`.
func accessLine(b []byte) (status int, path []byte, ok bool) {
	sp := bytes.IndexByte(b, ' ')
	q := bytes.Index(b, []byte(` HTTP/`))
	if sp < 0 || q <= sp {
		return 0, nil, false
	}
	end := bytes.Index(b[q:], []byte(`" `))
	if end < 0 {
		return 0, nil, false
	}
	status = digits(b, q+end+2, 3)
	return status, b[sp+1 : q], status > 0
}
