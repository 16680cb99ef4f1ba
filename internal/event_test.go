package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostFiles is in how many files at most a kind of event may be known, the one that
// defines it and the list of kinds included.
const mostFiles = 4

// makers are where events are not looked for, and why.
var makers = map[string]string{
	"internal/privacy/mechanism": "a mechanism makes the event that it records",
	"internal/privacy/descent":   "a mechanism makes the event that it records",
	"internal/privacy/reference": "what accountants are held against shares no code with them, so it prices events itself",
}

// having are the types of package privacy that have a method: Kind for events, Price for laws.
func having(method string, all []source) map[string]bool {
	types := map[string]bool{}
	for _, s := range all {
		if s.pkg != "internal/privacy" {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != method {
				continue
			}
			if name, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				types[name.Name] = true
			}
		}
	}
	return types
}

// known returns the events that a file knows: that it names, other than as what a list
// is of. Outside of internal/privacy one that only makes an event, by a literal, does not
// know it: it says what happened, and asks nothing. The law of an event is the event without
// its subject: who asks for the law with LawOf, or is an accountant that is given it, does not
// know the event.
func known(s source, types, laws map[string]bool) map[string]bool {
	out := map[string]bool{}
	home := s.pkg == "internal/privacy"
	local := "privacy"
	for _, i := range s.file.Imports {
		if i.Path.Value == `"`+module+`/internal/privacy"` && i.Name != nil {
			local = i.Name.Name
		}
	}
	named := func(n ast.Expr) string {
		switch n := n.(type) {
		case *ast.Ident:
			if home && types[n.Name] {
				return n.Name
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && !home && x.Name == local && types[n.Sel.Name] {
				return n.Sel.Name
			}
		}
		return ""
	}
	lawOf := func(n ast.Expr) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		if f, ok := call.Fun.(*ast.Ident); ok {
			return home && f.Name == "LawOf"
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "LawOf"
	}
	passed := map[ast.Expr]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ArrayType:
			passed[n.Elt] = true
		case *ast.TypeAssertExpr:
			passed[n.Type] = lawOf(n.X)
		case *ast.TypeSwitchStmt:
			of, _ := n.Assign.(*ast.ExprStmt)
			var asserted ast.Expr
			if of != nil {
				asserted = of.X
			} else {
				asserted = n.Assign.(*ast.AssignStmt).Rhs[0]
			}
			if lawOf(asserted.(*ast.TypeAssertExpr).X) {
				for _, c := range n.Body.List {
					for _, e := range c.(*ast.CaseClause).List {
						passed[e] = true
					}
				}
			}
		case *ast.FuncDecl:
			for _, p := range n.Type.Params.List {
				if within(s.pkg, "internal/privacy/accountant") && laws[named(p.Type)] {
					passed[p.Type] = true
				}
			}
		case *ast.CompositeLit:
			if !within(s.pkg, "internal/privacy") {
				passed[n.Type] = true
			}
		}
		if e, ok := n.(ast.Expr); ok && !passed[e] {
			if name := named(e); name != "" {
				out[name] = true
			}
		}
		return true
	})
	return out
}

// A kind of event is known in few files: what an accountant needs of an event it asks of
// the event, so that a new kind is a type, an entry in the list of kinds, and a mechanism
// that makes it.
func TestEventsAreKnownInFewFiles(t *testing.T) {
	all := sources(t)
	types, laws := having("Kind", all), having("Price", all)
	if len(types) < 10 || len(laws) < 6 {
		t.Fatalf("found the events %v and the laws %v, the test looks in the wrong place",
			slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(laws)))
	}
	files := map[string][]string{}
	for _, s := range all {
		if slices.ContainsFunc(slices.Collect(maps.Keys(makers)), func(folder string) bool { return within(s.pkg, folder) }) {
			continue
		}
		for name := range known(s, types, laws) {
			files[name] = append(files[name], s.path)
		}
	}
	for name := range types {
		t.Logf("%s: %s", name, strings.Join(files[name], ", "))
		if len(files[name]) < 2 {
			t.Errorf("%s is known in %q: at least its own file and the list of kinds name it, so the test looks in the wrong place", name, files[name])
		}
		if len(files[name]) > mostFiles {
			t.Errorf("%s is known in %d files, want at most %d: %s. Ask the event for its law (privacy.LawOf), its Form, or what it leaves unprotected (privacy.AsUnprotected)", name, len(files[name]), mostFiles, strings.Join(files[name], ", "))
		}
	}
}

// What counts as knowing an event is found in each shape.
func TestKnownEventsAreFound(t *testing.T) {
	types := map[string]bool{"Gaussian": true, "Open": true}
	head := "package p\nimport \"privrec/internal/privacy\"\n"
	for text, want := range map[string]struct {
		pkg   string
		known bool
	}{
		"func f(e any) { switch e.(type) { case privacy.Gaussian: } }": {"internal/cli", true},
		"func f(e E) { switch x := e.Leaf.(type) { case privacy.Gaussian: } }": {
			"internal/privacy/accountant/pld", true},
		"func f(e E) { switch privacy.LawOf(e).(type) { case privacy.Gaussian: } }":      {"internal/cli", false},
		"func f(e E) { switch x := privacy.LawOf(e).(type) { case privacy.Gaussian: } }": {"internal/cli", false},
		"func f(e E) { _, _ = privacy.LawOf(e).(privacy.Gaussian) }": {
			"internal/privacy/accountant", false},
		"func f(e E) { _, _ = e.Leaf.(privacy.Gaussian) }": {
			"internal/privacy/accountant", true},
		"func (p *pair) Gaussian(g privacy.Gaussian) {}": {
			"internal/privacy/accountant/pld", false},
		"func f() (g privacy.Gaussian) { return }": {
			"internal/privacy/accountant/pld", true},
		"func f(e any) { _, _ = e.(privacy.Gaussian) }": {"internal/cli", true},
		"func f(g privacy.Gaussian) {}":                 {"internal/cli", true},
		"var g *privacy.Gaussian":                       {"internal/cli", true},
		"var g = privacy.Gaussian{}.Kind()":             {"internal/cli", false},
		"var g = []any{privacy.Gaussian{Sigma: 1}}":     {"internal/cli", false},
		"var g []privacy.Gaussian":                      {"internal/cli", false},
		"var g = []privacy.Gaussian{{Sigma: 1}}":        {"internal/cli", false},
		"var g = privacy.Gaussian{Sigma: 1} ": {
			"internal/privacy/accountant", true},
		"var g = [](privacy.Open){}; type x struct { privacy.Gaussian }": {
			"internal/privacy/accountant/rdp", true},
		"type Gaussian struct{}; var g Gaussian": {"internal/cli", false},
		"type Gaussian struct{}":                 {"internal/privacy", true},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "f.go", head+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := known(source{pkg: want.pkg, file: file}, types, types)["Gaussian"]; got != want.known {
			t.Errorf("%s in %s: known is %v", text, want.pkg, got)
		}
	}
	renamed := strings.Replace(head, `"privrec`, `p "privrec`, 1) + "var g p.Gaussian"
	file, err := parser.ParseFile(token.NewFileSet(), "f.go", renamed, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if !known(source{pkg: "internal/cli", file: file}, types, types)["Gaussian"] {
		t.Error("an event is not found under another name of its package")
	}
}
