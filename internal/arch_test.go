package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "privrec"

// floors orders the packages. A package imports from lower floors only, so that
// every part can be read, tested and replaced without what is built on it. A
// package below one that is named here belongs to it, unless named itself.
var floors = []struct {
	path  string
	floor int
}{
	{"internal/rng", 0}, {"internal/tensor", 0}, {"internal/metrics", 0}, {"internal/stats", 0},
	{"internal/config", 0}, {"internal/privacy", 0}, {"internal/progress", 0}, {"internal/safetensors", 0}, {"internal/system", 0}, {"data", 0}, {"configs", 0},
	{"internal/jsonschema", 0}, {"internal/config/schema", 1},
	{"internal/config", 0}, {"internal/privacy", 0}, {"internal/progress", 0}, {"internal/safetensors", 0}, {"internal/system", 0}, {"internal/tensorboard", 0}, {"data", 0}, {"configs", 0},
	{"internal/privacy/mechanism", 1}, {"internal/privacy/accountant", 1}, {"internal/privacy/audit", 1},
	{"internal/privacy/reference", 1}, {"internal/privacy/budget", 2},
	{"internal/privacy/mechanism/channel", 2}, {"internal/privacy/mechanism/local", 2}, {"internal/privacy/mechanism/sequence", 2},
	{"internal/privacy/mechanism/edges", 3}, {"internal/privacy/mechanism/secure", 3}, // open channels
	{"internal/privacy/mechanism/mechanismtest", 3},
	{"internal/autograd", 1}, {"internal/dataset", 1}, {"internal/graph", 1}, {"internal/printed", 1},
	{"internal/nn", 2}, {"internal/optim", 2}, {"internal/fetch", 2},
	{"internal/lists", 3}, {"internal/vectors", 3}, {"internal/train", 3}, {"internal/eval", 3}, {"internal/model", 3}, {"internal/attack", 3},
	{"internal/privacy/descent", 4}, // seeded and secret noise
	{"internal/run", 4}, {"internal/report", 4}, {"internal/bench", 5},
	{"internal/experiment", 5}, {"internal/calculator", 5}, {"internal/perturb", 5}, {"internal/inventory", 5}, {"internal/evaluation", 5},
	{"internal/protocol", 6}, {"internal/epsilons", 6}, {"internal/compare", 6}, {"internal/claims", 6}, {"internal/review", 6}, {"internal/export", 6},
	{"internal/baseline", 7}, {"internal/private", 7}, {"internal/record", 7},
	{"internal/papers", 8}, {"internal/forget", 8},
	{"internal/demo", 9}, {"internal/doctor", 9}, {"internal/reproduce", 9}, {"internal/serve", 9}, {"internal/tune", 9},
	{"internal/cli", 10}, {"internal/browsertest", 10},
	{"cmd", 11},
}

// bans are imports that the floors alone would allow.
var bans = []struct{ from, to, why string }{
	{"internal/privacy", "internal/autograd", "privacy works on slices, so that it can be used and audited alone"},
	{"internal/privacy", "internal/tensor", "privacy works on slices, so that it can be used and audited alone"},
	{"internal/privacy/mechanism", "internal/privacy/accountant", "mechanisms and accountants meet only in events: noise must not know how it is priced"},
	{"internal/privacy/descent", "internal/privacy/accountant", "mechanisms and accountants meet only in events: noise must not know how it is priced"},
	{"internal/privacy/accountant", "internal/privacy/mechanism", "mechanisms and accountants meet only in events: an accountant that reads a mechanism's fields would trust what it should check"},
	{"internal/privacy/reference", "internal/privacy/accountant", "what accountants are held against shares no code with them"},
	{"internal/privacy/reference", "internal/privacy/numeric",
		"what accountants are held against shares no code with them"},
	{"internal/attack/attribute", "internal/dataset", "attackers see rows of numbers and classes, so that any list file can be attacked; what a row means is said above"},
	{"internal/attack/membership", "internal/dataset", "attackers see numbers of candidates, so that anything can be attacked; what a number means is said above"},
	{"internal/attack/detect", "internal/dataset", "it measures numbers of candidates, so that anything can be attacked; what a number means is said above"},
	{"internal/attack/membership", "internal/attack/attribute", "attacks stay independent, each readable and removable alone"},
	{"internal/attack/attribute", "internal/attack/exposure", "attacks stay independent, each readable and removable alone"},
	{"internal/dataset/format", "internal/dataset/registry", "a file is read by its form alone, so that a reader can be tested and fuzzed on bytes; which set it belongs to is said above"},
	{"internal/reproduce/results", "internal/reproduce/costs",
		"a table holds no time and no machine, so that equal results have equal bytes"},
	{"internal/dataset/standin", "internal/dataset/registry", "a stand-in is made of its profile alone, so that no row of a real data set can get into it"},
}

// barred are packages of the standard library that no package may import.
var barred = map[string]string{
	"html/template": "it looks methods up by name, and then the linker keeps every exported method, a fifth of the binary; see internal/report/html.go",
	"text/template": "it looks methods up by name, and then the linker keeps every exported method, a fifth of the binary",
}

