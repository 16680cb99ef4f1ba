package exposure

import (
	"fmt"

	"privrec/internal/epsilons"
	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
)

// EpsilonRows returns the settings of this paper for privrec account epsilon.
func EpsilonRows() epsilons.Paper { return epsilons.Of[EpsilonReading]("exposure") }

// EpsilonReading holds one reading of a setting: how the positions of a slate are replaced.
type EpsilonReading struct {
	// how positions are replaced: uniform, popularity, in-batch or rr; empty: not at all
	Replace string  `yaml:"replace"`
	Epsilon float64 `yaml:"epsilon"` // epsilon of rr, for one position
	Slate   int     `yaml:"slate"`   // number of positions of a slate
	Slates  int     `yaml:"slates"`  // number of slates of one user
}

// Releases implements epsilons.Source. The epsilons of positions add up, and slates that differ
// in all of them attain the sum.
func (r EpsilonReading) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	if r.Slate < 1 || r.Slates < 1 {
		return of, fmt.Errorf("slate %d and slates %d, want at least 1", r.Slate, r.Slates)
	}
	c := Config{Data: DataConfig{Slate: r.Slate}, Protect: ProtectConfig{Replace: r.Replace, Epsilon: r.Epsilon}}
	if r.Replace != protect.ReplaceRR {
		if r.Epsilon != 0 {
			return of, fmt.Errorf("epsilon is %v, which belongs to replace %s", r.Epsilon, protect.ReplaceRR)
		}
		for _, o := range c.account(shares{}).Unbounded {
			if o.What == "slates" {
				of.Open = append(of.Open, o)
			}
		}
		return of, nil
	}
	if !(r.Epsilon >= protect.MinEpsilon && r.Epsilon <= protect.MaxEpsilon) {
		return of, fmt.Errorf("epsilon is %v, want %v to %v", r.Epsilon, protect.MinEpsilon,
			float64(protect.MaxEpsilon))
	}
	u, err := unitOf(responseUnits(r.Epsilon, r.Slate, shares{Slates: r.Slates}), string(s.Unit))
	of.Pure = float64(u.Accounted.Eps)
	of.Noise = fmt.Sprintf("randomised response of epsilon %.4g at each of %d positions", r.Epsilon, r.Slate)
	return of, err
}

// unitOf returns the guarantee of a unit.
func unitOf(units []experiment.Unit, name string) (experiment.Unit, error) {
	for _, u := range units {
		if u.Unit == name {
			return u, nil
		}
	}
	return experiment.Unit{}, fmt.Errorf("unit is %q, of which randomised response of slates says nothing", name)
}
