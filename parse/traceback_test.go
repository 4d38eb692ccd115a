package parse

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/llmforensics/forensics"
)

// readAll returns the events of a text, and its source.
func readAll(t testing.TB, r io.Reader) ([]*forensics.Event, forensics.Source) {
	t.Helper()
	var events []*forensics.Event
	in := Input{Path: "x.log", Size: -1, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
	src, err := NewReader(Options{}).Read(in, 0, func(e *forensics.Event) {
		c := e.Clone()
		if e.Trace != nil {
			tr := *e.Trace
			c.Trace = &tr
		}
		events = append(events, c)
	})
	if err != nil {
		t.Fatal(err)
	}
	return events, src
}

func readFile(t testing.TB, name string) ([]*forensics.Event, forensics.Source) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readAll(t, f)
}

// describe renders a trace in one line per exception: "lead: Type|message's
// first line|frames|link @line", members of groups indented.
func describe(tr *forensics.Trace, indent string) string {
	var b strings.Builder
	for i := range tr.Chain {
		x := &tr.Chain[i]
		msg, _, _ := strings.Cut(x.Message, "\n")
		if len(msg) > 40 {
			msg = msg[:40]
		}
		fmt.Fprintf(&b, "%s%s|%s|%d|%s@%d\n", indent, x.Type, msg, len(x.Frames), x.Link, x.Pos.Line)
		for j := range x.Group {
			b.WriteString(describe(&x.Group[j], indent+"  "))
		}
	}
	if tr.Cut {
		b.WriteString(indent + "cut\n")
	}
	return b.String()
}

// traces renders every traceback of the events, in order of position.
func traces(events []*forensics.Event) string {
	var b strings.Builder
	for _, e := range sortedTraces(events) {
		head := fmt.Sprintf("%d", e.Pos.Line)
		if len(e.Trace.Ranks) > 0 {
			head += " " + strings.Join(e.Trace.Ranks, "+")
		}
		if e.Trace.Native != "" {
			head += " " + e.Trace.Native
		}
		if e.Trace.Count > 1 {
			head += fmt.Sprintf(" x%d", e.Trace.Count)
		}
		if e.Trace.Lead != "" {
			lead := e.Trace.Lead
			if len(lead) > 40 {
				lead = lead[:40]
			}
			head += " <" + lead + ">"
		}
		b.WriteString(head + "\n" + describe(e.Trace, "  "))
	}
	return b.String()
}

func checkTraces(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(got), "\n")); diff != "" {
		t.Errorf("traces differ (-want +got):\n%s", diff)
	}
}

// TestTracebackFiles reads the output of real programs.
func TestTracebackFiles(t *testing.T) {
	for _, c := range traceFiles {
		t.Run(c.name, func(t *testing.T) {
			events, src := readFile(t, c.name)
			checkTraces(t, traces(events), c.want)
			if n := src.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
				t.Errorf("lines read %d, accounted for %+v", n.Read, n)
			}
			if src.Lines.Plain > c.plain {
				t.Errorf("%d plain lines, want at most %d: %v", src.Lines.Plain, c.plain, src.Unread)
			}
		})
	}
}

// TestTracebackTexts reads shapes that are rarer or made to be hard.
func TestTracebackTexts(t *testing.T) {
	for _, c := range traceTexts {
		t.Run(c.name, func(t *testing.T) {
			text := strings.TrimPrefix(c.text, "\n")
			events, _ := readAll(t, strings.NewReader(text))
			checkTraces(t, traces(events), c.want)
		})
	}
}

