package terms

import (
	"math"

	"privrec/internal/privacy"
)

// Norms is what a normal law says about the length of one unit's vector. The price of a sampled
// release under Replace depends on it. A larger value of Norms costs no more.
type Norms int

const (
	Unknown Norms = iota // nothing, or it may be longer than the sensitivity
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

// joinedNorm returns the Norm of one release of sensitivity d that stands for several on one
// sample. A unit moves all of them, each measured in its noise. If all are clipped it is half of d
// to the last digit. If one has no Norm the result is 0, not known.
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

// longer reports whether the norm of g, measured in its noise, covers that of h.
func longer(g, h privacy.NormalLaw) bool {
	return g.Norm == 0 || h.Norm > 0 && g.Norm/g.Sigma >= h.Norm/h.Sigma
}
