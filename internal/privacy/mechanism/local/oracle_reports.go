package local

import (
	"privrec/internal/privacy/mechanism"
)

// unary holds the odds of an encoding that sends each bit separately.
type unary struct {
	one, zero   mechanism.Odds // odds of keeping a bit
	ones, zeros mechanism.Proportion
}

func (m Oracle) unary() *unary {
	u := &unary{one: mechanism.Odds{Hi: 1 << 63, Others: 1, P: 0.5}, zero: mechanism.NewOdds(m.Epsilon, 1)[0]}
	if m.Kind == SUE {
		u.zero = mechanism.NewOdds(m.Epsilon/2, 1)[0]
		u.one = u.zero
	}
	u.ones = mechanism.Proportion{What: "number of ones kept", P: u.one.P}
	u.zeros = mechanism.Proportion{What: "number of zeros kept", P: u.zero.P}
	return u
}

// vector draws the report of category x into dst, which holds zeros.
func (u *unary) vector(d *mechanism.Draws, categories, x int, dst []uint64) {
	for i := range categories {
		bit := i == x
		if bit {
			bit = d.Keep(&u.one)
			u.ones.Count(bit)
		} else {
			bit = !d.Keep(&u.zero)
			u.zeros.Count(!bit)
		}
		if bit {
			dst[i/64] |= 1 << (i % 64)
		}
	}
}
