package privacy

import (
	"fmt"
	"math"
)

// Gaussian is x + N(0, Sigma² I), where x moves by at most Sensitivity in the Euclidean norm between neighbours.
//
// Norm bounds how far x, a sum over units, moves when one unit is added or removed. It is the largest length of a
// unit's vector, such as the norm at which vectors are clipped. Only sampling under Replace needs it: adding or
// removing a unit moves x by at most Norm, exchanging one by at most Sensitivity.
type Gaussian struct {
	Sigma        float64      `json:"sigma"` // standard deviation, in the units of x
	Sensitivity  float64      `json:"sensitivity"`
	Norm         float64      `json:"norm,omitempty"` // at least half of Sensitivity; 0: not known
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (Gaussian) Kind() string     { return "gaussian" }
func (Gaussian) Form() Form       { return Form{Way: Single} }
func (e Gaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }
func (e Gaussian) Law() Law       { return NormalLaw{e.Sigma, e.Sensitivity, e.Norm} }

// Validate returns an error for the first field out of its range.
func (e Gaussian) Validate() error {
	var norm error
	if e.Norm != 0 && (!(2*e.Norm >= e.Sensitivity) || math.IsInf(e.Norm, 1)) {
		norm = fmt.Errorf("norm is %v, want at least half of the sensitivity and finite, or none: units that long "+
			"move a sum by twice that at most", e.Norm)
	}
	return first("gaussian", positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity), norm,
		e.Unit.Validate(), e.Neighbouring.Validate())
}

// Release returns an event about subject s that has this law.
func (l NormalLaw) Release(s Subject) Event {
	return Gaussian{l.Sigma, l.Sensitivity, l.Norm, s.Unit, s.Neighbouring}
}

// Group returns the release of a group. By the triangle inequality its sensitivity is the sum along the changes. The
// Norm of a group is not known.
func (e Gaussian) Group(size int64, s Subject) Event {
	if size > 1 {
		e.Norm = 0
	}
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (Gaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		Gaussian
	}
	err := strict(b, &v)
	return v.Gaussian, err
}

// DiscreteGaussian is x + independent discrete normal noise in each of Dimension coordinates, in
// steps of a grid that does not depend on the data: P(k) is proportional to exp(-k²/(2 Sigma²))
// (Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020). x is
// integer and moves by at most Sensitivity in the Euclidean norm. That is at least one step; see
// Squared.
type DiscreteGaussian struct {
	Sigma        float64      `json:"sigma"`       // grid steps; the standard deviation is a little below
	Sensitivity  float64      `json:"sensitivity"` // grid steps, rounding to the grid included
	Dimension    int64        `json:"dimension"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (DiscreteGaussian) Kind() string     { return "discrete-gaussian" }
func (DiscreteGaussian) Form() Form       { return Form{Way: Single} }
func (e DiscreteGaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }
func (e DiscreteGaussian) Law() Law       { return DiscreteNormalLaw{e.Sigma, e.Sensitivity, e.Dimension} }

// Validate returns an error for the first field out of its range.
func (e DiscreteGaussian) Validate() error {
	return first("discrete-gaussian", positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity),
		atLeastStep(e.Sensitivity),
		atLeast("dimension", e.Dimension, 1), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Squared returns the largest squared Euclidean distance by which x may move, in grid steps. See DiscreteNormalLaw.
func (e DiscreteGaussian) Squared() float64 {
	return DiscreteNormalLaw{e.Sigma, e.Sensitivity, e.Dimension}.Squared()
}

func (e DiscreteGaussian) onGrid() Event {
	if d := math.Sqrt(e.Squared()); !math.IsInf(d, 1) {
		e.Sensitivity = d
	}
	return e
}

// Group returns the release of a group, with the distances of its changes added up. Integers move by whole numbers, and
// a group of them by multiples of these.
func (e DiscreteGaussian) Group(size int64, s Subject) Event {
	e = e.onGrid().(DiscreteGaussian)
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (DiscreteGaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		DiscreteGaussian
	}
	err := strict(b, &v)
	return v.DiscreteGaussian, err
}
