package parse

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/llmforensics/forensics"
)

// toolJSON reads the JSON exports of guidellm (benchmarks.json, one point for
// each of its benchmarks), genai-perf and aiperf (profile_export_*.json, one
// point), pretty-printed or in a single line of any length. The requests that
// guidellm lists pass by without being kept.
type toolJSON struct {
	walk   jsonWalk
	open   bool
	mine   bool
	client string
	head   forensics.Event
	last   int
	point  toolPoint
	metric *toolMetric // whose unit is awaited
	unit   string
	raw    []forensics.Value // of metric, before the unit is applied
	errMsg string
	starts float64 // of guidellm's benchmark, in seconds since the epoch
	count  int     // points emitted
	lines  int
	scan   *scan
}

func (r *toolJSON) end(s *scan) {
	if r.open {
		r.finish(true, s)
	}
}

func (r *toolJSON) line(l *line, s *scan) int {
	t := bytes.TrimSpace(l.text)
	if r.open && l.pos.Line == r.last {
		return 0 // asked twice about one line
	}
	if r.open && l.pos.Line != r.last+1 {
		r.finish(true, s)
	}
	if !r.open && !r.begin(t, l, s) {
		return 0
	}
	r.last = l.pos.Line
	r.lines++
	r.scan = s
	r.walk.pieces = len(l.text) >= MaxLine-maxPrompt
	used, done, err := r.walk.feed(t)
	switch {
	case err != nil || r.walk.quoted && !r.walk.pieces:
		return r.broken(s)
	case done:
		mine := r.mine && len(bytes.Trim(t[used:], ", ]")) == 0
		r.finish(false, s)
		if !mine {
			return 0
		}
		return s.quiet(l, 10)
	case r.walk.pieces && r.mine:
		s.takeTail(r.tail)
	case r.walk.pieces:
		r.open = false
		return 0
	}
	if !r.mine {
		return 0
	}
	s.own()
	return s.quiet(l, 3)
}

// begin takes the first line of an object.
func (r *toolJSON) begin(t []byte, l *line, s *scan) bool {
	if len(t) == 0 || t[0] != '{' || len(t) > 1 && t[1] != '"' && t[1] != ' ' {
		return false
	}
	if len(t) < MaxLine-maxPrompt && len(t) > 4 && t[len(t)-1] == '}' && !mayBeTool(t) {
		return false
	}
	r.walk.value, r.walk.closed = r.take, r.closed
	r.walk.reset()
	r.point.reset()
	r.open, r.mine, r.client, r.count, r.lines, r.starts = true, false, "", 0, 0, 0
	r.metric, r.errMsg = nil, ""
	r.head = *s.event(l, forensics.KindBench).Clone()
	r.head.Format, r.head.Hits = formats[s.current].name, nil
	return true
}

// mayBeTool is a cheap test of an object in one line.
func mayBeTool(t []byte) bool {
	return bytes.Contains(t, []byte(`"time_to_first_token`)) || bytes.Contains(t, []byte(`"request_latency"`)) || bytes.Contains(t, []byte(`"benchmarks"`))
}

// tail reads on in an object longer than a line may be.
func (r *toolJSON) tail(piece []byte, end bool) {
	if !r.open {
		return
	}
	_, done, err := r.walk.feed(piece)
	if done || end || err != nil {
		r.finish(!done, r.scan)
	}
}

func (r *toolJSON) broken(s *scan) int {
	mine := r.mine
	r.finish(true, s)
	if mine {
		return -1
	}
	return 0
}

// finish ends the object; cut says that its end is missing.
func (r *toolJSON) finish(cut bool, s *scan) {
	r.open = false
	if !r.mine {
		return
	}
	r.applyUnit()
	if cut {
		s.note(r.last, 0, fmt.Sprintf("cut or broken JSON object: it begins at line %d", r.head.Pos.Line))
		r.point.attr("cut", "tail")
	}
	r.emit(s)
}

// emit hands out the point under way.
func (r *toolJSON) emit(s *scan) {
	if r.point.empty() {
		return
	}
	e := r.head
	e.Lines = max(r.lines, 1)
	e.Attrs, e.Values = nil, nil
	r.point.fill(&e, forensics.StepRecord, r.client)
	s.emit(&e)
	r.point.reset()
	r.count++
}

