package descent

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

var learning = DPSGD{Purpose: "gradients", Clip: 0.5, NoiseMultiplier: 1.3, Examples: 40, Sampling: privacy.Poisson, Rate: 0.3, Unit: privacy.User}

// step makes one step in which every example of the batch has the same gradient.
func step(t *testing.T, s *Dense[float32], n uint64, mean []float32, gradient ...float32) (batch int) {
	t.Helper()
	users, err := s.Begin(0, n)
	if err != nil {
		t.Fatal(err)
	}
	for k := range users {
		v := make([]float32, len(mean))
		copy(v, gradient)
		if err := s.Add(k, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(mean); err != nil {
		t.Fatal(err)
	}
	return len(users)
}

// The noise of a step is the discrete normal law of its event: chi-square of its steps, in cells and
// in their last bits, false alarm 1e-9 each. The sum beneath it is exact. The ledger has the step.
func TestStepsHaveTheLawOfTheirEvent(t *testing.T) {
	const dim, rounds = 300, 400
	l := mechanismtest.SecureLedger(t)
	s := mechanismtest.Must(OpenSecretRows[float64](learning, dim, 1, l))
	e := mechanismtest.Must(SecretEvent(learning, dim)).(privacy.Sampled).Event.(privacy.DiscreteGaussian)
	_, grid, err := release(learning, dim)
	if err != nil {
		t.Fatal(err)
	}
	var noise []int64
	for n := range uint64(rounds) {
		users, err := s.Begin(0, n)
		if err != nil {
			t.Fatal(err)
		}
		for k := range users {
			if err := s.Add(k, []int32{7, 2}, []float64{0.125, -0.25}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finish(tensor.Parallel, func(at int, sum []float64) {
			for i, x := range sum {
				switch at + i {
				case 7:
					x -= 0.125 * float64(len(users))
				case 2:
					x += 0.25 * float64(len(users))
				}
				sum[i] = x
			}
			if at == 0 {
				for _, x := range sum {
					noise = append(noise, int64(x*grid.perStep))
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if got := e.Sigma / e.Sensitivity; got < 1.3 || got > 1.3*(1+1e-7) || e.Dimension != dim {
		t.Errorf("%+v: noise of %v contributions, want 1.3", e, got)
	}
	i := -1
	mechanismtest.CheckLaw(t, "noise", len(noise), int64(e.Sigma/10), func() int64 { i++; return noise[i] }, secure.DiscreteGaussianLaw{Sigma: e.Sigma}.PMF)
	low := make([]int, 64)
	for _, k := range noise {
		low[k&63]++
	}
	mechanismtest.CheckCounts(t, "last bits", low, func(int) float64 { return 1.0 / 64 })
	if es := l.Entries(); len(es) != 1 || es[0].Count != rounds || es[0].Event != privacy.Event(privacy.Sampled{Event: e, Rate: 0.3, Method: privacy.Poisson}) {
		t.Errorf("%+v", es)
	}
}

// Batches are Poisson samples: sizes, and every example, by chi-square, false alarm 1e-9.
func TestBatchesArePoissonSamples(t *testing.T) {
	for _, rate := range []float64{0.3, 1.0 / 3, 0.02, 1} {
		s := sample{n: 40, rate: rate}
		sizes, who := make([]int, 41), make([]int, 40)
		var b []int32
		for range 20_000 {
			b = s.draw(b)
			sizes[len(b)]++
			for _, e := range b {
				who[e]++
			}
		}
		mechanismtest.CheckCounts(t, "sizes", sizes, func(k int) float64 {
			a, _ := math.Lgamma(41)
			c, _ := math.Lgamma(float64(k + 1))
			d, _ := math.Lgamma(float64(41 - k))
			if rate == 1 {
				return float64(k / 40)
			}
			return math.Exp(a - c - d + float64(k)*math.Log(rate) + float64(40-k)*math.Log1p(-rate))
		})
		mechanismtest.CheckCounts(t, "examples", who, func(int) float64 { return 1.0 / 40 })
		if err := s.check("p", 22); err != nil { // 4 exp(-22) < 1.2e-9
			t.Error(err)
		}
	}
	// One batch again and again, and more examples than the rate says, are found.
	for what, fault := range map[string]func(s *sample){
		"in a row": func(s *sample) { s.common = s.paired },
		"examples": func(s *sample) { s.examples += s.examples / 5 },
	} {
		s := sample{n: 200, rate: 0.1}
		var b []int32
		for range 500 {
			b = s.draw(b)
		}
		fault(&s)
		var failed *mechanism.CheckError
		if err := s.check("p", 22); !errors.As(err, &failed) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A ledger that promises research noise, and mechanisms that draw it on a ledger that promises
// secure noise, are refused: no float noise reaches a run whose ledger is marked secure.
func TestNoOtherNoise(t *testing.T) {
	if _, err := OpenSecret[float32](learning, 3, mechanismtest.Ledger(t), tensor.Parallel); err == nil {
		t.Error("opened on a research ledger")
	}
	if _, err := Open[float32](learning, 3, mechanismtest.SecureLedger(t), rng.Seed(1).Stream("noise")); err == nil {
		t.Error("seeded noise on a secure ledger")
	}
	for _, change := range []func(*DPSGD){
		func(d *DPSGD) { d.Sampling, d.Rate, d.Batch = privacy.WithoutReplacement, 0, 7 },
		func(d *DPSGD) { d.NoiseMultiplier = 1e-8 },
		func(d *DPSGD) { d.Clip = math.Inf(1) },
	} {
		d := learning
		change(&d)
		if _, err := OpenSecret[float32](d, 3, mechanismtest.SecureLedger(t), tensor.Parallel); err == nil {
			t.Errorf("opened %+v", d)
		}
	}
}

// Two runs of the same description have other batches and other noise.
func TestNoSeed(t *testing.T) {
	a, b := make([]float32, 50), make([]float32, 50)
	for _, m := range [][]float32{a, b} {
		step(t, mechanismtest.Must(OpenSecret[float32](learning, 50, mechanismtest.SecureLedger(t), tensor.Parallel)), 0, m)
	}
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 50 values are the same", same)
	}
}

// A run is stopped after some steps, of which a checkpoint knows fewer. The next attempt passes
// over those that were lost, the ledger never has more steps than were planned, and it counts all
// that were drawn.
func TestLostStepsStayReleases(t *testing.T) {
	const planned = 12
	for _, c := range []struct {
		kept, lost int64
		flush      bool
	}{{5, 3, true}, {5, 3, false}, {0, 4, true}, {0, 4, false}, {7, 0, true}, {0, 0, false}} {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		l, err := privacy.CreateLedger(path, privacy.Secure, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := mechanismtest.Must(OpenSecret[float32](learning, 10, l, tensor.Parallel))
		mean := make([]float32, 10)
		var at privacy.LedgerState
		var kept State
		state := func() {
			if at, err = l.State(); err != nil {
				t.Fatal(err)
			}
			kept = s.State()
		}
		state()
		drawn := int64(0)
		for n := range c.kept + c.lost {
			step(t, s, uint64(n), mean, 0.1)
			if drawn++; c.flush {
				if err := l.Flush("step"); err != nil {
					t.Fatal(err)
				}
			}
			if drawn == c.kept {
				state()
			}
		}
		// A step that was only begun counts too: its noise may have been drawn.
		if _, err := s.Begin(0, uint64(drawn)); err != nil {
			t.Fatal(err)
		}
		drawn++
		// The process ends here without another word.
		again, err := privacy.ResumeLedger(path, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Limit(privacy.Plan{Releases: []privacy.Entry{{Purpose: learning.Purpose, Count: planned, Event: mechanismtest.Must(SecretEvent(learning, 10))}}}); err != nil {
			t.Fatal(err)
		}
		r := mechanismtest.Must(OpenSecret[float32](learning, 10, again, tensor.Parallel))
		if err := r.Restore(kept); err != nil {
			t.Fatal(err)
		}
		if lost := drawn - r.State().Batches.Batches; lost != c.lost+1 || mechanismtest.CountOf(again) != drawn {
			t.Fatalf("%+v: %d steps are lost, the ledger has %d, drawn were %d", c, lost, mechanismtest.CountOf(again), drawn)
		}
		if c.lost == 3 { // drawing before the lost ones are passed over is refused
			other := mechanismtest.Must(OpenSecret[float32](learning, 10, again, tensor.Parallel))
			if _, err := other.Begin(0, 0); err == nil {
				t.Error("a step was drawn in the place of a lost one")
			}
		}
		for n := c.kept; n < planned; n++ {
			if !r.Skip() {
				step(t, r, uint64(n), mean, 0.1)
				drawn++
			}
		}
		if err := errors.Join(r.Check(), again.Close()); err != nil {
			t.Fatal(err)
		}
		done, err := privacy.Reading{}.File(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := mechanismtest.CountOf(done); n != planned || drawn != planned {
			t.Errorf("%+v: the ledger has %d steps, %d were drawn, planned were %d", c, n, drawn, planned)
		}
	}
}

// Misuse ends a run: examples out of order, a step that ends early, a row that is given twice.
func TestStepsRefuseMisuse(t *testing.T) {
	sure := learning
	sure.Rate = 1
	open := func() (*Dense[float32], *Rows[float32]) {
		a := mechanismtest.Must(OpenSecret[float32](sure, 4, mechanismtest.SecureLedger(t), tensor.Parallel))
		b := mechanismtest.Must(OpenSecretRows[float32](sure, 2, 2, mechanismtest.SecureLedger(t)))
		for _, err := range []error{begun(a.Begin(0, 1)), begun(b.Begin(0, 1))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return a, b
	}
	for name, try := range map[string]func(a *Dense[float32], b *Rows[float32]) error{
		"in order":   func(a *Dense[float32], _ *Rows[float32]) error { return a.Add(1, make([]float32, 4)) },
		"3 values":   func(a *Dense[float32], _ *Rows[float32]) error { return a.Add(0, make([]float32, 3)) },
		"ends after": func(a *Dense[float32], _ *Rows[float32]) error { return a.Finish(make([]float32, 4)) },
		"was begun":  func(a *Dense[float32], _ *Rows[float32]) error { return begun(a.Begin(0, 2)) },
		"mean of":    func(a *Dense[float32], _ *Rows[float32]) error { return a.Finish(make([]float32, 5)) },
		"row 1 twice": func(_ *Dense[float32], b *Rows[float32]) error {
			return b.Add(0, []int32{1, 1}, make([]float32, 4))
		},
		"row 2": func(_ *Dense[float32], b *Rows[float32]) error {
			return b.Add(0, []int32{2}, make([]float32, 2))
		},
		"for 1 rows": func(_ *Dense[float32], b *Rows[float32]) error {
			return b.Add(0, []int32{0}, make([]float32, 3))
		},
		"not finished": func(a *Dense[float32], _ *Rows[float32]) error { return a.Check() },
	} {
		a, b := open()
		if err := try(a, b); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func begun(_ []int32, err error) error { return err }

// BenchmarkDPSGD compares a step of 20,000 values with that of seeded noise.
func BenchmarkDPSGD(b *testing.B) {
	d := learning
	d.Examples = 1000
	const dim = 20_000
	for name, s := range map[string]Run[float32]{
		"secure": mechanismtest.Must(OpenSecret[float32](d, dim, mechanismtest.SecureLedger(b), tensor.Parallel)),
		"seeded": mechanismtest.Must(Open[float32](d, dim, mechanismtest.Ledger(b), rng.Seed(1).Stream("noise"))),
	} {
		b.Run(name, func(b *testing.B) {
			mean, v := make([]float32, dim), make([]float32, dim)
			n := uint64(0)
			for b.Loop() {
				users, err := s.Begin(0, n)
				if err != nil {
					b.Fatal(err)
				}
				for k := range users {
					v[k] = 1
					if err := s.Add(k, v); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Finish(mean); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
