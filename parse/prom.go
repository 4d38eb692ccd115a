package parse

import (
	"bytes"
	"strconv"

	"github.com/llmforensics/forensics"
)

// prom reads the text that Prometheus scrapes: "name{label="value"} 71". Of an
// engine's metrics it keeps the load, one sample for each engine and scrape; of
// dcgm-exporter's the state of each GPU. Other metrics are understood and not
// kept. Sources: prometheus.io/docs/instrumenting/exposition_formats, vllm/v1/
// metrics/loggers.py, sglang/srt/metrics/collector.py, DCGM's dcgm_fields.h.
//
// Scrapes carry no time. A date in a comment or on a line of its own before one
// is its time, and so is the stamp that a wrapper put before the lines.
type prom struct {
	gpu     bool // reads the metrics of GPUs, not of engines
	last    int  // number of the last line of the exposition
	samples []promSample
	stamp   forensics.Stamp // of the scrape
	before  forensics.Stamp // the scan's stamp when the last scrape began
}

// promSample is what a scrape says of one GPU or engine.
type promSample struct {
	key  string
	ev   forensics.Event
	free float64 // MiB of the GPU's memory
}

const (
	maxPromSamples = 256
	// maxPromGap is how many foreign lines may stand within a scrape.
	maxPromGap = 3
)

// promMetric is a metric that is kept.
type promMetric struct {
	value string // name of the value
	attr  string // or of the attribute

}

// engineMetrics are the load metrics of engines.
var engineMetrics = map[string]promMetric{
	"vllm:num_requests_running":     {value: forensics.ValRunning},
	"vllm:num_requests_waiting":     {value: forensics.ValQueue},
	"vllm:gpu_cache_usage_perc":     {value: forensics.ValTokenUsage},
	"vllm:kv_cache_usage_perc":      {value: forensics.ValTokenUsage},
	"vllm:num_preemptions_total":    {value: forensics.ValPreempted},
	"vllm:num_preemptions":          {value: forensics.ValPreempted},
	"sglang:num_running_reqs":       {value: forensics.ValRunning},
	"sglang:num_queue_reqs":         {value: forensics.ValQueue},
	"sglang:gen_throughput":         {value: forensics.ValGenThroughput},
	"sglang:token_usage":            {value: forensics.ValTokenUsage},
	"sglang:num_retracted_reqs":     {value: forensics.ValRetracted},
	"tgi_batch_current_size":        {value: forensics.ValRunning},
	"tgi_queue_size":                {value: forensics.ValQueue},
	"llamacpp:requests_processing":  {value: forensics.ValRunning},
	"llamacpp:requests_deferred":    {value: forensics.ValQueue},
	"llamacpp:kv_cache_usage_ratio": {value: forensics.ValTokenUsage},
	"trtllm_num_requests_running":   {value: forensics.ValRunning},
	"trtllm_num_requests_waiting":   {value: forensics.ValQueue},
	"trtllm_kv_cache_utilization":   {value: forensics.ValTokenUsage},
}

// gpuMetrics are the fields of dcgm-exporter.
var gpuMetrics = map[string]promMetric{
	"DCGM_FI_DEV_GPU_TEMP":                    {value: forensics.ValGPUTemp},
	"DCGM_FI_DEV_POWER_USAGE":                 {value: forensics.ValGPUPower},
	"DCGM_FI_DEV_POWER_MGMT_LIMIT":            {value: forensics.ValGPUPowerLimit},
	"DCGM_FI_DEV_ENFORCED_POWER_LIMIT":        {value: forensics.ValGPUPowerLimit},
	"DCGM_FI_DEV_SM_CLOCK":                    {value: forensics.ValGPUClock},
	"DCGM_FI_DEV_MAX_SM_CLOCK":                {value: forensics.ValGPUClockMax},
	"DCGM_FI_DEV_GPU_UTIL":                    {value: forensics.ValGPUUtil},
	"DCGM_FI_DEV_FB_USED":                     {value: forensics.ValGPUMemUsed},
	"DCGM_FI_DEV_FB_TOTAL":                    {value: forensics.ValGPUMemTotal},
	"DCGM_FI_DEV_FB_FREE":                     {},
	"DCGM_FI_DEV_CLOCKS_EVENT_REASONS":        {value: forensics.ValGPUReasons},
	"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS":      {value: forensics.ValGPUReasons},
	"DCGM_FI_DEV_XID_ERRORS":                  {attr: "xid"},
	"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL":           {attr: "ecc"},
	"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL":           {attr: "ecc_aggregate"},
	"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": {attr: "remapped_uncorrectable"},
	"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS":   {attr: "remapped_correctable"},
	"DCGM_FI_DEV_ROW_REMAP_FAILURE":           {attr: "remapped_failure"},
	"DCGM_FI_DEV_ROW_REMAP_PENDING":           {attr: "remapped_pending"},
	"DCGM_FI_DEV_RETIRED_PENDING":             {attr: "retired_pending"},
	"DCGM_FI_DEV_PCIE_REPLAY_COUNTER":         {attr: "pcie_replays"},
}

