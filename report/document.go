// Package report freezes what is known about a run into one [Document] and
// renders it: Markdown, terminal, JSON, charts. A renderer never changes the
// document; everything is sorted once, where it is frozen ([Freeze]).
package report

// Schema names the JSON form; report/schema.json describes it.
const Schema = "forensics.report/v1"

// Document is the frozen report: the JSON form and the input of every renderer.
// Lists are never nil, so that they are [] in JSON. Times are strings in the
// form "2006-01-02T15:04:05.000" on the run's axis (no zone unless one is known)
// or "" if unknown.
type Document struct {
	Schema  string `json:"schema"`
	Tool    Tool   `json:"tool"`
	Run     string `json:"run"` // label of what was analysed
	Outcome string `json:"outcome"`
	Summary string `json:"summary"`

	RootCause Finding    `json:"root_cause"`
	Chain     []Step     `json:"chain"`
	Symptoms  []Finding  `json:"symptoms"`
	Rejected  []Rejected `json:"rejected"`
	Earlier   []Finding  `json:"earlier_failures"`

	Points    []Point   `json:"points"`
	Processes []Process `json:"processes"`
	Config    Config    `json:"config"`
	Commands  []Command `json:"commands"`
	GPUs      []GPU     `json:"gpus"`
	Env       []Fact    `json:"environment"`
	Timeline  []Event   `json:"timeline"`
	Series    []Series  `json:"series"`
	Sources   []Source  `json:"sources"`
	Clocks    []Clock   `json:"clocks"`
	Coverage  Coverage  `json:"coverage"`
	Truncated bool      `json:"truncated"`

	// Redaction says what was masked; nil for a document as it was frozen.
	Redaction *Redaction `json:"redaction,omitempty"`
}

// Tool says what made the document. It holds no time.
type Tool struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Signatures int    `json:"signatures"` // number of signatures loaded
}

// Evidence is a quoted line.
type Evidence struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// Finding is a cause or a symptom. Confidence and Reasons are set for the root
// cause, ExplainedBy and Why for symptoms.
type Finding struct {
	Class       string     `json:"class"`
	Signature   string     `json:"signature"`
	Title       string     `json:"title"`
	Detail      string     `json:"detail,omitempty"`
	Confidence  string     `json:"confidence,omitempty"`
	Reasons     []string   `json:"confidence_reasons,omitempty"`
	ExplainedBy string     `json:"explained_by"`
	Why         string     `json:"why,omitempty"`
	Time        string     `json:"time"`
	Process     string     `json:"process"`
	Count       int        `json:"count"`
	Ranks       []string   `json:"ranks,omitempty"`
	Evidence    []Evidence `json:"evidence"`
	Remedy      string     `json:"remedy"`
	References  []string   `json:"references"`
	Affected    string     `json:"affected,omitempty"`
	Fixed       string     `json:"fixed,omitempty"`
	Fingerprint string     `json:"fingerprint,omitempty"`
}

// Step is one link of the chain from cause to symptoms.
type Step struct {
	Class    string   `json:"class"`
	Text     string   `json:"text"`
	Time     string   `json:"time"`
	Evidence Evidence `json:"evidence"`
}

// Rejected is a hypothesis that lost.
type Rejected struct {
	Class    string     `json:"class"`
	Title    string     `json:"title"`
	Reason   string     `json:"reason"`
	Evidence []Evidence `json:"evidence"`
}

// Point is one benchmark point. MaxConcurrency, NumPrompts, Completed and Failed
// are null when not known; RequestRate is a number, "inf", "trace" or null.
// Metrics carry the names and units of the SGLang client's JSONL; a metric that
// the client printed as nan is null.
type Point struct {
	Label          string            `json:"label,omitempty"`
	Client         string            `json:"client,omitempty"`
	Sources        []string          `json:"sources"`
	MaxConcurrency *int              `json:"max_concurrency"`
	RequestRate    Rate              `json:"request_rate"`
	NumPrompts     *int              `json:"num_prompts"`
	Completed      *int              `json:"completed"`
	Failed         *int              `json:"failed"`
	Status         string            `json:"status"`
	Why            string            `json:"why"`
	Filtered       string            `json:"filtered,omitempty"`
	ExitStatus     *int              `json:"exit_status,omitempty"`
	Start          string            `json:"start"`
	End            string            `json:"end"`
	Metrics        map[string]Number `json:"metrics"`
	Params         map[string]string `json:"params"`
	Evidence       []Evidence        `json:"evidence"`
}

