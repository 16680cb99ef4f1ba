package terms

import (
	"math"

	"privrec/internal/privacy"
)

// Norms is what a normal law says of the length of one unit's contribution, which a
// sampled one under Replace is priced by. A larger one costs no more.
type Norms int

const (
	Unknown Norms = iota // nothing, or that it may be longer than the sensitivity
	Within               // at most the sensitivity: values from 0 to it
	Halved               // at most half of it: vectors clipped to a norm
)

// NormsOf reads the Norm of a law.
func NormsOf(g privacy.NormalLaw) Norms {
	switch {
	case g.Norm == 0 || g.Norm > g.Sensitivity:
		return Unknown
	case 2*g.Norm > g.Sensitivity:
		return Within
	}
	return Halved
}

// joinedNorm is the Norm of a release of sensitivity d that stands for several on one
// sample: a unit moves all of them, each in units of its noise. Where all are clipped
// it is half of d to the last digit; where one says nothing nothing is known.
func joinedNorm(ts []Term, laws []privacy.NormalLaw, d, mu2 float64) float64 {
	halved, sum := true, 0.0
	for i, t := range ts {
		g := laws[i]
		if g.Norm == 0 {
			return 0
		}
		halved = halved && NormsOf(g) == Halved
		r := g.Norm / g.Sigma
		sum += float64(t.Count) * r * r
	}
	if halved {
		return d / 2
	}
	return math.Max(d/2, d*math.Sqrt(sum/mu2)*(1+0x1p-50))
}

// longer reports whether what g says of norms, in units of its noise, covers h.
func longer(g, h privacy.NormalLaw) bool {
	return g.Norm == 0 || h.Norm > 0 && g.Norm/g.Sigma >= h.Norm/h.Sigma
}
