package privacy

// Laplace is x + independent Laplace noise of scale Scale, where x moves by at most Sensitivity in
// the l1 norm.
type Laplace struct {
	Scale        float64      `json:"scale"`
	Sensitivity  float64      `json:"sensitivity"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (Laplace) Kind() string     { return "laplace" }
func (Laplace) Form() Form       { return Form{Way: Single} }
func (e Laplace) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the event without its subject.
func (e Laplace) Law() Law {
	e.Unit, e.Neighbouring = "", ""
	return e
}

// Price implements Law.
func (e Laplace) Price(p Pricer) error { return p.Laplace(e) }

// Pure implements Law.
func (e Laplace) Pure() float64 { return e.Sensitivity / e.Scale }

// Covers implements Law.
func (e Laplace) Covers(l Law, _ bool) bool {
	y, ok := l.(Laplace)
	return ok && e.Pure() >= y.Pure()
}

// Validate returns an error for the first field out of its range.
func (e Laplace) Validate() error {
	return first("laplace", positive("scale", e.Scale), positive("sensitivity", e.Sensitivity), e.Unit.Validate(),
		e.Neighbouring.Validate())
}

// Group returns the release of a group. By the triangle inequality its sensitivity is the sum along the changes.
func (e Laplace) Group(size int64, s Subject) Event {
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (Laplace) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		Laplace
	}
	err := strict(b, &v)
	return v.Laplace, err
}

// DiscreteLaplace is x + independent noise with P(k) proportional to exp(-|k|/Scale), in steps of a
// grid that does not depend on the data (Ghosh, Roughgarden, Sundararajan, "Universally
// utility-maximizing privacy mechanisms", STOC 2009). x is integer and moves by at most Sensitivity
// in the l1 norm. That is at least one step; see Steps.
type DiscreteLaplace struct {
	Scale        float64      `json:"scale"`       // grid steps
	Sensitivity  float64      `json:"sensitivity"` // grid steps, rounding to the grid included
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (DiscreteLaplace) Kind() string     { return "discrete-laplace" }
func (DiscreteLaplace) Form() Form       { return Form{Way: Single} }
func (e DiscreteLaplace) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the event without its subject.
func (e DiscreteLaplace) Law() Law {
	e.Unit, e.Neighbouring = "", ""
	return e
}

// Price implements Law.
func (e DiscreteLaplace) Price(p Pricer) error { return p.DiscreteLaplace(e) }

// Pure implements Law.
func (e DiscreteLaplace) Pure() float64 { return e.Steps() / e.Scale }

// Covers implements Law.
func (DiscreteLaplace) Covers(Law, bool) bool { return false }

// Validate returns an error for the first field out of its range.
func (e DiscreteLaplace) Validate() error {
	return first("discrete-laplace", positive("scale", e.Scale), positive("sensitivity", e.Sensitivity),
		atLeastStep(e.Sensitivity),
		e.Unit.Validate(), e.Neighbouring.Validate())
}

// Steps returns the largest number of grid steps, in the l1 norm, by which x may move. See WholeSteps.
func (e DiscreteLaplace) Steps() float64 { return WholeSteps(e.Sensitivity) }

func (e DiscreteLaplace) onGrid() Event {
	e.Sensitivity = e.Steps()
	return e
}

// Group returns the release of a group, with the distances of its changes added up. Integers move by whole numbers, and
// a group of them by multiples of these.
func (e DiscreteLaplace) Group(size int64, s Subject) Event {
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Steps(), size), s.Unit, s.Neighbouring
	return e
}

func (DiscreteLaplace) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		DiscreteLaplace
	}
	err := strict(b, &v)
	return v.DiscreteLaplace, err
}
