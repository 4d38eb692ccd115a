// Package analysis runs a whole analysis in one call: it reads the files of a run
// from an [fs.FS], builds the timeline, diagnoses it and freezes the report. It is
// the library entry for programs other than the command line.
package analysis

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/llmforensics/forensics"
	"github.com/llmforensics/forensics/classify"
	"github.com/llmforensics/forensics/parse"
	"github.com/llmforensics/forensics/report"
	"github.com/llmforensics/forensics/signatures"
	"github.com/llmforensics/forensics/timeline"
)

// Options steer an analysis. The zero value uses the embedded signatures.
type Options struct {
	// Signatures replaces the embedded library.
	Signatures *signatures.Set
	// Label names the run in the report.
	Label string
	// Version is the version of the program that the report names.
	Version string
	// SHA256 asks for SHA-256 digests of sources of any size.
	SHA256 bool
	// Hints names the formats of sources by their paths; see [parse.FormatNames].
	Hints map[string]string
	// Workers is how many sources are read at once, 0 for one per processor.
	Workers int
}

// ErrNothingToRead is returned when no source could be opened.
var ErrNothingToRead = errors.New("no file that can be read")

// Run analyses the inputs of one run. Sources that cannot be opened become notes
// of the report; if none can be opened, the error wraps ErrNothingToRead. The
// document does not depend on the order of the inputs.
func Run(ctx context.Context, inputs []parse.Input, opts Options) (*report.Document, error) {
	if len(inputs) == 0 {
		return nil, ErrNothingToRead
	}
	set := opts.Signatures
	if set == nil {
		var err error
		if set, err = signatures.Load(); err != nil {
			return nil, err
		}
	}
	run := &forensics.Run{Label: opts.Label}
	cols, err := readAll(ctx, run, inputs, set, opts)
	if err != nil {
		return nil, err
	}
	t := timeline.Build(run, cols)
	d := classify.Diagnose(t, set)
	return report.Freeze(t, d, report.Tool{Name: "forensics", Version: opts.Version, Signatures: len(set.Sigs)}), nil
}

// readAll reads the inputs side by side; each source has a collector of its own,
// so the result does not depend on which is read first.
func readAll(ctx context.Context, run *forensics.Run, inputs []parse.Input, set *signatures.Set, opts Options) ([]*timeline.Collector, error) {
	plan := parse.NewReader(parse.Options{Matcher: set, SHA256: opts.SHA256, Hints: opts.Hints}).Plan(inputs)
	run.Sources = make([]forensics.Source, len(plan.Paths))
	cols := make([]*timeline.Collector, len(plan.Paths))
	errs := make([]error, len(plan.Paths))
	for i := range cols {
		cols[i] = timeline.NewCollector(i)
	}
	sink := func(i int) func(*forensics.Event) { return cols[i].Sink }
	done := func(i int, src forensics.Source, err error) { run.Sources[i], errs[i] = src, err }
	workers := opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, plan.Units()) {
		wg.Go(func() {
			for u := range next {
				plan.Read(u, sink, done)
			}
		})
	}
	for u := range plan.Units() {
		if ctx.Err() != nil {
			break
		}
		next <- u
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return cols, unreadable(run, plan.Paths, errs)
}

// unreadable turns the errors of opening into notes, or into an error if nothing
// at all could be opened.
func unreadable(run *forensics.Run, paths []string, errs []error) error {
	bad := 0
	for i, err := range errs {
		if err == nil {
			continue
		}
		bad++
		s := &run.Sources[i]
		s.Path, s.Format = paths[i], "unreadable"
		s.Notes = append(s.Notes, forensics.Note{Pos: forensics.Pos{Source: i}, Text: err.Error()})
	}
	if bad == len(paths) {
		return fmt.Errorf("%w: %w", ErrNothingToRead, errors.Join(errs...))
	}
	return nil
}