func (r *toolJSON) is(client string) {
	r.mine = true
	if r.client == "" {
		r.client = client
	}
}

// take receives a scalar.
func (r *toolJSON) take(depth int, key, key2 string, text []byte, quoted bool) {
	w := &r.walk
	switch {
	case key == "benchmarks" && depth >= 3:
		r.guidellm(depth, text, quoted)
	case key == "metadata" && key2 == "guidellm_version":
		r.is("guidellm")
	case key == "aiperf_version":
		r.is("aiperf")
	case key == "input_config":
		r.parameter(w.path(depth), text, quoted)
	case key == "error_summary":
		r.errorSummary(w.path(depth), text)
	case depth == 1:
		r.aiperfTop(key, text)
	case depth == 2:
		r.number(key, key2, text, quoted)
	case depth == 3 && key == "records": // aiperf of 2025
		r.number(key2, w.path(3), text, quoted)
	}
}

// number keeps a statistic of genai-perf or aiperf. The unit may stand before or
// behind the numbers.
func (r *toolJSON) number(tag, stat string, text []byte, quoted bool) {
	if r.metric == nil || r.metric.tag != tag {
		r.applyUnit()
		if r.metric = metricByTag(tag); r.metric == nil {
			return
		}
	}
	if quoted {
		if stat == "unit" {
			r.unit = string(text)
		}
		return
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return
	}
	if id := r.metric.metricID(stat); id != "" {
		r.raw = append(r.raw, forensics.Value{Name: id, X: x})
	}
	if len(r.raw) > 1 || r.metric.id == "request_throughput" {
		r.is("genai-perf")
	}
}

func (r *toolJSON) applyUnit() {
	if r.metric != nil {
		f := r.metric.scale(r.unit)
		for _, v := range r.raw {
			r.point.value(v.Name, v.X*f)
		}
	}
	r.metric, r.unit, r.raw = nil, "", r.raw[:0]
}

// aiperfTop reads the scalars at the top of aiperf's export. Its times are those
// of the machine, without a zone.
func (r *toolJSON) aiperfTop(key string, text []byte) {
	switch key {
	case "was_cancelled":
		r.client = "aiperf"
		if string(text) == "true" {
			r.point.attr("cancelled", "true")
		}
	case "start_time", "end_time":
		st, n := dateTime(text)
		if n == 0 {
			return
		}
		r.client = "aiperf"
		r.point.attr(key, string(text))
		if key == "end_time" {
			r.point.stamp = st
		}
	}
}

// errorSummary reads aiperf's [{"error_details": {"code", "type", "message"},
// "count": 3}].
func (r *toolJSON) errorSummary(key string, text []byte) {
	switch key {
	case "message":
		r.errMsg = string(text)
	case "count":
		if n, err := strconv.Atoi(string(text)); err == nil && r.errMsg != "" {
			r.point.failed(r.errMsg, n)
			r.errMsg = ""
		}
	}
}

// toolParams maps keys of the input configuration, at whatever depth.
var toolParams = map[string]string{
	"concurrency": "max_concurrency", "request_rate": "request_rate", "request_count": "num_prompts", "num_prompts": "num_prompts",
	"model": "model", "model_names": "model", "endpoint_type": "backend", "url": "base_url",
}

func (r *toolJSON) parameter(key string, text []byte, quoted bool) {
	if key == "" { // an element of a list: the key stands one level above
		key = r.walk.path(len(r.walk.stack) - 1)
	}
	if name := toolParams[key]; name != "" && (quoted || string(text) != "0") {
		r.point.attr(name, string(text))
	}
}

// closed is told of the end of an object: guidellm's benchmarks end at depth 3.
func (r *toolJSON) closed(depth int) {
	if depth == 3 && r.mine && r.client == "guidellm" && r.walk.path(1) == "benchmarks" {
		r.emit(r.scan)
	}
	if depth == 2 && r.metric != nil && r.walk.path(1) != "records" {
		r.applyUnit()
	}
}
