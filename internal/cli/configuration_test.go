package cli

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"privrec/internal/config"
	"privrec/internal/config/explain"
	"privrec/internal/papers"
	"privrec/internal/run"
)

// The comments that the program has are those of its sources, and docs/configuration.md is made of
// them. make docs writes both.
func TestConfigurationPage(t *testing.T) {
	tasks := papers.All()
	comments := sourceComments(t, tasks)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(comments)) {
		fmt.Fprintf(&text, "%s\t%s\n", name, comments[name])
	}
	for path, want := range map[string]string{
		"../config/explain/comments.txt": text.String(),
		"../../docs/configuration.md":    configurationPage(t, tasks, explain.Parse(text.String())),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is out of date, run make docs:\n%s", path, diff)
		}
	}
}

// goName finds names of Go in a comment, which users do not know.
var goName = regexp.MustCompile(`\b[a-z]+\.[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\bpackage [a-z]+`)

// spelled are names that look like those of Go and are none.
var spelled = []string{"GERAI", "MovieLens", "RecBole", "BlurMe", "EdgeRand", "LapGraph", "LightGCN", "SASRec", "NeurIPS", "IJCAI", "ItemKNN", "UserKNN", "TinyLFU", "AdaGrad", "PriCDSR", "PyTorch", "NetRate", "ReLU", "DeepWalk", "TopN"}

// Every key has a comment that users understand.
func TestConfigurationComments(t *testing.T) {
	seen := map[string]bool{}
	for _, task := range papers.All() {
		for _, f := range task.Fields() {
			id := f.Of + "." + f.Name
			if seen[id] {
				continue
			}
			seen[id] = true
			text := explain.BuiltIn().Of(f)
			for _, name := range goName.FindAllString(text, -1) {
				if !slices.Contains(spelled, name) {
					t.Errorf("%s of %s: %q has the name %s of the source", f.Path, task, text, name)
				}
			}
			if text == "" {
				t.Errorf("%s of %s (%s) has no comment", f.Path, task, id)
			}
		}
	}
}

// --defaults prints the same configuration with comments.
func TestDefaultsExplained(t *testing.T) {
	for _, task := range papers.All() {
		text, err := task.Explained()
		if err != nil {
			t.Fatal(err)
		}
		if err := checkText(t, task, text); err != nil {
			t.Errorf("%s: %v\n%s", task, err, text)
		}
		var lines []string
		for _, l := range strings.SplitAfter(string(text), "\n") {
			if s := strings.TrimSpace(l); s != "" && !strings.HasPrefix(s, "#") {
				lines = append(lines, l)
			}
			if len(l) > 121 && strings.HasPrefix(strings.TrimSpace(l), "# ") && !strings.HasPrefix(l, "# ") {
				t.Errorf("%s: a comment of %d characters: %s", task, len(l), l)
			}
		}
		want, err := task.Defaults()
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(string(want), strings.Join(lines, "")); diff != "" {
			t.Errorf("%s: other than the defaults:\n%s", task, diff)
		}
	}
}

func checkText(t *testing.T, task run.Task, text []byte) error {
	path := filepath.Join(t.TempDir(), "defaults.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return task.Check(path, nil)
}

// source is the parsed types and constants of a package.
type source struct {
	types     map[string]*ast.StructType
	docs      map[string]string
	constants map[string]string // texts
}

// parsePackage reads the sources of a package of the program.
func parsePackage(t *testing.T, path string) source {
	t.Helper()
	dir := filepath.Join("../..", strings.TrimPrefix(path, "privrec/"))
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	s := source{map[string]*ast.StructType{}, map[string]string{}, map[string]string{}}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				switch x := spec.(type) {
				case *ast.TypeSpec:
					if st, ok := x.Type.(*ast.StructType); ok {
						s.types[x.Name.Name] = st
						s.docs[x.Name.Name] = cmp.Or(x.Doc.Text(), g.Doc.Text())
					}
				case *ast.ValueSpec:
					for i, n := range x.Names {
						if g.Tok == token.CONST && i < len(x.Values) {
							if lit, ok := x.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
								s.constants[n.Name], _ = strconv.Unquote(lit.Value)
							}
						}
					}
				}
			}
		}
	}
	return s
}

