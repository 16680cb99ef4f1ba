package features

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// What follows from the budget of a row: features drawn, budget of each, C, the factor on numbers,
// the largest number, and the chance that a 0 is sent as 1.
func TestTableOfBudgets(t *testing.T) {
	for _, c := range []struct {
		epsilon            float64
		zeta               int
		e, c, factor, most float64
		flip               float64
	}{
		{0.5, 1, 0.5, 8.0416, 21, 168.9, 0.3775},
		{5, 2, 2.5, 1.8031, 10.5, 18.93, 0.0759},
		{10, 4, 2.5, 1.8031, 5.25, 9.47, 0.0759},
		{20, 8, 2.5, 1.8031, 2.625, 4.73, 0.0759},
	} {
		f := Config{Epsilon: c.epsilon}.paperSampler()
		m := local.Piecewise{Epsilon: f.PerFeature()}
		factor := float64(Features) / float64(f.K())
		q := local.UnaryEncoding{Epsilon: f.PerFeature()}.Q()
		if f.K() != c.zeta || f.PerFeature() != c.e || math.Abs(m.C()-c.c) > 5e-5 || factor != c.factor || math.Abs(factor*m.C()-c.most) > 0.05 || math.Abs(q-c.flip) > 5e-5 {
			t.Errorf("epsilon %g: zeta %d, %g each, C %g, factor %g, most %g, flip %g", c.epsilon, f.K(), f.PerFeature(), m.C(), factor, factor*m.C(), q)
		}
	}
}

// many are n users, all alike.
func many(n int) *dataset.Interactions {
	x := some()
	x.Users, x.UserIDs, x.Train, x.Ratings = n, nil, nil, nil
	codes, ages := make([]int32, n), make([]float64, n)
	for u := range n {
		x.UserIDs = append(x.UserIDs, fmt.Sprint(u))
		x.Train, x.Ratings = append(x.Train, []int32{1, 2}), append(x.Ratings, []float32{4, 5})
		ages[u] = 40
	}
	x.Features.UserIDs = x.UserIDs
	x.Features.Columns[0].Codes, x.Features.Columns[2].Codes = codes, codes
	x.Features.Columns[1].Numbers = ages
	return x
}

func ledgerAndNoise(t *testing.T, seed rng.Seed) (*privacy.Ledger, func(string) (rng.Stream, error)) {
	t.Helper()
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	return l, func(purpose string) (rng.Stream, error) { return seed.Stream(purpose), nil }
}

