package als

import (
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/private/release"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run/runtest"
)

// Under DIPSGNN's protocol a run ranks for every test sample, uses its epsilon up at one user, and answers as it reported.
func TestNextItem(t *testing.T) {
	next := []string{"protocol=next-item", "data.recipe=dipsgnn", "eval.candidates=0"}
	dir := filepath.Join(t.TempDir(), "run")
	text := suite.Start(t, suite.Tasks[0], dir, next...)
	a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
	if len(a.Unbounded) != 0 || len(a.Units) != 1 || !(a.Total <= 8 && a.Total > 8*(1-1e-6)) || !strings.Contains(text, release.Threat) {
		t.Errorf("%+v\n%s", a, text)
	}
	if o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true); o.Data.TestSamples <= o.Data.Users || len(o.Evaluations) != 1 {
		t.Errorf("%+v", o.Data)
	}
	e, err := suite.Open(t, dir).Evaluate(t.Context())
	if err != nil || e.Differs != 0 {
		t.Errorf("evaluated again: differs by %v, %v", e.Differs, err)
	}
	three := filepath.Join(t.TempDir(), "three")
	suite.Start(t, suite.Tasks[0], three, append([]string{"run.workers=3"}, next...)...)
	runtest.Same(t, "three workers", runtest.Artefacts(t, three), runtest.Artefacts(t, dir))
	for _, set := range []string{"eval.candidates=40", "model.values=ratings"} {
		if err := suite.Tasks[0].Check("", append([]string{set, "model.cells=observed"}, next[0])); err == nil || !strings.Contains(err.Error(), "protocol next-item") {
			t.Errorf("%s: %v", set, err)
		}
	}
}
