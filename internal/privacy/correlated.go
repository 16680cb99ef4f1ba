package privacy

import (
	"fmt"
	"math"

	"privrec/internal/privacy/correlated"
)

// CorrelatedGaussian is all sums of a stream together, after each of its steps the sum of everything so far, with
// normal noise that a strategy correlates (package correlated). A unit is in steps as its participation says, and what
// it adds to a step is clipped to a norm; noise and sensitivity are in units of that norm. By the strategy the sums are
// a function of C x + z, where z is normal of standard deviation NoiseMultiplier in every coordinate, so the release is
// as private as a Gaussian.
type CorrelatedGaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// Sensitivity is how far C x moves between neighbours, in the Euclidean norm. It is at least that of the strategy
	// for a unit that is added, removed or blanked, and twice that for one that is exchanged: all that it added goes, and
	// all that another one adds comes.
	Sensitivity float64 `json:"sensitivity"`
	correlated.Design
	correlated.Participation
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (CorrelatedGaussian) Kind() string     { return "correlated-gaussian" }
func (CorrelatedGaussian) Form() Form       { return Form{Way: Single} }
func (e CorrelatedGaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the law of the Gaussian release C x + z.
func (e CorrelatedGaussian) Law() Law {
	return normal(e.NoiseMultiplier, e.Sensitivity)
}

// Least computes the smallest sensitivity that the event may state. It fails if its strategy or participation is none.
func (e CorrelatedGaussian) Least() (float64, error) {
	s, err := e.Strategy()
	if err != nil {
		return 0, err
	}
	moved, err := s.Sensitivity(e.Participation)
	if e.Neighbouring == Replace {
		moved *= 2
	}
	return moved, err
}

// Validate returns an error for the first field out of its range. It makes the strategy anew, and refuses a sensitivity
// below that of it, but for the rounding of another machine.
func (e CorrelatedGaussian) Validate() error {
	if err := first(e.Kind(), positive("noise_multiplier", e.NoiseMultiplier), positive("sensitivity", e.Sensitivity),
		e.Unit.Validate(), e.Neighbouring.Validate()); err != nil {
		return err
	}
	least, err := e.Least()
	if err == nil && !(e.Sensitivity >= least*(1-1e-12) && least <= math.MaxFloat64) {
		err = fmt.Errorf("sensitivity is %v, want at least %v, that of the strategy", e.Sensitivity, least)
	}
	return first(e.Kind(), err)
}

// Group returns the release of a group. More than one change, or changes of another relation, are those of a Gaussian:
// by the triangle inequality its sensitivity is the sum along the changes.
func (e CorrelatedGaussian) Group(size int64, s Subject) Event {
	if size == 1 && s.Neighbouring == e.Neighbouring {
		e.Unit = s.Unit
		return e
	}
	return normal(e.NoiseMultiplier, e.Sensitivity).Group(size, s)
}

func (CorrelatedGaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		CorrelatedGaussian
	}
	err := strict(b, &v)
	return v.CorrelatedGaussian, err
}
