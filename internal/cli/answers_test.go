package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"privrec/internal/demo"
	"privrec/internal/jsonschema"
	"privrec/internal/papers"
	"privrec/internal/run"
)

// The schemas of what commands print are schemas.
func TestAnswerSchemas(t *testing.T) {
	for _, x := range printedAnswers() {
		s, err := x.schema()
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compileText(x.fileName(), text); err != nil {
			t.Error(err)
		}
	}
}

// Every command with --json has a schema, and every schema has a command.
func TestEveryJSONHasASchema(t *testing.T) {
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: io.Discard, Stderr: io.Discard}
	var paths []string
	for _, path := range commandsWithJSON(app.root()) {
		path = strings.TrimPrefix(path, "privrec ")
		paths = append(paths, path)
		if _, ok := answerOf(path); !ok {
			t.Errorf("privrec %s --json has no schema", path)
		}
	}
	for _, x := range printedAnswers() {
		for _, pattern := range x.commands {
			folder, all := strings.CutSuffix(pattern, "*")
			if !slices.ContainsFunc(paths, func(p string) bool { return p == pattern || all && strings.HasPrefix(p, folder) }) {
				t.Errorf("answer %s: no command %q has --json", x.name, pattern)
			}
		}
	}
}

// fitsSchema validates what a command printed.
func fitsSchema(app *App, args []string, document []byte) error {
	args, _ = movedLine(args)
	c, _, err := app.root().Find(args)
	if err != nil {
		return err
	}
	path := strings.TrimPrefix(c.CommandPath(), "privrec ")
	if path == "train adder" { // a task of the scripts, whose result is a number
		return nil
	}
	x, ok := answerOf(path)
	if !ok {
		return fmt.Errorf("%s has no schema", path)
	}
	s, err := x.schema()
	if err != nil {
		return err
	}
	return validate(s, x.fileName(), document)
}

// validate holds a document against a schema.
func validate(s *jsonschema.Schema, name string, document []byte) error {
	text, err := s.Text()
	if err != nil {
		return err
	}
	v, err := compileText(name, text)
	if err != nil {
		return err
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	return v.Validate(doc)
}

// compileText returns the validator of a schema.
func compileText(name string, text []byte) (*validator.Schema, error) {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///"+name, doc); err != nil {
		return nil, err
	}
	v, err := c.Compile("file:///" + name)
	if err != nil {
		return nil, fmt.Errorf("%s is no schema: %w", name, err)
	}
	return v, nil
}

// calculations returns a command line for every account and every calibration of one mechanism.
func calculations(t *testing.T, app *App) (lines [][]string) {
	t.Helper()
	values := map[string]string{
		"sigma": "4", "sensitivity": "1", "noise-multiplier": "4", "sampling-rate": "0.01", "scale": "4", "clip": "1", "epsilon": "0.1", "categories": "4",
		"steps": "10", "delta": "1e-5", "alpha": "3", "trials": "4", "eta": "1", "records": "10000", "batch": "100",
		"epochs": "2", "horizon": "30",
	}
	for _, path := range commandsWithJSON(app.root()) {
		words := strings.Fields(path)[1:]
		others := []string{"ledger", "events", "budget", "curve", "epsilon"}
		if len(words) < 2 || words[0] != "account" || slices.Contains(others, words[1]) {
			continue
		}
		c, _, err := app.root().Find(words)
		if err != nil {
			t.Fatal(err)
		}
		_, flags, _ := strings.Cut(c.UseLine(), " --")
		args := slices.Clone(words)
		for _, f := range strings.Split(flags, " --") {
			name, _, _ := strings.Cut(f, " ")
			value, ok := values[name]
			if words[1] == "calibrate" && name == "epsilon" {
				value = "1"
			}
			if !ok {
				t.Errorf("%s: no value for --%s", path, name)
			}
			args = append(args, "--"+name, value)
		}
		lines = append(lines, append(args, "--json"))
	}
	if len(lines) < 17 {
		t.Errorf("only %d commands", len(lines))
	}
	return lines
}

// The calculator lays its answers out by hand: what every mechanism prints fits its schema.
func TestCalculatorFitsItsSchemas(t *testing.T) {
	app := &App{Stdout: io.Discard, Stderr: io.Discard}
	for _, args := range calculations(t, app) {
		var out, complaint bytes.Buffer
		asked := &App{Stdout: &out, Stderr: &complaint}
		if code := asked.Execute(context.Background(), args); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, &complaint)
			continue
		}
		if err := fitsSchema(app, args, out.Bytes()); err != nil {
			t.Errorf("%v: %v\n%s", args, err, &out)
		}
	}
}

// What runs kept of their results, which is what --json printed, fits.
func TestKeptResultsFitTheirSchema(t *testing.T) {
	files, err := filepath.Glob("../../testdata/runs/*/result.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	app := &App{Tasks: papers.All(), Stdout: io.Discard, Stderr: io.Discard}
	for _, file := range files {
		m, err := run.ReadManifest(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := fitsSchema(app, strings.Fields(m.Task), text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A key that is missing, renamed, new or of another type does not fit.
func TestAnswerSchemasRefuse(t *testing.T) {
	var out bytes.Buffer
	app := &App{Stdout: &out, Stderr: io.Discard}
	words := strings.Fields("account gaussian --sigma 2 --sensitivity 1 --steps 1 --delta 1e-5 --json")
	if code := app.Execute(context.Background(), words); code != 0 {
		t.Fatal(code)
	}
	for name, change := range map[string]func(v map[string]any){
		"":        func(map[string]any) {},
		"missing": func(v map[string]any) { delete(v, "epsilon") },
		"renamed": func(v map[string]any) { v["eps"] = v["epsilon"]; delete(v, "epsilon") },
		"new":     func(v map[string]any) { v["more"] = 1 },
		"type":    func(v map[string]any) { v["epsilon"] = "inf" },
		"inside":  func(v map[string]any) { delete(v["risk"].(map[string]any), "rates") },
	} {
		var v map[string]any
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		change(v)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := fitsSchema(app, words, text); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