// TestFrameOrder checks that frames are outermost first, whatever the dump's order.
func TestFrameOrder(t *testing.T) {
	events, _ := readFile(t, "trace/segv.txt")
	got := events[0].Trace.Chain[0].Frames
	want := []forensics.Frame{
		{File: "/srv/bench/segv.py", Line: 1, Func: "<module>"},
		{File: "/usr/lib/python3.12/ctypes/__init__.py", Line: 525, Func: "string_at"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAssertionRun checks that a run of device-side assertions is one event.
func TestAssertionRun(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "/pytorch/aten/Indexing.cu:1515: indexSelectSmallIndex: block: [%d,0,0], thread: [3,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n", i)
		if i%2 == 0 {
			b.WriteString("../aten/Other.cu:9: other: block: [1,0,0], thread: [3,0,0] Assertion `x` failed.\n")
		}
	}
	b.WriteString("INFO:     bye\n")
	events, _ := readAll(t, strings.NewReader(b.String()))
	checkTraces(t, traces(events), "1 cuda x5000\n"+
		"  CUDA device-side assert|Assertion `srcIndex < srcSelectDimSize` |1|@1\n"+
		"2 cuda x2500\n  CUDA device-side assert|Assertion `x` failed.|1|@2")
}

// FuzzTraceback checks that no input panics, that every line is accounted for,
// that positions rise within an event, and that the size of the reads does not
// change the events.
func FuzzTraceback(f *testing.F) {
	for _, c := range traceTexts {
		f.Add(strings.TrimPrefix(c.text, "\n"))
	}
	for _, c := range traceFiles {
		if b, err := os.ReadFile(filepath.Join("testdata", c.name)); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(checkReading)
}

func checkReading(t *testing.T, text string) {
	events, src := readAll(t, strings.NewReader(text))
	again, src2 := readAll(t, iotest.OneByteReader(strings.NewReader(text)))
	if n := src.Lines; n.Read != n.Understood+n.Plain+n.Damaged {
		t.Errorf("lines read %d, accounted for %+v", n.Read, n)
	}
	if diff := cmp.Diff(src.Lines, src2.Lines); diff != "" {
		t.Errorf("lines depend on the reads: %s", diff)
	}
	if diff := cmp.Diff(events, again); diff != "" {
		t.Errorf("events depend on the reads: %s", diff)
	}
	for _, e := range events {
		if e.Pos.Line < 1 || int64(e.Pos.Line) > src.Lines.Read || e.Lines < 1 {
			t.Errorf("event at line %d of %d, %d lines", e.Pos.Line, src.Lines.Read, e.Lines)
		}
		if e.Trace == nil {
			continue
		}
		if e.Trace.Count < 1 {
			t.Errorf("line %d: count %d", e.Pos.Line, e.Trace.Count)
		}
		for _, x := range e.Trace.Chain {
			if x.Pos.Line != 0 && x.Pos.Before(e.Pos) {
				t.Errorf("line %d: exception at line %d before it", e.Pos.Line, x.Pos.Line)
			}
		}
	}
}

// sortedTraces returns the traceback events in order of position.
func sortedTraces(events []*forensics.Event) []*forensics.Event {
	var out []*forensics.Event
	for _, e := range events {
		if e.Trace != nil {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *forensics.Event) int { return a.Pos.Line - b.Pos.Line })
	return out
}

// TestShuffled mixes the lines of all samples: whatever stands next to what, no
// line is lost and nothing panics.
func TestShuffled(t *testing.T) {
	var lines []string
	for _, pattern := range []string{"testdata/trace/*.txt", "testdata/vllm/*.log"} {
		names, _ := filepath.Glob(pattern)
		for _, n := range names {
			b, err := os.ReadFile(n)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.SplitAfter(string(b), "\n")...)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		var b strings.Builder
		for range 400 {
			at := rnd.IntN(len(lines))
			for i := at; i < len(lines) && i < at+1+rnd.IntN(6); i++ {
				b.WriteString(lines[i])
			}
		}
		checkReading(t, b.String())
	}
}

// BenchmarkTracebacks reads a log of which three tenths are tracebacks.
func BenchmarkTracebacks(b *testing.B) {
	part, err := os.ReadFile("testdata/trace/tb30.log")
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat(part, 64)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		in := Input{Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
		if _, err := NewReader(Options{}).Read(in, 0, func(*forensics.Event) {}); err != nil {
			b.Fatal(err)
		}
	}
}
