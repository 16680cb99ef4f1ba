//go:build slow

package auditing

import (
	"flag"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/binomial"
	"privrec/internal/rng"
)

// repetitions is how often every planted fault is audited; the true program is audited ten times as often. 100 of them
// take about seven minutes of processor time.
var repetitions = flag.Int("repetitions", 4, "how often TestPlantedRepeatedly audits every planted fault")

// Every planted fault is found whenever it is looked for, and the true program is accused never: at this level by
// chance once in 1,000 audits at most, and as the bounds err to one side once in 1e6.
func TestPlantedRepeatedly(t *testing.T) {
	for name, c := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := 0
			for k := range *repetitions {
				p := c.program
				p.seed = rng.Seed(1000 + k)
				if _, err := p.made(t).audited(t, 12_000, 1e-3); err != nil {
					found++
				}
			}
			if t.Logf("found %d times of %d", found, *repetitions); found < *repetitions {
				t.Errorf("found %d times of %d", found, *repetitions)
			}
		})
	}
	t.Run("the true program", func(t *testing.T) {
		t.Parallel()
		accused, kinds := 0, []string{"matrix", "rounds", "step", "all"}
		for k := range 10 * *repetitions {
			p := program{of: kinds[k%len(kinds)], seed: rng.Seed(5000 + k)}
			f, err := p.made(t).audited(t, 4000, 1e-3)
			if err != nil || len(f.faults()) > 0 {
				accused++
				t.Logf("seed %d: %v, %v", p.seed, err, f.faults())
			}
		}
		if t.Logf("accused %d times of %d", accused, 10**repetitions); accused > 0 {
			t.Errorf("accused %d times of %d", accused, 10**repetitions)
		}
	})
}

// A thousand audits of releases whose epsilon is known: at most the stated share of them are above it, by any bound or
// by the curve. A mechanism that keeps the share exactly would be above the limit of the test once in 1e9.
func TestSimulatedReleases(t *testing.T) {
	const audits, releases, delta = 1000, 2000, 1e-6
	c := Default().Audit
	limit := 0
	for p := (binomial.Law{N: audits, P: c.Level, Q: 1 - c.Level}); p.Upper(int64(limit)) > 1e-9; {
		limit++
	}
	for _, mu := range []float64{0.2, 1.4} {
		epsilon, err := accountant.Exact(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		entries := []privacy.Entry{{Purpose: "known", Count: 1, Event: privacy.Gaussian{Sigma: 1 / mu, Sensitivity: 1,
			Unit: privacy.User, Neighbouring: privacy.AddRemove}}}
		wrong := map[string]int{}
		for k := range audits {
			s := rng.Seed(k).Stream("known mechanism")
			scores := make([]float64, releases)
			for i := range scores {
				scores[i] = s.NormFloat64() / mu
				if every2(i) {
					scores[i]++
				}
			}
			r, err := c.manyRun(Row{}, [][]float64{scores}, delta, entries)
			if err != nil {
				t.Fatal(err)
			}
			for name, high := range map[string]bool{"bound": r.Bound.Contradicts(epsilon),
				"Gaussian": r.Gaussian.Contradicts(epsilon), "ledger": r.Ledger.Contradicts(epsilon * (1 + 1e-3)),
				"accused": r.Bound.Contradicts(epsilon) || r.Found.Contradicts()} {
				if high {
					wrong[name]++
				}
			}
		}
		t.Logf("mu %v, epsilon %.3f: above it %v of %d", mu, epsilon, wrong, audits)
		for name, n := range wrong {
			if n >= limit {
				t.Errorf("mu %v: %s is above the truth %d times of %d, limit %d", mu, name, n, audits, limit)
			}
		}
	}
}
