package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"privrec/internal/config"
	"privrec/internal/config/schema"
	"privrec/internal/dataset"
	js "privrec/internal/jsonschema"
	"privrec/internal/papers"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// allTasks returns all tasks, which remember their rules.
var allTasks = sync.OnceValue(papers.All)

// configurationSchemas returns the schemas of all tasks and other YAML files, by file name.
var configurationSchemas = sync.OnceValue(func() map[string]*js.Schema {
	out := map[string]*js.Schema{}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, f := range schemaFiles(allTasks()) {
		out[f.FileName()] = f.Schema()
	}
	for _, task := range allTasks() {
		wg.Go(func() {
			s := task.Schema()
			mu.Lock()
			defer mu.Unlock()
			out[task.SchemaFile()] = s
		})
	}
	wg.Wait()
	return out
})

// A schema that changes is seen: the list has the hash of every one that privrec list schema --out writes. make docs writes
// the list.
func TestSchemaHashes(t *testing.T) {
	dir := t.TempDir()
	app := &App{Tasks: papers.All(), Stdout: io.Discard, Stderr: io.Discard}
	if code := app.Execute(t.Context(), []string{"list", "schema", "--out", dir}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sameFile(t, "testdata/schemas.sha256", b.Bytes())
}

// sameFile compares a generated file, or writes it under -update.
func sameFile(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date, run make docs:\n%s", path, gocmp.Diff(string(want), string(got)))
	}
}

// compiled returns the validator of a schema.
func compiled(t *testing.T, file string, s *js.Schema) *validator.Schema {
	t.Helper()
	text, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///"+file, doc); err != nil {
		t.Fatal(err)
	}
	v, err := c.Compile("file:///" + file)
	if err != nil {
		t.Fatalf("%s is no schema: %v", file, err)
	}
	return v
}

// instance returns a YAML text as a validator of editors sees it.
func instance(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return asJSON(v)
}

// asJSON returns a value of YAML as JSON's. Infinity is a number above all others.
func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asJSON(v[k])
		}
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case float64:
		switch {
		case math.IsInf(v, 1):
			return json.Number("1e400")
		case math.IsInf(v, -1):
			return json.Number("-1e400")
		}
		return json.Number(fmt.Sprintf("%v", v))
	case int, int64, uint64:
		return json.Number(fmt.Sprint(v))
	}
	return v
}

// verdict says whether a program takes a configuration, and if it does not whether a schema could
// have said so: the rules that no schema says are those that its description lists.
func verdict(s *js.Schema, rules []config.Rule, err error) (ok, beyond bool, why string) {
	if err == nil {
		return true, false, ""
	}
	var all config.Errors
	if !errors.As(err, &all) {
		return false, false, err.Error()
	}
	beyond = true
	for _, e := range all {
		loose := strings.Contains(s.Description[strings.LastIndex(s.Description, "\n"):], " "+pattern(e.Path)) && strings.Contains(s.Description, "\nTheir ranges depend on other keys: ")
		listed := slices.ContainsFunc(rules, func(r config.Rule) bool {
			return r.Name() == e.Rule && strings.Contains(s.Description, "\n- "+r.Path+": "+r.Words)
		})
		if !listed && !loose {
			beyond = false
		}
	}
	return false, beyond, err.Error()
}

// pattern returns a key path with [] in place of the numbers of entries.
func pattern(path string) string {
	words := strings.Split(path, ".")
	out := ""
	for i, w := range words {
		switch {
		case w != "" && strings.Trim(w, "0123456789") == "":
			out += "[]"
		case i > 0:
			out += "." + w
		default:
			out += w
		}
	}
	return out
}

// agree fails where schema and program disagree about a text, unless the program refuses it by
// rules that no schema says.
func agree(t *testing.T, name string, s *js.Schema, rules []config.Rule, v *validator.Schema, text []byte, err error) (accepted, beyond bool) {
	t.Helper()
	ok, beyond, why := verdict(s, rules, err)
	said := v.Validate(instance(t, text))
	switch {
	case ok && said != nil:
		t.Errorf("%s: the schema refuses what the program takes: %v\n%s", name, said, text)
	case !ok && said == nil && !beyond:
		t.Errorf("%s: the schema takes what the program refuses: %v\n%s", name, why, text)
	}
	return ok, beyond && said == nil
}

