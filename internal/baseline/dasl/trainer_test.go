package dasl

import (
	"slices"
	"testing"

	"privrec/internal/dataset/standin"
	"privrec/internal/model/dasl"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/run"
)

const window = 3

var setting = Train{Epochs: 2, Batch: 64, Rate: 0.01, AlignSteps: 1, AlignAdam: AdamOwn, Shuffle: ShuffleEach, Select: SelectLast}

// loaded is the stand-in with its auxiliary rows as they are.
func loaded(t *testing.T) *crossdomain.Experiment {
	t.Helper()
	x, err := crossdomain.Load(t.Context(), run.Rehearse(1), crossdomain.Data{Name: standin.CrossName, Target: "left", Auxiliary: "right", Length: 14},
		crossdomain.Eval{K: []int{5, 10}, Negatives: 20, NegativesSeed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Cut(x.Data.Domains[1].Matrix(14, true)); err != nil {
		t.Fatal(err)
	}
	return x
}

// trainer is one on the tuning rows.
func trainer(t *testing.T, x *crossdomain.Experiment, c Train) *Trainer {
	t.Helper()
	m := dasl.Paper()
	m.Dim, m.Window = 8, window
	tuning, _ := x.Rows()
	tr, err := New(tuning, x.Data.Users, [2]int{x.Data.Domains[0].Items, x.Data.Domains[1].Items}, m, false, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// What a training reads: no held-out item of the target domain where it must not be, the
// windows of both domains at the same columns, negatives that are in no user's own row.
func TestSamples(t *testing.T) {
	x := loaded(t)
	tuning, final := x.Rows()
	target, aux := &x.Data.Domains[0], &x.Data.Domains[1]
	for u := range x.Data.Users {
		for _, p := range []*crossdomain.Rows{tuning, final} {
			row := p.Row(0, int32(u))
			if i := target.Test[u]; i != 0 && slices.Contains(row, i) {
				t.Fatalf("user %d: the test item is in the rows", u)
			}
			if i := target.Valid[u]; i != 0 && slices.Contains(row, i) != (p == final) {
				t.Fatalf("user %d: the validation item in the %s rows", u, p.Name)
			}
		}
		if a := final.Row(1, int32(u)); aux.Valid[u] != 0 && a[len(a)-1] != aux.Valid[u] {
			t.Fatalf("user %d: the last cell of the auxiliary row is %d, want %d", u, a[len(a)-1], aux.Valid[u])
		}
	}
	tr := trainer(t, x, setting)
	n := 0
	for u := range x.Data.Users {
		n += min(len(target.Train[u]), tuning.Cols-window)
	}
	if len(tr.samples[0]) != n {
		t.Errorf("%d samples, want %d", len(tr.samples[0]), n)
	}
	seen := map[[2]int32]bool{}
	for domain := range 2 {
		for at := range tr.batches(domain) {
			if err := tr.fill(domain, 3, 100+at, at); err != nil {
				t.Fatal(err)
			}
			b := tr.batch
			for i, u := range b.User {
				row := tuning.Row(domain, u)
				if slices.Contains(row, b.Neg[i]) || b.Neg[i] < 1 || int(b.Neg[i]) > x.Data.Domains[domain].Items {
					t.Fatalf("negative %d of user %d", b.Neg[i], u)
				}
				col := slices.Index(row, b.Pos[i])
				for k := range window {
					if b.Own[k*len(b.User)+i] != row[col-window+k] || b.Cross[k*len(b.User)+i] != tuning.Row(1-domain, u)[col-window+k] {
						t.Fatalf("user %d: window before column %d", u, col)
					}
				}
				if domain == 0 {
					seen[[2]int32{u, b.Pos[i]}] = true
				}
			}
		}
	}
	if len(seen) != n {
		t.Errorf("an epoch asks for %d cells, want %d", len(seen), n)
	}
}

// A bound on the auxiliary steps makes arms alike in steps, takes other samples in every
// epoch, and leaves the target's pass whole.
func TestAuxiliarySteps(t *testing.T) {
	x, c := loaded(t), setting
	c.Batch = 16
	whole := trainer(t, x, c)
	c.AuxiliarySteps = 2
	bound := trainer(t, x, c)
	if whole.batches(1) <= 2 || bound.batches(1) != 2 || bound.batches(0) != whole.batches(0) || bound.Steps() != whole.batches(0)+2+c.AlignSteps {
		t.Fatalf("%d and %d auxiliary batches, %d and %d of the target, %d steps", whole.batches(1), bound.batches(1), whole.batches(0), bound.batches(0), bound.Steps())
	}
	read := func(epoch int) (users []int32) {
		for at := range bound.batches(1) {
			if err := bound.fill(1, epoch, at, at); err != nil {
				t.Fatal(err)
			}
			users = append(users, bound.batch.User...)
		}
		return users
	}
	if first, again, second := read(0), read(0), read(1); !slices.Equal(first, again) || slices.Equal(first, second) {
		t.Error("the samples of an epoch are not its own")
	}
	c.AuxiliarySteps = 1_000_000
	if more := trainer(t, x, c); more.batches(1) != whole.batches(1) {
		t.Errorf("a bound above the pass: %d batches, want %d", more.batches(1), whole.batches(1))
	}
}
