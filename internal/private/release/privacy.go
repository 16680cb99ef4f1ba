package release

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/config"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// Privacy sets the guarantee for a user and how much a user contributes.
type Privacy struct {
	Epsilon float64 `yaml:"epsilon" limit:"[0.001,1000]"` // epsilon of all releases together, for one user more or less
	Delta   float64 `yaml:"delta" limit:"[1e-15,0.1]"`
	Items   int     `yaml:"items" limit:"1..100000"` // k, the most items that a user contributes to a release
	// share of mu² spent on the counts, in (0, 1); 1 if nothing else is released
	Counts float64 `yaml:"counts"`
	// CountItems is the most items that a user contributes to the counts; 0: as many as items.
	CountItems int `yaml:"count_items,omitempty" limit:"0..100000"`
	// Prefer says which items count for a user who has more than items, once the counts are released: an item has the
	// weight of its released count to the power -prefer. 0: all alike; above 0: rare ones first.
	Prefer float64 `yaml:"prefer,omitempty" limit:"[0,10)"`
	// Secure draws discrete noise from cryptographic bits, so that what is released may be
	// published. False: seeded noise in floating point, for research. The setting run.secure does
	// the same.
	Secure bool `yaml:"secure,omitempty"`
	// Parent names the file of a budget from which all runs on the same data spend; "": none.
	Parent string `yaml:"parent,omitempty"`
}

// SecureKey is the key of Privacy.Secure in configurations that have Privacy under "privacy".
const SecureKey = "privacy.secure"

// Default returns epsilon 1 at delta 1e-6, 50 items, and a tenth of mu² for the counts.
func Default() Privacy { return Privacy{Epsilon: 1, Delta: 1e-6, Items: 50, Counts: 0.1} }

// About is the subject of the guarantee: one user more or less.
var About = privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}

// Check reports every setting that cannot be run, for a method that releases more than counts.
func (p Privacy) Check(v *config.Checker) {
	v.Within("privacy.counts", p.Counts, 1e-6, 1-1e-6)
}

// CheckCountsAlone reports every setting that cannot be run, for a method that releases only counts.
func (p Privacy) CheckCountsAlone(v *config.Checker) {
	v.Check(p.Counts == 1, "privacy.counts", "must be 1: nothing else is released, got %v", p.Counts)
	v.Check(p.CountItems == 0, "privacy.count_items", "must be left out: privacy.items says it")
	v.Check(p.Prefer == 0, "privacy.prefer", "must be left out: nothing is released before the counts")
}

// PerCount returns the largest number of items that a user contributes to the counts.
func (p Privacy) PerCount() int {
	if p.CountItems > 0 {
		return p.CountItems
	}
	return p.Items
}

// Multipliers splits the budget over normal releases and returns their noise multipliers. A release with share s of mu²
// gets the standard deviation 1/(mu sqrt(s)), in units of its sensitivity. mu is the largest that is (Epsilon,
// Delta)-DP. A share stands for one release; several equal releases have one entry each. The shares sum to 1, so the
// whole budget is used. It is for seeded noise: see Split.
func (p Privacy) Multipliers(shares ...float64) ([]float64, error) {
	mu, err := accountant.MuFor(p.Epsilon, p.Delta)
	if err != nil {
		return nil, fmt.Errorf("privacy: %w", err)
	}
	sum, out := 0.0, make([]float64, len(shares))
	for i, s := range shares {
		if !(s > 0) {
			return nil, fmt.Errorf("privacy: share %d of the budget is %v, want positive", i, s)
		}
		sum += s
		out[i] = (1 + margin) / (mu * math.Sqrt(s))
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("privacy: the shares of the budget sum to %v, want 1", sum)
	}
	return out, nil
}

// margin widens the noise, relative to it: by more than the rounding of the shares and of the composition, and too
// little to show in epsilon.
const margin = 2e-9

// rounded bounds the relative rounding up of the deviation of discrete noise (package secure), with a small margin: a
// sum with another sensitivity than that of the calibration rounds differently.
const rounded = 2e-8

// Split returns the sums with multipliers that use up the whole budget. shares are their parts of mu², one for each.
//
// Discrete noise in several coordinates has no exact account, since it is not rotationally symmetric. Its price is the
// Rényi bound. So Split widens the noise of the secure form, for all releases by one factor, until that bound equals
// the budget.
func (p Privacy) Split(sums []Sum, shares ...float64) ([]Sum, error) {
	if len(sums) != len(shares) {
		return nil, fmt.Errorf("privacy: %d shares for %d releases", len(shares), len(sums))
	}
	m, err := p.Multipliers(shares...)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(sums)
	widen := func(by float64) {
		for i := range out {
			out[i].Multiplier = m[i] * by
		}
	}
	if widen(1); !p.Secure {
		return out, nil
	}
	by, err := p.Widen(func(by float64) ([]privacy.Entry, error) {
		widen(by)
		plan, err := p.Plan(out...)
		if err != nil {
			return nil, err
		}
		return plan.Releases, nil
	})
	if err != nil {
		return nil, err
	}
	widen(by)
	return out, nil
}

// Widen returns the factor of the noise at which releases come to the setting's epsilon, and hardly below. of returns
// the releases whose noise is wider by a factor than that of Multipliers.
func (p Privacy) Widen(of func(by float64) ([]privacy.Entry, error)) (float64, error) {
	least, err := accountant.Calibrate(accountant.Goal{Epsilon: p.Epsilon, Delta: p.Delta, Exposed: 1}, 1,
		func(by float64) (float64, error) {
			entries, err := of(by)
			if err != nil {
				return 0, err
			}
			acc, err := accountant.New(accountant.Contour, About.Unit, About.Neighbouring)
			if err != nil {
				return 0, err
			}
			spent, err := accountant.Covered(acc, entries, p.Delta)
			return spent.Epsilon, err
		})
	if err != nil {
		return 0, fmt.Errorf("privacy: %w", err)
	}
	return least.Noise * (1 + rounded), nil
}

// Plan returns the releases of a run: each sum once. The setting's epsilon covers them.
func (p Privacy) Plan(sums ...Sum) (*privacy.Plan, error) {
	l, err := privacy.NewLedger(p.Marks())
	if err != nil {
		return nil, err
	}
	r := Releaser{Ledger: l, Secure: p.Secure}
	for _, s := range sums {
		if err := r.Repeat(s); err != nil {
			return nil, err
		}
	}
	return &privacy.Plan{Budget: privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, Subject: About,
		Releases: l.Entries()}, nil
}
