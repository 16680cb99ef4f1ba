package auditing

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/descent"
	"privrec/internal/private/gram"
	sums "privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// program makes the releases of a small private program by the code of the real ones: the triangle of a matrix of
// items, two rounds of vectors, and a step over users. Planted faults change it.
type program struct {
	seed     rng.Seed
	reuse    bool    // both rounds get the noise of the first
	noise    float64 // factor of the matrix's noise; 0: 1
	root     bool    // the sensitivity of the matrix lacks a root of two
	untied   bool    // entries of both triangles get noise of their own, and are averaged
	before   bool    // gradients of a user's samples are clipped, and not their sum
	divided  bool    // the sum of a round is divided by the number of users, which the canary changes
	leftOut  bool    // the canary is not added to the matrix
	of       string  // the kind of release that is made: matrix, rounds, step, all
	releases []audit.Release
	entries  []privacy.Entry
}

// items is the number of items of the canary.
const items = 8

func (p *program) made(t testing.TB) *program {
	t.Helper()
	r := &sums.Releaser{Noise: func(purpose string) (rng.Stream, error) {
		if p.reuse && strings.HasPrefix(purpose, "round") {
			purpose = "round"
		}
		return p.seed.Stream(purpose), nil
	}}
	if p.of != "step" {
		p.add(t, r)
	}
	if p.of == "step" || p.of == "all" {
		p.step(t)
	}
	return p
}