// sourceComments reads the comments on all types that configurations of the tasks are made of.
func sourceComments(t *testing.T, tasks []run.Task) explain.Comments {
	t.Helper()
	packages, out := map[string]source{}, explain.Comments{}
	split := func(id string) (source, string) {
		at := strings.LastIndexByte(id, '.')
		path := id[:at]
		if _, ok := packages[path]; !ok {
			packages[path] = parsePackage(t, path)
		}
		return packages[path], id[at+1:]
	}
	var all [][]config.Field
	for _, task := range tasks {
		all = append(all, task.Fields())
	}
	for _, f := range schemaFiles(allTasks()) {
		all = append(all, f.Fields())
	}
	for _, fields := range all {
		for _, f := range fields {
			if f.Of == "" { // a key of a type without a name
				continue
			}
			s, name := split(f.Of)
			st := s.types[name]
			if st == nil {
				t.Fatalf("no type %s", f.Of)
			}
			keys := keysOf(st)
			for _, field := range st.Fields.List {
				for _, n := range field.Names {
					if n.Name == f.Name {
						set(out, f.Of+"."+f.Name, inUserWords(strings.TrimSpace(field.Doc.Text()+" "+field.Comment.Text()), keys, s.constants))
					}
				}
			}
			if f.Group && f.Type != "" {
				s, name := split(f.Type)
				if st := s.types[name]; st != nil {
					set(out, f.Type, inUserWords("It "+strings.TrimPrefix(s.docs[name], name+" "), keysOf(st), s.constants)[len("It "):])
				}
			}
		}
	}
	return out
}

// keysOf returns the keys of a type's fields, by their names.
func keysOf(st *ast.StructType) map[string]string {
	keys := map[string]string{}
	for _, field := range st.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		key, _, _ := strings.Cut(reflect.StructTag(tag).Get("yaml"), ",")
		for _, n := range field.Names {
			keys[n.Name] = cmp.Or(key, strings.ToLower(n.Name))
		}
	}
	return keys
}

func set(c explain.Comments, name, text string) {
	if text != "" {
		c[name] = text
	}
}

var goWord = regexp.MustCompile(`[A-Za-z]\w*(\.[A-Z]\w*)?`)

// inUserWords replaces names of fields in a comment by their keys, and names of constants by their
// values, and puts it on one line.
func inUserWords(text string, keys, constants map[string]string) string {
	text = strings.Join(strings.Fields(text), " ")
	first := true
	return goWord.ReplaceAllStringFunc(text, func(w string) string {
		begins := first
		first = false
		if v, ok := constants[w]; ok {
			return v
		}
		key, ok := keys[w]
		if ok && (begins || strings.ToUpper(w[1:]) != w[1:] && strings.ToLower(w[1:]) != w[1:]) { // Each alone may be a word
			return key
		}
		return w
	})
}

