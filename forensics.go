// Package forensics holds the nouns of a post-mortem: what was read, what it
// says, and what is concluded from it. Everything else is a room built on these
// nouns, and data flows through the rooms in one direction:
//
//  1. parse reads each [Source] and emits [Event] values: a traceback, a decode
//     statistic, a benchmark table, an Xid line. It peels wrappers, prefixes and
//     progress bars, and knows where every byte came from ([Pos]).
//  2. timeline merges the events of all sources into one order, and derives
//     process lives, benchmark points and bounded series.
//  3. classify matches failure signatures (package signatures, rules as data)
//     against the timeline, separates causes from symptoms and produces a
//     [Diagnosis].
//  4. report freezes a document and renders it.
//
// Package analysis runs the four steps in one call; cmd/forensics is the
// command line. The root package imports the standard library only.
package forensics

import "fmt"

// Source is one input artefact: a file, an archive member or standard input.
type Source struct {
	// Path is the label shown to people: slash separated, relative to the
	// argument it was found under.
	Path string
	// Format is the name of the format that most of the lines belong to, as in
	// docs/formats.md ("sglang-server", "bench-serving", "nvidia-smi"), "text"
	// when none was recognised, "empty" for a file of no bytes.
	Format string
	// Role is the kind of process that wrote the file, as far as the format tells.
	Role Role
	// Size is the number of bytes read, after decompression and decoding.
	Size int64
	// Digest names the content: "sha256:..." up to 64 MiB, "xxh3:..." above.
	Digest string
	// Lines accounts for every line: Read = Understood + Plain + Damaged.
	Lines LineCount
	// Notes are positioned remarks on damage: cut lines, broken encodings.
	Notes []Note
	// Unread holds a few lines that no reader understood.
	Unread []Quote
	// ModTime is the file's modification time in Unix seconds, 0 if unknown. It
	// is a weak hint only: copies and archives lose it.
	ModTime int64
}

// LineCount accounts for the lines of a source. Read is the sum of the others.
type LineCount struct {
	Read       int64
	Understood int64 // claimed by a reader
	Plain      int64 // readable text that no reader claims
	Damaged    int64 // cut at the line limit, undecodable, or broken syntax
}

// Note is a remark about one place in a source.
type Note struct {
	Pos  Pos
	Text string
}

// Pos is a place in a source. Line counts from 1; Offset is the byte offset of
// the line in the decoded content. A zero Line means the source as a whole.
type Pos struct {
	Source int
	Line   int
	Offset int64
}

// Before orders positions of one source; positions of different sources compare
// by source index, which is the order of the sorted paths.
func (p Pos) Before(q Pos) bool {
	if p.Source != q.Source {
		return p.Source < q.Source
	}
	if p.Line != q.Line {
		return p.Line < q.Line
	}
	return p.Offset < q.Offset
}

// Quote is a line of evidence: where it stands and what it says, with control
// bytes removed.
type Quote struct {
	Pos  Pos
	Text string
}

// Role says what a process is for.
type Role string

// The roles of the processes and files that a benchmark run leaves behind.
const (
	RoleUnknown   Role = ""
	RoleServer    Role = "server"    // an inference engine: HTTP front end, scheduler, workers
	RoleRouter    Role = "router"    // a gateway in front of several servers
	RoleClient    Role = "client"    // the benchmark client
	RoleGPU       Role = "gpu"       // nvidia-smi and friends
	RoleKernel    Role = "kernel"    // dmesg, kernel journal
	RoleShell     Role = "shell"     // shell transcripts, launch scripts, exit codes
	RoleScheduler Role = "scheduler" // Slurm, Kubernetes, Docker
)

// Process identifies the writer of a line. The zero value means "not said".
type Process struct {
	Role Role
	// Name is the process's own name: "scheduler", "EngineCore_DP0", "python3".
	Name string
	// Rank is the parallel rank as the log prints it: "TP1", "DP0 TP3", "rank1".
	// Empty means none was printed, which is not the same as rank 0.
	Rank string
	PID  int
	Host string
}

// String names the process for people: "server TP1", "EngineCore pid 133".
func (p Process) String() string {
	s := string(p.Role)
	if p.Name != "" {
		s = p.Name
	}
	if p.Rank != "" {
		if s != "" {
			s += " "
		}
		s += p.Rank
	}
	if p.PID != 0 {
		if s != "" {
			s += " "
		}
		s += fmt.Sprintf("pid %d", p.PID)
	}
	if s == "" {
		return "unknown process"
	}
	return s
}

// Run is one execution under study: the sources it left, in sorted path order.
type Run struct {
	Label   string
	Sources []Source
}

// At formats a position as file:line for messages and reports.
func (r *Run) At(p Pos) string {
	if p.Source < 0 || p.Source >= len(r.Sources) {
		return "?"
	}
	if p.Line == 0 {
		return r.Sources[p.Source].Path
	}
	return fmt.Sprintf("%s:%d", r.Sources[p.Source].Path, p.Line)
}