// add adds the releases of sums, which cost epsilon 8 together.
func (p *program) add(t testing.TB, r *sums.Releaser) {
	matrix := sums.Sum{Purpose: gram.Purpose, Sensitivity: 1, Dimension: items * (items + 1) / 2, Grid: 0x1p-20}
	list, shares := []sums.Sum{matrix}, []float64{1}
	if p.of != "matrix" {
		for _, purpose := range []string{"round 1", "round 2"} {
			list = append(list, sums.Sum{Purpose: purpose, Sensitivity: 1, Dimension: items, Grid: 0x1p-30})
		}
		shares = []float64{0.4, 0.3, 0.3}
	}
	settings := sums.Privacy{Epsilon: 8, Delta: 1e-6, Items: items, Counts: 1}
	list, err := settings.Split(list, shares...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := settings.Plan(list...)
	if err != nil {
		t.Fatal(err)
	}
	p.entries = append(p.entries, plan.Releases...)
	for k, s := range list {
		rest, term := p.vectors(k)
		if k == 0 {
			rest, term = p.triangle(t, s)
		}
		stated := s
		if k == 0 && p.noise != 0 {
			s.Multiplier *= p.noise
		}
		if k == 0 && p.root { // the ledger has the same multiplier
			s.Sensitivity /= math.Sqrt2
			stated = s
		}
		one, err := r.Redraw(s, rest, term)
		if err != nil {
			t.Fatal(err)
		}
		one.Sensitivity, one.Deviation = stated.Sensitivity, stated.Deviation()
		if k == 0 && p.untied {
			one.Draw = untied(one.Draw)
		}
		p.releases = append(p.releases, one)
	}
}

// triangle returns what others and the canary add to the matrix.
func (p *program) triangle(t testing.TB, s sums.Sum) (rest, term []float64) {
	plan := gram.Plan{Most: items, Exponent: 1, Sum: s}
	var own []int32
	for i := range int32(items) {
		plan.Items, plan.Weights, own = append(plan.Items, i), append(plan.Weights, 1), append(own, i)
	}
	of := func(users ...[]int32) []float64 {
		terms := plan.Terms()
		for _, u := range users {
			if err := terms.Add(u); err != nil {
				t.Fatal(err)
			}
		}
		return plan.Triangle(terms.Steps)
	}
	rest, term = of(own[:5], own[2:]), of(own)
	if p.leftOut {
		term = make([]float64, len(term))
	}
	return rest, term
}

// users is the number of other users in a round.
const users = 64

// vectors returns what others and the canary add to a round, along an axis of its own.
func (p *program) vectors(k int) (rest, term []float64) {
	rest, term = make([]float64, items), make([]float64, items)
	term[k] = 1
	if p.divided {
		rest[k] = -users
		for j := range term {
			term[j] = math.Trunc(((rest[j]+term[j])*users/(users+1)-rest[j])*0x1p30) * 0x1p-30
		}
	}
	return rest, term
}

// untied returns a draw whose entries off the diagonal are the mean of two.
func untied(draw func(audit.Draw) ([]float64, error)) func(audit.Draw) ([]float64, error) {
	return func(d audit.Draw) ([]float64, error) {
		x, err := draw(d)
		if err != nil {
			return nil, err
		}
		d.Key += 1 << 50
		below, err := draw(d)
		diagonal, at := map[int]bool{}, 0
		for i := range items {
			diagonal[at], at = true, at+items-i
		}
		for k := range x {
			if !diagonal[k%at] {
				x[k] = (x[k] + below[k]) / 2
			}
		}
		return x, err
	}
}

// step adds a Poisson-sampled step over users with the gradient of three samples.
func (p *program) step(t testing.TB) {
	d := descent.DPSGD{Purpose: "users' gradients", Clip: 1, NoiseMultiplier: 1.5, Examples: users,
		Sampling: privacy.Poisson, Rate: 0.9, Unit: privacy.User, Share: 0.5}
	p.entries = append(p.entries, privacy.Entry{Purpose: d.Purpose, Count: 1, Event: d.Event()})
	gradient, samples := make([]float32, 4), 3
	for k := range samples {
		gradient[0], gradient[1] = gradient[0]+1, gradient[1]+float32(k-1)/8
	}
	made := d
	if p.before { // each of them is within the clip, their sum is not
		made.Clip, made.NoiseMultiplier = d.Clip*float64(samples), d.NoiseMultiplier/float64(samples)
	}
	one, err := descent.Redraw(made, 3, gradient, p.seed.Stream(d.Purpose))
	if err != nil {
		t.Fatal(err)
	}
	one.Sensitivity = d.Clip
	p.releases = append(p.releases, one)
}

// audited runs the audit on the releases, at a level, and returns its finding.
func (p *program) audited(t testing.TB, runs int, level float64) (*finding, error) {
	t.Helper()
	w := &work{Config: Default(), env: run.Rehearse(1), task: run.Task{Verb: "train", Name: "planted"}}
	w.Audit.Runs, w.Audit.Level, w.Audit.Sees, w.Audit.Unit, w.Audit.Method = runs, level, SeesRelease, User, Canary
	acc, err := accountant.New(accountant.Contour, privacy.User, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if err := accountant.ChargeLedger(acc, p.entries); err != nil {
		t.Fatal(err)
	}
	spent, err := acc.Spent(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	f := &finding{subject: &subject{}, delta: 1e-6,
		accounted: Accounted{Unit: User, Epsilon: privacy.Number(spent.Epsilon), Delta: 1e-6}}
	a, err := audit.NewAuditor(p.releases)
	if err != nil {
		return f, err
	}
	if err := w.manyReleases(context.Background(), f, a, p.entries); err != nil {
		t.Fatal(err)
	}
	return f, f.contradiction(w)
}

// planted are the faults, with what the audit says of each.
var planted = map[string]struct {
	program
	says string
}{
	"half the noise": {program{of: "matrix", noise: 0.5}, "the noise of item matrix is 0."},
	"sensitivity without the root of two": {program{of: "matrix", root: true},
		"adds to item matrix is 1.414 of the sensitivity"},
	"an untied triangle":             {program{of: "matrix", untied: true}, "the noise of item matrix is from 0."},
	"a clip before instead of after": {program{of: "step", before: true}, "adds to users' gradients is 3"},
	"a user left out of the count": {program{of: "rounds", divided: true},
		"adds to round 1 is 1.969 of the sensitivity"},
	"noise reused between two rounds": {program{of: "rounds", reuse: true},
		"the noise of two releases is not independent: found by the difference of round 1 and round 2"},
	"half the noise, of one release of several": {program{of: "all", noise: 0.25}, "the noise of item matrix is 0."},
}

// An audit of the release finds every planted fault and says what it is. The chance that it misses one, of 12,000
// releases, is below 1e-6, and the seeds are fixed.
func TestPlantedFaults(t *testing.T) {
	for name, c := range planted {
		t.Run(name, func(t *testing.T) {
			p := c.program
			p.seed = 5
			f, err := p.made(t).audited(t, 12_000, 1e-3)
			var high *audit.Contradiction
			if !errors.As(err, &high) {
				t.Fatalf("no contradiction: %v, %+v", err, f.rows[0])
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v\nlacks %q", err, c.says)
			}
		})
	}
}

// The true program is accused of nothing: by chance once in 1,000 at most. Its bounds are near what is accounted.
func TestTrueProgram(t *testing.T) {
	for _, of := range []string{"matrix", "rounds", "step", "all"} {
		p := program{of: of, seed: 6}
		f, err := p.made(t).audited(t, 12_000, 1e-3)
		if err != nil || len(f.faults()) > 0 {
			t.Errorf("%s: %v, %v", of, err, f.faults())
		}
		audited, positive, negative := f.rows[0], f.rows[1], f.rows[2]
		if of == "matrix" && !(audited.Gaussian.Epsilon > 0.75*float64(f.accounted.Epsilon)) {
			t.Errorf("%s: epsilon at least %.3f if Gaussian, of %v", of, audited.Gaussian.Epsilon, f.accounted.Epsilon)
		}
		if positive.AUC < 0.999 || positive.Bound.Epsilon < 0.9*positive.Bound.Ceiling || negative.Bound.Epsilon > 0 {
			t.Errorf("%s: controls %+v, %+v", of, positive, negative)
		}
	}
}

// A canary that no release has shows nothing, and the audit says so.
func TestCanaryLeftOut(t *testing.T) {
	p := program{of: "matrix", leftOut: true}
	if _, err := p.made(t).audited(t, 16, 0.05); err == nil ||
		!strings.Contains(err.Error(), "adds nothing to any release") {
		t.Errorf("%v", err)
	}
	p = program{of: "rounds", leftOut: true}
	f, err := p.made(t).audited(t, 800, 0.05)
	if err != nil || len(f.faults()) != 1 || f.faults()[0] != "the canary adds nothing to item matrix" {
		t.Errorf("%v, %v", err, f.faults())
	}
}
