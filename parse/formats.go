package parse

import (
	"slices"

	"github.com/llmforensics/forensics"
)

// reader recognises the lines of one format. Readers keep the state of open
// records (a table under way) and nothing else.
type reader interface {
	// line offers one line. It returns 0 if the line is not of this format, -1 if
	// it is but broken, and otherwise how telling the line is: 1 for shapes that
	// other formats share, 3 for the format's own, 10 for one that only it has.
	line(l *line, s *scan) int
	// end closes open records at the end of the source.
	end(s *scan)
}

// format is a row of the format table.
type format struct {
	name   string
	about  string // for docs/formats.md
	role   forensics.Role
	engine string
	logger style // the logger that only this format uses, if there is one
	weak   bool  // its lines occur in files of many formats: it names a source only if nothing else does
	new    func() reader
}

// formats is the table of formats, asked in this order. docs/formats.md is made
// from it.
var formats = []format{
	{name: "sglang-server", role: forensics.RoleServer, engine: "sglang", logger: styleSGLang,
		about: "SGLang server log, all versions of the prefix and of the batch lines",
		new:   func() reader { return &sglang{} }},
	{name: "vllm-server", role: forensics.RoleServer, engine: "vllm", logger: styleVLLM,
		about: "vLLM server log, V0 and V1, all versions of the prefix and of the statistics line",
		new:   func() reader { return &vllm{} }},
	{name: "tensorrt-llm", role: forensics.RoleServer, engine: "tensorrt-llm", logger: styleTRT,
		about: "TensorRT-LLM, its Python and C++ loggers and the iteration line",
		new:   trtllm},
	{name: "sglang-router", role: forensics.RoleRouter, engine: "sglang-router",
		about: "SGLang router and model gateway",
		new:   router},
	{name: "tgi", role: forensics.RoleServer, engine: "tgi",
		about: "text-generation-inference: launcher, router and the shards' output",
		new:   tgi},
	{name: "dynamo", role: forensics.RoleServer, engine: "dynamo",
		about: "NVIDIA Dynamo's runtime; the messages of its engines are read as theirs",
		new:   dynamo},
	{name: "triton", role: forensics.RoleServer, engine: "triton",
		about: "Triton inference server",
		new:   triton},
	{name: "llama.cpp", role: forensics.RoleServer, engine: "llama.cpp",
		about: "llama.cpp's llama-server",
		new:   llamacpp},
	{name: "lightllm", role: forensics.RoleServer, engine: "lightllm",
		about: "LightLLM: launch lines",
		new:   lightllm},
	{name: "nccl", weak: true,
		about: "NCCL and RCCL messages, in whatever log they stand",
		new:   func() reader { return &nccl{} }},
	{name: "native-crash", weak: true,
		about: "faulthandler, C++ terminations, device-side assertions, py-spy dumps, native stacks",
		new:   func() reader { return &native{} }},
	{name: "torchrun", weak: true,
		about: "torchrun's failure reports",
		new:   func() reader { return &elastic{} }},
	{name: "python-traceback", weak: true,
		about: "Python tracebacks, chained, grouped and interleaved, put together from any log's lines",
		new:   func() reader { return traceRow{} }},
	{name: "http-access", role: forensics.RoleServer, logger: styleUvicorn, weak: true,
		about: "uvicorn access and life-cycle lines, of any ASGI server",
		new:   func() reader { return &uvicorn{} }},
	{name: "bench-serving", role: forensics.RoleClient,
		about: "output of SGLang bench_serving, vLLM bench serve and its forks: arguments, steps, progress bar, summary table, whole or cut",
		new:   func() reader { return &bench{} }},
	{name: "bench-tools-json", role: forensics.RoleClient,
		about: "guidellm's benchmarks.json and the profile_export JSON of genai-perf and aiperf",
		new:   func() reader { return &toolJSON{} }},
	{name: "bench-tools-csv", role: forensics.RoleClient,
		about: "guidellm's benchmarks.csv and the profile_export CSV of genai-perf and aiperf",
		new:   func() reader { return &toolCSV{} }},
	{name: "bench-tools", role: forensics.RoleClient,
		about: "the tables that guidellm, genai-perf and aiperf print",
		new:   func() reader { return &toolTable{} }},
	{name: "bench-jsonl", role: forensics.RoleClient,
		about: "results of benchmark clients as JSON lines, with bare Infinity and NaN, one or several objects in a line",
		new:   func() reader { return &benchJSON{} }},
	{name: "bench-json", role: forensics.RoleClient,
		about: "results of benchmark clients as JSON objects that span lines",
		new:   func() reader { return &benchJSON{multi: true} }},
	{name: "load-generator", role: forensics.RoleClient,
		about: "what k6, wrk, ab, hey, oha, vegeta, h2load and locust print: failed requests and the summary",
		new:   func() reader { return &loadgen{} }},
	{name: "dcgm", role: forensics.RoleGPU,
		about: "dcgmi diag and dcgmi health, and the messages of DCGM's host engine",
		new:   func() reader { return &dcgm{} }},
	{name: "nvidia-smi", role: forensics.RoleGPU,
		about: "nvidia-smi's table of all driver generations, once or repeated, and its error messages",
		new:   func() reader { return &nvsmi{} }},
	{name: "nvidia-smi-csv", role: forensics.RoleGPU,
		about: "nvidia-smi --query-gpu and --query-compute-apps as CSV, with or without header and units",
		new:   func() reader { return &gpuCSV{} }},
	{name: "nvidia-smi-q", role: forensics.RoleGPU,
		about: "nvidia-smi -q, whole or in parts, and its XML form",
		new:   func() reader { return &nvq{} }},
	{name: "nvidia-smi-mon", role: forensics.RoleGPU,
		about: "nvidia-smi dmon and pmon, dcgmi dmon",
		new:   func() reader { return &nvmon{} }},
	{name: "nvidia-smi-list", role: forensics.RoleGPU,
		about: "nvidia-smi -L, topo -m, nvlink -s and --help-query-gpu",
		new:   func() reader { return &nvlist{} }},
	{name: "dcgm-exporter", role: forensics.RoleGPU,
		about: "the metrics of dcgm-exporter as Prometheus scrapes them",
		new:   func() reader { return &prom{gpu: true} }},
	{name: "prometheus",
		about: "Prometheus metrics of vLLM, SGLang and others: running and waiting requests, KV usage",
		new:   func() reader { return &prom{} }},
	{name: "environment",
		about: "SGLang's check_env, and collect_env of PyTorch and vLLM",
		new:   func() reader { return &envInfo{} }},
	{name: "kernel", role: forensics.RoleKernel,
		about: "kernel log: dmesg, syslog, journal, /dev/kmsg",
		new:   func() reader { return &kernel{} }},
	{name: "progress", weak: true,
		about: "progress bars of a server's launch: checkpoint shards, graph capture",
		new:   func() reader { return &progress{} }},
	{name: "slurm-queue", role: forensics.RoleScheduler, weak: true,
		about: "squeue and scontrol show job",
		new:   func() reader { return &slurmQueue{} }},
	{name: "collector", weak: true,
		about: "the complaints of kubectl, Slurm, Docker, journalctl and others that evidence could not be had",
		new:   func() reader { return &collector{} }},
	{name: "jobs", role: forensics.RoleScheduler, weak: true,
		about: "Slurm, Kubernetes, Docker and systemd on the state of a job",
		new:   func() reader { return &jobs{} }},
	{name: "shell", role: forensics.RoleShell, weak: true,
		about: "transcripts, set -x, launch scripts, process lists, exit codes, deaths of jobs",
		new:   func() reader { return &shell{} }},
	{name: "load-script", role: forensics.RoleClient,
		about: "what clients written by hand say of their requests: counts of served and failed ones, single failures",
		new:   func() reader { return &loadText{} }},
}

// traceFormat is the row of tracebacks. They are put together before any reader
// is asked (see tracer), so that its reader has nothing to do.
var traceFormat = slices.IndexFunc(formats, func(f format) bool { return f.name == "python-traceback" })

type traceRow struct{}

func (traceRow) line(*line, *scan) int { return 0 }
func (traceRow) end(*scan)             {}

// loggerFormat returns the format that the dated lines of a logger count for, -1
// if the logger serves many.
func loggerFormat(st style) int {
	for i := range formats {
		if formats[i].logger == st {
			return i
		}
	}
	return -1
}

// FormatNames lists the formats by name, as hints and sources give them.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i := range formats {
		names[i] = formats[i].name
	}
	return names
}
