package channel

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// SphericalLaplace describes noise that adds to every row a vector of density proportional to exp(-|z|/Scale). It is
// the noise of objective perturbation (Chaudhuri, Monteleoni, Sarwate, "Differentially private empirical risk
// minimization", JMLR 2011, algorithm 2), and the K-norm mechanism of the Euclidean ball (Hardt, Talwar, "On the
// geometry of differential privacy", STOC 2010). OpenSphericalLaplace opens it.
type SphericalLaplace struct {
	Purpose      string               // names the release in the ledger
	Scale        float64              // positive; the mean length of the noise is the number of columns times this
	Sensitivity  float64              // Euclidean distance between neighbours' rows; one unit moves only one row
	Unit         privacy.Unit         // what neighbours differ in
	Neighbouring privacy.Neighbouring // how they differ
	Share        mechanism.Share      // of the run's false-alarm probability
}

// Event returns one release as an accountant sees it.
func (m SphericalLaplace) Event() privacy.SphericalLaplace {
	return privacy.SphericalLaplace{Scale: m.Scale, Sensitivity: m.Sensitivity, Unit: m.Unit,
		Neighbouring: m.Neighbouring}
}

// OpenSphericalLaplace opens a channel of this noise. It has the same releases, keys and checks as one from Open, and
// is for research only. LaplaceScale gives the scale for an epsilon.
func OpenSphericalLaplace[T mechanism.Float](m SphericalLaplace, l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if m.Purpose == "" {
		return nil, errors.New("spherical laplace mechanism: no purpose")
	}
	// In units of the scale, the length of a vector of d values has the law Gamma(d, 1), as the sum of the sizes of d
	// Laplace values has. A component in a fixed direction has the moments E[exp(t z)] = (1-t²)^(-(d+1)/2), at most
	// those of that sum. So the checks are those of Laplace noise, whatever the lengths of the rows.
	c, err := New(Noise[T]{Purpose: m.Purpose, Share: m.Share, Law: laplaceLaw(m.Event(), m.Scale),
		Add: addSpherical[T], Absolute: true, Vectors: true}, l, s)
	if err != nil {
		return nil, err
	}
	if !representable[T](m.Scale) {
		return nil, fmt.Errorf("%s: scale %g is outside the range of the data's type", m.Purpose, m.Scale)
	}
	return c, nil
}

// addSpherical adds one vector of the law to dst, as the research sampler. Its length is a sum of len(dst) exponential
// numbers, each of 64 bits and at most 45.1 scales.
func addSpherical[T mechanism.Float](s rng.Stream, dst []T, scale T) {
	length := 0.0
	for range dst {
		length -= math.Log((float64(s.Uint64()) + 0.5) * 0x1p-64)
	}
	direction := make([]float64, len(dst))
	norm := 0.0
	for norm == 0 && len(dst) > 0 { // a zero has no direction
		for i := range direction {
			direction[i] = s.NormFloat64()
			norm += direction[i] * direction[i]
		}
	}
	by := float64(scale) * length / math.Sqrt(norm)
	for i, z := range direction {
		dst[i] += T(by * z)
	}
}

// lengths returns the tally of after-before as one vector z in units of the scale: its length, and its component along
// (1, ..., 1).
func lengths[T mechanism.Float](before, after []T, perScale float64) (t Tally) {
	sum, sq := 0.0, 0.0
	for i, y := range after {
		d := float64(y-before[i]) * perScale
		sum += d
		sq += d * d
		if d == 0 {
			t.Zeros++
		}
	}
	t.N = int64(len(after))
	if t.N > 0 {
		t.Sum, t.Sq = sum/math.Sqrt(float64(t.N)), math.Sqrt(sq)
	}
	return t
}
