package dipsgnn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// people are three users with a number and a category, one of each missing.
func people() *dataset.Features {
	return &dataset.Features{
		UserIDs: []string{"a", "b", "c", "d"},
		Columns: []dataset.Column{
			{Name: "age", Kind: dataset.Numeric, Numbers: []float64{20, 60, math.NaN(), 30}},
			{Name: "gender", Kind: dataset.Categorical, Levels: []string{"F", "M"}, Codes: []int32{0, 1, 1, -1}},
		},
	}
}

// What privacy.json says of the features, the ledger says too: one release, and
// an open event for each thing that has no bound.
func TestFeaturesInLedgerAndAccount(t *testing.T) {
	for _, c := range []struct {
		epsilon, unselected, open string
		numbers                   bool
		k                         int
	}{
		{"20", "zero", "", false, 1}, {"20", "zero", "range", true, 2}, {"2", "zero", "range", true, 1},
		{"2", "raw", "unselected,range", true, 1}, {"20", "raw", "range", true, 2},
		{".inf", "zero", "no_perturbation,range", true, 2}, {".inf", "zero", "no_perturbation", false, 1},
	} {
		what := fmt.Sprintf("epsilon %s, %s, numbers %v", c.epsilon, c.unselected, c.numbers)
		inRun(t, []string{"privacy.features.epsilon=" + c.epsilon, "privacy.features.unselected=" + c.unselected},
			func(_ context.Context, env *run.Env, cfg Config, x *nextitem.Experiment) error {
				x.Data.Features = people()
				if !c.numbers {
					x.Data.Features.Columns = x.Data.Features.Columns[1:]
				}
				p, err := newProtection(env, x, cfg)
				if err != nil {
					return err
				}
				if _, err := PerturbUsers(x.Data.Features, p.cfg.Privacy.Features, p.once, p.env); err != nil {
					return err
				}
				f := AccountFeatures(x.Data.Features, p.cfg.Privacy.Features)
				var open []string
				for _, u := range f.Unbounded {
					open = append(open, u.What)
				}
				if got := strings.Join(open, ","); got != c.open || f.K != c.k || f.N != len(x.Data.Features.Columns) {
					t.Errorf("%s: open %q, %d of %d", what, got, f.K, f.N)
				}
				if math.IsInf(float64(f.Total), 1) != (c.open != "") {
					t.Errorf("%s: a total of %v", what, f.Total)
				}
				t.Run(what, func(t *testing.T) { checkFeatures(t, p.ledger.Entries(), f) })
				return nil
			})
	}
}

// A resumed run gets the rows that were released, and records no second release;
// another seed perturbs otherwise.
func TestPerturbedOnce(t *testing.T) {
	rows := func(seed int) (got []tensor.Matrix) {
		task := taskOf(func(ctx context.Context, env *run.Env, cfg Config, x *nextitem.Experiment) error {
			p, err := newProtection(env, x, cfg)
			if err != nil {
				return err
			}
			a, err := PerturbUsers(x.Data.Features, p.cfg.Privacy.Features, p.once, p.env)
			got = append(got, a)
			released := 0
			for _, e := range p.ledger.Entries() {
				if e.Purpose == purposeFeatures {
					released += int(e.Count)
				}
			}
			if released != 1 {
				t.Errorf("%d releases of features after start %d, want 1", released, len(got))
			}
			return errors.Join(err, env.SaveCheckpoint(run.Checkpoint{State: []byte("{}")}), run.ErrInterrupted)
		})
		dir, sets := filepath.Join(t.TempDir(), "run"), []string{fmt.Sprint("run.seed=", seed), "privacy.features.epsilon=2"}
		for range 2 {
			if err := try(t.Context(), task, dir, sets, run.Options{Resume: len(got) > 0}); !run.WasInterrupted(err) {
				t.Fatal(err)
			}
		}
		return got
	}
	first := rows(1)
	a, again := first[0], first[1]
	other := rows(2)[0]
	if !cmp.Equal(a.Data, again.Data) {
		t.Error("a resumed run perturbs otherwise")
	}
	if cmp.Equal(a.Data, other.Data) {
		t.Error("another seed perturbs the same")
	}
}
