package rdpgcf

import (
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
)

func TestAnswers(t *testing.T) { suite.Answers(t) }

// The releases of a run answer apart.
func TestServeReleases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start(t, task(t, "rdpgcf"), dir)
	s := suite.Open(t, dir)
	lists := map[string]string{}
	for _, kind := range []string{"", ReleaseNoisy, ReleaseAvg, ReleaseClean} {
		r, err := s.Recommend(t.Context(), experiment.Question{Users: []string{"7"}, K: 10, Release: kind})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range topntest.Read(t, r).Tables[0].Rows {
			lists[kind] += row["item"].(string) + " "
		}
	}
	if lists[""] != lists[ReleaseNoisy] || lists[ReleaseNoisy] == lists[ReleaseClean] || lists[ReleaseAvg] == lists[ReleaseNoisy] {
		t.Errorf("%v", lists)
	}
	if _, err := s.Recommend(t.Context(), experiment.Question{Users: []string{"7"}, K: 10, Release: "raw"}); err == nil {
		t.Error("no error for a release that is not there")
	}
}

// The repaired method's runs answer like any other.
func TestServeRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := try(t.Context(), task(t, "rdpgcf"), dir, []string{"train.epochs=1"}, run.Options{Config: "../../../configs/rdpgcf/ml-1m-repaired.yaml"}); err != nil {
		t.Fatal(err)
	}
	s := suite.Open(t, dir)
	r, err := s.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a := topntest.Read(t, r); !slices.Contains(a.Notes, "equal to what the run reported") {
		t.Errorf("%v", a.Notes)
	}
	if r, err := s.Recommend(t.Context(), experiment.Question{Users: []string{"3"}, K: 4}); err != nil || len(topntest.Read(t, r).Tables[0].Rows) != 4 {
		t.Errorf("%v, %v", r, err)
	}
}
