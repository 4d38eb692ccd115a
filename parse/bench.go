package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// bench reads the output of the benchmark clients that share the table of
// vLLM's benchmark_serving.py: SGLang bench_serving, vLLM bench serve, the
// InferenceX fork and TensorRT-LLM's. Sources: see benchLabels.
//
// A client prints its arguments, readiness, planned token counts, warm-up, a
// progress bar and a table, in this order and without any time. Which of these
// steps are there tells how far a run came, so every event carries the number of
// its run in the source (attribute "run"): a step that cannot follow the last
// one begins a new run, and so does what comes after a wrapper's announcement.
type bench struct {
	run   benchRun
	stage int
	n     int  // runs seen
	fresh bool // an announcement or an exit status: the next step is a new run's

	table benchTable
	// planned is a "#Input tokens:" line that waits for its "#Output tokens:".
	planned forensics.Event
	waiting bool
}

// benchRun is what the source says of the run under way.
type benchRun struct {
	params []forensics.Attr // identity of the point, for the events that follow
	copied bool             // the second copy of the arguments was seen
	errors bool             // within vLLM's list of failed requests
	done   float64          // of the progress bar
	known  bool             // arguments were printed
}

// The stages of a run. A step of an earlier stage than the last one is a new run's.
const (
	stageStart = 1 + iota
	stageNotReady
	stagePlanned
	stageWarmup
	stageMain
	stageResult
	stageEnd
)

// once tells which stages occur only once in a run.
var once = [...]bool{stageStart: true, stagePlanned: true, stageMain: true, stageResult: true, stageEnd: true}

// enter notes that a step of the stage was seen.
func (b *bench) enter(stage int) {
	if b.n == 0 || b.fresh || stage < b.stage || stage == b.stage && once[stage] {
		b.n++
		b.fresh = false
		b.run = benchRun{params: b.run.params[:0]}
	}
	b.stage = stage
}

func (r *benchRun) set(key, value string) {
	for i := range r.params {
		if r.params[i].Key == key {
			r.params[i].Value = value
			return
		}
	}
	r.params = append(r.params, forensics.Attr{Key: key, Value: value})
}

func (r *benchRun) get(key string) string {
	for i := range r.params {
		if r.params[i].Key == key {
			return r.params[i].Value
		}
	}
	return ""
}

// attrs begins the attributes of an event of the run under way.
func (b *bench) attrs(step string) []forensics.Attr {
	a := make([]forensics.Attr, 0, 16)
	return append(a, forensics.Attr{Key: "step", Value: step}, forensics.Attr{Key: "run", Value: strconv.Itoa(b.n)})
}

func (b *bench) emit(e *forensics.Event, s *scan) {
	if e.Proc.Role == "" {
		// The scan learns the role only after the line was claimed.
		e.Proc.Role = forensics.RoleClient
	}
	s.emit(e)
}

// step emits an event of a single line.
func (b *bench) step(l *line, s *scan, step string, attrs []forensics.Attr, values ...forensics.Value) {
	e := s.event(l, forensics.KindBench)
	e.Attrs = append(b.attrs(step), attrs...)
	if model := b.run.get("model"); model != "" && step != forensics.StepStart && step != forensics.StepProgress {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "model", Value: model})
	}
	e.Values = append(e.Values, values...)
	b.emit(e, s)
}

// claim takes a line that makes no event of its own. If a signature matched it,
// it is evidence and must not be lost.
func (b *bench) claim(l *line, s *scan, weight int) int {
	if len(l.hits) > 0 {
		b.emit(s.event(l, forensics.KindLine), s)
	}
	return weight
}

func (b *bench) end(s *scan) { b.flush(s) }

// flush closes what is open before another event is emitted, so that positions
// rise.
func (b *bench) flush(s *scan) {
	b.flushPlanned(s)
	b.closeTable(s, false)
}

func (b *bench) flushPlanned(s *scan) {
	if b.waiting {
		b.waiting = false
		b.emit(&b.planned, s)
	}
}

