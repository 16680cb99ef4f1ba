package bench

import (
	"context"
	"fmt"
	"math/rand/v2"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The settings for which other accountants publish times: MNIST batches of 256 of 60000, for 60
// and for a thousand epochs.
const (
	accountRate  = 256.0 / 60000
	accountDelta = 1e-5
	shortRun     = 14062
	longRun      = 234000
	normalsACall = 1 << 20
)

// releases returns steps Poisson-sampled Gaussian releases in the form that accountants take.
func releases(sigma float64, steps int64) []terms.Term {
	return []terms.Term{{
		Leaf: privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove},
		Rate: accountRate, Method: privacy.Poisson, Relation: privacy.AddRemove, Count: steps,
	}}
}

// Account measures the accountants and the samplers of noise: one call is one answer or one
// draw.
func Account(ctx context.Context, o Options) ([]Result, error) {
	all, err := Run(ctx, o, append(accountants(), samplers()...))
	for i := range all {
		switch all[i].Name {
		case normalsName:
			all[i].GFLOPS = normalsACall / all[i].MinS / 1e9
		default: // one goroutine computes an answer and draws a sample
			all[i].Threads = 1
		}
	}
	return all, err
}

const normalsName = "noise_normals"

func accountants() []Case {
	budget := privacy.Budget{Epsilon: 1, Delta: accountDelta}
	exactly := func(sigma float64) func() error {
		return func() error {
			_, err := exact.Epsilon(context.Background(), releases(sigma, longRun), accountDelta)
			return err
		}
	}
	front := func(sigma float64) func() error {
		return func() error {
			a, err := accountant.New(accountant.Contour, privacy.Record, privacy.AddRemove)
			if err != nil {
				return err
			}
			t := releases(sigma, longRun)[0]
			if err := a.Charge(privacy.Sampled{Event: t.Leaf, Rate: t.Rate, Method: t.Method}, t.Count); err != nil {
				return err
			}
			r, err := a.Spent(accountDelta)
			if err == nil && r.Method != string(accountant.Contour) {
				return fmt.Errorf("%s answered: %v", r.Method, r.Notes)
			}
			return err
		}
	}
	grid := rdp.DPAccounting()
	at := fmt.Sprintf("q=256/60000 T=%d", longRun)
	return []Case{
		plain("account_rdp_grid", fmt.Sprintf("%d orders, q=256/60000 sigma=1.1", len(grid)), func() error {
			c, err := rdp.SampledGaussian(accountRate, 1.1)
			if err != nil {
				return err
			}
			sum := 0.0
			for _, alpha := range grid {
				sum += c(alpha)
			}
			return finite("the sum of divergences", sum)
		}),
		plain("account_rdp_calibrate", fmt.Sprintf("q=256/60000 T=%d epsilon=1", shortRun), func() error {
			_, err := rdp.CalibrateSampledGaussian(context.Background(), accountRate, shortRun, budget, rdp.Options{})
			return err
		}),
		plain("account_exact_234k_s1.1", at+" sigma=1.1", exactly(1.1)),
		plain("account_exact_234k_s4", at+" sigma=4", exactly(4)),
		plain("account_checked_234k_s1.1", at+" sigma=1.1, exact, with its checks", front(1.1)),
		plain("account_pld_2p19", at+" sigma=1.1, 2^19 bins", func() error {
			_, err := pld.Bracket(context.Background(), releases(1.1, longRun), accountDelta,
				pld.Options{Bins: 1 << 19})
			return err
		}),
		plain("account_analytic", "sigma for epsilon=1 delta=1e-5", func() error {
			_, err := accountant.SigmaFor(1, budget.Epsilon, budget.Delta)
			return err
		}),
	}
}

// samplers returns the cases of research noise, on all workers, and of exact noise, on one.
func samplers() []Case {
	return []Case{
		{normalsName, fmt.Sprintf("%d float32 values from keyed streams", normalsACall), func() (func() error, error) {
			dst := make([]float32, normalsACall)
			streams := rng.Seed(1).Stream("bench.noise")
			call := uint64(0)
			return func() error {
				call++
				tensor.Parallel(len(dst), 1<<15, func(chunk, lo, hi int) {
					s := streams.Sub(call, uint64(chunk))
					s.Normals32(dst[lo:hi])
				})
				return nil
			}, nil
		}},
		discrete("noise_discrete_gaussian", "sigma=1000 steps, ChaCha8", rand.NewChaCha8([32]byte{1})),
		discrete("noise_discrete_gaussian_system", "sigma=1000 steps, bits from the operating system", rng.Crypto()),
	}
}

func discrete(name, shape string, src rng.Source) Case {
	return Case{name, shape, func() (func() error, error) {
		g, err := secure.NewGaussianSampler(secure.Ratio{Num: 1000, Den: 1})
		return func() error {
			g.Sample(src)
			return nil
		}, err
	}}
}

// plain returns a case that needs no preparation.
func plain(name, shape string, call func() error) Case {
	return Case{name, shape, func() (func() error, error) { return call, nil }}
}

func finite(what string, v float64) error {
	if !(v-v == 0) {
		return fmt.Errorf("%s is %v", what, v)
	}
	return nil
}
