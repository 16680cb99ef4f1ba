package audit_test

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// known is a release of two values to which others add 5 and 6 and the canary 3 and 4, with noise of its own of
// deviation 2, a sample at rate q, and noise that is stated as something else.
func known(purpose string, stream rng.Stream, q, noise, stated float64) audit.Release {
	return audit.Release{Purpose: purpose, Sensitivity: 5, Deviation: stated, Rate: q, Cols: 2,
		Draw: func(d audit.Draw) ([]float64, error) {
			var x []float64
			for k, in := range d.In {
				s, by := stream.Sub(d.Key, uint64(k)), noise
				if d.Off {
					by *= audit.Quiet
				}
				taken := in && (d.Off || s.Float64() < q)
				for j, rest := range []float64{5, 6} {
					if taken {
						rest += float64(3 + j)
					}
					x = append(x, rest+by*s.NormFloat64())
				}
			}
			return x, nil
		}}
}

// The score of a release is the logarithm of the likelihood ratio: e to it has the mean 1 without the canary, and with
// a Gaussian release its mean is half of mu² on either side. Tolerances are six deviations: by chance once in 1e9.
func TestLikelihood(t *testing.T) {
	for _, q := range []float64{1, 0.3} {
		a, err := audit.NewAuditor([]audit.Release{known("one", rng.Seed(3).Stream("one"), q, 5, 5),
			known("two", rng.Seed(3).Stream("two"), q, 10, 10)})
		if err != nil {
			t.Fatal(err)
		}
		const n = 40_000
		in := make([]bool, n)
		for k := range n / 2 {
			in[k] = true
		}
		s, err := a.Score(audit.Draw{In: in})
		if err != nil {
			t.Fatal(err)
		}
		mu2 := 1 + 0.25
		ratio, with := 0.0, 0.0
		for k, v := range s.Likelihood {
			if in[k] {
				with += v / (n / 2)
			} else {
				ratio += math.Exp(v) / (n / 2)
			}
		}
		if limit := 6 * math.Sqrt(math.Expm1(mu2)/(n/2)); math.Abs(ratio-1) > limit {
			t.Errorf("rate %v: the ratio has the mean %v, want 1 within %v", q, ratio, limit)
		}
		if limit := 6 * math.Sqrt(mu2/(n/2)); q == 1 && math.Abs(with-mu2/2) > limit {
			t.Errorf("the mean with the canary is %v, want %v within %v", with, mu2/2, limit)
		}
		for _, r := range a.Seen(s.Noise, s.Out) {
			if math.Abs(r.Adds-1) > 1e-6 || r.Least < 0.95 || r.Most > 1.05 || r.Fault() != "" || s.Out != n/2 {
				t.Errorf("%+v", r)
			}
		}
	}
}

// Noise that two releases share cancels in the second score, and faults of a release have their names.
func TestFaultsOfReleases(t *testing.T) {
	stream := rng.Seed(4).Stream("one")
	a, err := audit.NewAuditor([]audit.Release{known("one", stream, 1, 5, 5), known("two", stream, 1, 10, 10)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Score(audit.Draw{In: []bool{true, false, true, false}})
	if err != nil || strings.Join(a.Pair(), ", ") != "one, two" {
		t.Fatalf("%v, pair %v", err, a.Pair())
	}
	for k, v := range s.Difference { // the canary adds mu of 1 to one and of 1/2 to two
		if want := 0.5 * float64(1-k%2); math.Abs(v-want) > 1e-9 {
			t.Errorf("difference %d is %v, want %v", k, v, want)
		}
	}
	for name, c := range map[string]struct {
		release audit.Release
		says    string
	}{
		"half the noise": {known("one", stream, 1, 2.5, 5), "the noise of one is 0."},
		"too long": {func() audit.Release {
			r := known("one", stream, 1, 5, 5)
			r.Sensitivity = 2.5
			return r
		}(), "what one unit adds to one is 2 of the sensitivity in the ledger"},
		"as stated": {known("one", stream, 1, 5, 5), ""},
	} {
		a, err := audit.NewAuditor([]audit.Release{c.release})
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Score(audit.Draw{In: make([]bool, 4000)})
		if err != nil {
			t.Fatal(err)
		}
		got := a.Seen(s.Noise, s.Out)[0].Fault()
		if c.says == "" && got != "" || !strings.HasPrefix(got, c.says) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

func TestReleasesRefused(t *testing.T) {
	good := known("one", rng.Seed(1).Stream("one"), 1, 5, 5)
	change := func(f func(r *audit.Release)) []audit.Release {
		r := good
		f(&r)
		return []audit.Release{r}
	}
	for want, releases := range map[string][]audit.Release{
		"there are no releases":       nil,
		"a release without a purpose": change(func(r *audit.Release) { r.Purpose = "" }),
		"want positive and finite":    change(func(r *audit.Release) { r.Deviation = 0 }),
		"rate is 1.5":                 change(func(r *audit.Release) { r.Rate = 1.5 }),
		"a canary changes 0 values":   change(func(r *audit.Release) { r.Cols = 0 }),
		"4 values for 2 canaries":     change(func(r *audit.Release) { r.Cols = 3 }),
		"a canary adds nothing to any release": change(func(r *audit.Release) {
			r.Draw = func(d audit.Draw) ([]float64, error) { return make([]float64, 2*len(d.In)), nil }
		}),
	} {
		if _, err := audit.NewAuditor(releases); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