// configurationPage makes docs/configuration.md.
func configurationPage(t *testing.T, tasks []run.Task, c explain.Comments) string {
	t.Helper()
	type group struct {
		path, of string
		about    config.Field
		fields   []config.Field
		tasks    []string
		limits   map[string][]string // by path, those of the tasks in their order
	}
	var groups []*group
	for _, task := range tasks {
		fields, limits := task.Fields(), task.Limits()
		for _, f := range fields {
			path := ""
			if at := strings.LastIndexByte(f.Path, '.'); at >= 0 {
				path = f.Path[:at]
			}
			if f.Group || path == "run" && task.String() != tasks[0].String() || strings.HasPrefix(path, "run.") && task.String() != tasks[0].String() {
				continue
			}
			at := slices.IndexFunc(groups, func(g *group) bool { return g.path == path && g.of == f.Of })
			if at < 0 {
				g := &group{path: path, of: f.Of, limits: map[string][]string{}}
				for _, a := range fields {
					if a.Group && (a.Path == path || a.Path+"[]" == path) {
						g.about = a
					}
				}
				groups, at = append(groups, g), len(groups)
			}
			g := groups[at]
			if !slices.ContainsFunc(g.fields, func(x config.Field) bool { return x.Path == f.Path }) {
				g.fields = append(g.fields, f)
			}
			if !slices.Contains(g.tasks, task.String()) {
				g.tasks = append(g.tasks, task.String())
			}
			if l := limits[f.Path]; l != "" && !slices.Contains(g.limits[f.Path], l) {
				g.limits[f.Path] = append(g.limits[f.Path], l)
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.path, b.path) })
	type section struct {
		path, body string
		tasks      []string
	}
	var sections []*section // groups of one path that say the same are one
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;")
	for _, g := range groups {
		var b strings.Builder
		if about := c.Of(g.about); about != "" {
			b.WriteString(cell.Replace(strings.ToUpper(about[:1])+about[1:]) + "\n\n")
		}
		b.WriteString("| key | value | meaning |\n| --- | --- | --- |\n")
		for _, f := range g.fields {
			kind := f.Kind
			if f.List {
				kind = "list of " + strings.TrimPrefix(strings.TrimPrefix(kind, "a "), "an ")
			}
			limits := g.limits[f.Path]
			if len(limits) > 0 && !slices.Contains(limits, "not empty") {
				kind += ": " + strings.Join(limits, "; or ")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Path[strings.LastIndexByte(f.Path, '.')+1:], cell.Replace(kind), cell.Replace(c.Of(f)))
		}
		at := slices.IndexFunc(sections, func(s *section) bool { return s.path == g.path && s.body == b.String() })
		if at < 0 {
			at = len(sections)
			sections = append(sections, &section{path: g.path, body: b.String()})
		}
		sections[at].tasks = append(sections[at].tasks, g.tasks...)
	}
	var b, body strings.Builder
	links := map[string][]string{} // by task, to its sections
	anchors := map[string]int{}
	for _, s := range sections {
		title := "Keys at the top"
		if s.path != "" {
			title = "`" + s.path + "`"
		}
		tasks, all := named(s.path, s.tasks), ""
		if len(s.tasks) > mostInTitle {
			tasks, all = fmt.Sprintf("%d tasks", len(s.tasks)), "Of "+tasks+".\n\n"
		}
		title += " of " + tasks
		fmt.Fprintf(&body, "\n## %s\n\n%s%s", title, all, s.body)
		anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		anchors[anchor]++
		if n := anchors[anchor]; n > 1 { // as pages on the web number headings that say the same
			anchor += fmt.Sprintf("-%d", n-1)
		}
		for _, x := range s.tasks {
			label := cmp.Or(s.path, "top")
			for n := 2; slices.ContainsFunc(links[x], func(l string) bool { return strings.HasPrefix(l, "["+label+"](") }); n++ {
				label = fmt.Sprintf("%s, part %d", cmp.Or(s.path, "top"), n)
			}
			links[x] = append(links[x], "["+label+"](#"+anchor+")")
		}
	}
	b.WriteString(`# Configuration

Every key of every task, written from the sources by ` + "`make docs`. `privrec TASK --defaults`" + ` prints the
whole configuration of one task with its defaults and these explanations; a file sets what it changes,
and ` + "`--set train.epochs=3`" + ` changes one key. Where tasks share keys they stand here once.

## Keys by task

`)
	shared := func(link string) bool { return strings.HasPrefix(link, "[run](") || strings.HasPrefix(link, "[run.") }
	ofAll := slices.DeleteFunc(slices.Clone(links[tasks[0].String()]), func(link string) bool { return !shared(link) })
	fmt.Fprintf(&b, "Every task has %s too.\n", strings.Join(ofAll, ", "))
	b.WriteString("`top` are the keys that stand in no group.\n\n| task | keys |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(links)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.Join(slices.DeleteFunc(links[name], shared), ", "))
	}
	return b.String() + body.String()
}

// mostInTitle is how many tasks a title names at most.
const mostInTitle = 8

// notInAnchor are the characters of a title that its anchor lacks.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// named lists tasks, without the verb that all of them have.
func named(path string, tasks []string) string {
	if path == "run" || strings.HasPrefix(path, "run.") {
		return "every task"
	}
	verb, _, _ := strings.Cut(tasks[0], " ")
	for _, x := range tasks {
		if !strings.HasPrefix(x, verb+" ") {
			return strings.Join(tasks, ", ")
		}
	}
	return strings.Join(append([]string{tasks[0]}, trimmed(tasks[1:], verb+" ")...), ", ")
}

func trimmed(all []string, prefix string) (out []string) {
	for _, x := range all {
		out = append(out, strings.TrimPrefix(x, prefix))
	}
	return out
}