func (b *bench) line(l *line, s *scan) int {
	if l.style != styleNone && (l.style != styleISO || l.level != forensics.LevelNone) {
		return 0 // a logger's line; styleISO alone is a wrapper's stamp
	}
	t := bytes.TrimSpace(l.text)
	if len(t) < 4 {
		return 0
	}
	if w := b.prefixed(t, l, s); w != 0 {
		return w
	}
	if w := b.bar(t, l, s); w != 0 {
		return w
	}
	if w := b.exit(t, l, s); w != 0 {
		return w
	}
	if w := b.echo(t, l, s); w != 0 {
		return w
	}
	if w := b.tableLine(t, l, s); w != 0 {
		return w
	}
	return b.failure(t, l, s)
}

// benchPrefixes are the beginnings of the lines that clients print, with what to
// do about them; nil only claims the line.
var benchPrefixes = []struct {
	prefix string
	do     func(b *bench, t []byte, l *line, s *scan) int
}{
	{"benchmark_args=Namespace(", (*bench).arguments},
	{"Namespace(", (*bench).arguments},
	{"#Input tokens: ", (*bench).inputTokens},
	{"#Output tokens: ", (*bench).outputTokens},
	{"Starting warmup with ", (*bench).warmup},
	{"Starting initial single prompt test run", (*bench).warmup},
	{"Warming up with ", (*bench).warmup},
	{"Warmup completed with ", (*bench).warmupDone},
	{"Warmup run completed", (*bench).warmupDone},
	{"Initial test run completed", (*bench).warmupDone},
	{"Starting main benchmark run", (*bench).main},
	{"output.error=", (*bench).requestError},
	{"Failed requests during benchmark run detected", (*bench).errorList},
	{"Error ", (*bench).listedError},
	{"Server did not become ready within ", (*bench).notReady},
	{"Server at ", (*bench).notReady},
	{"Failed to fetch model from ", (*bench).notReady},
	{"No model specified or found. Please provide a model", (*bench).notReady},
	{"FAIL: request failure rate ", (*bench).clientError},
	{"Benchmark overrides: ", (*bench).overrides},
	{"[BEGIN BENCHMARK]", (*bench).sweepBegin},
	{"[END BENCHMARK]", (*bench).sweepEnd},
	{"Benchmark command: [", (*bench).sweepCommand},
	{"Server command: [", (*bench).sweepCommand},
	{"[BEGIN SERVER]", nil},
	{"[END SERVER]", nil},
	{"[SKIPPED BENCHMARK]", nil},
	{"[WL START]", nil},
	{"[WL END]", nil},
	{"Server overrides: {", nil},
	{"Found existing results.", nil},
	{"Waiting up to ", nil},
	{"Server ready in ", nil},
	{"Waiting for endpoint to become up in ", nil},
	{"Skipping endpoint ready check", nil},
	{"Model not specified, fetching first model from server", nil},
	{"Please specify the correct host and port using", nil},
	{"Fail to set RLIMIT_NOFILE: ", nil},
	{"Fail to load tokenizer config with error=", nil},
	{"tip: install termplotlib and gnuplot", nil},
	{"Using time-based Mooncake request scheduler", nil},
	{"Starting Mooncake trace replay", nil},
	{"test_request.system_prompt=", nil},
	{"Generating ", (*bench).generating},
	{"Prompt generation completed in ", nil},
	{"v5 tokenizer fix: ", nil},
	{"input_lens : min=", nil},
	{"output_lens: min=", nil},
}

func (b *bench) prefixed(t []byte, l *line, s *scan) int {
	for i := range benchPrefixes {
		p := &benchPrefixes[i]
		if t[0] != p.prefix[0] || !bytes.HasPrefix(t, []byte(p.prefix)) {
			continue
		}
		if p.do == nil {
			return b.claim(l, s, 3)
		}
		return p.do(b, t, l, s)
	}
	return 0
}

func (b *bench) inputTokens(t []byte, l *line, s *scan) int {
	n, ok := number(bytes.TrimSpace(t[bytes.IndexByte(t, ':')+1:]))
	if !ok {
		return -1
	}
	b.flush(s)
	b.enter(stagePlanned)
	e := s.event(l, forensics.KindBench)
	b.planned, b.waiting = *e.Clone(), true
	b.planned.Hits = nil
	b.planned.Attrs = b.attrs(forensics.StepPlanned)
	b.planned.Values = []forensics.Value{{Name: "input_tokens", X: n}}
	if m := b.run.get("model"); m != "" {
		b.planned.Attrs = append(b.planned.Attrs, forensics.Attr{Key: "model", Value: m})
	}
	return b.claim(l, s, 10)
}

