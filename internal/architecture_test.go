package internal

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/architecture.md and the drawings of docs")

// stories names every floor by a folder that stands on it, and says why the floor is
// there. A floor keeps its story when floors above or below it come and go.
var stories = []struct{ folder, name, why string }{
	{"internal/tensor", "Ground", "Numbers, randomness, settings and the words of privacy. Each knows nothing of ours but itself, so it can be read, tested and taken elsewhere alone."},
	{"internal/autograd", "Gradients, data, noise, prices", "What needs one thing from the ground: the tape needs matrices, data need settings, mechanisms and accountants need the words of privacy and not each other."},
	{"internal/nn", "Layers and updates", "What networks are made of. It does not know which network, and a network does not know how its parameters are updated."},
	{"internal/train", "Training, ranking, networks, attacks", "One training loop and one ranking for all models, so that no model can train or rank in its own favour. A network knows neither."},
	{"internal/run", "Runs and reports", "What every command leaves behind: a directory that is whole after a kill, a ledger, a page. It does not know what was run."},
	{"internal/experiment", "Experiments, files, prices", "What every method does alike: a setting and how it stands to the paper's, training with and without refit, one model file, answers of finished runs. Beside it what makes protected files of files, what shows data sets, and what answers questions about noise. None of them knows a paper."},
	{"internal/protocol", "Protocols", "How data are cut, what is ranked against what, which metrics and floors. A protocol does not know the models, so every model that fits is measured the same way."},
	{"internal/baseline", "Baselines, private recommenders", "Models without protection, each under every protocol that fits. They lie below the papers because several papers print them. Beside them recommenders with one finite epsilon for a whole user, which are of no paper's table."},
	{"internal/papers", "Papers", "A paper's mathematics, its protection, its account, its printed numbers. Papers never import each other: each can be read and removed alone."},
	{"internal/reproduce", "Across runs", "What looks at several runs or at the machine: tables, comparisons, the tour, the doctor."},
	{"internal/cli", "The command line", "The only place that prints, exits and knows flags."},
	{"cmd", "The program", "Two statements."},
}

// room is a folder of floors as the drawing has it, with the rooms that its packages import.
type room struct {
	path  string
	floor int
	doc   string // first sentence of its package comment
	uses  map[*room]bool
}

func (r *room) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(r.path, "internal/"), "privacy/")
}

// roomOf returns the folder that a package is drawn in: the one that floors names for it,
// but none deeper than three folders.
func roomOf(pkg string) (string, error) {
	path, _, err := place(pkg)
	if parts := strings.Split(path, "/"); len(parts) > 3 {
		path, _, err = place(strings.Join(parts[:3], "/"))
	}
	return path, err
}

// rooms returns the import graph of the whole program by folder of floors, the
// highest floor first, then by name.
func rooms(t *testing.T) []*room {
	t.Helper()
	byPath := map[string]*room{}
	at := func(pkg string) *room {
		path, err := roomOf(pkg)
		if err != nil {
			t.Fatal(err)
		}
		if byPath[path] == nil {
			_, floor, err := place(path)
			if err != nil {
				t.Fatal(err)
			}
			byPath[path] = &room{path: path, floor: floor, uses: map[*room]bool{}}
		}
		return byPath[path]
	}
	for _, s := range sources(t) {
		if strings.Contains(s.pkg+"/", "test/") { // it helps tests, and may know what they know
			continue
		}
		r := at(s.pkg)
		for _, i := range s.file.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if rest, ours := strings.CutPrefix(to, module+"/"); ours {
				if u := at(rest); u != r {
					r.uses[u] = true
				}
			}
		}
	}
	var list []*room
	for _, r := range byPath {
		r.doc = synopsis(t, r.path)
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *room) int {
		if a.floor != b.floor {
			return b.floor - a.floor
		}
		return strings.Compare(a.path, b.path)
	})
	return list
}

