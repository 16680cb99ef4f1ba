package privacy

import (
	"fmt"
	"math"

	"privrec/internal/privacy/binomial"
)

// Truncated is the sampling in which each unit is in a batch with one probability, by itself, and at random units are
// left out of a batch that has more than a fixed number of them. Its event is TruncatedGaussian.
const Truncated Sampling = "truncated-poisson"

// TruncatedGaussian is x + N(0, Sigma² I), where x is a sum over a batch. Each of Records units is in the batch with
// probability Rate, independently; of a batch of more than Most units, Most of them stay that are drawn at random. One
// unit in the batch moves x by at most Sensitivity in the Euclidean norm. Records counts the unit that is added or
// removed.
//
// A unit that enters a full batch also takes the place of another one, so that it moves x by twice the sensitivity
// (Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang, "Scalable DP-SGD: shuffling vs. Poisson subsampling", NeurIPS
// 2024; the pair of laws is that of arXiv 2508.15089, with the half of it that an exchange needs left out).
type TruncatedGaussian struct {
	Sigma        float64      `json:"sigma"` // standard deviation, in the units of x
	Sensitivity  float64      `json:"sensitivity"`
	Rate         float64      `json:"rate"` // probability that a unit is drawn, in (0, 1]
	Records      int64        `json:"records"`
	Most         int64        `json:"most"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (TruncatedGaussian) Kind() string     { return "truncated-gaussian" }
func (TruncatedGaussian) Form() Form       { return Form{Way: Single} }
func (e TruncatedGaussian) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the event without its subject. Where a unit is exchanged or blanked its place in the batch stays, and the
// law is that of a Gaussian without sampling.
func (e TruncatedGaussian) Law() Law {
	switch e.Neighbouring {
	case Replace:
		return normal(e.Sigma, 2*e.Sensitivity)
	case ZeroOut:
		return normal(e.Sigma, e.Sensitivity)
	}
	e.Unit, e.Neighbouring = "", ""
	return e
}

// Price implements Law.
func (e TruncatedGaussian) Price(p Pricer) error { return p.Truncated(e) }

// Pure implements Law.
func (TruncatedGaussian) Pure() float64 { return math.Inf(1) }

// Covers implements Law.
func (e TruncatedGaussian) Covers(l Law, _ bool) bool {
	y, ok := l.(TruncatedGaussian)
	return ok && e.Rate == y.Rate && e.Records == y.Records && e.Most == y.Most &&
		e.Sensitivity/e.Sigma >= y.Sensitivity/y.Sigma
}

// Validate returns an error for the first field out of its range.
func (e TruncatedGaussian) Validate() error {
	var rate error
	if !(e.Rate > 0 && e.Rate <= 1) {
		rate = fmt.Errorf("rate is %v, want above 0 and at most 1", e.Rate)
	}
	return first(e.Kind(), positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity), rate,
		atLeast("records", e.Records, 1), atLeast("most", e.Most, 1), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Group returns the release of a group: that of a Gaussian without sampling, in which each unit also displaces another.
func (e TruncatedGaussian) Group(size int64, s Subject) Event {
	if size == 1 && s.Neighbouring == e.Neighbouring {
		e.Unit = s.Unit
		return e
	}
	return normal(e.Sigma, 2*e.Sensitivity).Group(size, s)
}

// Crowded returns the probability that the units beside one fill a batch, and the probability that this one is in a
// batch that they fill.
func (e TruncatedGaussian) Crowded() (full, in float64) {
	full = binomial.Law{N: e.Records - 1, P: e.Rate, Q: 1 - e.Rate}.Upper(e.Most)
	over := binomial.Law{N: e.Records, P: e.Rate, Q: 1 - e.Rate}.Upper(e.Most + 1)
	return full, over * float64(e.Most) / float64(e.Records)
}

func (TruncatedGaussian) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		TruncatedGaussian
	}
	err := strict(b, &v)
	return v.TruncatedGaussian, err
}
