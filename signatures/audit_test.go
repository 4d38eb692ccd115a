package signatures

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLint holds the embedded packs to what is asked of users' packs: form,
// every example, no pattern twice.
func TestLint(t *testing.T) {
	names, texts, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	linter := NewLinter()
	for i, name := range names {
		for _, p := range linter.Pack(name, texts[i]) {
			t.Error(p)
		}
	}
}

// shadowed lists signatures all of whose examples go to another of a different
// class, and why that is right.
var shadowed = map[string]string{
	"fallback.any over launch.capture-passes-on":                  "the exception is the cause; the echo is told beside it",
	"torch.triton-out-of-resources over launch.capture-passes-on": "the exception is the cause; the echo is told beside it",
}

// TestShadowed finds signatures that can never win: another one, of another class
// and a layer no higher, outranks them on all their own examples.
func TestShadowed(t *testing.T) {
	set := packs(t)
	found := map[string]bool{}
	for _, sig := range set.Sigs {
		for _, o := range set.Sigs {
			if o == sig || o.Class == sig.Class || o.ClassAtLaunch == sig.Class || o.mute() || sig.mute() || !sameScope(o, sig) {
				continue
			}
			if wins, _ := o.Outranks(sig); !wins || !matchesAll(o, sig.Examples.Match) {
				continue
			}
			pair := o.ID + " over " + sig.ID
			found[pair] = true
			if shadowed[pair] == "" {
				t.Errorf("%s:%d: %s (%s) never wins: %s (%s:%d, %s) outranks it on all its examples", sig.File, sig.LineNo, sig.ID, sig.Class, o.ID, o.File, o.LineNo, o.Class)
			}
		}
	}
	for pair := range shadowed {
		if !found[pair] {
			t.Errorf("shadowed: %q is no longer so: drop the entry", pair)
		}
	}
}

// sameScope reports whether o applies wherever sig does.
func sameScope(o, sig *Signature) bool {
	within := func(wide, narrow []string) bool {
		return len(wide) == 0 || len(narrow) > 0 && !slices.ContainsFunc(narrow, func(x string) bool { return !slices.Contains(wide, x) })
	}
	return within(o.Engine, sig.Engine) && within(o.In, sig.In) && (o.Phase == "" || o.Phase == sig.Phase)
}

func matchesAll(s *Signature, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !s.MatchText(text) })
}

// shortLiterals lists the literals of line patterns under 6 bytes: each may occur
// in many lines, and is looked for at every byte. Keep the list short.
var shortLiterals = []string{"DIAG ", "EDAC ", "ERR!", "Error", "Exit ", "Xid=", "az://", "error", "gs://", "need ", "only ", "ready", "s3://", "start", "ucp_"}

func TestShortLiterals(t *testing.T) {
	set := packs(t)
	var got []string
	for _, lit := range set.Literals() {
		if len(lit) < 6 {
			got = append(got, lit)
		}
	}
	if !slices.Equal(got, shortLiterals) {
		t.Errorf("literals under 6 bytes:\n%q\nwant\n%q\nput longer fixed words into the pattern, or list the literal", got, shortLiterals)
	}
}

// prefixRE takes prefixes off a line, as package parse does.
var prefixRE = regexp.MustCompile(`^(?:\([A-Za-z]\w*(?: \w+)? pid=\d+\) |(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d (?:\[\S+\] )?|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]*\] |\[ *\d+\.\d+\] )+`)

// TestHealthy tries every cause on the lines of runs in which nothing was wrong,
// warnings and all. A cause that is not weak must match none of them.
func TestHealthy(t *testing.T) {
	set := packs(t)
	files, err := filepath.Glob("testdata/healthy/*.log")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	lines := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		no := 0
		for line := range strings.Lines(string(data)) {
			no++
			lines++
			text := strings.TrimRight(prefixRE.ReplaceAllString(line, ""), "\n")
			for _, sig := range causesOf(set, text) {
				t.Errorf("%s:%d: %s (%s:%d) matches a line of a healthy run:\n%s", file, no, sig.ID, sig.File, sig.LineNo, text)
			}
		}
	}
	t.Logf("%d lines in %d files", lines, len(files))
}

// causesOf returns the causes that would win on a line of a healthy run.
func causesOf(set *Set, text string) []*Signature {
	var hits []*Signature
	silenced := Bug + 10
	for _, sig := range set.Sigs {
		if !sig.matchLineText(text) || sig.HasFrame() {
			continue
		}
		if sig.Role == Benign {
			silenced = min(silenced, sig.layer)
		}
		if sig.Role == Cause && !sig.Weak {
			hits = append(hits, sig)
		}
	}
	return slices.DeleteFunc(hits, func(s *Signature) bool { return silenced <= s.layer })
}

// TestCounts guards against a pack that is no longer read.
func TestCounts(t *testing.T) {
	count := map[string]int{}
	classes := map[string]bool{}
	for _, sig := range packs(t).Sigs {
		count[sig.Layer]++
		count["role "+string(sig.Role)]++
		classes[sig.Class], classes[sig.ClassAtLaunch], classes[sig.ClassInClient] = true, true, true
	}
	t.Log(fmt.Sprint(count))
	for _, c := range Classes() {
		measured := strings.HasPrefix(c.ID, "perf.") || strings.HasPrefix(c.ID, "evidence.") || c.ID == "ok"
		if !classes[c.ID] && !measured {
			t.Errorf("no signature for class %s", c.ID)
		}
	}
	if n := count["bug"] + count["family"] + count["fallback"]; n < 400 {
		t.Errorf("%d signatures, want at least 400", n)
	}
}
