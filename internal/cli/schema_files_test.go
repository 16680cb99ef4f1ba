package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"privrec/internal/config"
	"privrec/internal/config/schema"
	js "privrec/internal/jsonschema"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/matrix"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tune"
)

// checkedFiles are the files whose schemas say what their checks do, with the check of a text and what the schema
// was made of.
var checkedFiles = []struct {
	name  string
	check func(name string, text []byte, tasks []run.Task) error
	probe func(tasks []run.Task) config.Probed
}{
	{"grid", form[grid.Grid](grid.Grid{}), grid.Probe},
	{"matrix", form[matrix.Matrix](matrix.Matrix{}), matrix.Probe},
	{"study", form[tune.Study](tune.Default()), tune.Probe},
}

// form returns the check of a text that is read over def, whatever other files it names.
func form[T any, P interface {
	*T
	Form(doc *config.Document, tasks []run.Task) error
}](def T) func(name string, text []byte, tasks []run.Task) error {
	return func(name string, text []byte, tasks []run.Task) error {
		of, doc, err := config.Parse(name, text, nil, def)
		if err != nil {
			return err
		}
		return P(&of).Form(doc, tasks)
	}
}

// Schema and program agree on 600 grids, matrices and studies that are shipped ones with one to three changes, as they do
// on configurations.
func TestFileSchemasAndProgramAgree(t *testing.T) {
	r := rng.Seed(1).Stream("mutated files", 0)
	for _, kind := range checkedFiles {
		t.Run(kind.name, func(t *testing.T) {
			at := slices.IndexFunc(schemaFiles(allTasks()), func(f schema.File) bool { return f.Name == kind.name })
			file := schemaFiles(allTasks())[at]
			s := configurationSchemas()[file.FileName()]
			v := compiled(t, file.FileName(), s)
			var shipped [][]byte
			for name, text := range shippedFiles(t) {
				if !strings.HasPrefix(string(text), schemaLine+file.FileName()+"\n") {
					continue
				}
				if err := kind.check(name, text, allTasks()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				shipped = append(shipped, text)
			}
			accepted, beyond, rules := 0, 0, kind.probe(allTasks()).Rules
			for i := range 200 {
				var c map[string]any
				if err := yaml.Unmarshal(shipped[r.IntN(len(shipped))], &c); err != nil {
					t.Fatal(err)
				}
				for range 1 + r.IntN(3) {
					mutateWithin(&r, c, s)
				}
				text, err := yaml.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				ok, b := agree(t, fmt.Sprintf("%d, %s", i, kind.name), s, rules, v, text,
					kind.check("mutated.yaml", text, allTasks()))
				if ok {
					accepted++
				}
				if b {
					beyond++
				}
			}
			t.Logf("the program takes %d of 200; it refuses %d by rules that the schema lists", accepted, beyond)
			if accepted < 20 || accepted > 180 || beyond > 120 {
				t.Errorf("the mutations tell little: %d accepted, %d by rules", accepted, beyond)
			}
		})
	}
}

// mutateWithin changes one key of a mapping, or of a mapping in it or in an entry of its lists.
func mutateWithin(r *rng.Stream, c map[string]any, s *js.Schema) {
	if r.IntN(25) == 0 {
		c["unknown_key"] = 1
		return
	}
	p := s.Properties[r.IntN(len(s.Properties))]
	for range 3 { // mostly of a key that is there
		if _, ok := c[p.Key]; !ok {
			p = s.Properties[r.IntN(len(s.Properties))]
		}
	}
	below, _ := c[p.Key].(map[string]any)
	list, _ := c[p.Key].([]any)
	switch {
	case r.IntN(10) == 0:
		delete(c, p.Key)
	case below != nil && len(p.Properties) > 0 && r.IntN(12) > 0:
		mutateWithin(r, below, p.Schema)
	case len(list) > 0 && p.Items != nil && len(p.Items.Properties) > 0 && r.IntN(12) > 0:
		if entry, ok := list[r.IntN(len(list))].(map[string]any); ok {
			mutateWithin(r, entry, p.Items)
		}
	default:
		c[p.Key] = anyValue(r, p.Schema, 0)
	}
}

// The schemas of grids, matrices and studies say which tasks there are, which words and ranges, and what has to be there.
func TestFileSchemasSay(t *testing.T) {
	for file, want := range map[string][]string{
		"grid.json":   {`"train dipsgnn"`, `"attack membership"`, `"required"`, `"percent"`, `"rises"`, `"minItems": 1`},
		"matrix.json": {`"attack membership"`, `"held-out users"`, `"required"`},
		"study.json":  {`"train bprmf"`, `"halving"`, `"maximum": 100000`, `"required"`},
	} {
		text, err := configurationSchemas()[file].Text()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s does not say %s", file, w)
			}
		}
	}
}
