package channel

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Gaussian adds independent normal noise of standard deviation Sigma to every value. It is a
// description; Open opens it.
type Gaussian struct {
	Purpose      string               // names the release in the ledger: aggregate
	Sigma        float64              // standard deviation of the noise, positive
	Sensitivity  float64              // l2 distance between neighbours' values in one release
	Unit         privacy.Unit         // what neighbours differ in
	Neighbouring privacy.Neighbouring // how they differ
	Share        mechanism.Share      // of the run's false-alarm probability
}

// Event returns one release as an accountant sees it.
func (g Gaussian) Event() privacy.Gaussian {
	return privacy.Gaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Unit: g.Unit, Neighbouring: g.Neighbouring}
}

// Law returns the law of the noise.
func (g Gaussian) Law() Law { return normalLaw{g} }

// Open opens a channel that draws from stream s and records in ledger l.
func Open[T mechanism.Float](g Gaussian, l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if g.Purpose == "" {
		return nil, errors.New("gaussian mechanism: no purpose")
	}
	c, err := New(Noise[T]{Purpose: g.Purpose, Share: g.Share, Law: g.Law(), Add: addNormals[T]}, l, s)
	if err != nil {
		return nil, err
	}
	if !representable[T](g.Sigma) {
		return nil, fmt.Errorf("%s: sigma %g is outside the range of the data's type", g.Purpose, g.Sigma)
	}
	return c, nil
}
