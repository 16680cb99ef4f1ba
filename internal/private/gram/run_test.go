package gram

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

var suite = topntest.Suite{Tasks: Tasks(), Recipe: "gerai",
	Config: map[string]string{"dp-popularity": "../../../configs/private/smoke-dp-popularity.yaml", "dp-ease": "../../../configs/private/smoke-dp-ease.yaml",
		"dp-itemknn": "../../../configs/private/smoke-dp-itemknn.yaml"},
	Sets: map[string][]string{
		"dp-popularity": topntest.Data("data.recipe=gerai", "eval.candidates=40"),
		"dp-ease":       topntest.Data("data.recipe=gerai", "eval.candidates=40"),
		"dp-itemknn":    topntest.Data("data.recipe=gerai", "eval.candidates=40"),
	}}

// A run has one finite epsilon for a user, that of the setting, by a ledger of as many releases as the method has.
func TestRun(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
		if len(a.Units) != 1 || a.Units[0].Unit != "user" || len(a.Unbounded) != 0 || !(a.Total <= 8 && a.Total > 8*(1-1e-6)) || len(a.Beside) != 2 {
			t.Errorf("%+v", a)
		}
		if a.Threat != release.Threat || !strings.Contains(text, release.Threat) || !strings.Contains(text, ReleasedFile) {
			t.Errorf("the result does not say whom the guarantee is against, or of what it is:\n%s", text)
		}
		l, err := (privacy.Reading{}).File(filepath.Join(dir, run.LedgerName))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{release.CountsPurpose, Purpose}
		if strings.Contains(text, "\n"+Popularity+" on ") {
			want = want[:1]
		}
		var got []string
		for _, e := range l.Entries() {
			if s, ok := privacy.About(e.Event); !ok || s != release.About || e.Count != 1 {
				t.Errorf("the ledger has %+v", e)
			}
			got = append(got, e.Purpose)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the ledger has %v, want %v", got, want)
		}
	})
}

func TestAnswers(t *testing.T) { suite.Answers(t) }

func TestWorkersAndSeeds(t *testing.T) {
	for _, name := range []string{"dp-popularity", "dp-ease", "dp-itemknn"} {
		suite.Repeat(t, name)
	}
}

// With hardly any noise the lists are better than in random order.
func TestLearns(t *testing.T) {
	for _, task := range suite.Tasks {
		dir := filepath.Join(t.TempDir(), task.Name)
		suite.Start(t, task, dir, "privacy.epsilon=900")
		o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
		if floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; got < 1.3*floor {
			t.Errorf("%s: Recall@20 %v, a random order gives %v", task.Name, got, floor)
		}
	}
}

// itemsOf returns how many items a run ranked.
func itemsOf(t *testing.T, dir string) int {
	return runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true).Data.Items
}

// The secure form marks its ledger, releases whole steps, never the same twice, and answers by what it
// released, since the noise cannot be drawn again.
func TestSecure(t *testing.T) {
	for _, task := range suite.Tasks {
		var first []float64
		for _, again := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), task.Name)
			text := suite.Start(t, task, dir, "privacy.secure=true")
			a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
			if a.Noise != "secure" || !(a.Total <= 8 && a.Total > 8*(1-1e-6)) {
				t.Errorf("%s: %+v", task.Name, a)
			}
			if !strings.Contains(text, "may leave the house: ["+ReleasedFile) {
				t.Errorf("%s does not say what may leave the house:\n%s", task.Name, text)
			}
			l, err := (privacy.Reading{}).File(filepath.Join(dir, run.LedgerName))
			if err != nil || l.Noise() != privacy.Secure {
				t.Fatalf("%s: ledger %v (%v)", task.Name, l, err)
			}
			hash := runtest.ReadJSON[run.Manifest](t, dir, "manifest.json", false).ConfigHash
			r, err := readReleased(dir, hash, itemsOf(t, dir))
			if err != nil || r == nil {
				t.Fatal(r, err)
			}
			for _, v := range r.counts {
				if v != float64(int64(v)) {
					t.Fatalf("%s: a count of %v", task.Name, v)
				}
			}
			if again && slices.Equal(first, r.counts) {
				t.Errorf("%s: two runs have the same noise", task.Name)
			}
			first = r.counts
			suite.Open(t, dir)
		}
	}
}

// A secure run that stops after its release cannot begin again: that would be a second release, which no
// ledger lists. Resumed it goes on with what it released.
func TestSecureIsReleasedOnce(t *testing.T) {
	for _, task := range suite.Tasks {
		dir, path := filepath.Join(t.TempDir(), task.Name), ""
		for look := 1; path == ""; look++ {
			if err := suite.Try(runtest.NewFuse(t, look, nil), task, dir, []string{"privacy.secure=true"}, run.Options{Resume: true}); !run.WasInterrupted(err) {
				t.Fatalf("%s: look %d: %v", task.Name, look, err)
			}
			if at := filepath.Join(dir, ReleasedFile); exists(at) {
				path = at
			}
		}
		was := read(t, path)
		if err := suite.Try(t.Context(), task, dir, []string{"privacy.secure=true"}, run.Options{}); err == nil || !strings.Contains(err.Error(), "cannot be drawn again") {
			t.Errorf("%s: from the beginning: %v", task.Name, err)
		}
		if !slices.Equal(read(t, path), was) {
			t.Errorf("%s: a second release", task.Name)
		}
		if err := suite.Try(t.Context(), task, dir, []string{"privacy.secure=true"}, run.Options{Resume: true}); err != nil || !slices.Equal(read(t, path), was) {
			t.Errorf("%s: resumed: %v", task.Name, err)
		}
		for _, file := range []string{ReleasedFile, "metrics.json", "privacy.json", "result.json"} { // published, and moved away
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
		}
		stop(t, dir)
		if err := suite.Try(t.Context(), task, dir, []string{"privacy.secure=true"}, run.Options{Resume: true}); err == nil || !strings.Contains(err.Error(), "has no "+ReleasedFile) {
			t.Errorf("%s: resumed without what it released: %v", task.Name, err)
		}
	}
}

// stop makes a run one that was killed before its end.
func stop(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "manifest.json")
	text := strings.Replace(string(read(t, path)), `"status": "done"`, `"status": "killed"`, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A file that is not this run's, or damaged, is refused and never released anew beside it.
func TestReadReleased(t *testing.T) {
	dir := t.TempDir()
	if r, err := readReleased(dir, "h", 3); r != nil || err != nil {
		t.Errorf("no file: %v, %v", r, err)
	}
	run1 := filepath.Join(dir, "run")
	suite.Start(t, suite.Tasks[1], run1)
	hash := runtest.ReadJSON[run.Manifest](t, run1, "manifest.json", false).ConfigHash
	if _, err := readReleased(run1, "other", itemsOf(t, run1)); err == nil || !strings.Contains(err.Error(), "another configuration") {
		t.Error(err)
	}
	if _, err := readReleased(run1, hash, 3); err == nil {
		t.Error("another catalogue")
	}
	path := filepath.Join(run1, ReleasedFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readReleased(run1, hash, itemsOf(t, run1)); err == nil {
		t.Error("a damaged file")
	}
}