// Every form records what it releases, gives the same rows again and others for another seed, and
// has the means of its mechanism: within 6.11 standard errors, a false alarm of 1e-9 a value.
func TestRelease(t *testing.T) {
	const n = 20_000
	x := many(n)
	for _, c := range []struct {
		c      Config
		events []privacy.Event
		width  int
	}{
		{Config{Form: FormTable, Noise: NoiseLocal, Epsilon: 20}, []privacy.Event{privacy.PureLDP{Epsilon: 20, Unit: privacy.Feature}}, 44},
		{Config{Form: FormTable, Noise: NoiseLocal, Epsilon: 30, Draw: 21}, []privacy.Event{privacy.PureLDP{Epsilon: 30, Unit: privacy.Feature}}, 44},
		{Config{Form: FormAttributes, Noise: NoiseLocal, Epsilon: 1}, []privacy.Event{
			privacy.RandomizedResponse{Epsilon: 1, Categories: 3, Unit: privacy.Feature}, // age, gender, occupation
			privacy.RandomizedResponse{Epsilon: 1, Categories: 2, Unit: privacy.Feature},
			privacy.PureLDP{Epsilon: 1, Unit: privacy.Feature}}, 26},
		{Config{Form: FormAttributes, Noise: NoiseLocal, Epsilon: 2.5}, []privacy.Event{
			privacy.RandomizedResponse{Epsilon: 2.5, Categories: 3, Unit: privacy.Feature},
			privacy.RandomizedResponse{Epsilon: 2.5, Categories: 2, Unit: privacy.Feature},
			privacy.RandomizedResponse{Epsilon: 2.5, Categories: 21, Unit: privacy.Feature}}, 26},
		{Config{Form: FormTable, Noise: NoiseNone, Epsilon: 20}, nil, 44},
		{Config{Form: FormAttributes, Noise: NoiseNone, Epsilon: 20}, nil, 26},
	} {
		release := func(seed rng.Seed) (tensor.Matrix, *privacy.Ledger) {
			l, noise := ledgerAndNoise(t, seed)
			r, err := c.c.Release(x, l, noise)
			if err != nil {
				t.Fatal(err)
			}
			return r.X, l
		}
		got, l := release(1)
		var events []privacy.Event
		for _, e := range l.Entries() {
			events = append(events, e.Event)
		}
		if !slices.Equal(events, c.events) || got.Cols != c.width {
			t.Errorf("%+v: %d values, ledger %v, want %v", c.c, got.Cols, events, c.events)
		}
		again, _ := release(1)
		other, _ := release(2)
		if !slices.Equal(got.Data, again.Data) || slices.Equal(got.Data, other.Data) == (c.c.Noise == NoiseLocal) {
			t.Errorf("%+v: not the rows of their seed", c.c)
		}
		var truth *Table
		var err error
		if truth, err = Clear(x, false); c.c.Form == FormAttributes {
			truth, err = ClearAttributes(x)
		}
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, k := range truth.Kinds {
			for i := range k.Width() {
				v := float64(tensor.Row(truth.X, 0)[at+i])
				sum := 0.0
				for u := range n {
					sum += float64(tensor.Row(got, u)[at+i])
				}
				mean, variance := c.c.expected(k, v)
				if z := (sum/n - mean) / math.Sqrt(variance/n+1e-14); math.Abs(z) > 6.11 {
					t.Errorf("%+v: %s, value %d: mean %g, want %g, %.1f standard errors", c.c, k.Name, i, sum/n, mean, z)
				}
			}
			at += k.Width()
		}
	}
}

// expected returns the mean and the variance of a perturbed value.
func (c Config) expected(k local.FeatureKind, v float64) (mean, variance float64) {
	if c.Noise == NoiseNone {
		return v, 0
	}
	if c.Form == FormAttributes {
		o := c.oracle(k.Name, k.Categories, 1)
		mean = o.Q() + v*(o.P()-o.Q())
		return mean, mean * (1 - mean)
	}
	f := c.paperSampler()
	return lawOf(f.PerFeature(), float64(f.K())/Features, k.Categories > 0, v)
}

// lawOf returns the mean and the variance of a value that a share of the users send with a budget.
func lawOf(e, share float64, bit bool, v float64) (mean, variance float64) {
	if !bit {
		return v, (local.Piecewise{Epsilon: e}.Variance(v)+v*v)/share - v*v
	}
	q := local.UnaryEncoding{Epsilon: e}.Q()
	mean = share * (q + v*(0.5-q))
	return mean, mean * (1 - mean)
}

