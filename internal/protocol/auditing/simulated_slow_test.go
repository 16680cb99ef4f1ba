//go:build slow

package auditing

import (
	"math"
	"testing"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/binomial"
	"privrec/internal/rng"
)

// A thousand audits of a mechanism whose epsilon is known: the bound is above it in at most the stated
// share of them. A mechanism that keeps the share exactly would be above the limit of the test once in
// 1e9. With half the noise that is accounted for, most audits say so.
func TestSimulatedAudits(t *testing.T) {
	const audits, canaries, models = 1000, 400, 160
	c := Default().Audit
	limit := 0
	for p := (binomial.Law{N: audits, P: c.Level, Q: 1 - c.Level}); p.Upper(int64(limit)) > 1e-9; {
		limit++
	}
	exact := func(mu float64) float64 {
		e, err := accountant.Exact(mu, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	response := func(epsilon float64) func(s *rng.Stream, in bool) float64 {
		keep := 1 / (1 + math.Exp(-epsilon))
		return func(s *rng.Stream, in bool) float64 {
			if in == (s.Float64() < keep) {
				return 1
			}
			return 0
		}
	}
	gaussian := func(mu float64) func(s *rng.Stream, in bool) float64 {
		return func(s *rng.Stream, in bool) float64 {
			x := s.NormFloat64() / mu
			if in {
				x++
			}
			return x
		}
	}
	for name, m := range map[string]struct {
		epsilon, delta float64 // promised
		show           func(s *rng.Stream, in bool) float64
		keeps          bool
	}{
		"randomised response":               {1, 0, response(1), true},
		"Gaussian mechanism":                {exact(1), 1e-6, gaussian(1), true},
		"weak Gaussian mechanism":           {exact(0.2), 1e-6, gaussian(0.2), true},
		"randomised response at twice it":   {0.5, 0, response(1), false},
		"Gaussian mechanism, half of noise": {exact(0.5), 1e-6, gaussian(2), false},
	} {
		for _, method := range []string{OneRun, Canary} {
			if method == Canary && !m.keeps {
				continue // few models show less than many canaries
			}
			t.Run(name+", "+method, func(t *testing.T) {
				t.Parallel()
				alarms, sharper := 0, 0
				for k := range audits {
					s := rng.Seed(k).Stream("mechanism")
					coins, err := audit.NewCoins(rng.Seed(k).Stream("coins"), canaries)
					if err != nil {
						t.Fatal(err)
					}
					var r Row
					if method == OneRun {
						scores := make([]float64, canaries)
						for i := range scores {
							scores[i] = m.show(&s, coins.In(i))
						}
						r, err = c.oneRun(r, coins, [][]float64{scores}, m.delta)
					} else {
						var in, out []float64
						for range models / 2 {
							in, out = append(in, m.show(&s, true)), append(out, m.show(&s, false))
						}
						r, err = c.twoRun(r, in, out, m.delta)
					}
					if err != nil {
						t.Fatal(err)
					}
					if r.Bound.Contradicts(m.epsilon) {
						alarms++
					}
					if r.Gaussian != nil && r.Gaussian.Contradicts(m.epsilon) {
						sharper++
					}
				}
				t.Logf("%d of %d audits above epsilon %.3f, %d if Gaussian", alarms, audits, m.epsilon, sharper)
				if m.keeps && (alarms >= limit || sharper >= limit) {
					t.Errorf("%d and %d false alarms of %d, limit %d", alarms, sharper, audits, limit)
				}
				if !m.keeps && max(alarms, sharper) < audits/2 {
					t.Errorf("%d and %d audits of %d found what was wrong", alarms, sharper, audits)
				}
			})
		}
	}
}
