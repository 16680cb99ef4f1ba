package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/demo"
	"privrec/internal/papers"
)

// family are tasks whose runs on one data set score the same users in the same metrics.
type family struct {
	name  string
	tasks []string
	sets  []string          // of all tasks
	more  map[string]string // overrides of one task, several with blanks between
}

// families are all tasks that keep scores of users.
func families() []family {
	return []family{
		{"sessions", []string{"train dipsgnn", "train srgnn", "train apgnn", "train gru4rec"},
			[]string{"data.name=standin-tiny", "data.recipe=dipsgnn", "model.dim=4", "train.epochs=1"}, nil},
		{"graphs", []string{"train rdpgcf", "train bprmf", "train lightgcn", "train ngcf", "train edgerand", "train lapgraph", "train ease", "train itemknn"},
			[]string{"data.name=standin-tiny", "data.recipe=rdpgcf"}, map[string]string{
				"train rdpgcf": "model.dim=4 train.epochs=1", "train bprmf": "model.dim=4 train.epochs=1", "train lightgcn": "model.dim=4 train.epochs=1",
				"train ngcf": "model.dim=4 train.epochs=1", "train edgerand": "model.dim=4 train.epochs=1", "train lapgraph": "model.dim=4 train.epochs=1",
			}},
		{"two domains", []string{"train pricdsr", "train dasl", "train dasl-single"},
			[]string{"data.name=standin-cross", "data.target=left", "data.auxiliary=right", "model.dim=4", "train.epochs=1"}, nil},
		{"next items", []string{"train sasrec"}, []string{"data.name=standin-tiny", "data.recipe=sasrec", "model.dim=4", "train.epochs=1"}, nil},
		{"attributes", []string{"attack attribute"}, []string{"data.name=standin-tiny", "data.recipe=rdpgcf", "attributes=[{name: gender}]",
			"attack.sees=[interactions]", "attack.attackers=[naive-bayes-bernoulli]", "attack.repeats=2"}, nil},
		{"slates", []string{"attack exposure"}, []string{"data.name=standin-slates", "attack.dim=8", "attack.ffn=8", "train.epochs=1", "eval.resamples=100"}, nil},
	}
}

// typed runs a command line of the real program and returns what it wrote.
func typed(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &out, Stderr: &errs}
	code = app.Execute(context.Background(), args)
	return out.String(), errs.String(), code
}

// Runs of any two tasks of a family can be set beside each other, table by table where a run
// keeps several, and runs of two families are refused with what keeps them apart.
func TestCompareEveryPair(t *testing.T) {
	dir := t.TempDir()
	var refs [][]string // by family
	var firsts []string
	for _, f := range families() {
		var of []string
		for _, task := range f.tasks {
			to := filepath.Join(dir, strings.ReplaceAll(task, " ", "-"))
			args := append(strings.Fields(task), "--quiet", "--workers", "1", "--out", to)
			for _, s := range append(append([]string(nil), f.sets...), strings.Fields(f.more[task])...) {
				args = append(args, "--set", s)
			}
			if _, text, code := typed(t, args...); code != 0 {
				t.Fatalf("%s: exit code %d: %s", task, code, text)
			}
			of = append(of, tables(t, to)...)
		}
		refs, firsts = append(refs, of), append(firsts, of[0])
	}
	for i, f := range families() {
		for _, a := range refs[i] {
			for _, b := range refs[i] {
				out, text, code := typed(t, "compare", a, b, "--json")
				if code != 0 {
					t.Errorf("%s: compare %s %s: %s", f.name, a, b, text)
					continue
				}
				var r struct {
					Title  string
					Tables []struct {
						Name string
						Rows []struct{ Metric string }
					}
				}
				if err := json.Unmarshal([]byte(out), &r); err != nil {
					t.Fatal(err)
				}
				if r.Title != "Runs compared" || len(r.Tables) != 2 || r.Tables[0].Name != "means" || r.Tables[1].Name != "differences" {
					t.Fatalf("%s: compare %s %s: %s", f.name, a, b, out)
				}
				for _, m := range r.Tables[0].Rows {
					if !strings.Contains(m.Metric, "@") && !strings.HasPrefix(m.Metric, "micro F1 ") {
						t.Errorf("%s: compare %s %s: %q is shown as a metric", f.name, a, b, m.Metric)
					}
				}
				if len(r.Tables[1].Rows) == 0 {
					t.Errorf("%s: compare %s %s: no differences", f.name, a, b)
				}
			}
		}
	}
	for i, a := range firsts {
		for j, b := range firsts {
			if _, text, code := typed(t, "compare", a, b); i != j && (code != exitUsage || strings.Contains(text, "tables")) {
				t.Errorf("compare %s %s: exit code %d: %s", a, b, code, text)
			}
		}
	}
	several := filepath.Join(dir, "train-dipsgnn")
	_, text, code := typed(t, "compare", several, firsts[1])
	want := "error: " + several + ": the run keeps several tables of scores\nhint: name one of them, as in " + several + ":noise-off; there are noise-off, noise-on\n"
	if code != exitUsage || text != want {
		t.Errorf("a run of two tables: exit code %d: %s", code, text)
	}
}

// tables are the references to a run's tables of scores: the directory alone where there is
// one, under any name.
func tables(t *testing.T, dir string) (refs []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".tsv.gz"); ok && strings.HasPrefix(name, "scores") {
			refs = append(refs, dir+":"+strings.TrimPrefix(strings.TrimPrefix(name, "scores"), "-"))
		}
	}
	if len(refs) == 1 {
		return []string{dir}
	}
	return refs
}