// Schema and program agree on 500 configurations that are wrong in one to three ways or at the
// edge of it, or differ by rules that the schema lists.
func TestSchemasAndProgramAgree(t *testing.T) {
	tasks := allTasks()
	r := rng.Seed(1).Stream("mutated configurations", 0)
	accepted, beyond := 0, 0
	validators := map[string]*validator.Schema{}
	for i := range 500 {
		task := tasks[r.IntN(len(tasks))]
		s := configurationSchemas()[task.SchemaFile()]
		if validators[task.SchemaFile()] == nil {
			validators[task.SchemaFile()] = compiled(t, task.SchemaFile(), s)
		}
		text := mutated(t, &r, task, s)
		_, err := task.Plan(run.Options{Config: "mutated.yaml", Text: text, Sets: nil})
		if e := (*dataset.Error)(nil); errors.As(err, &e) { // what a data set has is no matter of a schema
			err = nil
		}
		ok, b := agree(t, fmt.Sprintf("%d, %s", i, task), s, task.Rules(), validators[task.SchemaFile()], text, err)
		if ok {
			accepted++
		}
		if b {
			beyond++
		}
	}
	t.Logf("the program takes %d of 500; it refuses %d by rules that the schema lists", accepted, beyond)
	if accepted < 50 || accepted > 450 || beyond > 150 {
		t.Errorf("the mutations tell little: %d accepted, %d by rules", accepted, beyond)
	}
}

// mutated returns the text of a configuration of a task with one to three changes.
func mutated(t *testing.T, r *rng.Stream, task run.Task, s *js.Schema) []byte {
	t.Helper()
	base, err := task.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := yaml.Unmarshal(base, &c); err != nil {
		t.Fatal(err)
	}
	if r.IntN(4) == 0 {
		c = map[string]any{}
	}
	for range 1 + r.IntN(3) {
		mutate(r, c, s)
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// mutate changes one key below a mapping.
func mutate(r *rng.Stream, c map[string]any, s *js.Schema) {
	if r.IntN(20) == 0 {
		c["unknown_key"] = 1
		return
	}
	p := s.Properties[r.IntN(len(s.Properties))]
	below, _ := c[p.Key].(map[string]any)
	switch {
	case len(p.Properties) > 0 && r.IntN(12) > 0:
		if below == nil {
			below = map[string]any{}
			c[p.Key] = below
		}
		mutate(r, below, p.Schema)
	case r.IntN(10) == 0:
		delete(c, p.Key)
	default:
		c[p.Key] = anyValue(r, p.Schema, 0)
	}
}

// anyValue draws a value for a key: mostly of its type, at an edge of its range or a word that it
// has, and sometimes one of another type.
func anyValue(r *rng.Stream, s *js.Schema, depth int) any {
	if r.IntN(4) == 0 {
		return []any{nil, "x", "", 0, 1, -1, 0.5, 7, true, false, []any{}, []any{1, 1}, []any{"a"}, map[string]any{}, map[string]any{"a": 1}, math.Inf(1), 1 << 40}[r.IntN(17)]
	}
	var near []any
	for _, w := range s.Enum {
		near = append(near, w)
		if word, ok := w.(string); ok {
			near = append(near, word+"x")
		}
	}
	whole := slices.Contains(s.Type, js.Integer)
	bounds := []*js.Schema{s}
	bounds = append(bounds, s.AllOf...)
	bounds = append(bounds, s.AnyOf...)
	for _, part := range bounds {
		for _, d := range []*js.Decimal{part.Minimum, part.Above, part.Maximum, part.Below} {
			if d == nil || len(*d) > 15 {
				continue
			}
			x, err := json.Number(*d).Float64()
			switch {
			case err != nil:
			case whole:
				near = append(near, int(x), int(x)-1, int(x)+1)
			default:
				near = append(near, x, x-0.125, x+0.125, x/2)
			}
		}
	}
	switch {
	case slices.Contains(s.Type, js.Array) && depth < 2:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, anyValue(r, s.Items, depth+1))
		}
		return list
	case slices.Contains(s.Type, js.Object):
		c := map[string]any{}
		for range 1 + r.IntN(3) {
			if len(s.Properties) == 0 {
				return c
			}
			p := s.Properties[r.IntN(len(s.Properties))]
			c[p.Key] = anyValue(r, p.Schema, depth+1)
		}
		return c
	case len(near) > 0:
		return near[r.IntN(len(near))]
	case whole:
		return []any{0, 1, -1, 5}[r.IntN(4)]
	case slices.Contains(s.Type, js.Number):
		return []any{0, 1, -1, 0.5, 1e-3}[r.IntN(5)]
	case slices.Contains(s.Type, js.Boolean):
		return r.IntN(2) == 0
	}
	return []any{"", "x", "ml-100k"}[r.IntN(3)]
}