func (b *bench) outputTokens(t []byte, l *line, s *scan) int {
	n, ok := number(bytes.TrimSpace(t[bytes.IndexByte(t, ':')+1:]))
	if !ok {
		return -1
	}
	v := forensics.Value{Name: "output_tokens", X: n}
	if b.waiting {
		b.planned.Values = append(b.planned.Values, v)
		b.planned.Lines = l.pos.Line - b.planned.Pos.Line + 1
		b.flush(s)
		return b.claim(l, s, 10)
	}
	b.flush(s)
	b.enter(stagePlanned)
	b.step(l, s, forensics.StepPlanned, nil, v)
	return 10
}

func (b *bench) warmup(_ []byte, l *line, s *scan) int {
	b.flush(s)
	b.enter(stageWarmup)
	b.step(l, s, forensics.StepWarmup, nil)
	return 10
}

// warmupDone reads "Warmup completed with 1 sequences. Starting main benchmark
// run...", which tells two steps at once in most versions.
func (b *bench) warmupDone(t []byte, l *line, s *scan) int {
	b.flush(s)
	b.enter(stageWarmup)
	b.step(l, s, forensics.StepWarmupDone, nil)
	if bytes.Contains(t, []byte("Starting main benchmark run")) {
		l.hits = l.hits[:0] // counted once
		return b.main(t, l, s)
	}
	return 10
}

func (b *bench) main(_ []byte, l *line, s *scan) int {
	b.flush(s)
	b.enter(stageMain)
	b.step(l, s, forensics.StepMain, nil)
	return 10
}

// generating reads InferenceX's "Generating 40 prompts using 2 worker processes...".
func (b *bench) generating(t []byte, l *line, s *scan) int {
	if !bytes.Contains(t, []byte(" prompts using ")) {
		return 0
	}
	return b.claim(l, s, 3)
}

// sweepBegin reads the fence that "vllm bench sweep serve" prints before each of
// its points. Source: vllm/benchmarks/sweep/serve.py.
func (b *bench) sweepBegin(_ []byte, l *line, s *scan) int {
	b.flush(s)
	b.fresh = true
	return b.claim(l, s, 10)
}

// sweepEnd reads the fence behind a point, which is only printed when the client
// ended with status 0.
func (b *bench) sweepEnd(_ []byte, l *line, s *scan) int {
	b.flush(s)
	if b.n > 0 && !b.fresh && b.stage < stageEnd {
		b.stage = stageEnd
		b.step(l, s, forensics.StepEnd, []forensics.Attr{{Key: "code", Value: "0"}})
	}
	b.fresh = true
	return 10
}

// sweepCommand reads the command of a point or of its server, a Python list.
func (b *bench) sweepCommand(t []byte, l *line, s *scan) int {
	i := bytes.IndexByte(t, '[')
	words, _ := pyList(string(t[i:]))
	if len(words) == 0 {
		return b.claim(l, s, 3)
	}
	e := s.event(l, forensics.KindCommand)
	put(e, "argv", strings.Join(words, " "))
	put(e, "starts", map[byte]string{'B': "client", 'S': "server"}[t[0]])
	s.emit(e)
	return 10
}

// overrides reads a line of "vllm bench sweep serve", which runs the client once
// per point.
func (b *bench) overrides(t []byte, l *line, s *scan) int {
	fields, _ := pyFields(string(t[len("Benchmark overrides: "):]))
	b.flush(s)
	b.fresh = true
	e := s.event(l, forensics.KindEcho)
	e.Attrs = append(e.Attrs, forensics.Attr{Key: "run", Value: strconv.Itoa(b.n + 1)})
	for _, f := range fields {
		switch key := strings.ReplaceAll(f.key, "-", "_"); key {
		case "max_concurrency", "request_rate", "num_prompts":
			e.Attrs = append(e.Attrs, forensics.Attr{Key: key, Value: f.value})
		}
	}
	b.emit(e, s)
	return 10
}
