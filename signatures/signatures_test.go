package signatures

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExamples(t *testing.T) {
	for _, sig := range packs(t).Sigs {
		for _, err := range sig.Prove() {
			t.Error(err)
		}
	}
}

func TestRequiredLiterals(t *testing.T) {
	for _, tt := range []struct {
		expr string
		want []string
	}{
		{`CUDA error: (an illegal memory access|misaligned address)`, []string{"CUDA error: an illegal memory access", "CUDA error: misaligned address"}},
		{`\d+ Killed process`, []string{" Killed process"}},
		{`(?:first word|other word) \d+`, []string{"first word ", "other word "}},
		{`a?b*`, nil},
		{`(?i)out of memory`, nil},
		{`(abcdef)+x{2,}`, []string{"abcdef"}},
	} {
		got, err := requiredLiterals(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(tt.want) {
			t.Errorf("requiredLiterals(%q) = %q, want %q", tt.expr, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("requiredLiterals(%q) = %q, want %q", tt.expr, got, tt.want)
			}
		}
	}
}

// TestMatchException pins the index: it must find what trying every signature
// finds, on every example.
func TestMatchException(t *testing.T) {
	set := packs(t)
	for _, sig := range set.Sigs {
		for _, text := range append(append([]string{}, sig.Examples.Match...), sig.Examples.Miss...) {
			got := set.MatchException(text, nil, nil)
			var want []int
			for n, s := range set.Sigs {
				if s.matchException(text, nil) {
					want = append(want, n)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("MatchException(%q) = %v, want %v", text, got, want)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	set, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	const text = "RuntimeError: CUDA error: an illegal memory access was encountered"
	found := literalsIn(set, text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if len(set.MatchLine([]byte(text), found, nil)) == 0 || len(set.MatchException(text, nil, nil)) == 0 {
				t.Error("no match")
			}
		})
	}
	wg.Wait()
}

func TestFurtherLiterals(t *testing.T) {
	const src = `^(?:ValueError|RuntimeError): .*(?:does not fit|too large) for`
	want := [][]string{{"RuntimeError: ", "ValueError: "}}
	got := furtherLiterals(src, []string{"does not fit for", "too large for"})
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("furtherLiterals(%q): (-got +want)\n%s", src, diff)
	}
}
