// Package signatures holds failure knowledge as data: YAML packs of failure
// signatures (packs/*.yaml), the table of root-cause classes (classes.yaml) and
// the lists of boilerplate frames, all embedded in the binary, with the loader
// that checks them. How to write one: docs/signatures.md.
package signatures

// Layer says how specific a signature is. When several match one place, the
// lowest layer wins.
type Layer int

// The layers, most specific first.
const (
	Bug      Layer = 1 // one named bug, usually one upstream issue
	Family   Layer = 2 // a family: any Triton OutOfResources, any "CUDA error: X"
	Fallback Layer = 3 // exception type, module, phase or exit status alone
)

// Role says what a match means for the diagnosis.
type Role string

// The roles.
const (
	Cause        Role = "cause"        // can be the root
	Symptom      Role = "symptom"      // a consequence; the root only if nothing explains it
	Confirmation Role = "confirmation" // strengthens a cause of its class, never one by itself
	Advice       Role = "advice"       // fixed help text; never evidence
	Benign       Role = "benign"       // occurs in healthy runs; never evidence
)

// Signature is one piece of failure knowledge. The YAML keys are the field tags.
type Signature struct {
	// ID is unique over all packs: "engine.short-name", lower case, hyphens.
	ID string `yaml:"id"`
	// Class is the root-cause class (classes.yaml). It may be empty for advice,
	// benign lines, and symptoms that are mere echoes.
	Class string `yaml:"class"`
	// ClassAtLaunch replaces Class when the server was never ready.
	ClassAtLaunch string `yaml:"class_at_launch"`
	// ClassInClient replaces Class when the benchmark client printed it.
	ClassInClient string `yaml:"class_in_client"`
	Title         string `yaml:"title"`
	Layer         string `yaml:"layer"` // "bug", "family" or "fallback"
	Role          Role   `yaml:"role"`
	// Engine limits the match to runs of these engines: sglang, vllm, trtllm,
	// tgi, llama.cpp, triton, dynamo, ray. Empty means any.
	Engine []string `yaml:"engine"`
	// In limits the match to lines of these roles: server, client, router, gpu,
	// kernel, shell, scheduler. Empty means any. A line whose role is not known
	// passes.
	In []string `yaml:"in"`
	// Phase limits the match: "launch" (never ready yet) or "serving". Empty: both.
	Phase string `yaml:"phase"`
	// Line patterns are searched in the payload of every line: wrapper, time and
	// process prefix removed. The lines of tracebacks count too, exception lines
	// included. Go RE2 syntax; one match is enough. Named groups are captures.
	Line []string `yaml:"line"`
	// Exception patterns are searched in "Type: message" of the exceptions of a
	// traceback and of bare exception lines.
	Exception []string `yaml:"exception"`
	// Frame, if set, must also be found in a frame of the same traceback; frames
	// read "path/file.py:function".
	Frame string `yaml:"frame"`
	// Not vetoes a line or exception that also matches one of these.
	Not []string `yaml:"not"`
	// Weak marks signatures whose text also occurs in runs that then go on; they
	// are a cause only if the process makes no progress afterwards.
	Weak bool `yaml:"weak"`

	// Config names start-up options that the failure hangs on; the report shows
	// what they were set to.
	Config []string `yaml:"config"`

	Means    string   `yaml:"means"` // what it means, in plain words
	Fix      string   `yaml:"fix"`   // what to do
	Refs     []string `yaml:"refs"`  // issues, pull requests, manuals
	Affected string   `yaml:"affected"`
	Fixed    string   `yaml:"fixed"`
	Examples Examples `yaml:"examples"`

	// File and LineNo say where the signature stands, for messages.
	File   string `yaml:"-"`
	LineNo int    `yaml:"-"`

	layer  Layer
	lines  exprs
	excs   exprs
	frame  *expr
	vetoes exprs
	pos    positions // of the keys in File
	sound  bool      // no mistake was found when the pack was read
}

// Examples are texts that prove a signature. A text may have several lines:
// lines are tried as lines, "Type: message" lines also as exceptions, and
// `File "f", line N, in g` lines as frames.
type Examples struct {
	Match []string `yaml:"match"` // each must match; at least one is required
	Miss  []string `yaml:"miss"`  // none may match
}

// LayerNo returns the signature's layer as a number.
func (s *Signature) LayerNo() Layer { return s.layer }
