package signatures

import "testing"

func TestExamples(t *testing.T) {
	set, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range set.Sigs {
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
		{`CUDA error: (an illegal memory access|misaligned address)`, []string{"an illegal memory access", "misaligned address"}},
		{`\d+ Killed process`, []string{" Killed process"}},
		{`(?:first word|other word) \d+`, []string{"first word", "other word"}},
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