// What schemas cannot say is listed by name: a new rule has to be seen. make docs writes
// the list.
func TestRulesBeyondSchemas(t *testing.T) {
	of := map[string][]string{}
	for _, task := range allTasks() {
		for _, r := range task.Rules() {
			if name := fmt.Sprintf("%s: %q", r.Path, r.Format); !slices.Contains(of[name], task.String()) {
				of[name] = append(of[name], task.String())
			}
		}
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(of)) {
		tasks := strings.Join(of[name], ", ")
		if len(of[name]) == len(allTasks()) {
			tasks = "all"
		}
		fmt.Fprintf(&b, "%s\t%s\n", name, tasks)
	}
	sameFile(t, "testdata/schema-rules.txt", b.Bytes())
}

// Spelling is what the program refuses and a schema takes, or the other way, since it sees values
// and not their text.
func TestSpellingBeyondSchemas(t *testing.T) {
	task := allTasks()[slices.IndexFunc(allTasks(), func(t run.Task) bool { return t.String() == "train lightgcn" })]
	s := configurationSchemas()[task.SchemaFile()]
	v := compiled(t, task.SchemaFile(), s)
	for _, text := range []string{
		"train: {epochs: 3.0}", "train: {epochs: 3e0}", "train: {epochs: 0x10}", "train: {epochs: 1_000}",
		"train: {rate: 0.1}\nmodel: &m {dim: 8}", "data: {name: ml-100k, recipe: !!str gerai}",
	} {
		if err := task.Check(written(t, text), nil); err == nil {
			t.Errorf("the program takes %s", text)
		}
		if err := v.Validate(instance(t, []byte(text))); err != nil {
			t.Errorf("the schema refuses %s: %v; it need not be in the list of spellings", text, err)
		}
	}
	for _, spelling := range schema.Spelling {
		if !strings.Contains(s.Description, spelling) {
			t.Errorf("the description does not say: %s", spelling)
		}
	}
}

// written writes a configuration to a file.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const schemaLine = "# yaml-language-server: $schema=../../docs/schemas/"

// Every file of settings that comes with the program begins with the line that tells editors its
// schema, and the schema takes it; so does the task whose schema it is, which it names.
func TestShippedConfigurationsNameTheirSchema(t *testing.T) {
	tasks := map[string]run.Task{}
	for _, task := range papers.All() {
		tasks[task.SchemaFile()] = task
	}
	validators := map[string]*validator.Schema{}
	for file, text := range shippedFiles(t) {
		first, rest, _ := strings.Cut(string(text), "\n")
		name, ok := strings.CutPrefix(first, schemaLine)
		s := configurationSchemas()[name]
		if !ok || s == nil {
			t.Errorf("%s begins with %q, want %s and the name of a schema", file, first, schemaLine)
			continue
		}
		if strings.Contains(rest, "yaml-language-server") {
			t.Errorf("%s names its schema twice", file)
		}
		if validators[name] == nil {
			validators[name] = compiled(t, name, s)
		}
		if err := validators[name].Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if task, ok := tasks[name]; ok {
			if err := task.Check(file, nil); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if named, err := config.Top(file, "task"); named != task.String() || err != nil {
				t.Errorf("%s names the task %q, %v, want %s", file, named, err, task)
			}
		}
	}
}