func (r *prom) end(s *scan) { r.flush(s) }

func (r *prom) line(l *line, s *scan) int {
	t := l.text
	if len(t) < 6 || l.style != styleNone && l.style != styleISO {
		return 0
	}
	near := r.last > 0 && l.pos.Line <= r.last+maxPromGap
	if r.last > 0 && !near {
		r.flush(s)
	}
	if t[0] == '#' {
		return r.comment(t, near, l, s)
	}
	name, labels, value, ok := promLine(t)
	if !ok || r.gpu != bytes.HasPrefix(name, []byte("DCGM_")) {
		return 0
	}
	metrics := engineMetrics
	if r.gpu {
		metrics = gpuMetrics
	}
	m, known := metrics[string(name)]
	if !known && !near && !r.gpu {
		return 0
	}
	r.last = l.pos.Line
	s.own()
	if known {
		if x, n := promNumber(value); n > 0 {
			r.keep(name, labels, m, x, bytes.TrimSpace(value[n:]), l, s)
		}
		return s.quiet(l, 10)
	}
	return s.quiet(l, 3)
}

// comment reads "# HELP name text", "# TYPE name gauge", and a date.
func (r *prom) comment(t []byte, near bool, l *line, s *scan) int {
	word, rest := cutWord(bytes.TrimLeft(t, "# "))
	switch w := string(word); w {
	case "HELP", "TYPE", "UNIT":
		name, _ := cutWord(rest)
		if len(name) == 0 || r.gpu != bytes.HasPrefix(name, []byte("DCGM_")) {
			return 0
		}
		r.last = l.pos.Line
		s.own()
		return s.quiet(l, 3)
	case "EOF":
		if near {
			r.flush(s)
			return s.quiet(l, 3)
		}
		return 0
	}
	if st, ok := dateWithin(t); ok && (near || !r.gpu) {
		// The date of what follows; if it is no scrape, it still moves the clock.
		r.flush(s)
		s.stamp = st
		e := s.event(l, forensics.KindMark)
		e.Stamp = st
		s.emit(e)
		return 1
	}
	if near {
		return s.quiet(l, 1)
	}
	return 0
}

// dateWithin finds a date in a comment.
func dateWithin(t []byte) (forensics.Stamp, bool) {
	for i := 1; i+19 <= len(t) && i < 60; i++ {
		if t[i] >= '0' && t[i] <= '9' && !isWordByte(t[i-1]) {
			if st, n := dateTime(t[i:]); n > 0 {
				return st, true
			}
			if st, n := epochTime(t[i:]); n > 0 {
				return st, true
			}
		}
		if st, n := ctimeStamp(t[i:]); n > 0 {
			return st, true
		}
	}
	return forensics.Stamp{}, false
}

