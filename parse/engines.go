package parse

import (
	"bytes"

	"github.com/llmforensics/forensics"
)

// phaseMark maps the beginning of a log line to a launch phase.
type phaseMark struct{ prefix, phase string }

// engineLog reads the log of a server that this package knows by its logger and a
// few landmarks only: enough to tell the format, the role, the launch and what
// the signatures match.
type engineLog struct {
	// own reports whether a line is this server's by its logger.
	own func(l *line) bool
	// payload returns the message behind what own knows, nil for l.text.
	payload func(l *line) []byte
	// marks are the landmarks. They are looked for in own lines, and in all lines
	// if own is nil.
	marks []phaseMark
	// more reads what is not a landmark; it may be nil.
	more moreReader
}

// moreReader is an interface, not a function, because the table of formats may
// not refer to functions that refer to the table.
type moreReader interface {
	more(l *line, s *scan) int
}

func (*engineLog) end(*scan) {}

func (r *engineLog) line(l *line, s *scan) int {
	if len(l.text) < 4 || r.own != nil && !r.own(l) {
		return 0
	}
	text := l.text
	if r.payload != nil {
		text = r.payload(l)
	}
	for i := range r.marks {
		m := &r.marks[i]
		if len(text) >= len(m.prefix) && text[0] == m.prefix[0] && string(text[:len(m.prefix)]) == m.prefix {
			e := s.event(l, forensics.KindPhase)
			e.Attrs = append(e.Attrs, forensics.Attr{Key: "phase", Value: m.phase})
			s.emit(e)
			return 10
		}
	}
	if r.more != nil {
		if w := r.more.more(l, s); w != 0 {
			return w
		}
	}
	if r.own == nil {
		return 0
	}
	s.record(l)
	return 3
}

// record emits a dated line of a known logger that nothing else is known of: as
// a line if a signature matched it, else as a mark that moves the clock.
func (s *scan) record(l *line) {
	switch {
	case len(l.hits) > 0:
		s.emit(s.event(l, forensics.KindLine))
	case !l.stamp.IsZero():
		s.emit(s.event(l, forensics.KindMark))
	}
}

// router is the SGLang router, sgl-model-gateway since 2026 (Rust, tracing).
func router() reader {
	return &engineLog{
		own: func(l *line) bool {
			return l.proc.Role == forensics.RoleRouter || l.style == styleRust &&
				hasAnyPrefix(l.loc, []string{"sglang_router", "smg", "sgl_model_gateway", "sglang::router"})
		},
		marks: []phaseMark{
			{"Starting router on", forensics.PhaseStart},
			{"Router mode", forensics.PhaseStart},
			{"Initializing router", forensics.PhaseStart},
			{"Router ready", forensics.PhaseReady},
			{"Starting server on", forensics.PhaseReady},
			{"Server listening", forensics.PhaseReady},
			{"Received shutdown signal", forensics.PhaseStopping},
			{"Received Ctrl+C", forensics.PhaseStopping},
			{"Received terminate signal", forensics.PhaseStopping},
		},
	}
}

// tgi is text-generation-inference: launcher and router are Rust, what the Python
// shard prints is relayed by the launcher.
func tgi() reader {
	return &engineLog{
		own: func(l *line) bool {
			return l.style == styleRust && (bytes.Contains(l.loc, []byte("text_generation_")) ||
				bytes.HasPrefix(l.text, []byte("text_generation_")))
		},
		payload: func(l *line) []byte {
			t := l.text
			if bytes.HasPrefix(t, []byte("text_generation_")) {
				if i := bytes.Index(t, []byte(": ")); i > 0 {
					t = t[i+2:]
				}
			}
			if i := bytes.LastIndex(t, []byte(" rank=")); i > 0 && digits(t, i+6, len(t)-i-6) >= 0 {
				var buf [32]byte
				l.proc.Rank = l.names.get(append(append(buf[:0], "rank"...), t[i+6:]...))
			}
			return t
		},
		marks: []phaseMark{
			{"Args {", forensics.PhaseStart},
			{"Args: Args", forensics.PhaseStart},
			{"Starting shard", forensics.PhaseWeights},
			{"Waiting for shard to be ready", forensics.PhaseWeights},
			{"Successfully downloaded weights", forensics.PhaseWeights},
			{"Cuda Graphs are enabled", forensics.PhaseCapture},
			{"Shard ready", forensics.PhaseWarmup},
			{"Warming up model", forensics.PhaseWarmup},
			{"Setting max batch total tokens", forensics.PhaseKVCache},
			{"KV-cache blocks:", forensics.PhaseKVCache},
			{"Connected", forensics.PhaseReady},
			{"Shard terminated", forensics.PhaseStopping},
			{"Terminating webserver", forensics.PhaseStopping},
			{"Shutting down shards", forensics.PhaseDying},
			{"Shard complete standard error output", forensics.PhaseDying},
			{"Shard process was signaled to shutdown", forensics.PhaseDying},
			{"Webserver Crashed", forensics.PhaseDying},
		},
	}
}

// dynamo is NVIDIA Dynamo's runtime. Its engines' messages come through the same
// logger and are read by their own readers, which are asked first.
func dynamo() reader {
	return &engineLog{
		own: func(l *line) bool { return l.style == styleRust && bytes.HasPrefix(l.loc, []byte("dynamo_")) },
		marks: []phaseMark{
			{"Starting HTTP(S) service", forensics.PhaseHTTP},
			{"Starting HTTP service", forensics.PhaseHTTP},
			{"added model", forensics.PhaseReady},
			{"Received shutdown signal", forensics.PhaseStopping},
		},
	}
}

// triton is the Triton inference server, which logs in glog's form.
func triton() reader {
	return &engineLog{
		own: func(l *line) bool {
			return l.style == styleGlog && bytes.Contains(l.loc, []byte(".cc:"))
		},
		payload: func(l *line) []byte { return bytes.TrimPrefix(l.text, []byte(`"`)) },
		marks: []phaseMark{
			{"Triton Server ", forensics.PhaseStart},
			{"loading: ", forensics.PhaseWeights},
			{"successfully loaded ", forensics.PhaseWeights},
			{"Started GRPCInferenceService", forensics.PhaseHTTP},
			{"Started HTTPService", forensics.PhaseReady},
			{"Waiting for in-flight requests to complete", forensics.PhaseStopping},
			{"Internal: failed to load all models", forensics.PhaseDying},
			{"failed to load ", forensics.PhaseDying},
		},
	}
}

// lightllm is LightLLM, whose logger looks like vLLM's.
func lightllm() reader {
	return &engineLog{
		own: func(l *line) bool {
			return hasAnyPrefix(l.text, []string{"server start up ok", "use tgi api:", "all start args:", "loading model name "})
		},
		marks: []phaseMark{
			{"server start up ok", forensics.PhaseReady},
			{"loading model name ", forensics.PhaseWeights},
			{"all start args:", forensics.PhaseStart},
			{"use tgi api:", forensics.PhaseStart},
		},
	}
}
