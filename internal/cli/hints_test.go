package cli

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/demo"
	"privrec/internal/papers"
)

// hintText is what a hint says, with where it stands. What is put into it is a word of its own: %s.
type hintText struct{ at, text string }

// hintCalls are the functions that take a hint, by the place of the argument; -1 is the last one.
var hintCalls = map[string]int{"usagef": 0, "Usagef": 0, "WithHint": 1, "refuse": 0, "Fail": -1, "fail": -1, "bad": -1, "meant": 0}

// hintsOf collects the hints of the source: the fields Fix and Hint, the hints of functions that make errors, and what
// is put together under those names.
func hintsOf(t *testing.T, roots ...string) (all []hintText) {
	t.Helper()
	files := token.NewFileSet()
	for _, root := range roots {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			take := func(e ast.Expr) {
				if text := literals(e); text != "" {
					at := files.Position(e.Pos())
					all = append(all, hintText{fmt.Sprintf("%s:%d", at.Filename, at.Line), text})
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if k, ok := n.Key.(*ast.Ident); ok && isHint(k.Name) {
						take(n.Value)
					}
				case *ast.AssignStmt:
					for i, l := range n.Lhs {
						if isHint(nameOf(l)) && i < len(n.Rhs) {
							take(n.Rhs[i])
						}
					}
				case *ast.CallExpr:
					if at, ok := hintCalls[nameOf(n.Fun)]; ok && len(n.Args) > 0 {
						if at < 0 {
							at += len(n.Args)
						}
						if at < len(n.Args) {
							take(n.Args[at])
						}
					}
				}
				return true
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// isHint reports whether a field or variable of that name holds a hint.
func isHint(name string) bool {
	return slices.Contains([]string{"Fix", "fix", "Hint", "hint", "see", "advice"}, name)
}

// nameOf returns the last name of an expression, "" for others.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// literals puts the literals of an expression together; what is computed is %s.
func literals(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			l, r := literals(e.X), literals(e.Y)
			if l != "" || r != "" {
				return orVerb(l) + orVerb(r)
			}
		}
	case *ast.CallExpr:
		if nameOf(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return literals(e.Args[0])
		}
	case *ast.ParenExpr:
		return literals(e.X)
	}
	return ""
}

func orVerb(text string) string {
	if text == "" {
		return "%s"
	}
	return text
}

// The forms in which hints name commands, flags and keys.
var (
	hintCommand = regexp.MustCompile(`\bprivrec((?: [a-z][a-z-]*)+)`)
	hintFlag    = regexp.MustCompile(`(?:^|[\s(;'"/])--([a-z][a-z-]*)`)
	hintKey     = regexp.MustCompile(`(?:^|[\s(;'"=])([a-z_]+(?:\.[a-z_]+)+)`)
)

// TestHintsNameWhatThereIs carries out what the hints of the program name: a command with --help, a flag of that
// command, or of any where none is named, a key of some configuration.
func TestHintsNameWhatThereIs(t *testing.T) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	root := app.root()
	strict(root)
	flags := map[string]bool{"help": true, "version": true}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(p *pflag.Flag) { flags[p.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	keys, groups := map[string]bool{}, map[string]bool{}
	for _, task := range app.Tasks {
		for _, f := range task.Fields() {
			for at, path := 0, f.Path; at < len(path); at++ { // a group is a key too
				if path[at] == '.' {
					keys[path[:at]] = true
				}
			}
			keys[f.Path] = true
			group, _, ok := strings.Cut(f.Path, ".")
			groups[group] = groups[group] || ok
		}
	}
	var names [3]int
	helped := map[string]bool{}
	for _, h := range hintsOf(t, "..", "../../cmd/privrec") {
		for _, m := range hintCommand.FindAllStringSubmatch(h.text, -1) {
			path := commandPath(root, strings.Fields(m[1]))
			if path == nil {
				t.Errorf("%s: no command %s: %s", h.at, m[0], h.text)
				continue
			}
			names[0]++
			if line := strings.Join(path, " "); !helped[line] {
				helped[line] = true
				if code := app.Execute(context.Background(), append(path, "--help")); code != 0 {
					t.Errorf("%s: %s --help ends with %d", h.at, line, code)
				}
			}
		}
		for _, m := range hintFlag.FindAllStringSubmatch(h.text, -1) {
			names[1]++
			if !flags[m[1]] {
				t.Errorf("%s: no command has the flag --%s: %s", h.at, m[1], h.text)
			}
		}
		for _, m := range hintKey.FindAllStringSubmatch(h.text, -1) {
			if group, _, _ := strings.Cut(m[1], "."); !groups[group] || fileName.MatchString(m[1]) {
				continue
			}
			names[2]++
			if !keys[m[1]] {
				t.Errorf("%s: no configuration has the key %s: %s", h.at, m[1], h.text)
			}
		}
	}
	for i, least := range []int{20, 100, 60} {
		if names[i] < least {
			t.Errorf("%d commands, flags and keys were found in hints, want at least 20, 100, 60: are they still collected?", names)
			break
		}
	}
}

// fileName is a word that is the name of a file, and no key.
var fileName = regexp.MustCompile(`\.(txt|csv|tsv|yaml|json|inter|user|npy|dat|data|parquet)$`)

// commandPath returns the longest path of commands that words begin with, nil where the first is none. A program's name
// in prose is followed by no command: the words after it must begin with one.
func commandPath(root *cobra.Command, words []string) (path []string) {
	at := root
	for _, w := range words {
		i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == w })
		if i < 0 {
			break
		}
		at, path = at.Commands()[i], append(path, w)
	}
	return path
}

