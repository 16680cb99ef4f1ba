package sgdmf

import (
	"cmp"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/descent"
	"privrec/internal/private/release"
)

// purposeGradients names the noise in ledgers and streams.
const purposeGradients = "users' gradients"

// budget holds the releases of a setting: counts once, and a sum of gradients at each step.
type budget struct {
	counts release.Sum
	sgd    descent.DPSGD
	dim    int // values of a gradient
	steps  int64
	secure bool
}

// sampling returns how steps draw their users.
func (t TrainConfig) sampling() privacy.Sampling {
	return cmp.Or(privacy.Sampling(t.Sampling), privacy.Poisson)
}

// epoch returns the least number of steps of an epoch that takes a user into a step with probability Sample at most.
func (t TrainConfig) epoch() int64 {
	return int64(math.Ceil(1 / t.Sample * (1 - 1e-12))) // 1/q of a rounded q = 1/T may be a little above T
}

// newBudget returns the noise of all releases, for a number of users and items. Means are over the stated number of
// users, if there is one. The counts get their share of mu², and the gradients get the least noise that keeps the exact
// composition of all releases within epsilon.
func newBudget(c Config, users, items int) (b budget, err error) {
	p := c.Privacy
	b.secure, b.dim = p.Secure, min(c.Model.Items, items)*c.Model.Dim
	m, err := p.Multipliers(p.Counts, 1-p.Counts)
	if err != nil {
		return b, err
	}
	b.counts = release.CountSum(p.PerCount())
	b.counts.Multiplier = m[0]
	if p.Secure {
		b.counts.OfAll, b.counts.Grid = true, fine
	}
	b.sgd = descent.DPSGD{Purpose: purposeGradients, Clip: c.Train.Clip, NoiseMultiplier: 1, Examples: int64(users),
		Stated:   int64(c.Data.Sizes.Users),
		Sampling: c.Train.sampling(), Rate: c.Train.Sample, Unit: release.About.Unit, Share: 0.5}
	if b.sgd.Sampling == privacy.Allocation {
		b.sgd.Rate, b.sgd.Steps = 0, c.Train.epoch()
	}
	b.steps = int64(c.Train.Steps)
	goal := accountant.Goal{Epsilon: p.Epsilon, Delta: p.Delta, Exposed: 1} // all users are in the counts
	found, err := accountant.Calibrate(goal, 1, func(noise float64) (float64, error) {
		b.sgd.NoiseMultiplier = noise
		return b.epsilon(p)
	})
	if err != nil {
		return b, fmt.Errorf("noise on gradients: %w", err)
	}
	b.sgd.NoiseMultiplier = found.Noise
	return b, nil
}

// event returns the event of a step's release, or of an epoch of random allocation.
func (b budget) event() (privacy.Event, error) {
	if b.secure {
		return descent.SecretEvent(b.sgd, b.dim)
	}
	return b.sgd.Event(), nil
}

// fine is the grid of the noise of secure counts. Counts are whole numbers, but noise on a finer grid has a tighter
// account.
const fine = 0x1p-16

// epsilon returns the exact composition of all releases for one user. That of discrete noise is an upper bound, less
// than a part in 10^9 above the true value (package terms).
func (b budget) epsilon(p release.Privacy) (float64, error) {
	acc, err := accountant.New(accountant.Contour, release.About.Unit, release.About.Neighbouring)
	if err != nil {
		return 0, err
	}
	plan, err := p.Plan(b.counts)
	if err != nil {
		return 0, err
	}
	if err := acc.Charge(plan.Releases[0].Event, 1); err != nil {
		return 0, err
	}
	step, err := b.event()
	if err != nil {
		return 0, err
	}
	if err := acc.Charge(step, b.sgd.Count(b.steps)); err != nil {
		return 0, err
	}
	r, err := acc.Spent(p.Delta)
	return r.Epsilon, err
}