// promLine cuts a sample into name, labels and value.
func promLine(t []byte) (name, labels, value []byte, ok bool) {
	n := 0
	for n < len(t) && (isWordByte(t[n]) || t[n] == ':') {
		n++
	}
	if n < 3 || n >= len(t) || t[0] >= '0' && t[0] <= '9' {
		return nil, nil, nil, false
	}
	name, rest := t[:n], t[n:]
	if rest[0] == '{' {
		end := labelsEnd(rest)
		if end < 0 {
			return nil, nil, nil, false
		}
		labels, rest = rest[1:end], rest[end+1:]
	}
	value = bytes.TrimLeft(rest, " \t")
	if len(value) == len(rest) && len(labels) == 0 || len(value) == 0 {
		return nil, nil, nil, false
	}
	if c := value[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || bytes.HasPrefix(value, []byte("NaN")) {
		return name, labels, value, true
	}
	return nil, nil, nil, false
}

// labelsEnd returns the index of the brace that closes the labels.
func labelsEnd(b []byte) int {
	quote := false
	for i := 1; i < len(b); i++ {
		switch {
		case quote && b[i] == '\\':
			i++
		case b[i] == '"':
			quote = !quote
		case b[i] == '}' && !quote:
			return i
		}
	}
	return -1
}

// promNumber reads "71", "1.5e+09"; NaN and infinities hold nothing.
func promNumber(b []byte) (x float64, n int) {
	for n < len(b) && b[n] != ' ' && b[n] != '\t' {
		n++
	}
	x, err := strconv.ParseFloat(string(b[:n]), 64)
	if err != nil || x != x || x > 1e300 || x < -1e300 {
		return 0, 0
	}
	return x, n
}

// label returns the value of a label.
func label(labels []byte, name string) []byte {
	for rest := labels; len(rest) > 0; {
		i := bytes.Index(rest, []byte(name+`="`))
		if i < 0 {
			return nil
		}
		v := rest[i+len(name)+2:]
		if i == 0 || rest[i-1] == ',' || rest[i-1] == ' ' {
			j := bytes.IndexByte(v, '"')
			return v[:max(j, 0)]
		}
		rest = v
	}
	return nil
}

// keep adds a metric to the sample of its GPU or engine.
func (r *prom) keep(name, labels []byte, m promMetric, x float64, when []byte, l *line, s *scan) {
	p := r.sample(name, labels, m, l, s)
	if p == nil {
		return
	}
	e := &p.ev
	e.Lines = max(e.Lines, l.pos.Line-e.Pos.Line+1)
	switch {
	case string(name) == "DCGM_FI_DEV_FB_FREE":
		p.free = x
	case m.attr == "xid" && x == 0:
	case m.attr != "":
		put(e, m.attr, strconv.FormatFloat(x, 'f', -1, 64))
	case m.value != "":
		e.Values = append(e.Values, forensics.Value{Name: m.value, X: x})
	}
	if m.value == forensics.ValGPUReasons || m.attr == "xid" && x != 0 {
		e.Quotes = append(e.Quotes, forensics.Quote{Pos: l.pos, Text: string(l.raw)})
	}
	if st, ok := recordTime(when); ok {
		e.Stamp = st
	}
}

// sample returns the sample that the metric belongs to. A metric that it has
// already begins the next scrape.
func (r *prom) sample(name, labels []byte, m promMetric, l *line, s *scan) *promSample {
	key := string(labels)
	if r.gpu {
		key = string(label(labels, "gpu")) + " " + string(label(labels, "UUID")) + " " + string(label(labels, "Hostname")) + " " + string(label(labels, "GPU_I_ID"))
	}
	for i := range r.samples {
		p := &r.samples[i]
		if p.key != key {
			continue
		}
		if _, have := p.ev.Value(m.value); have && m.value != "" || m.attr != "" && p.ev.Attr(m.attr) != "" {
			r.flush(s)
			break
		}
		return p
	}
	if len(r.samples) == 0 {
		if r.stamp = l.stamp; r.stamp.IsZero() && s.stamp != r.before {
			r.stamp = s.stamp
		}
		r.before = s.stamp
	}
	if len(r.samples) >= maxPromSamples {
		return nil
	}
	r.samples = append(r.samples, promSample{key: key, ev: r.begin(name, labels, l, s)})
	return &r.samples[len(r.samples)-1]
}

// begin makes the event of a sample from the labels.
func (r *prom) begin(name, labels []byte, l *line, s *scan) forensics.Event {
	kind := forensics.KindBatch
	if r.gpu {
		kind = forensics.KindGPU
	}
	hits := l.hits
	e := *s.event(l, kind)
	e.Hits = nil
	e.Format = formats[s.current].name
	if r.gpu {
		e.Proc.Role = forensics.RoleGPU
		put(&e, "index", string(label(labels, "gpu")))
		put(&e, "uuid", string(label(labels, "UUID")))
		put(&e, "name", string(label(labels, "modelName")))
		if bus, ok := busID(label(labels, "pci_bus_id")); ok {
			put(&e, "bus", bus)
		}
		if host := label(labels, "Hostname"); len(host) > 0 {
			e.Proc.Host = string(host)
		}
	} else {
		e.Proc.Role = forensics.RoleServer
		put(&e, "source", "metrics")
		engine := label(labels, "engine")
		if len(engine) == 0 {
			engine = label(labels, "dp_rank")
		}
		put(&e, "engine", string(engine))
		put(&e, "model", string(label(labels, "model_name")))
		if n := digits(engine, 0, len(engine)); n > 0 {
			e.Proc.Rank = "DP" + strconv.Itoa(n)
		}
	}
	c := e.Clone()
	l.hits = hits
	return *c
}

// flush emits the samples of the scrape under way.
func (r *prom) flush(s *scan) {
	for i := range r.samples {
		p := &r.samples[i]
		e := &p.ev
		if used, ok := e.Value(forensics.ValGPUMemUsed); ok && p.free > 0 {
			if _, have := e.Value(forensics.ValGPUMemTotal); !have {
				e.Values = append(e.Values, forensics.Value{Name: forensics.ValGPUMemTotal, X: used + p.free})
			}
		}
		if e.Stamp.IsZero() {
			e.Stamp = r.stamp
		}
		if len(e.Values) > 0 || r.gpu && e.Attr("xid") != "" {
			s.emit(e)
		}
	}
	r.samples = r.samples[:0]
}
