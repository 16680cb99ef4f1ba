package gram

import (
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// nextItem is DIPSGNN's protocol.
var nextItem = []string{"protocol=next-item", "data.recipe=dipsgnn", "eval.candidates=0", "eval.k=[5,20]"}

// Under DIPSGNN's protocol a run ranks for every test sample, has one finite epsilon for a user by the releases of its
// ledger, and answers as it reported.
func TestNextItem(t *testing.T) {
	for _, task := range suite.Tasks {
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			text := suite.Start(t, task, dir, nextItem...)
			a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
			if len(a.Units) != 1 || a.Units[0].Unit != "user" || len(a.Unbounded) != 0 || !(a.Total <= 8 && a.Total > 8*(1-1e-6)) || !strings.Contains(text, release.Threat) {
				t.Errorf("%+v\n%s", a, text)
			}
			l, err := (privacy.Reading{}).File(filepath.Join(dir, run.LedgerName))
			if err != nil {
				t.Fatal(err)
			}
			want := 2
			if task.Name == "dp-popularity" {
				want = 1
			}
			if n := len(l.Entries()); n != want {
				t.Errorf("%d releases, want %d", n, want)
			}
			o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
			if o.Data.TestSamples <= o.Data.Users || len(o.Evaluations) != 1 || len(o.Floors) != 2 {
				t.Errorf("%+v", o.Data)
			}
			e, err := suite.Open(t, dir).Evaluate(t.Context())
			if err != nil || e.Differs != 0 {
				t.Errorf("evaluated again: differs by %v, %v", e.Differs, err)
			}
			three := filepath.Join(t.TempDir(), "three")
			suite.Start(t, task, three, append([]string{"run.workers=3"}, nextItem...)...)
			runtest.Same(t, "three workers", runtest.Artefacts(t, three), runtest.Artefacts(t, dir))
		})
	}
}

// DP popularity with hardly any noise ranks as the floor by popularity does.
func TestNextItemLearns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[0], dir, append([]string{"privacy.epsilon=900", "privacy.items=200"}, nextItem...)...)
	o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
	if floor, got := o.Floors[1].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; got < 0.9*floor || got > 1.1*floor {
		t.Errorf("Recall@20 %v, popularity has %v", got, floor)
	}
}

func TestProtocolRefuses(t *testing.T) {
	for _, sets := range [][]string{{"protocol=last-item"}, {"protocol=next-item", "eval.candidates=40"}} {
		for _, task := range suite.Tasks {
			if err := task.Check("", sets); err == nil || !strings.Contains(err.Error(), "protocol") {
				t.Errorf("%s: %v: %v", task.Name, sets, err)
			}
		}
	}
}
