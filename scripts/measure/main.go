// Command measure counts what a reader of the tree has to hold in mind: lines, concepts that share a name, commands.
//
//	go run ./scripts/measure                  counts, as a table
//	go run ./scripts/measure -comments 30 -seed 1   doc comments drawn at random, to read
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// widest is the column at which lines end.
const widest = 120

// common are names that many packages gave to types of their own.
var common = []string{"Outcome", "Gain", "DataSummary", "Claim"}

func main() {
	comments := flag.Int("comments", 0, "draw so many doc comments in place of counting")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	t, err := read(*root)
	if err == nil && *comments > 0 {
		err = t.draw(*comments, *seed)
	} else if err == nil {
		err = t.print(*root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// tree holds the counts of a repository.
type tree struct {
	files, tests    int // Go files
	lines, inTests  int // with code: comments and blank lines do not count
	wide, generated int // lines of sources that are wider; lines with code of generated files, which count nowhere else
	types           map[string]int
	keys            int // calls of context.WithValue
	docs            []doc
}

// doc is the comment of a top-level declaration.
type doc struct{ at, text string }

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// read parses every Go file below cmd, internal and scripts.
func read(root string) (*tree, error) {
	t := &tree{types: map[string]int{}}
	for _, top := range []string{"cmd", "internal", "scripts"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() != "testdata" {
				return err
			}
			if d.IsDir() {
				return filepath.SkipDir
			}
			if filepath.Ext(path) != ".go" {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return t.add(filepath.ToSlash(name), text)
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add counts a file.
func (t *tree) add(name string, text []byte) error {
	n := codeLines(text)
	switch {
	case generated.Match(text):
		t.generated += n
		return nil
	case strings.HasSuffix(name, "_test.go"):
		t.tests, t.inTests = t.tests+1, t.inTests+n
		return nil
	}
	t.files, t.lines = t.files+1, t.lines+n
	for line := range bytes.Lines(text) {
		line = bytes.ReplaceAll(bytes.TrimRight(line, "\n"), []byte("\t"), []byte("    "))
		if utf8.RuneCount(line) > widest {
			t.wide++
		}
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	keep := func(at token.Pos, c *ast.CommentGroup) {
		if c != nil {
			p := fset.Position(at)
			t.docs = append(t.docs, doc{fmt.Sprintf("%s:%d", p.Filename, p.Line), strings.TrimSpace(c.Text())})
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			keep(d.Pos(), d.Doc)
		case *ast.GenDecl:
			keep(d.Pos(), d.Doc)
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && slices.Contains(common, s.Name.Name) {
					t.types[s.Name.Name]++
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "WithValue" {
				t.keys++
			}
		}
		return true
	})
	return nil
}

// codeLines counts the lines with a token that is no comment.
func codeLines(text []byte) int {
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	on := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return len(on)
		}
		if tok == token.SEMICOLON && lit == "\n" { // put in at the end of a line
			continue
		}
		first := file.Line(pos)
		for i := range 1 + strings.Count(lit, "\n") {
			on[first+i] = true
		}
	}
}

// draw prints doc comments drawn at random.
func (t *tree) draw(n int, seed uint64) error {
	if n > len(t.docs) {
		return fmt.Errorf("there are %d doc comments", len(t.docs))
	}
	for _, k := range rand.New(rand.NewPCG(seed, 0)).Perm(len(t.docs))[:n] {
		fmt.Printf("%s\n  %s\n\n", t.docs[k].at, strings.ReplaceAll(t.docs[k].text, "\n", "\n  "))
	}
	return nil
}

// heading is a command in the reference of commands.
var heading = regexp.MustCompile("(?m)^#+ (privrec [a-zA-Z0-9 -]+?)$")

// Places in the reference of commands.
const (
	hidden   = "\n## Commands that the help does not list\n"
	ofModels = "\n### privrec train MODEL\n"
)

// reference is what the reference of commands holds.
type reference struct {
	top    int // commands below the program that its help lists
	leaves int // commands without others below them: train MODEL and bench CASE count once each
	models int // rows of the table of models
}

// commands counts the commands of the reference.
func commands(root string) (r reference, err error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "commands.md"))
	if err != nil {
		return r, err
	}
	shown, rest, found := strings.Cut(string(text), hidden)
	_, models, trains := strings.Cut(shown, ofModels)
	if !found || !trains {
		return r, fmt.Errorf("docs/commands.md: want the headings %q and %q", hidden, ofModels)
	}
	models, _, _ = strings.Cut(models, "\n### ")
	r.models = strings.Count(models, "\n| `")
	of := func(text string) (all []string) {
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			all = append(all, m[1])
		}
		return all
	}
	all := append(of(shown), of(rest)...)
	tops := map[string]bool{} // train is the first word of train MODEL
	for _, c := range of(shown) {
		tops[strings.Fields(c)[1]] = true
	}
	r.top = len(tops)
	for _, c := range all {
		if !slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, c+" ") }) {
			r.leaves++
		}
	}
	return r, nil
}

// print prints the counts.
func (t *tree) print(root string) error {
	r, err := commands(root)
	if err != nil {
		return err
	}
	named := 0
	for _, n := range t.types {
		named += n
	}
	for _, row := range []struct {
		what  string
		count int
	}{
		{"files of sources", t.files},
		{"lines of code in sources", t.lines},
		{"lines of code that a generator wrote", t.generated},
		{"files of tests", t.tests},
		{"lines of code in tests", t.inTests},
		{fmt.Sprintf("lines of sources over %d columns", widest), t.wide},
		{"types named " + strings.Join(common, ", "), named},
		{"values put into a context", t.keys},
		{"commands at the top that the help lists", r.top},
		{"commands without others below them; train MODEL and bench CASE count once each", r.leaves},
		{"models of train MODEL", r.models},
	} {
		fmt.Printf("%8d  %s\n", row.count, row.what)
	}
	return nil
}
