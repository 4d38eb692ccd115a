package parse

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/llmforensics/forensics"
)

// TestDump prints the events of the file named by FORENSICS_DUMP.
func TestDump(t *testing.T) {
	name := os.Getenv("FORENSICS_DUMP")
	if name == "" {
		t.Skip("set FORENSICS_DUMP to a file to see its events")
	}
	r := NewReader(Options{})
	src, err := r.Read(Input{Path: name, Size: -1, Open: func() (io.ReadCloser, error) { return os.Open(name) }}, 0, func(e *forensics.Event) {
		fmt.Printf("%5d %-9s %-8s %-12s %v %v", e.Pos.Line, e.Kind, e.Stamp.Clock, e.Proc, e.Attrs, e.Values)
		if e.Trace != nil {
			fmt.Printf(" trace %q cut=%v", e.Trace.Lead, e.Trace.Cut)
			for _, x := range e.Trace.Chain {
				fmt.Printf(" [%s | %.60q | %d frames %s @%d]", x.Type, x.Message, len(x.Frames), x.Link, x.Pos.Line)
			}
		}
		fmt.Println()
	})
	fmt.Printf("%+v %v\n", src, err)
}
