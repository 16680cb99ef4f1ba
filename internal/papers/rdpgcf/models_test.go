package rdpgcf

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/baseline"
	"privrec/internal/nn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// spoken is noise that notes which propagations it was told of. It adds a normal to
// every number, keyed by propagation, layer and node.
type spoken struct {
	said []string
	at   rng.Stream
	cols int
	fail error
}

func (s *spoken) At(phase string, at propagation) error {
	s.said = append(s.said, fmt.Sprint(phase, " ", int(at)))
	s.at = rng.Seed(9).Stream("spoken "+phase, uint64(at))
	return s.fail
}

func (s *spoken) Begin(_ int, _ [2]int, cols int) error { s.cols = cols; return nil }
func (s *spoken) End(int) error                         { return nil }

func (s *spoken) Add(layer int, side nn.Side, first, _ int, rows []tensor.Float) error {
	for k := 0; k*s.cols < len(rows); k++ {
		z := s.at.Sub(uint64(layer), uint64(side), uint64(first+k))
		for j := range s.cols {
			rows[k*s.cols+j] += tensor.Float(z.NormFloat64())
		}
	}
	return nil
}

// noisy is RDP-GCF on the stand-in with that noise.
func noisy(t *testing.T, n noise, average int) *perturbed {
	t.Helper()
	c := Default()
	c.Model.Dim, c.Model.Layers, c.Release.Average = 4, 2, average
	m, err := newPerturbed(topntest.OnStandIn(t).Graph, 1, c, n)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func clone(m tensor.Matrix) []tensor.Float { return slices.Clone(m.Data[:m.Rows*m.Cols]) }

// A release avg is the mean of its propagations, each named to the noise once; a
// noisy one is the first of them; a clean one asks for no noise.
func TestReleases(t *testing.T) {
	n := &spoken{}
	m := noisy(t, n, 3)
	users, _, err := m.Release(ReleaseAvg, 7)
	if err != nil {
		t.Fatal(err)
	}
	got := clone(users)
	first := 7 * maxAverage
	if want := fmt.Sprintf("[release %d release %d release %d]", first, first+1, first+2); fmt.Sprint(n.said) != want {
		t.Errorf("the noise was told %v, want %s", n.said, want)
	}
	mean := make([]float64, len(got))
	for r := range 3 {
		u, _, err := m.once(7, r)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range clone(u) {
			mean[i] += float64(v) / 3
		}
	}
	for i := range mean {
		if math.Abs(mean[i]-float64(got[i])) > 1e-6 {
			t.Fatalf("element %d of the mean is %v, want %v", i, got[i], mean[i])
		}
	}
	u, _, err := m.once(7, 0)
	if err != nil {
		t.Fatal(err)
	}
	one := clone(u)
	n.said = nil
	if u, _, err = m.Release(ReleaseNoisy, 7); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(clone(u), one) || fmt.Sprint(n.said) != fmt.Sprintf("[release %d]", first) {
		t.Errorf("a noisy release is not the first propagation of its number, or the noise was told %v", n.said)
	}
	n.said = nil
	a, _, err := m.Release(ReleaseClean, 7)
	if err != nil {
		t.Fatal(err)
	}
	clean := clone(a)
	if len(n.said) > 0 || slices.Equal(clean, one) {
		t.Errorf("a clean release told the noise %v, or is the noisy one", n.said)
	}
	b, _, err := noisy(t, nil, 1).Release(ReleaseNoisy, 7)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(clean, clone(b)) {
		t.Error("a clean release differs from that of a model without noise")
	}
	if _, _, err := m.Release("raw", 0); err == nil {
		t.Error("no error for an unknown release")
	}
}

// A training step names its number, and the same step perturbs alike.
func TestStepsAreNamed(t *testing.T) {
	n := &spoken{}
	m := noisy(t, n, 1)
	at := func(step int) []tensor.Float {
		x, err := m.Encode(autograd.NewTape(), step, []int32{0, 5}, []int32{1, 2, 3, 4})
		if err != nil {
			t.Fatal(err)
		}
		return clone(x.Users.V)
	}
	a, b, again := at(11), at(12), at(11)
	if slices.Equal(a, b) || !slices.Equal(a, again) || fmt.Sprint(n.said) != "[train 11 train 12 train 11]" {
		t.Errorf("steps 11 and 12 alike %t, 11 twice alike %t, told %v", slices.Equal(a, b), slices.Equal(a, again), n.said)
	}
}

// Errors of the noise end the propagation.
func TestNoiseErrors(t *testing.T) {
	n := &spoken{fail: errors.New("spent")}
	m := noisy(t, n, 2)
	if _, err := m.Encode(autograd.NewTape(), 0, []int32{0}, []int32{1, 2}); !errors.Is(err, n.fail) {
		t.Errorf("a step: %v", err)
	}
	for _, kind := range []string{ReleaseNoisy, ReleaseAvg} {
		if _, _, err := m.Release(kind, 0); !errors.Is(err, n.fail) {
			t.Errorf("release %s: %v", kind, err)
		}
	}
}

// Without noise and without unit rows RDP-GCF is LightGCN.
func TestWithoutNoiseAndUnitRows(t *testing.T) {
	g := topntest.OnStandIn(t).Graph
	c := Default()
	c.Model.Dim, c.Model.NormaliseRows = 4, false
	m, err := c.build(g, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := baseline.LightGCNShape{Dim: 4, Layers: 3, Norm: "sym", Init: c.Model.Init}.Vectors(g, 1)
	if err != nil {
		t.Fatal(err)
	}
	u, i, err := m.Release(ReleaseNoisy, 0)
	if err != nil {
		t.Fatal(err)
	}
	v, j, err := plain.All()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(clone(u), clone(v)) || !slices.Equal(clone(i), clone(j)) {
		t.Error("the vectors differ")
	}
}

// With unit rows every score lies within [-1, 1], noise or not: what the scale of the
// loss mends.
func TestScoresAreBounded(t *testing.T) {
	m := noisy(t, &spoken{}, 2)
	for _, kind := range []string{ReleaseNoisy, ReleaseAvg, ReleaseClean} {
		users, items, err := m.Release(kind, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []tensor.Matrix{users, items} {
			for k := range z.Rows {
				if s := tensor.SumSq(tensor.Row(z, k)); s > 1+1e-5 {
					t.Fatalf("release %s: row %d has the squared length %v", kind, k, s)
				}
			}
		}
	}
}

// Poisson batches that are empty count as steps: the ledger and the account agree.
func TestEmptyBatches(t *testing.T) {
	for _, sets := range [][]string{nil, {"privacy.propagation=sampled", "privacy.accounting=poisson", "privacy.count=step", "model.norm=right-clamp:5"}} {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, task(t, "rdpgcf"), dir, append([]string{"train.sampler=poisson", "train.batch=4", "train.epochs=1", "model.dim=1", "release.kinds=[noisy]"}, sets...)...)
		a, o := readJSON[Account](t, dir, "privacy.json"), outcome(t, dir)
		if len(a.Components) == 0 || a.Components[0].Releases == 0 || o.Steps < 1000 {
			t.Errorf("%d steps, components %+v", o.Steps, a.Components)
		}
	}
}
