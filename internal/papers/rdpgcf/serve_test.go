package rdpgcf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// answer is what a server says, as JSON has it.
type answer struct {
	Tables []struct {
		Name string           `json:"name"`
		Rows []map[string]any `json:"rows"`
	} `json:"tables"`
	Notes []string `json:"notes"`
}

func read(t *testing.T, r run.Result) (a answer) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// Every task's runs recommend what their user has not seen, best first, and rank as
// they reported.
func TestServe(t *testing.T) {
	for _, task := range Tasks() {
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			start(t, task, dir)
			before := runtest.Artefacts(t, dir)
			s, err := run.Serve(t.Context(), Tasks(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			r, err := s.Recommend(t.Context(), run.Recommend{Users: []string{"7", "2"}, K: 6})
			if err != nil {
				t.Fatal(err)
			}
			rows := read(t, r).Tables[0].Rows
			if len(rows) != 12 {
				t.Fatalf("%d rows for 2 users of 6", len(rows))
			}
			x := onStandIn(t)
			for k, row := range rows {
				user := []string{"7", "2"}[k/6]
				if row["user"] != user || row["rank"] != float64(k%6+1) {
					t.Errorf("row %d is %v", k, row)
				}
				if k%6 > 0 && row["score"].(float64) > rows[k-1]["score"].(float64) {
					t.Errorf("row %d scores above the one before", k)
				}
				u, i := slices.Index(x.data.UserIDs, user), slices.Index(x.data.ItemIDs, row["item"].(string))
				if slices.Contains(x.test.seen[u], int32(i)) {
					t.Errorf("user %s is recommended item %v, which they have", user, row["item"])
				}
			}
			e, err := s.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if a := read(t, e); !slices.Contains(a.Notes, "equal to what the run reported") || len(a.Tables[0].Rows) < 3 {
				t.Errorf("%+v", a)
			}
			runtest.Same(t, "after the questions", runtest.Artefacts(t, dir), before)
		})
	}
}

// The releases of a run answer apart.
func TestServeReleases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, task(t, "rdpgcf"), dir)
	s, err := run.Serve(t.Context(), Tasks(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lists := map[string]string{}
	for _, kind := range []string{"", ReleaseNoisy, ReleaseAvg, ReleaseClean} {
		r, err := s.Recommend(t.Context(), run.Recommend{Users: []string{"7"}, K: 10, Release: kind})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range read(t, r).Tables[0].Rows {
			lists[kind] += row["item"].(string) + " "
		}
	}
	if lists[""] != lists[ReleaseNoisy] || lists[ReleaseNoisy] == lists[ReleaseClean] || lists[ReleaseAvg] == lists[ReleaseNoisy] {
		t.Errorf("%v", lists)
	}
	if _, err := s.Recommend(t.Context(), run.Recommend{Users: []string{"7"}, K: 10, Release: "raw"}); err == nil {
		t.Error("no error for a release that is not there")
	}
}

// What changed on disk since is refused, by name.
func TestServeRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"vectors gone", func(t *testing.T, dir string) { remove(t, dir, "vectors.safetensors") }, "vectors.safetensors"},
		{"vectors cut", func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "vectors.safetensors"), 100); err != nil {
				t.Fatal(err)
			}
		}, "vectors.safetensors"},
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
			s, err := run.Serve(t.Context(), Tasks(), dir)
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
	o := readJSON[Outcome](t, dir, "metrics.json")
	o.Evaluations[0].Values["Recall@20"] += 0.25
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "metrics.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := run.Serve(t.Context(), Tasks(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if notes := read(t, r).Notes; !slices.Contains(notes, "differs from what the run reported by up to "+strconv.FormatFloat(0.25, 'g', 2, 64)) {
		t.Errorf("%v", notes)
	}
}

// The repaired method's runs answer like any other.
func TestServeRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := try(t.Context(), task(t, "rdpgcf"), dir, []string{"train.epochs=1"}, run.Options{Config: "../../../configs/rdpgcf/ml-1m-repaired.yaml"}); err != nil {
		t.Fatal(err)
	}
	s, err := run.Serve(t.Context(), Tasks(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := read(t, r); !slices.Contains(a.Notes, "equal to what the run reported") {
		t.Errorf("%v", a.Notes)
	}
	if r, err = s.Recommend(t.Context(), run.Recommend{Users: []string{"3"}, K: 4}); err != nil || len(read(t, r).Tables[0].Rows) != 4 {
		t.Errorf("%v, %v", r, err)
	}
}
