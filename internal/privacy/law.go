package privacy

import "fmt"

// Law describes the outputs of a release on two neighbours, as far as an accountant can use it: a pair of
// distributions, or a bound on them. A law knows no unit and no relation, and is a comparable value. That of a family
// of noise is its event without a subject; ResponseLaw is the law of all other events. There are few laws, and most new
// kinds of event have one of these.
type Law interface {
	// Price calls the pricer's method for this law, and returns its error.
	Price(Pricer) error
	// Pure returns the largest log-ratio of probabilities of one output, +Inf if there is none.
	Pure() float64
	// Covers reports whether law l is this one with more noise for the same distance. If sampled is set the release is
	// on a sample of units that are exchanged. A law without an order covers none.
	Covers(l Law, sampled bool) bool
}

// Pricer prices laws. Each accountant has one, so a law that it does not know does not compile. An accountant that
// cannot price a law returns an error of its own.
type Pricer interface {
	Gaussian(Gaussian) error
	Allocated(AllocatedGaussian) error
	Truncated(TruncatedGaussian) error
	Laplace(Laplace) error
	DiscreteGaussian(DiscreteGaussian) error
	DiscreteLaplace(DiscreteLaplace) error
	Response(ResponseLaw) error
	Exponential(Exponential) error
}

// kinds has one empty event of every kind.
var kinds = []Event{
	Gaussian{}, Laplace{}, SphericalLaplace{}, DiscreteGaussian{}, DiscreteLaplace{}, PureLDP{}, RandomizedResponse{},
	Exponential{}, CorrelatedGaussian{}, AllocatedGaussian{}, TruncatedGaussian{},
	Composed{}, SelfComposed{}, Parallel{}, Sampled{}, Unprotected{},
}

// ResponseLaw is a report of one of Categories values: the true one with probability
// e^Epsilon/(e^Epsilon + Categories - 1), each other one with equal probability. With two
// categories it is the worst of all laws with likelihoods within a factor of e^Epsilon.
type ResponseLaw struct {
	Epsilon    float64
	Categories int64
	Bound      bool // an upper bound: the release may reveal less
}

// Price implements Law.
func (l ResponseLaw) Price(p Pricer) error { return p.Response(l) }

// Pure implements Law.
func (l ResponseLaw) Pure() float64 { return l.Epsilon }

// Covers implements Law. The numbers of categories must be equal: else the laws differ in more than noise.
func (l ResponseLaw) Covers(o Law, _ bool) bool {
	y, ok := o.(ResponseLaw)
	return ok && l.Epsilon >= y.Epsilon && l.Categories == y.Categories && l.Bound == y.Bound
}

// LawOf returns the law of a release. It returns nil if e is not a release or its law is not known.
func LawOf(e Event) Law {
	if r, ok := e.(Release); ok {
		return r.Law()
	}
	return nil
}

// Wider returns a release of normal noise, also on a sample, with so many times the noise. It fails on other noise.
func Wider(e Event, by float64) (Event, error) {
	switch x := e.(type) {
	case Gaussian:
		x.Sigma *= by
		return x, nil
	case Sampled:
		inner, err := Wider(x.Event, by)
		x.Event = inner
		return x, err
	}
	return nil, fmt.Errorf("%T has no normal noise that could be wider", e)
}
