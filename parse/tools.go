package parse

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/llmforensics/forensics"
)

// toolPoint collects one point of guidellm, genai-perf or aiperf in the shape of
// the other clients' records: metric names and units of the SGLang client's
// JSONL.
//
// What these tools call inter-token latency is (request latency - time to first
// token) / (output tokens - 1) of a request, which SGLang and vLLM call TPOT;
// their ITL is the gap between two chunks, aiperf's inter-chunk latency.
// guidellm's own TPOT includes the first token and has no counterpart.
type toolPoint struct {
	attrs  []forensics.Attr
	values []forensics.Value
	stamp  forensics.Stamp
	errors map[string]int
	order  []string
}

func (p *toolPoint) reset() { *p = toolPoint{attrs: p.attrs[:0], values: p.values[:0]} }

func (p *toolPoint) empty() bool { return len(p.values) == 0 }

// attr keeps a parameter; the first one of a name counts.
func (p *toolPoint) attr(name, value string) {
	if value != "" && value != "null" && !hasAttr(p.attrs, name) {
		p.attrs = append(p.attrs, forensics.Attr{Key: name, Value: clip(value, maxBenchMessage)})
	}
}

func (p *toolPoint) has(name string) bool {
	for i := range p.values {
		if p.values[i].Name == name {
			return true
		}
	}
	return false
}

// value keeps a measurement; the first one of a name counts.
func (p *toolPoint) value(name string, x float64) {
	if name != "" && !math.IsNaN(x) && !p.has(name) && len(p.values) < maxJSONValues {
		p.values = append(p.values, forensics.Value{Name: name, X: x})
	}
}

// failed counts a request's error by its text.
func (p *toolPoint) failed(text string, n int) {
	if p.errors == nil {
		p.errors = map[string]int{}
	}
	if text = clip(lastLine(text), maxBenchMessage); p.errors[text] == 0 {
		if len(p.order) >= maxErrorTexts {
			return
		}
		p.order = append(p.order, text)
	}
	p.errors[text] += n
}

// fill completes an event with the point.
func (p *toolPoint) fill(e *forensics.Event, step, client string) {
	e.Attrs = append(e.Attrs[:0], forensics.Attr{Key: "step", Value: step}, forensics.Attr{Key: "client", Value: client})
	e.Attrs = append(e.Attrs, p.attrs...)
	e.Values = append(e.Values[:0], p.values...)
	for _, text := range p.order[:min(len(p.order), topErrorTexts)] {
		e.Attrs = append(e.Attrs, forensics.Attr{Key: "error", Value: text},
			forensics.Attr{Key: "error_count", Value: strconv.Itoa(p.errors[text])})
	}
	if !p.stamp.IsZero() {
		e.Stamp = p.stamp
	}
	if e.Proc.Role == "" {
		e.Proc.Role = forensics.RoleClient
	}
}

// epochStamp is a time given in seconds since the epoch.
func epochStamp(x float64) (forensics.Stamp, bool) {
	if x < 1e9 || x > 1e10 {
		return forensics.Stamp{}, false
	}
	return forensics.Stamp{Clock: forensics.ClockAbsolute, Nanos: int64(x*1e3) * 1e6, Res: time.Millisecond}, true
}

// epoch keeps the time of a run's start or end.
func (p *toolPoint) epoch(name string, x float64) {
	st, ok := epochStamp(x)
	if !ok {
		return
	}
	p.attr(name, strconv.FormatFloat(x, 'f', -1, 64))
	if name == "epoch_end" {
		p.stamp = st
	}
}

// toolMetric is a metric of genai-perf and aiperf, which share names.
type toolMetric struct {
	tag   string // in the JSON export
	label string // in CSV files and tables, in lower case, without the unit
	id    string // in the SGLang client's JSONL; "*" stands for the statistic
}

// toolMetrics lists the metrics kept. Sources: genai-perf's test_csv_exporter and
// test_console_exporter; aiperf's exporters and its metrics reference.
var toolMetrics = []toolMetric{
	{"request_throughput", "request throughput", "request_throughput"},
	{"output_token_throughput", "output token throughput", "output_throughput"},
	{"total_token_throughput", "total token throughput", "total_throughput"},
	{"request_count", "request count", "completed"},
	{"error_request_count", "error request count", "failed"},
	{"benchmark_duration", "benchmark duration", "duration"},
	{"total_osl", "total output sequence length", "total_output_tokens"},
	{"total_isl", "total input sequence length", "total_input_tokens"},
	{"request_goodput", "request goodput", "request_goodput"},
	{"goodput", "goodput", "request_goodput"},
	{"time_to_first_token", "time to first token", "*_ttft_ms"},
	{"inter_token_latency", "inter token latency", "*_tpot_ms"},
	{"inter_chunk_latency", "inter chunk latency", "*_itl_ms"},
	{"request_latency", "request latency", "*_e2e_latency_ms"},
}

// toolStats maps the names of statistics.
var toolStats = map[string]string{"avg": "mean", "p50": "median", "min": "min", "max": "max", "std": "std", "p90": "p90", "p95": "p95", "p99": "p99", "p75": "p75"}

// metricID returns the metric's name for a statistic, "" if it is not kept. A
// metric without statistics has its number under avg.
func (m *toolMetric) metricID(stat string) string {
	if m.id[0] != '*' {
		if stat == "avg" || stat == "value" {
			return m.id
		}
		return ""
	}
	if s := toolStats[stat]; s != "" {
		return s + m.id[1:]
	}
	return ""
}

// scale is the factor from a unit to that of the metric's name.
func (m *toolMetric) scale(unit string) float64 {
	to := 1.0
	if strings.HasSuffix(m.id, "_ms") {
		to = 1000
	}
	switch unit {
	case "ns", "nanoseconds":
		return to / 1e9
	case "us", "µs":
		return to / 1e6
	case "ms", "milliseconds":
		return to / 1e3
	case "s", "sec", "seconds":
		return to
	case "min", "minutes":
		return to * 60
	}
	return 1
}

func metricByTag(tag string) *toolMetric {
	for i := range toolMetrics {
		if toolMetrics[i].tag == tag {
			return &toolMetrics[i]
		}
	}
	return nil
}

// metricByLabel finds "Time To First Token (ms)" and returns its unit. Tables
// wrap labels, so that spaces may be missing or doubled.
func metricByLabel(label []byte) (m *toolMetric, unit string) {
	name, rest, _ := bytes.Cut(label, []byte("("))
	unit = string(bytes.TrimRight(bytes.TrimSpace(rest), ")"))
	var buf [64]byte
	low := lower(buf[:0], bytes.TrimSpace(name[:min(len(name), 60)]))
	for i := range toolMetrics {
		if toolMetrics[i].label == string(low) {
			return &toolMetrics[i], unit
		}
	}
	return nil, ""
}

// tableNumber reads a cell: "1,234.56". N/A and "-" hold no number.
func tableNumber(cell []byte) (float64, bool) {
	var buf [40]byte
	out := buf[:0]
	for _, c := range bytes.TrimSpace(cell) {
		if c != ',' && len(out) < len(buf) {
			out = append(out, c)
		}
	}
	return number(out)
}