// Hints lead on: whoever does what they say does not meet the same error again.
func TestHintsLeadOn(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PRIVREC_DATA", dir)
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log, other := "visitor,sku\n", "user_id,item_id\n"
	list, had, of, strangers, known := "user_id\trank\titem_id\n", "user_id\titem_id\n", "user_id\tgender\tage\n", "user_id\titem_id\n", "user_id\titem_id\n"
	for u := range 40 {
		for k := range 8 {
			log += fmt.Sprintf("v%d,s%d\n", u, (u+3*k)%23)
			other += fmt.Sprintf("v%d,s%d\n", u, (u+3*k)%23)
			list += fmt.Sprintf("u%d\t%d\ti%d\n", u, k+1, (u+2*k)%34)
			switch row := fmt.Sprintf("u%d\ti%d\n", u, (u+2*k+1)%34); {
			case u >= 30:
				strangers += row
			case k == 0 && u < 10:
				known += row
			default:
				had += row
			}
		}
		if u < 30 {
			of += fmt.Sprintf("u%d\t%s\t%d\n", u, []string{"F", "M"}[u%2], 20+u)
		}
	}
	write("lists.tsv", list)
	write("had.tsv", had)
	write("strangers.tsv", strangers)
	write("known.tsv", known)
	write("of.tsv", of)
	write("own-named/own-named.csv", log)
	write("own-yml/own-yml.csv", log)
	write("own-yml/columns.yml", "user: visitor\nitem: sku\n")
	write("own-ratings/ratings.csv", other)
	write("shop/shop.csv", other)
	write("ml-100k/ratings.csv", other)
	const ease = "train ease --quiet --out run --set data.name="
	const brought = " --quiet --out run --recs lists.tsv --train had.tsv "
	move := func(from, to string) func() {
		return func() {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		line, hint string
		do         func() // what the hint says
		then       string // the command line after it; "": the same
	}{
		{ease + "own-named", "a file columns.yaml beside the table says what columns of other names are, as in user: NAME",
			func() { write("own-named/columns.yaml", "user: visitor\nitem: sku\n") }, ""},
		{ease + "own-yml", "rename it", move("own-yml/columns.yml", "own-yml/columns.yaml"), ""},
		{ease + "own-ratings", "the folder has ratings.csv: if that is the log, call it own-ratings.csv", move("own-ratings/ratings.csv", "own-ratings/own-ratings.csv"), ""},
		{ease + "shop", "a folder with data of your own, and its table, have a name with own- before it: own-shop",
			func() { move("shop/shop.csv", "shop/own-shop.csv")(); move("shop", "own-shop")() }, ease + "own-shop"},
		{ease + "ml-100k", "the folder has ratings.csv, which is none of these: a table of your own is read as own-ml-100k.csv in a folder own-ml-100k",
			func() { write("own-ml-100k/own-ml-100k.csv", other) }, ease + "own-ml-100k"},
		{"attack attribute" + brought + "--attributes of.tsv --set attack.k=[8]", "--set 'attributes=[{name: gender}, {name: age, bands: [35, 45]}]' predicts those that it has",
			nil, "attack attribute" + brought + "--attributes of.tsv --set attack.k=[8] --set attributes=[{name: gender},{name: age,bands: [35,45]}]"},
		{"attack attribute" + brought + "--attributes of.tsv --set attributes=[{name: gender}] --set attack.k=[30]", "--set attack.k=[8] takes the whole of the longest list",
			nil, "attack attribute" + brought + "--attributes of.tsv --set attributes=[{name: gender}] --set attack.k=[8]"},
		{"attack membership" + brought + "--non-members strangers.tsv --set attack.k=4", "--level user asks about these users", nil, "attack membership" + brought + "--non-members strangers.tsv --set attack.k=4 --level user"},
		{"attack membership" + brought + "--non-members known.tsv --set attack.k=4 --level user", "--level interaction asks about these rows", nil, "attack membership" + brought + "--non-members known.tsv --set attack.k=4 --level interaction"},
		{"attack membership" + brought + "--level user", "name a file of them with --non-members", nil, "attack membership" + brought + "--level user --non-members strangers.tsv --set attack.k=4"},
	} {
		first := hintOf(t, c.line)
		if !strings.HasPrefix(first, c.hint) && !strings.Contains(first, "; "+c.hint) {
			t.Errorf("%s: hint %q, want %q", c.line, first, c.hint)
		}
		if c.do != nil {
			c.do()
		}
		then := c.then
		if then == "" {
			then = c.line
		}
		if again := hintOf(t, then); again != "" {
			t.Errorf("%s, after %q: hint %q", then, first, again)
		}
	}
	for _, line := range []string{
		"audit tables no.yaml", "tune --study no.yaml", "reproduce --grid no.yaml", "train ease --config no.yaml",
	} {
		if hint := hintOf(t, line); strings.Contains(hint, "--config") {
			t.Errorf("%s: hint %q speaks of another flag", line, hint)
		}
	}
}

// hintOf carries a command line out in a new run directory, and returns the hint of its error, "" where it succeeds.
func hintOf(t *testing.T, line string) string {
	t.Helper()
	if err := os.RemoveAll("run"); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, w := range strings.Fields(line) { // a list in brackets is one word
		if n := len(args); n > 0 && strings.Count(args[n-1], "[") > strings.Count(args[n-1], "]") {
			args[n-1] += " " + w
			continue
		}
		args = append(args, w)
	}
	var stderr bytes.Buffer
	app := &App{Tasks: papers.All(), Stdout: &bytes.Buffer{}, Stderr: &stderr}
	code := app.Execute(context.Background(), args)
	_, hint, _ := strings.Cut(stderr.String(), "hint: ")
	if hint = strings.TrimSpace(hint); (code == 0) != (hint == "") {
		t.Errorf("%s: exit %d: %s", line, code, stderr.String())
	}
	return hint
}
