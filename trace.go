package forensics

import "strings"

// Trace is one traceback as a tree of chained exceptions, or a native crash dump.
type Trace struct {
	// Chain holds the exceptions in the order printed: Python prints the earliest
	// first, the last one is what ended the program.
	Chain []Exception
	// Native is "faulthandler", "c++", "cuda", "py-spy" for dumps that are not
	// Python exceptions, "" otherwise.
	Native string
	// Lead is the text before "Traceback" on its line or on the line above:
	// "Scheduler hit an exception:", "Process SpawnProcess-1:".
	Lead string
	// Cut is true when the text ended before the exception line.
	Cut bool
	// Count is the number of identical tracebacks folded into this one.
	Count int
	// Ranks lists the ranks that printed it, in order of appearance.
	Ranks []string
}

// Exception is one block of a traceback.
type Exception struct {
	// Type is the exception's dotted name as printed: "torch.AcceleratorError".
	Type string
	// Message is the text behind "Type: ", further lines joined by "\n", bounded.
	Message string
	Frames  []Frame
	// Pos and Text are the "Type: message" line itself, the evidence to quote.
	Pos  Pos
	Text string
	// Raised is the source line that raised it, if one was printed and the
	// exception has no message of its own: the condition of a bare assert.
	Raised Quote
	// Link says how the next exception of the chain came about: "cause"
	// (raise ... from), "context" (raised while handling this one), "" for the last.
	Link string
	// Group holds the members of an exception group (PEP 654).
	Group []Trace
}

// Frame is one line of a stack, outermost first as Python prints it.
type Frame struct {
	File string
	Line int
	Func string
	// Code is the source line printed below the frame, if any.
	Code string
}

// BaseType returns the last component of the exception's type.
func (x *Exception) BaseType() string {
	return x.Type[strings.LastIndexByte(x.Type, '.')+1:]
}

// Last returns the exception that ended the program, or nil for a cut trace.
func (t *Trace) Last() *Exception {
	if len(t.Chain) == 0 {
		return nil
	}
	return &t.Chain[len(t.Chain)-1]
}

// probeTypes are exceptions that programs raise to themselves when they test for
// a key or a module; as the first link of an implicit chain they are not causes.
var probeTypes = map[string]bool{
	"KeyError": true, "ImportError": true, "ModuleNotFoundError": true, "AttributeError": true,
	"StopIteration": true, "StopAsyncIteration": true, "IndexError": true, "FileNotFoundError": true,
	"LookupError": true, "CancelledError": true, "Empty": true,
}

// Root returns the exception that explains the others: the first of an explicit
// chain (raise ... from), the first of an implicit chain unless it is an
// expected probe such as a KeyError. It descends into exception groups. It
// returns nil for a cut trace.
func (t *Trace) Root() *Exception {
	if len(t.Chain) == 0 {
		return nil
	}
	i := len(t.Chain) - 1
	for i > 0 {
		prev := &t.Chain[i-1]
		if prev.Link == "context" && probeTypes[prev.BaseType()] {
			break
		}
		i--
	}
	for i < len(t.Chain)-1 && t.Chain[i].Type == "" {
		i++ // its own line was cut away
	}
	x := &t.Chain[i]
	for len(x.Group) > 0 {
		sub := x.Group[0].Root()
		if sub == nil {
			break
		}
		x = sub
	}
	return x
}