// Process is one process life.
type Process struct {
	Name     string     `json:"name"`
	Role     string     `json:"role"`
	Engine   string     `json:"engine,omitempty"`
	Source   string     `json:"source"`
	Start    string     `json:"start"`
	Ready    string     `json:"ready"`
	End      string     `json:"end"`
	Stop     string     `json:"stop"` // "", "stopped" or "died"
	ExitCode *int       `json:"exit_code"`
	Served   int        `json:"served"`
	Stale    bool       `json:"stale"`
	Phases   []Phase    `json:"phases"`
	Evidence []Evidence `json:"evidence"`
}

// Phase is one launch phase.
type Phase struct {
	Name     string   `json:"name"`
	Time     string   `json:"time"`
	Evidence Evidence `json:"evidence"`
}

// Config is the last server's start-up configuration. Notable names the keys
// that the diagnosis speaks of.
type Config struct {
	Engine   string            `json:"engine,omitempty"`
	Version  string            `json:"version,omitempty"`
	Values   map[string]string `json:"values"`
	Notable  []string          `json:"notable"`
	Evidence []Evidence        `json:"evidence"`
}

// Command is a recovered command line.
type Command struct {
	Role      string   `json:"role"`
	Argv      string   `json:"argv"`
	Recovered bool     `json:"recovered"` // rebuilt from printed arguments, not seen
	Filter    string   `json:"filter,omitempty"`
	Evidence  Evidence `json:"evidence"`
}

// GPU is one device.
type GPU struct {
	Index     string     `json:"index"`
	Name      string     `json:"name"`
	Bus       string     `json:"bus,omitempty"`
	MemoryMiB Number     `json:"memory_mib"`
	Evidence  []Evidence `json:"evidence"`
}

// Fact is a fact about the machine or the software.
type Fact struct {
	Name     string   `json:"name"`
	Value    string   `json:"value"`
	Evidence Evidence `json:"evidence"`
}

// Event is a key event of the timeline.
type Event struct {
	Time     string   `json:"time"`
	UnixMs   Number   `json:"unix_ms"` // 0 if unknown
	Placed   bool     `json:"placed"`  // time taken from neighbouring lines
	Process  string   `json:"process"`
	Kind     string   `json:"kind"`
	Class    string   `json:"class,omitempty"`
	Text     string   `json:"text"`
	Count    int      `json:"count"`
	Evidence Evidence `json:"evidence"`
}

// Series is a quantity over time: bucket i covers StepMs from StartMs + i*StepMs
// (Unix milliseconds). Gaps are NaN, null in JSON, in all three lists.
type Series struct {
	Name    string   `json:"name"`
	Label   string   `json:"label"`
	Unit    string   `json:"unit"`
	Source  string   `json:"source"`
	StartMs Number   `json:"start_ms"`
	StepMs  Number   `json:"step_ms"`
	Mean    []Number `json:"mean"`
	Min     []Number `json:"min"`
	Max     []Number `json:"max"`
}

// Source is one input artefact.
type Source struct {
	Path       string     `json:"path"`
	Format     string     `json:"format"`
	Bytes      int64      `json:"bytes"`
	Lines      int64      `json:"lines"`
	Understood int64      `json:"understood"`
	Plain      int64      `json:"plain"`
	Damaged    int64      `json:"damaged"`
	Digest     string     `json:"digest"`
	Notes      []Evidence `json:"notes"`
	Unread     []Evidence `json:"unread"` // samples of lines no reader understood
}

// Clock says how a source's stamps were placed.
type Clock struct {
	Source       string `json:"source"`
	Kind         string `json:"kind"`
	OffsetS      Number `json:"offset_s"`
	UncertaintyS Number `json:"uncertainty_s"`
	How          string `json:"how"`
}

// Coverage says what was missing and what was looked for in vain.
type Coverage struct {
	MissingSources []string `json:"missing_sources"`
	LookedFor      []string `json:"looked_for"`
}
