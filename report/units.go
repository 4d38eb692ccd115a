package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/llmforensics/forensics"
)

// Unit says how a named quantity is called and measured.
type Unit struct {
	Name  string // a Val constant or a metric name of the SGLang client's JSONL
	Unit  string // "tok/s", "ms", "" for plain numbers
	Title string // for an axis or a column
}

// units lists every quantity that reports know by name. The metric names are
// those of sglang.bench_serving's JSONL.
var units = []Unit{
	{forensics.ValRunning, "requests", "Running requests"},
	{forensics.ValQueue, "requests", "Queued requests"},
	{forensics.ValGenThroughput, "tok/s", "Generation throughput"},
	{forensics.ValInputThroughput, "tok/s", "Input throughput"},
	{forensics.ValTokenUsage, "fraction", "KV cache usage"},
	{forensics.ValNewTokens, "tokens", "New tokens"},
	{forensics.ValCachedTokens, "tokens", "Cached tokens"},
	{forensics.ValNewSeqs, "requests", "New requests"},
	{forensics.ValRetracted, "requests", "Retracted requests"},
	{forensics.ValPreempted, "requests", "Preempted requests"},
	{forensics.ValGraph, "", "CUDA graph used"},
	{forensics.ValStatus, "", "HTTP status"},
	{forensics.ValDone, "requests", "Requests done"},
	{forensics.ValTotal, "requests", "Requests in total"},

	{forensics.ValGPUUtil, "%", "GPU utilisation"},
	{forensics.ValGPUMemUsed, "MiB", "GPU memory used"},
	{forensics.ValGPUMemTotal, "MiB", "GPU memory"},
	{forensics.ValGPUPower, "W", "GPU power"},
	{forensics.ValGPUPowerLimit, "W", "GPU power limit"},
	{forensics.ValGPUClock, "MHz", "SM clock"},
	{forensics.ValGPUClockMax, "MHz", "SM clock maximum"},
	{forensics.ValGPUTemp, "°C", "GPU temperature"},
	{forensics.ValGPUReasons, "", "Clock event reasons"},

	{"duration", "s", "Duration"},
	{"completed", "requests", "Completed requests"},
	{"request_throughput", "req/s", "Request throughput"},
	{"output_throughput", "tok/s", "Output throughput"},
	{"total_throughput", "tok/s", "Total throughput"},
	{"max_output_tokens_per_s", "tok/s", "Peak output throughput"},
	{"concurrency", "requests", "Mean concurrency"},
	{"total_input_tokens", "tokens", "Input tokens"},
	{"total_output_tokens", "tokens", "Output tokens"},
	{"accept_length", "tokens", "Accept length"},
	{"mean_e2e_latency_ms", "ms", "Mean latency"},
	{"median_e2e_latency_ms", "ms", "Median latency"},
	{"mean_ttft_ms", "ms", "Mean TTFT"},
	{"median_ttft_ms", "ms", "Median TTFT"},
	{"p99_ttft_ms", "ms", "P99 TTFT"},
	{"mean_tpot_ms", "ms", "Mean TPOT"},
	{"median_tpot_ms", "ms", "Median TPOT"},
	{"p99_tpot_ms", "ms", "P99 TPOT"},
	{"mean_itl_ms", "ms", "Mean ITL"},
	{"median_itl_ms", "ms", "Median ITL"},
	{"p95_itl_ms", "ms", "P95 ITL"},
	{"p99_itl_ms", "ms", "P99 ITL"},
}

// UnitOf returns what is known of a named quantity. For a name that is not in
// the table the unit is read off the name's ending and the title is the name.
func UnitOf(name string) Unit {
	for _, u := range units {
		if u.Name == name {
			return u
		}
	}
	u := Unit{Name: name, Title: name}
	switch {
	case strings.HasSuffix(name, "_ms"):
		u.Unit = "ms"
	case strings.HasSuffix(name, "_throughput"):
		u.Unit = "tok/s"
	}
	return u
}

// number formats a number for people: three significant digits or more, thin
// on decimals, thousands apart by a comma.
func number(x float64) string {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "no data"
	case a >= 1e15:
		return strconv.FormatFloat(x, 'e', 2, 64)
	case a >= 999.95:
		return group(strconv.FormatFloat(x, 'f', 0, 64))
	case a >= 100 || x == math.Trunc(x):
		return trimZeros(strconv.FormatFloat(x, 'f', 1, 64))
	case a >= 0.01 || x == 0:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func trimZeros(s string) string {
	return strings.TrimSuffix(s, ".0")
}

// group puts commas between the thousands of a decimal integer.
func group(s string) string {
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

func formatFixed(x float64, decimals int) string {
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