// synopsis returns the first sentence of a folder's package comment without its first two
// words, "Package x"; empty where the folder holds no package.
func synopsis(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob("../" + folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc == nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := new(doc.Package).Synopsis(f.Doc.Text())
		words := strings.SplitN(text, " ", 3)
		if len(words) < 3 || words[0] != "Package" {
			t.Fatalf("%s: the package comment does not begin with Package and a name: %q", file, text)
		}
		return strings.TrimRight(words[2], ".:")
	}
	return ""
}

// direct returns the imports of a room that none of its other imports has too: what is
// left are the steps by which everything else is reached.
func direct(r *room) []*room {
	reached := map[*room]bool{}
	var walk func(*room)
	walk = func(x *room) {
		for u := range x.uses {
			if !reached[u] {
				reached[u] = true
				walk(u)
			}
		}
	}
	for u := range r.uses {
		walk(u)
	}
	var list []*room
	for u := range r.uses {
		if !reached[u] {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b *room) int { return strings.Compare(a.path, b.path) })
	return list
}

// TestArchitecture demands that docs/architecture.md and its drawing are what the imports,
// the floors and the rules of this package say (make docs).
func TestArchitecture(t *testing.T) {
	list := rooms(t)
	golden(t, "../docs/architecture.svg", string(drawHouse(t, list)))

	const path, from, to = "../docs/architecture.md", "<!-- written by make docs -->\n", "<!-- end -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), from)
	_, tail, ends := strings.Cut(rest, to)
	if !ok || !ends {
		t.Fatalf("%s: the marks %q and %q are not there", path, from, to)
	}
	golden(t, path, head+from+describe(t, list)+to+tail)
}

// golden demands that a file of docs has these bytes, and writes them with -update.
func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v, run make docs", err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is out of date, run make docs:\n%s", path, diff)
	}
}

// story returns the name of a floor and its reason.
func story(t *testing.T, floor int) (name, why string) {
	t.Helper()
	for _, s := range stories {
		if path, f, err := place(s.folder); err == nil && path == s.folder && f == floor {
			if name != "" {
				t.Errorf("floor %d has two stories, of %s and %s: say one in internal/architecture_test.go", floor, name, s.name)
			}
			name, why = s.name, s.why
		}
	}
	if name == "" {
		t.Errorf("floor %d has no story: say in internal/architecture_test.go why it is there", floor)
	}
	return name, why
}

// describe returns the part of the page that is made from the tree.
func describe(t *testing.T, list []*room) string {
	t.Helper()
	var b strings.Builder
	for i, r := range list {
		if i == 0 || r.floor != list[i-1].floor {
			name, why := story(t, r.floor)
			fmt.Fprintf(&b, "\n### Floor %d: %s\n\n%s\n\n", r.floor, strings.ToLower(name[:1])+name[1:], why)
		}
		text := r.doc
		if text == "" {
			text = strings.Join(beneath(t, r), ", ")
		}
		fmt.Fprintf(&b, "- `%s`: %s.\n", r.path, text)
	}
	b.WriteString("\n## Further rules\n\nImports that the floors would allow and that are forbidden all the same:\n\n| from | to | why |\n| --- | --- | --- |\n")
	for _, x := range bans {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", x.from, x.to, x.why)
	}
	b.WriteString("\nA module from elsewhere is imported by one package alone, so that it can be replaced there:\n\n| module | imported by |\n| --- | --- |\n")
	for _, o := range owners {
		by := "`" + o.owner + "`"
		if o.owner == "*" {
			by = "every package"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSuffix(o.module, "/"), by)
	}
	b.WriteString("\n")
	return b.String()
}

// beneath lists the folders of a room that is no package itself.
func beneath(t *testing.T, r *room) []string {
	t.Helper()
	var list []string
	for _, s := range sources(t) {
		if rest, ok := strings.CutPrefix(s.pkg, r.path+"/"); ok && !strings.Contains(rest+"/", "test/") {
			first, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(list, "`"+first+"`") {
				list = append(list, "`"+first+"`")
			}
		}
	}
	slices.Sort(list)
	return list
}
