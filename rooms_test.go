package forensics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/llmforensics/forensics"

// rooms is the import table: what each package may import of this module. Data
// flows from left to right: parse, timeline, classify, report.
var rooms = map[string][]string{
	".":             {},
	"parse":         {"."},
	"timeline":      {"."},
	"signatures":    {"."},
	"classify":      {".", "timeline", "signatures"},
	"report":        {".", "timeline", "classify"},
	"analysis":      {".", "parse", "timeline", "signatures", "classify", "report"},
	"cmd/forensics": {".", "parse", "timeline", "signatures", "classify", "report", "analysis"},
}

// libraries is who alone may import what: charts and terminals belong to report,
// the command line to cmd.
var libraries = map[string][]string{
	"gonum.org/v1/plot":             {"report"},
	"github.com/charmbracelet/":     {"report"},
	"github.com/spf13/cobra":        {"cmd/forensics"},
	"github.com/spf13/pflag":        {"cmd/forensics"},
	"github.com/goccy/go-yaml":      {"signatures", "report"},
	"github.com/klauspost/compress": {"parse"},
	"golang.org/x/term":             {"cmd/forensics"},
	"net/http":                      {},
}

// goFiles calls fn for every Go file of the module that is not a test.
func goFiles(t *testing.T, fn func(room, path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		fn(filepath.ToSlash(filepath.Dir(path)), path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportTable(t *testing.T) {
	seen := map[string]bool{}
	goFiles(t, func(room, path string, file *ast.File) {
		seen[room] = true
		allowed, ok := rooms[room]
		if !ok {
			t.Errorf("%s: package %s is not in the import table: add it to rooms with what it may import", path, room)
			return
		}
		for _, spec := range file.Imports {
			imp := strings.Trim(spec.Path.Value, `"`)
			if imp == module || strings.HasPrefix(imp, module+"/") {
				in := strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")
				if in == "" {
					in = "."
				}
				if !slices.Contains(allowed, in) {
					t.Errorf("%s: package %s may not import %s", path, room, in)
				}
			}
			for lib, users := range libraries {
				if (imp == lib || strings.HasPrefix(imp, strings.TrimSuffix(lib, "/")+"/")) && !slices.Contains(users, room) {
					t.Errorf("%s: package %s may not import %s (only %v may)", path, room, imp, users)
				}
			}
		}
	})
	if len(seen) < 8 {
		t.Errorf("only %d packages found: the walk is broken", len(seen))
	}
}

// TestOnlyCommandTouchesProcess keeps arguments, exit and the wall clock in cmd.
func TestOnlyCommandTouchesProcess(t *testing.T) {
	forbidden := map[string][]string{"os": {"Args", "Exit", "Stdin", "Stdout", "Stderr", "Getenv"}, "time": {"Now", "Since"}}
	goFiles(t, func(room, path string, file *ast.File) {
		if strings.HasPrefix(room, "cmd/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(forbidden[x.Name], sel.Sel.Name) {
				t.Errorf("%s: %s.%s belongs in cmd/forensics", path, x.Name, sel.Sel.Name)
			}
			return true
		})
	})
}

// TestNoNetwork proves that no package behind an analysis can open a connection.
func TestNoNetwork(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/forensics").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/parse") {
		t.Fatal("go list does not show this module's packages")
	}
	for _, p := range []string{"net/http", "crypto/tls"} {
		if slices.Contains(deps, p) {
			t.Errorf("%s is among the program's dependencies", p)
		}
	}
}