// owners says which package alone may import a third-party module, so that
// replacing the module is a change in one place.
var owners = []struct{ module, owner string }{
	{"gonum.org/v1/gonum/blas", "internal/tensor"},
	{"gonum.org/v1/gonum", "*"}, // distributions and special functions
	{"gonum.org/v1/plot", "internal/report"},
	{"golang.org/x/image", "internal/report"}, // outlines of letters
	{"github.com/spf13/", "internal/cli"},
	{"github.com/schollz/progressbar", "internal/cli/screen"},
	{"golang.org/x/term", "internal/cli/screen"},
	{"gopkg.in/yaml.v3", "internal/config"},
	{"github.com/klauspost/compress", "internal/dataset"},
	{"golang.org/x/sys", "internal/system"},
}

type source struct {
	path, pkg string // file; package folder, relative to the module
	file      *ast.File
	fset      *token.FileSet
}

// sources parses every Go file that is not a test, whatever its build tags.
// Folders with a go.mod of their own are other modules.
func sources(t *testing.T) []source {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	var out []source
	fset := token.NewFileSet()
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == "testdata" {
					return filepath.SkipDir
				}
				if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
					return filepath.SkipDir
				}
				return nil
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			out = append(out, source{filepath.ToSlash(rel), filepath.ToSlash(filepath.Dir(rel)), f, fset})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 20 {
		t.Fatalf("found %d files, the test looks in the wrong place", len(out))
	}
	return out
}

func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// place is the named folder a package belongs to, and its floor.
func place(pkg string) (string, int, error) {
	best, floor := "", -1
	for _, f := range floors {
		if within(pkg, f.path) && len(f.path) > len(best) {
			best, floor = f.path, f.floor
		}
	}
	if best == "" {
		return "", 0, fmt.Errorf("package %s has no floor: give it one in internal/arch_test.go", pkg)
	}
	return best, floor, nil
}

// complaint says what is wrong with one import; empty if nothing.
func complaint(from, to string) string {
	a, high, err := place(from)
	if err != nil {
		return err.Error()
	}
	if rest, ours := strings.CutPrefix(to, module+"/"); ours {
		for _, b := range bans {
			if within(from, b.from) && within(rest, b.to) {
				return fmt.Sprintf("%s imports %s: %s", from, rest, b.why)
			}
		}
		b, low, err := place(rest)
		if err != nil {
			return err.Error()
		}
		switch {
		case a == "internal/papers" && b == "internal/papers":
			if from != a && strings.SplitN(from, "/", 4)[2] != strings.SplitN(rest, "/", 4)[2] {
				return fmt.Sprintf("%s imports %s: papers never import each other, a paper must be readable and removable alone; move what they share below", from, rest)
			}
		case a == b: // packages of one folder, such as baselines that share a cell
		case low > high:
			return fmt.Sprintf("%s (floor %d) imports %s (floor %d): what lies below must not depend on what is built on it", from, high, rest, low)
		case low == high:
			return fmt.Sprintf("%s imports %s of the same floor %d: neighbours stay independent", from, rest, low)
		}
		return ""
	}
	if first, _, _ := strings.Cut(to, "/"); !strings.Contains(first, ".") { // standard library
		if why := barred[to]; why != "" {
			return fmt.Sprintf("%s imports %s: %s", from, to, why)
		}
		return ""
	}
	for _, o := range owners {
		if !strings.HasPrefix(to, o.module) {
			continue
		}
		if o.owner == "*" || within(from, o.owner) {
			return ""
		}
		return fmt.Sprintf("%s imports %s: only %s may, so that the module can be replaced in one place", from, to, o.owner)
	}
	return fmt.Sprintf("%s imports %s, which no package owns: decide who does in internal/arch_test.go", from, to)
}

func TestImportDirection(t *testing.T) {
	bad := map[string]bool{}
	for _, s := range sources(t) {
		for _, i := range s.file.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if c := complaint(s.pkg, to); c != "" {
				bad[c] = true
			}
		}
	}
	var list []string
	for c := range bad {
		list = append(list, c)
	}
	sort.Strings(list)
	for _, c := range list {
		t.Error(c)
	}
}