// Numbers and account of every form; nothing is released with noise none, and that is declared.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		c     Config
		costs Costs
		k, n  int
		total float64
		open  string
	}{
		{Default(), Costs{20, 2.5, 5, 7.5, 20, 8. / 21}, 8, 21, 20, ""},
		{Config{Form: FormTable, Noise: NoiseLocal, Epsilon: 0.5}, Costs{0.5, 0.5, 0.5, 0.5, 0.5, 1. / 21}, 1, 21, 0.5, ""},
		{Config{Form: FormTable, Noise: NoiseLocal, Epsilon: 20, Draw: 2}, Costs{20, 10, 20, 20, 20, 2. / 21}, 2, 21, 20, ""},
		{Config{Form: FormTable, Noise: NoiseLocal, Epsilon: 20, Range: RangeMinMax}, Costs{inf, 2.5, 5, 7.5, inf, 8. / 21}, 8, 21, math.Inf(1), "range"},
		{Config{Form: FormAttributes, Noise: NoiseLocal, Epsilon: 2.5}, Costs{7.5, 2.5, 5, 7.5, 0, 1}, 3, 3, 7.5, ""},
		{Config{Form: FormAttributes, Noise: NoiseLocal, Epsilon: 2.5, Statistics: true}, Costs{inf, 2.5, 5, 7.5, inf, 1}, 3, 3, math.Inf(1), "statistics"},
		{Config{Form: FormAttributes, Noise: NoiseNone, Epsilon: 2.5, Statistics: true}, Costs{inf, inf, inf, inf, inf, 1}, 3, 3, math.Inf(1), "no_perturbation,statistics"},
		{Config{Form: FormTable, Noise: NoiseNone, Epsilon: 20}, Costs{inf, inf, inf, inf, inf, 1}, 21, 21, math.Inf(1), "no_perturbation"},
		{Config{Form: FormAttributes, Noise: NoiseNone, Epsilon: 20}, Costs{inf, inf, inf, inf, 0, 1}, 3, 3, math.Inf(1), "no_perturbation"},
	} {
		a := c.c.Account()
		var open []string
		for _, o := range a.Unbounded {
			open = append(open, o.What)
		}
		if got := c.c.Costs(); got != c.costs || a.K != c.k || a.N != c.n || float64(a.Total) != c.total || strings.Join(open, ",") != c.open {
			t.Errorf("%+v: costs %+v, account %+v", c.c, got, a)
		}
		if len(c.c.Facts()) == 0 || len(c.c.Notes()) == 0 {
			t.Errorf("%+v: nothing is said", c.c)
		}
	}
}

var inf = privacy.Number(math.Inf(1))

// Epsilon 0, negative, infinite or not a number, zeta above 21, and settings of the other form are
// refused by their keys.
func TestConfigRefuses(t *testing.T) {
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{FormTable, NoiseLocal, 0, 0, "", false}, "features.epsilon: must lie in [0.001,1000], got 0"},
		{Config{FormTable, NoiseLocal, -1, 0, "", false}, "got -1"},
		{Config{FormTable, NoiseLocal, math.Inf(1), 0, "", false}, "got +Inf"},
		{Config{FormTable, NoiseLocal, math.NaN(), 0, "", false}, "got NaN"},
		{Config{FormTable, NoiseLocal, 20, 22, "", false}, "features.draw: must lie in 0..21, got 22"},
		{Config{FormAttributes, NoiseLocal, 20, 2, "", false}, "works only with form table"},
		{Config{FormAttributes, NoiseLocal, 20, 0, RangeMinMax, false}, "attributes are not numbers"},
		{Config{"all", NoiseLocal, 20, 0, "", false}, "features.form"},
		{Config{FormTable, "laplace", 20, 0, "", false}, "features.noise"},
		{Config{FormTable, NoiseLocal, 20, 0, "data", false}, "features.range"},
		{Config{FormTable, NoiseLocal, 20, 0, "", true}, "features.statistics: works only with form attributes"},
	} {
		v := config.NewChecker(nil)
		v.Declared(struct {
			Features Config `yaml:"features"`
		}{c.c})
		c.c.Check(v, "features")
		if err := v.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.c, err, c.want)
		}
	}
	v := config.NewChecker(nil)
	Default().Check(v, "features")
	if err := v.Err(); err != nil {
		t.Error(err)
	}
}

// The chosen mechanism has the smaller distance of the estimated vector from the true one, by the
// closed forms of both.
func TestOracleOfAttribute(t *testing.T) {
	for _, eps := range []float64{0.1, 0.5, 1, 2.5, 5} {
		x := math.Exp(eps)
		for k := 2; k < 80; k++ {
			n := float64(k)
			p, q := x/(x+n-1), 1/(x+n-1)
			grr := (p*(1-p) + (n-1)*q*(1-q)) / (p - q) / (p - q)
			q = 1 / (x + 1)
			oue := (0.25 + (n-1)*q*(1-q)) / (0.5 - q) / (0.5 - q)
			if got := (Config{Epsilon: eps}).oracle("a", k, mechanism.Share(1)); (got.Kind == local.GRR) != (grr < oue) {
				t.Errorf("epsilon %g, %d levels: %s, distances %g and %g", eps, k, got.Kind, grr, oue)
			}
		}
	}
}
