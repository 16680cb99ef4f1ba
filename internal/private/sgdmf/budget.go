package sgdmf

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/private/release"
)

// purposeGradients names the noise in ledgers and streams.
const purposeGradients = "users' gradients"

// budget is what a setting releases: counts once, and a sum of gradients a step.
type budget struct {
	counts release.Sum
	sgd    channel.DPSGD
	steps  int64
}

// newBudget divides the setting's epsilon on so many users. The counts take their share of mu², and the
// gradients get the least noise with which the exact composition of all releases is within epsilon.
func newBudget(c Config, users int) (b budget, err error) {
	p := c.Privacy
	m, err := p.Multipliers(p.Counts, 1-p.Counts)
	if err != nil {
		return b, err
	}
	b.counts = release.CountSum(p.PerCount())
	b.counts.Multiplier = m[0]
	b.sgd = channel.DPSGD{Purpose: purposeGradients, Clip: c.Train.Clip, NoiseMultiplier: 1, Examples: int64(users),
		Sampling: privacy.Poisson, Rate: c.Train.Sample, Unit: release.About.Unit, Share: 0.5}
	b.steps = int64(c.Train.Steps)
	goal := accountant.Goal{Epsilon: p.Epsilon, Delta: p.Delta, Exposed: 1} // all users are in the counts
	found, err := accountant.Calibrate(goal, 1, func(noise float64) (float64, error) {
		b.sgd.NoiseMultiplier = noise
		return b.epsilon(p.Delta)
	})
	if err != nil {
		return b, fmt.Errorf("noise on gradients: %w", err)
	}
	b.sgd.NoiseMultiplier = found.Noise
	return b, nil
}

// epsilon returns the exact composition of all releases, for one user.
func (b budget) epsilon(delta float64) (float64, error) {
	acc, err := accountant.New(accountant.Contour, release.About.Unit, release.About.Neighbouring)
	if err != nil {
		return 0, err
	}
	counts := privacy.Gaussian{Sigma: b.counts.Deviation(), Sensitivity: b.counts.Sensitivity, Unit: release.About.Unit, Neighbouring: release.About.Neighbouring}
	if err := acc.Charge(counts, 1); err != nil {
		return 0, err
	}
	if err := acc.Charge(b.sgd.Event(), b.steps); err != nil {
		return 0, err
	}
	r, err := acc.Spent(delta)
	return r.Epsilon, err
}
