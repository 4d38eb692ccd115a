// Package timeline turns the events of all sources into one account of the run:
// one clock, one merged order, process lives with their launch phases, benchmark
// points and bounded series. It is pure: same events in, same timeline out,
// whatever the order or parallelism of reading.
//
// A [Collector] per source keeps what matters of that source in bounded memory
// while it is read; [Build] joins the collectors.
package timeline

import (
	"time"

	"github.com/llmforensics/forensics"
)

// Timeline is the account of one run.
type Timeline struct {
	Run *forensics.Run
	// Engine is the server's engine as its log names it ("sglang", "vllm"), ""
	// if no server log was read; Version is what it prints of itself.
	Engine, Version string
	// Events are the events kept, in merged order. Repeated ones are folded.
	Events []*Event
	Lives  []Life
	Points []Point
	Series []Series
	GPUs   []GPU
	// Config holds the start-up configuration of each server life that printed one.
	Config []Config
	// Commands are command lines of servers and clients, as seen or as
	// recovered from printed arguments.
	Commands []Command
	Env      []Fact
	Clocks   []Clock
	// Start and End are the first and last placed time, Unix nanoseconds on the
	// run's axis, 0 if nothing has a date.
	Start, End int64
	// Truncated is true when a limit made the collectors drop repeated events.
	Truncated bool
}

// Event is a kept event with its place on the run's axis.
type Event struct {
	forensics.Event
	// When is the time on the run's axis in Unix nanoseconds, 0 if unknown.
	// Uncertainty says how far it may be off.
	When        int64
	Uncertainty time.Duration
	// Placed is true when the line had no stamp of its own and got its time from
	// its neighbours.
	Placed bool
	// Count is how many equal events were folded into this one; Last is the
	// position of the last of them.
	Count int
	Last  forensics.Pos
	// Life is the index of the process life the event belongs to, -1 if none.
	Life int
	// Serving is true when the event's life was ready before it.
	Serving bool
}

// Life is one incarnation of a process: from launch to stop or death.
type Life struct {
	Proc   forensics.Process
	Source int
	Engine string
	// Phases are the launch phases seen, in order.
	Phases []Phase
	// First and Last are the first and last lines of the life.
	First, Last forensics.Quote
	// Start, Ready, End are times on the run's axis, 0 if unknown. ReadyAt is the
	// line that proves readiness, with Line 0 if it was never ready.
	Start, Ready, End int64
	ReadyAt           forensics.Quote
	// PeerReady is when another node of the same deployment said that it was
	// ready, for a node that never does; 0 if there is none.
	PeerReady int64
	// Served counts successful inference requests of the access log; LastServed
	// is the last sign of progress (a batch line or a 200 answer).
	Served       int
	LastServed   forensics.Quote
	LastServedAt int64
	// LastAt is the time of the last dated line of the record, 0 if unknown.
	LastAt int64
	// Stop says how the life ended: "" (record just stops), "stopped" (orderly),
	// "died" (it says so or its exit status does), with the line.
	Stop   string
	StopAt forensics.Quote
	// ExitCode is the process's exit status as somebody saw it; HasExit tells.
	ExitCode int
	HasExit  bool
	// Stale is true when the log belongs to an earlier process than the run's:
	// its last stamp lies well before NewerAt, the earliest dated record beside it.
	Stale   bool
	NewerAt forensics.Quote
}

// IsReady reports whether the life was ever ready.
func (l *Life) IsReady() bool { return l.ReadyAt.Pos.Line > 0 }

// Phase is one step of a launch.
type Phase struct {
	Name string // one of the Phase constants
	When int64
	At   forensics.Quote
}

// Status says how a benchmark point ended.
type Status string

// The statuses of a benchmark point.
const (
	PointCompleted    Status = "completed"     // all requests served
	PointPartial      Status = "partial"       // finished with failed requests
	PointDied         Status = "died"          // had begun its requests and never finished
	PointNeverStarted Status = "never-started" // no request was served: not ready or refused at warm-up
	PointUnknown      Status = "unknown"       // the file does not say and nothing else does
)

// Point is one client run, whichever files tell of it.
type Point struct {
	// Label is what the wrapper called it, if anything.
	Label string
	// Client names the client ("sglang.bench_serving", "vllm bench serve").
	Client string
	// MaxConcurrency is the limit on requests in flight, 0 if not known.
	MaxConcurrency int
	// RequestRate is "inf", "trace", a number, or "" if not known.
	RequestRate string
	NumPrompts  int // requests planned, 0 if not known
	// Completed and Failed count requests; -1 if not known.
	Completed, Failed int
	Status            Status
	// Why says in a few words what the status rests on.
	Why string
	// Metrics are what the client printed, under its JSONL names (tok/s, req/s, ms).
	Metrics map[string]float64
	// Params are further parameters: "input_len", "output_len", "backend", "dataset_name".
	Params map[string]string
	// Start and End on the run's axis, 0 if unknown.
	Start, End int64
	// At is the line that begins it, EndAt the line that proves its end or status.
	At, EndAt forensics.Quote
	// Proof are the lines of the summary that count and rate the requests.
	Proof []forensics.Quote
	// Lost is true when the client ended with an error although it printed a
	// summary, or printed none.
	Lost bool
	// Sources are the indexes of the sources that tell of it.
	Sources []int
	// Filtered is the filter the output went through ("grep -E ..."), "" if none.
	Filtered string
	// Exit is the client's exit status, if a wrapper printed it.
	Exit    int
	HasExit bool
	// Error is the client's own last error line; Refused says that it, or one
	// before it, tells that nothing listened.
	Error   forensics.Quote
	Refused bool
	// Order is the position in the order run.
	Order int
	// Earlier is true for points of a run before the one under study: they
	// failed and were run again, or an earlier server served them.
	Earlier bool
}

// GPU is what is known of one device.
type GPU struct {
	Index, Name, Bus string
	// MemTotal is in MiB, 0 if unknown.
	MemTotal float64
	// First and Last are the first and last samples' lines.
	First, Last forensics.Quote
}

// Config is a server's start-up configuration.
type Config struct {
	Engine string
	At     forensics.Quote
	Life   int
	// Values are keys and values as printed, strings unquoted.
	Values map[string]string
}

// Command is a command line.
type Command struct {
	Role forensics.Role
	// Argv is the command as one shell line.
	Argv string
	// Recovered is true when it was rebuilt from printed arguments.
	Recovered bool
	Filter    string
	At        forensics.Quote
}

// Fact is a named fact about the machine or the software.
type Fact struct {
	Name, Value string
	At          forensics.Quote
}

// Clock says how a source's stamps were placed on the run's axis.
type Clock struct {
	Source int
	Kind   forensics.ClockKind
	// Offset was added to the source's stamps; Uncertainty is its half width.
	Offset, Uncertainty time.Duration
	// How says what the offset rests on.
	How string
}
