package baseline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
)

func TestAnswers(t *testing.T) { suite.Answers(t) }

// What changed on disk since is refused, by name.
func TestServeRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"vectors gone", func(t *testing.T, dir string) { remove(t, dir, experiment.ModelFile) }, experiment.ModelFile},
		{"vectors cut", func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, experiment.ModelFile), 100); err != nil {
				t.Fatal(err)
			}
		}, experiment.ModelFile},
		{"metrics gone", func(t *testing.T, dir string) { remove(t, dir, "metrics.json") }, "metrics.json"},
		{"another data set", func(t *testing.T, dir string) { manifest(t, dir, func(m *run.Manifest) { m.Data[0].SHA256 = "0" }) }, "are not those of the run"},
		{"not finished", func(t *testing.T, dir string) {
			manifest(t, dir, func(m *run.Manifest) { m.Status = run.StatusInterrupted })
		}, "not finished: interrupted"},
		{"another program's", func(t *testing.T, dir string) { manifest(t, dir, func(m *run.Manifest) { m.Task = "train x" }) }, `"train x"`},
		{"another configuration", func(t *testing.T, dir string) { manifest(t, dir, func(m *run.Manifest) { m.ConfigHash = "0" }) }, "is not the configuration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			start(t, task(t, "bprmf"), dir)
			c.change(t, dir)
			s, err := experiment.Ask(t.Context(), suite.Tasks, dir)
			if err == nil {
				defer s.Close()
				_, err = s.Evaluate(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error about %s", err, c.want)
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// manifest changes the manifest of a run.
func manifest(t *testing.T, dir string, change func(*run.Manifest)) {
	t.Helper()
	m, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	change(&m)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Scores that differ from those reported are told, with by how much.
func TestServeTellsDifferences(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, task(t, "bprmf"), dir)
	o := outcome(t, dir)
	o.Evaluations[0].Values["Recall@20"] += 0.25
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "metrics.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := experiment.Ask(t.Context(), suite.Tasks, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if notes := topntest.Read(t, r).Notes; !slices.Contains(notes, "differs from what the run reported by up to "+strconv.FormatFloat(0.25, 'g', 2, 64)) {
		t.Errorf("%v", notes)
	}
}
