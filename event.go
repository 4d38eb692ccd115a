package forensics

import (
	"slices"
	"strings"
	"time"
)

// Kind says what an [Event] is. The attributes and values that go with each
// kind are listed beside it.
type Kind uint8

// The kinds of events.
const (
	// KindLine is a line kept because a failure signature matched it (Hits).
	KindLine Kind = iota
	// KindTraceback is a whole Python traceback or native crash dump (Trace).
	KindTraceback
	// KindBatch is a server load sample. Values: ValRunning, ValQueue,
	// ValGenThroughput, ValInputThroughput, ValTokenUsage, ValNewTokens,
	// ValCachedTokens, ValGraph ... Attrs: "phase" ("prefill" or "decode").
	KindBatch
	// KindHTTP is an access-log line. Values: ValStatus. Attrs: "path".
	KindHTTP
	// KindPhase is a step of a server's launch. Attrs: "phase", one of the
	// Phase constants, and whatever the line tells ("type", "avail_mem_gb").
	KindPhase
	// KindConfig is a server's start-up configuration. Attrs: every key as
	// printed, values unquoted.
	KindConfig
	// KindBench is a step of a benchmark client. Attrs: "step", one of the
	// Step constants, and the parameters. Values of StepResult and StepRecord:
	// metric names and units of the SGLang client's JSONL.
	KindBench
	// KindEcho is a line of a wrapper script that announces the next point.
	// Attrs: "max_concurrency" and the like.
	KindEcho
	// KindGPU is a GPU sample. Attrs: "index", "name", "bus". Values: ValGPU...
	KindGPU
	// KindGPUProc is a row of a GPU's process table. Attrs: "index", "pid",
	// "name", "memory_mib".
	KindGPUProc
	// KindKernel is a kernel line that matters. Attrs: "what" ("xid", "sxid",
	// "oom-kill", "segfault", "hung-task", "aer"), "code", "pid", "comm", "bus".
	KindKernel
	// KindProc is a row of ps, pgrep or a socket list. Attrs: "tool", "pid",
	// "argv", "self" ("true" when the row is the search itself).
	KindProc
	// KindCommand is a command seen in a transcript or script. Attrs: "argv",
	// "filter" (grep, tail or head the output went through, with arguments).
	KindCommand
	// KindExit is the end of a process as its parent saw it. Attrs: "code",
	// "signal", "what" (the command or job, where known).
	KindExit
	// KindState is a scheduler's or container's word on a job. Attrs: "what"
	// ("slurm", "pod", "container", "event"), "state", "reason".
	KindState
	// KindEnv is a fact about the machine or the software. Attrs: key, value.
	KindEnv
	// KindMark is a dated line of no other interest, such as a `date` output.
	KindMark
)

var kindNames = [...]string{
	"line", "traceback", "batch", "http", "phase", "config", "bench", "echo", "gpu", "gpu-process",
	"kernel", "process", "command", "exit", "state", "environment", "mark",
}

// String returns the name used in timelines and JSON.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// The phases of a server's launch, in order (attribute "phase" of KindPhase).
const (
	PhaseStart       = "start"         // the process printed its first line or arguments
	PhaseDistributed = "distributed"   // process groups and rendezvous
	PhaseWeights     = "weights"       // loading the model
	PhaseKVCache     = "kv-cache"      // sizing and allocating the KV cache
	PhaseCompile     = "compile"       // torch.compile, JIT kernels, autotuning
	PhaseCapture     = "graph-capture" // CUDA graph capture
	PhaseHTTP        = "http"          // HTTP front end is up, the model not yet warm
	PhaseWarmup      = "warm-up"
	PhaseReady       = "ready"
	PhaseStopping    = "stopping" // orderly shutdown announced
	PhaseDying       = "dying"    // the server announces its own end after a failure
)

// The steps of a benchmark client (attribute "step" of KindBench).
const (
	StepStart      = "start"     // arguments printed, before any network
	StepNotReady   = "not-ready" // the client's own readiness check failed
	StepPlanned    = "planned"   // dataset built: planned token counts printed
	StepWarmup     = "warm-up"   // warm-up request sent
	StepWarmupDone = "warm-up-done"
	StepMain       = "main"     // main run announced
	StepProgress   = "progress" // a progress bar; Values ValDone, ValTotal
	StepResult     = "result"   // a summary table, whole or cut
	StepRecord     = "record"   // one JSON object of a result file
	StepError      = "error"    // one failed request's error text
	StepEnd        = "end"      // the client's exit status, if a wrapper printed it
)

// The names of values in KindBatch, KindHTTP, KindGPU and KindBench events that
// are not metric names of a benchmark client.
const (
	ValRunning         = "running"          // requests
	ValQueue           = "queue"            // requests
	ValGenThroughput   = "gen_throughput"   // tok/s
	ValInputThroughput = "input_throughput" // tok/s
	ValTokenUsage      = "token_usage"      // fraction 0..1
	ValNewTokens       = "new_tokens"       // tokens
	ValCachedTokens    = "cached_tokens"    // tokens
	ValNewSeqs         = "new_seqs"         // requests
	ValRetracted       = "retracted"        // requests
	ValPreempted       = "preempted"        // requests, cumulative
	ValGraph           = "cuda_graph"       // 1 when the batch ran from a graph, 0 when eager
	ValStatus          = "status"           // HTTP status code
	ValDone            = "done"             // requests
	ValTotal           = "total"            // requests

	ValGPUUtil       = "gpu_utilization"  // percent
	ValGPUMemUsed    = "gpu_memory_used"  // MiB
	ValGPUMemTotal   = "gpu_memory_total" // MiB
	ValGPUPower      = "gpu_power"        // W
	ValGPUPowerLimit = "gpu_power_limit"  // W
	ValGPUClock      = "gpu_clock"        // MHz, SM
	ValGPUClockMax   = "gpu_clock_max"    // MHz, SM
	ValGPUTemp       = "gpu_temperature"  // degrees Celsius
	ValGPUReasons    = "gpu_reasons"      // bit mask of clock event reasons
)

