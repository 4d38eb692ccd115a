package signatures

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "rewrite packs.gen.txt")

// packs are the embedded signatures with their examples.
func packs(t testing.TB) *Set {
	t.Helper()
	set, err := LoadPacks()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestCompact(t *testing.T) {
	classes, glue, err := readTables()
	if err != nil {
		t.Fatal(err)
	}
	want := packs(t)
	text := writeCompact(classes, glue, want.Sigs)
	if *update {
		if err := os.WriteFile("packs.gen.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != compact {
		t.Fatal("packs.gen.txt is not what the YAML files say: run go generate ./signatures")
	}
	lib, err := readCompact(text)
	if err != nil {
		t.Fatal(err)
	}
	opts := []cmp.Option{
		cmpopts.IgnoreFields(Signature{}, "Examples", "pos", "sound"),
		cmp.AllowUnexported(Signature{}),
		cmp.Comparer(func(a, b *expr) bool {
			return (a == nil) == (b == nil) && (a == nil || a.src == b.src && cmp.Equal(a.literals, b.literals))
		}),
	}
	if diff := cmp.Diff(lib.sigs, want.Sigs, opts...); diff != "" {
		t.Errorf("signatures are not those of the packs (-compact +yaml):\n%s", diff)
	}
	if diff := cmp.Diff(lib.classes, classes); diff != "" {
		t.Errorf("classes are not those of classes.yaml (-compact +yaml):\n%s", diff)
	}
	if diff := cmp.Diff(lib.glue, glue); diff != "" {
		t.Errorf("glue frames are not those of frames.yaml (-compact +yaml):\n%s", diff)
	}
}

func TestReadCompactRejects(t *testing.T) {
	for name, text := range map[string]string{
		"header": "id a.b\n",
		"key":    compactHeader + "\nid a.b\nlayer bug\ncolour red\n",
		"quote":  compactHeader + "\nid a.b\nlayer bug\nmeans \"x\n",
		"layer":  compactHeader + "\nid a.b\nlayer deep\n",
	} {
		if _, err := readCompact(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
