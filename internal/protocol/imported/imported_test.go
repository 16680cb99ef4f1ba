package imported_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"privrec/internal/compare"
	"privrec/internal/experiment"
	"privrec/internal/papers"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/topn"
	"privrec/internal/run/runtest"
)

// What a model of this program measures, its lists measure when they are imported, floors included. The imported run
// answers without the files that it came from.
func TestImportedIsTheRun(t *testing.T) {
	ease, _ := must(t, "train ease", "data.name=standin-tiny", "data.recipe=rdpgcf", "eval.k=[5, 10, 20]")
	files := export(t, ease, 40)
	dir, text := must(t, "import lists", append(files.sets(), "name=EASE", "program=a test")...)
	was := runtest.ReadJSON[topn.Outcome](t, ease, "metrics.json", false)
	got := runtest.ReadJSON[imported.Outcome](t, dir, "metrics.json", false)
	// The run leaves out validation rows too, and so do its lists; as histories they are training rows here.
	if !reflect.DeepEqual(got.Evaluations[0].Values, was.Evaluations[0].Values) {
		t.Errorf("the lists measure %v, the run %v", got.Evaluations[0].Values, was.Evaluations[0].Values)
	}
	if n := got.Imported.Counts; n.Longest != 40 || n.Shortest != 40 || n.Own != 0 || n.UnknownItems != 0 || n.TruthTrained != 0 {
		t.Errorf("counted %+v", n)
	}
	for _, want := range []string{"not known", "a test", "EASE, imported"} {
		if !strings.Contains(text, want) {
			t.Errorf("the result does not say %q:\n%s", want, text)
		}
	}
	a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", false)
	if a.Noise != experiment.Unknown || a.Claimed != nil || len(a.Unbounded) != 1 {
		t.Errorf("the account is %+v", a)
	}
	for _, path := range []string{files.recs, files.train, files.truth} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	answers, err := experiment.Ask(t.Context(), papers.All(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	e, err := answers.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.Differs != 0 {
		t.Errorf("measured again, the run differs by %v", e.Differs)
	}
	own, err := experiment.Ask(t.Context(), papers.All(), ease)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	q := experiment.Question{Users: []string{got.Data.Source.Title}, K: 5}
	if _, err := answers.Recommend(t.Context(), q); err == nil || !strings.Contains(err.Error(), "has no user") {
		t.Errorf("a user who is not there: %v", err)
	}
	h, _, err := own.Histories(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q.Users = []string{h[0].User, h[7].User}
	want, err := own.Recommend(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	have, err := answers.Recommend(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(have.Lists, want.Lists) {
		t.Errorf("recommends %v, the run %v", have.Lists, want.Lists)
	}
	q.K = 41
	if _, err := answers.Recommend(t.Context(), q); err == nil || !strings.Contains(err.Error(), "want 1 to 40") {
		t.Errorf("more items than the lists have: %v", err)
	}
	scores, err := compare.ReadScores(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(scores.Users) != got.Data.TestUsers {
		t.Errorf("scores of %d users, want %d", len(scores.Users), got.Data.TestUsers)
	}
	whole, err := compare.ReadScores(ease)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Compare([]compare.Group{{Name: "run", Runs: []*compare.Scores{whole}}, {Name: "lists", Runs: []*compare.Scores{scores}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Differences {
		if *d.P != 1 || d.Interval != nil {
			t.Errorf("the run and its lists differ: %+v", d)
		}
	}
	if !strings.Contains(strings.Join(c.Notes, "\n"), "was imported") {
		t.Errorf("the comparison does not say what was imported: %q", c.Notes)
	}
	if err := os.WriteFile(filepath.Join(dir, "imported", "truth.tsv.gz"), []byte("user_id\titem_id\nx\ty\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := experiment.Ask(t.Context(), papers.All(), dir); err == nil || !strings.Contains(err.Error(), "are not those of the run") {
		t.Errorf("rows that were changed after the import: %v", err)
	}
}
