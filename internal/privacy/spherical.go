package privacy

import "math"

// SphericalLaplace is x + noise, where x is one or several vectors. A unit moves only one of them, by at most
// Sensitivity in the Euclidean norm. The noise z of a vector has a density proportional to exp(-|z|/Scale): its
// direction is uniform, and its length has the law Gamma(dimension, Scale). In one dimension it is Laplace.
//
// The density changes by a factor of at most exp(Sensitivity/Scale), in any dimension, by the triangle inequality. That
// bound is the law of the event: in many dimensions the release reveals less at a delta above 0.
type SphericalLaplace struct {
	Scale        float64      `json:"scale"`
	Sensitivity  float64      `json:"sensitivity"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (SphericalLaplace) Kind() string     { return "spherical-laplace" }
func (SphericalLaplace) Form() Form       { return Form{Way: Single} }
func (e SphericalLaplace) About() Subject { return Subject{e.Unit, e.Neighbouring} }
func (e SphericalLaplace) Law() Law       { return ResponseLaw{e.epsilon(), 2, true} }

// epsilon returns Sensitivity/Scale, rounded up.
func (e SphericalLaplace) epsilon() float64 {
	q := e.Sensitivity / e.Scale
	if math.FMA(q, e.Scale, -e.Sensitivity) < 0 {
		q = math.Nextafter(q, math.Inf(1))
	}
	return q
}

// Validate returns an error for the first field out of its range.
func (e SphericalLaplace) Validate() error {
	return first("spherical-laplace", positive("scale", e.Scale), positive("sensitivity", e.Sensitivity),
		e.Unit.Validate(), e.Neighbouring.Validate())
}

// Group returns the release of a group, with the distances of its changes added up. If the changes move several
// vectors, the log-ratios add up to the same.
func (e SphericalLaplace) Group(size int64, s Subject) Event {
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (SphericalLaplace) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		SphericalLaplace
	}
	err := strict(b, &v)
	return v.SphericalLaplace, err
}
