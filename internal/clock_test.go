package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// clocks are what tells a test how long something took, or ends it when it took long.
// Tests count what is done instead: bins, nodes, steps, calls.
var clocks = map[string]string{
	"time.Since": "times", "time.Until": "times", "time.After": "gives up", "time.NewTimer": "gives up",
	"context.WithTimeout": "gives up", "context.WithDeadline": "gives up",
	"context.WithTimeoutCause": "gives up", "context.WithDeadlineCause": "gives up",
	"syscall.Getrusage": "times", "testing.Benchmark": "times",
}

// processorTimes are fields and methods of what a process has used.
var processorTimes = map[string]bool{"Utime": true, "Stime": true, "UserTime": true, "SystemTime": true}

// timed returns the places where a file of tests passes or fails by the clock, as far
// as its syntax shows. Benchmarks measure, and a log may say what was measured.
func timed(fset *token.FileSet, f *ast.File) (bad []string) {
	say := func(n ast.Node, what string) {
		p := fset.Position(n.Pos())
		bad = append(bad, p.String()+": "+what)
	}
	name := func(n ast.Node) string {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				return x.Name + "." + s.Sel.Name
			}
		}
		return ""
	}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Logf" || s.Sel.Name == "Log") {
				return false
			}
		case *ast.SelectorExpr:
			if what := clocks[name(n)]; what != "" {
				say(n, name(n)+" "+what)
			} else if processorTimes[n.Sel.Name] {
				say(n, n.Sel.Name+" times")
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ:
				for _, side := range []ast.Expr{n.X, n.Y} {
					ast.Inspect(side, func(m ast.Node) bool {
						switch name(m) {
						case "time.Nanosecond", "time.Microsecond", "time.Millisecond", "time.Second", "time.Minute", "time.Hour":
							say(m, "compares with a "+strings.ToLower(strings.TrimPrefix(name(m), "time.")))
						}
						return true
					})
				}
			}
		}
		return true
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(d.Name.Name, "Benchmark") {
			continue
		}
		ast.Inspect(d, look)
	}
	return bad
}

// No test passes or fails by the clock: it would say what machine it ran on, and beside
// what, not whether the program is right.
func TestNoTestIsTimed(t *testing.T) {
	fset, files := token.NewFileSet(), 0
	for _, top := range []string{"../cmd", "."} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files++
			for _, b := range timed(fset, f) {
				t.Errorf("%s: count what is done instead", b)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("found %d files of tests, the test looks in the wrong place", files)
	}
}

// The rule itself: each planted clock is found, and what only shows times is not.
func TestClocksAreFound(t *testing.T) {
	for _, c := range []struct {
		body string
		want string // part of the complaint; empty: allowed
	}{
		{"began := time.Now(); f(); if time.Since(began) > limit { t.Fail() }", "time.Since times"},
		{"if took > 10*time.Second { t.Fail() }", "compares with a second"},
		{"if time.Minute <= took { t.Fail() }", "compares with a minute"},
		{"select { case <-done: case <-time.After(limit): t.Fail() }", "time.After gives up"},
		{"ctx, stop := context.WithTimeout(t.Context(), limit); defer stop(); f(ctx)", "WithTimeout gives up"},
		{"syscall.Getrusage(0, &r)", "Getrusage times"},
		{"took := r.Utime.Nano()", "Utime times"},
		{"took := cmd.ProcessState.UserTime()", "UserTime times"},
		{"if testing.Benchmark(f).NsPerOp() > most { t.Fail() }", "testing.Benchmark times"},
		{`began := time.Now(); f(); t.Logf("%v", time.Since(began))`, ""},
		{"for !there() { time.Sleep(time.Millisecond) }", ""},
		{"o.Idle = time.Hour", ""},
	} {
		fset := token.NewFileSet()
		for _, kind := range []string{"Test", "Benchmark"} {
			f, err := parser.ParseFile(fset, "x_test.go", "package x\nfunc "+kind+"X(t *testing.T) { "+c.body+" }", 0)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(timed(fset, f), "\n")
			if want := c.want; (want == "" || kind == "Benchmark") && got != "" || kind == "Test" && !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", c.body, got, want)
			}
		}
	}
}