// Level is the severity a line was printed with.
type Level uint8

// The levels, from none given to fatal.
const (
	LevelNone Level = iota
	LevelDebug
	LevelInfo
	LevelWarning
	LevelError
	LevelFatal
)

// Attr is one named fact of an event, kept as printed.
type Attr struct{ Key, Value string }

// Value is one number of an event. The unit goes with the name (see the Val
// constants; benchmark metrics use the SGLang client's JSONL names).
type Value struct {
	Name string
	X    float64
}

// Event is the one struct that everything read passes through. Readers reuse
// events: a receiver that keeps one must [Event.Clone] it.
type Event struct {
	Pos Pos
	// Lines is the number of source lines the event spans, at least 1.
	Lines int
	// Stamp is the time printed on the line, not yet aligned with other sources.
	Stamp Stamp
	// Inner is the logger's own stamp where a wrapper (container runtime, kubectl,
	// journal) stamped the line as well. Stamp is the wrapper's then; the
	// difference of the two is the zone of a logger that prints none.
	Inner Stamp
	Proc  Process
	Level Level
	Kind  Kind
	// Format is the name of the reader that claimed the line.
	Format string
	// Raw is the line as evidence: control bytes removed, length bounded.
	Raw string
	// Text is the payload of Raw behind wrapper, stamp and process prefix.
	Text   string
	Attrs  []Attr
	Values []Value
	// Trace is set for KindTraceback.
	Trace *Trace
	// Hits are the signatures whose line pattern matched the event's line, or one
	// of the exception and message lines of a traceback.
	Hits []Hit
	// Quotes are further lines of a record of several lines that are worth
	// quoting, such as the rows of a table that hold the counts.
	Quotes []Quote
	// Quoting is true for lines that repeat foreign text: request bodies,
	// prompts, another log. What they say is not evidence.
	Quoting bool
}

// Hit is a line that a signature's line pattern matched. Sig is the signature's
// number, as given out by the matcher that the reader was handed.
type Hit struct {
	Sig  int
	Pos  Pos
	Text string
}

// Attr returns the value of the first attribute with that key, or "".
func (e *Event) Attr(key string) string {
	for i := range e.Attrs {
		if e.Attrs[i].Key == key {
			return e.Attrs[i].Value
		}
	}
	return ""
}

// Value returns the number with that name, and whether the event has it.
func (e *Event) Value(name string) (float64, bool) {
	for i := range e.Values {
		if e.Values[i].Name == name {
			return e.Values[i].X, true
		}
	}
	return 0, false
}

// Clone returns a copy that stays valid after the reader moves on.
func (e *Event) Clone() *Event {
	c := *e
	c.Raw = strings.Clone(e.Raw)
	switch i := strings.LastIndex(c.Raw, e.Text); {
	case e.Text == "":
		c.Text = ""
	case i >= 0:
		c.Text = c.Raw[i : i+len(e.Text)]
	default:
		c.Text = strings.Clone(e.Text)
	}
	c.Attrs = slices.Clone(e.Attrs)
	c.Values = slices.Clone(e.Values)
	c.Hits = slices.Clone(e.Hits)
	for i := range c.Hits {
		c.Hits[i].Text = strings.Clone(c.Hits[i].Text)
	}
	c.Quotes = slices.Clone(e.Quotes)
	for i := range c.Attrs {
		c.Attrs[i].Value = strings.Clone(c.Attrs[i].Value)
	}
	return &c
}

// Quote returns the event's line as evidence.
func (e *Event) Quote() Quote { return Quote{Pos: e.Pos, Text: e.Raw} }

// ClockKind says what a stamp means.
type ClockKind uint8

// The clocks that logs print.
const (
	ClockNone     ClockKind = iota
	ClockAbsolute           // date and zone known
	ClockLocal              // date known, zone not
	ClockYearless           // month, day and time, no year and no zone
	ClockUptime             // time since boot
)

var clockNames = [...]string{"none", "absolute", "local", "yearless", "uptime"}

// String returns the name used in reports.
func (c ClockKind) String() string { return clockNames[c] }

// Stamp is a time as printed. The zero value means no time was printed.
type Stamp struct {
	Clock ClockKind
	// Nanos counts from the Unix epoch, reading the printed digits as UTC unless
	// the zone is known (then it is true UTC). ClockYearless stamps lie in 1972,
	// a leap year; ClockUptime stamps count from boot.
	Nanos int64
	// Res is the resolution: 1 s for "09:10:09", 1 ms for "09:10:09.123".
	Res time.Duration
}

// IsZero reports whether no time was printed.
func (s Stamp) IsZero() bool { return s.Clock == ClockNone }