// The rules themselves: each planted violation is found, each legal import is
// not.
func TestRulesBite(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     string // part of the complaint; empty: allowed
	}{
		{"internal/tensor", "privrec/internal/autograd", "floor 0"},
		{"internal/papers/gerai", "privrec/internal/papers/dipsgnn", "papers never import each other"},
		{"internal/papers", "privrec/internal/papers/dipsgnn", ""},
		{"internal/papers/dipsgnn", "privrec/internal/cli", "must not depend"},
		{"internal/privacy/mechanism", "privrec/internal/privacy/accountant/rdp", "meet only in events"},
		{"internal/privacy/accountant/pld", "privrec/internal/privacy/mechanism", "meet only in events"},
		{"internal/privacy/mechanism/edges", "privrec/internal/privacy/accountant/rdp", "meet only in events"},
		{"internal/privacy/accountant/pld", "privrec/internal/privacy/mechanism/channel", "meet only in events"},
		{"internal/privacy/mechanism", "privrec/internal/autograd", "audited alone"},
		{"internal/privacy/mechanism/sequence", "privrec/internal/tensor", "audited alone"},
		{"internal/privacy/mechanism", "privrec/internal/privacy/mechanism/channel", "must not depend"},
		{"internal/privacy/mechanism/channel", "privrec/internal/privacy/mechanism/secure", "must not depend"},
		{"internal/privacy/mechanism/sequence", "privrec/internal/privacy/mechanism/local", "same floor"},
		{"internal/privacy/mechanism/edges", "privrec/internal/privacy/mechanism/secure", "same floor"},
		{"internal/privacy/mechanism/edges", "privrec/internal/privacy/mechanism/channel", ""},
		{"internal/privacy/mechanism/local", "privrec/internal/privacy/mechanism", ""},
		{"internal/privacy/accountant/rdp", "privrec/internal/privacy", ""},
		{"internal/privacy/accountant/rdp", "privrec/internal/privacy/accountant", ""},
		{"internal/privacy/accountant", "privrec/internal/privacy/audit", "same floor"},
		{"internal/rng", "privrec/internal/tensor", "same floor"},
		{"internal/tensor", "privrec/internal/tensor/kernel", ""},
		{"internal/model/srgnn", "privrec/internal/model/ggnn", ""},
		{"internal/dataset/standin", "privrec/internal/dataset/registry", "made of its profile alone"},
		{"internal/dataset/format", "privrec/internal/dataset/registry", "by its form alone"},
		{"internal/dataset/slate", "privrec/internal/dataset/registry", ""},
		{"internal/run", "github.com/klauspost/compress/gzip", "only internal/dataset may"},
		{"internal/run", "privrec/internal/train", ""},
		{"internal/report", "github.com/spf13/cobra", "only internal/cli may"},
		{"internal/calculator", "github.com/spf13/pflag", "only internal/cli may"},
		{"internal/cli", "golang.org/x/term", "only internal/cli/screen may"},
		{"internal/cli/screen", "privrec/internal/reproduce", ""},
		{"internal/calculator", "privrec/internal/papers", "must not depend"},
		{"internal/run", "gopkg.in/yaml.v3", "only internal/config may"},
		{"internal/nn", "gonum.org/v1/gonum/blas/blas32", "only internal/tensor may"},
		{"internal/stats", "gonum.org/v1/gonum/stat/distuv", ""},
		{"internal/run", "example.org/new", "which no package owns"},
		{"internal/browsertest", "github.com/chromedp/chromedp", "which no package owns"}, // its tests alone: the program has no browser
		{"internal/unheard", "fmt", "has no floor"},
		{"internal/run", "encoding/json", ""},
		{"internal/report", "html/template", "a fifth of the binary"},
	} {
		got := complaint(c.from, c.to)
		if c.want == "" && got != "" || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: complaint %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

// Libraries have no side effects at import, do not print and do not end the
// process: only the command line does, where a person is.
func TestLibrariesKeepQuiet(t *testing.T) {
	forbidden := map[string]bool{
		"os.Exit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true, "os.Stdout": true, "os.Stderr": true,
		"fmt.Print": true, "fmt.Printf": true, "fmt.Println": true, "log.Print": true, "log.Printf": true, "log.Println": true,
	}
	for _, s := range sources(t) {
		if within(s.pkg, "cmd") || within(s.pkg, "internal/cli") {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init: importing a package must not do anything; call it where it is needed", s.fset.Position(f.Pos()))
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && forbidden[x.Name+"."+sel.Sel.Name] {
				t.Errorf("%s: %s.%s: a library returns errors and reports through run.Progress", s.fset.Position(sel.Pos()), x.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

// A task sees data as its run does. A view of data is made where runs are opened and where there is none, so that no
// task can forget what is held out of its run, or the test rows that a search of settings withholds.
func TestTasksTakeTheViewOfTheirRun(t *testing.T) {
	makers := []string{"internal/dataset", "internal/run", "internal/cli", "internal/reproduce/matrix"}
	asking := []string{"internal/protocol/target", "internal/protocol/inference", "internal/protocol/auditing"}
	for _, s := range sources(t) {
		named := func(e ast.Expr, x, name string) bool {
			sel, ok := e.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != name {
				return false
			}
			id, ok := sel.X.(*ast.Ident)
			return x == "" || ok && id.Name == x
		}
		in := func(folders []string) bool {
			return slices.ContainsFunc(folders, func(f string) bool { return within(s.pkg, f) })
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if named(n.Type, "dataset", "View") && !in(makers) {
					t.Errorf("%s: a view of its own: take env.View()", s.fset.Position(n.Pos()))
				}
			case *ast.ValueSpec:
				if named(n.Type, "dataset", "View") && n.Values == nil && !in(makers) {
					t.Errorf("%s: an empty view: take env.View()", s.fset.Position(n.Pos()))
				}
			case *ast.CallExpr:
				if named(n.Fun, "", "View") && len(n.Args) == 1 && !in(append(asking, makers...)) {
					t.Errorf("%s: the view of a finished run: it is for those who attack the run",
						s.fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}
