package parse

import (
	"strconv"

	"github.com/llmforensics/forensics"
)

// guideMetric is a metric of guidellm's JSON. status is that of the requests
// counted: rates of everything the server did, latencies of what was served.
type guideMetric struct {
	key, status string
	id          string // "*" stands for the statistic; without one it is the mean
	factor      float64
}

// guideMetrics lists the metrics kept. Source: guidellm's schemas/generative and
// outputs/console.py, which prints throughputs over all requests.
var guideMetrics = []guideMetric{
	{"requests_per_second", "successful", "request_throughput", 1},
	{"request_concurrency", "total", "concurrency", 1},
	{"prompt_tokens_per_second", "total", "input_throughput", 1},
	{"output_tokens_per_second", "total", "output_throughput", 1},
	{"tokens_per_second", "total", "total_throughput", 1},
	{"request_latency", "successful", "*_e2e_latency_ms", 1000},
	{"time_to_first_token_ms", "successful", "*_ttft_ms", 1},
	{"inter_token_latency_ms", "successful", "*_tpot_ms", 1},
}

// guideStats maps statistics; those of percentiles stand one level deeper.
var guideStats = map[string]string{"mean": "mean", "median": "median", "std_dev": "std", "min": "min", "max": "max"}

// guidePercentiles are the percentiles kept.
var guidePercentiles = map[string]bool{"p50": false, "p75": true, "p90": true, "p95": true, "p99": true}

// guidellm receives a scalar of an element of benchmarks[]: level 3 is its key.
func (r *toolJSON) guidellm(depth int, text []byte, quoted bool) {
	w := &r.walk
	switch k := w.path(3); k {
	case "metrics":
		r.guideMetric(depth, text, quoted)
	case "config", "args":
		if w.path(4) == "strategy" {
			r.guideStrategy(w.path(depth), text)
		}
	case "scheduler_metrics", "run_stats":
		x, err := strconv.ParseFloat(string(text), 64)
		switch {
		case err != nil:
		case w.path(4) == "requests_made":
			r.point.count(w.path(5), x)
		case depth == 4:
			r.guideTime(w.path(4), x)
		}
	case "request_totals", "start_time", "end_time", "duration":
		if x, err := strconv.ParseFloat(string(text), 64); err == nil {
			if k == "request_totals" {
				r.point.count(w.path(4), x)
			} else {
				r.guideTime(k, x)
			}
		}
	}
}

func (r *toolJSON) guideMetric(depth int, text []byte, quoted bool) {
	if quoted {
		return
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return
	}
	w := &r.walk
	key, status := w.path(4), w.path(5)
	switch {
	case key == "request_totals":
		r.point.count(status, x)
		return
	case status == "successful" && w.path(6) == "total_sum":
		switch key {
		case "prompt_token_count":
			r.point.value("total_input_tokens", x)
		case "output_token_count":
			r.point.value("total_output_tokens", x)
		}
		return
	}
	for i := range guideMetrics {
		m := &guideMetrics[i]
		if m.key != key || m.status != status {
			continue
		}
		r.is("guidellm")
		stat := guideStats[w.path(6)]
		if depth == 7 && w.path(6) == "percentiles" && guidePercentiles[w.path(7)] {
			stat = w.path(7)
		}
		switch {
		case m.id[0] != '*' && stat == "mean":
			r.point.value(m.id, x*m.factor)
		case m.id[0] == '*' && stat != "":
			// w.path is a view of a buffer that the next key overwrites
			r.point.value(stat+m.id[1:], x*m.factor)
		}
	}
}

// count keeps the number of requests by how they ended. Requests that were under
// way when the time was up are incomplete, not failed, and nobody had asked for
// them: they are not counted as prompts.
func (p *toolPoint) count(status string, x float64) {
	switch status {
	case "successful":
		p.value("completed", x)
	case "errored":
		p.value("failed", x)
	case "incomplete":
		p.value("incomplete", x)
	case "total":
		for i := range p.values {
			if p.values[i].Name == "incomplete" {
				x -= p.values[i].X
			}
		}
		p.value("num_prompts", x)
		p.attr("num_prompts", strconv.FormatFloat(x, 'f', -1, 64))
	}
}

func (r *toolJSON) guideTime(key string, x float64) {
	switch key {
	case "start_time":
		r.starts = x
		r.point.epoch("epoch_start", x)
	case "end_time":
		r.point.epoch("epoch_end", x)
		if r.starts > 0 && x > r.starts {
			r.point.value("duration", x-r.starts)
		}
	case "duration":
		r.point.value("duration", x)
	}
}

// guideStrategy reads how the load was made. Only concurrent strategies have a
// limit on the requests in flight that was asked for.
func (r *toolJSON) guideStrategy(key string, text []byte) {
	switch v := string(text); key {
	case "type_", "kind":
		r.point.attr("strategy", v)
		if v == "synchronous" {
			r.point.attr("max_concurrency", "1")
		}
	case "streams":
		r.point.attr("max_concurrency", v)
	case "rate":
		r.point.attr("request_rate", v)
	case "max_concurrency":
		if hasAttrValue(r.point.attrs, "strategy", "throughput") {
			r.point.attr("max_concurrency", v)
		}
	}
}

func hasAttrValue(attrs []forensics.Attr, key, value string) bool {
	for i := range attrs {
		if attrs[i].Key == key {
			return attrs[i].Value == value
		}
	}
	return false
}
