package calculator

import (
	"fmt"
	"slices"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// Mechanism describes one mechanism to the calculator: its numbers, the accountants that can price it, and the event of
// one release.
type Mechanism struct {
	Name, Summary, Long string
	Noise               string // the number that Calibrate finds; empty: none
	Accountants         []accountant.Method
	Relations           []privacy.Neighbouring // that a question may choose; empty: no choice
	Sampled             bool                   // has batches, which are drawn in one of two ways

	numbers    []string // of a release, without the noise
	strategies []string // that correlate its noise, the default one first; empty: no choice
	optional   []string // numbers of a release that may be left out
	finds      []string // numbers that a calibration can find besides the noise
	// derive computes numbers from others, the number of releases among them, and derived names those that an answer
	// repeats. Nil: nothing is computed, and the number of releases is asked for.
	derive   func(q *Question) error
	derived  []string
	labels   map[string]string // of derived numbers, for a person; others are in JSON alone
	unit     privacy.Unit
	closed   bool // has its own closed form and no choice of accountant
	release  func(q *Question) (privacy.Event, error)
	describe func(q *Question) string // returns the releases in words
}

// counts returns the names of the numbers that give the number of releases.
func (m *Mechanism) counts() []string {
	if m.derive != nil {
		return nil
	}
	return []string{"steps"}
}

// samplings lists the ways in which batches can be drawn.
func (m *Mechanism) samplings() []privacy.Sampling {
	if m.derive != nil {
		return []privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement, privacy.Truncated,
			privacy.Allocation, eventlog.Shuffled}
	}
	return []privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement}
}

// Samplings names the ways in which batches can be drawn, for the help.
func (m *Mechanism) Samplings() string { return list(m.samplings()) }

// Strategies names the strategies that correlate the noise, for the help; empty if there is no choice.
func (m *Mechanism) Strategies() string { return list(m.strategies) }

// Finds returns the names of the numbers that a calibration can find, the noise first.
func (m *Mechanism) Finds() []string { return append([]string{m.Noise}, m.finds...) }

// general lists the accountants that accept any mechanism.
var general = []accountant.Method{accountant.Contour, accountant.RDP, accountant.PLD}

// Mechanisms returns all mechanisms of the calculator.
func Mechanisms() []*Mechanism {
	anyRelation := []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}
	return []*Mechanism{
		{
			Name: "gaussian", Summary: "normal noise on every release",
			Long: "Each release is a value that moves by at most --sensitivity in the Euclidean norm\nbetween " +
				"neighbours, plus normal noise of standard deviation --sigma.",
			Noise: "sigma", numbers: []string{"sensitivity"}, Relations: anyRelation, unit: privacy.Record,
			Accountants: []accountant.Method{accountant.Contour, accountant.Analytic, accountant.RDP, accountant.PLD},
			release: func(q *Question) (privacy.Event, error) {
				return privacy.Gaussian{Sigma: q.get("sigma"), Sensitivity: q.get("sensitivity"), Unit: q.unit,
					Neighbouring: q.relation}, nil
			},
			describe: func(q *Question) string {
				return fmt.Sprintf("%s of sensitivity %s with normal noise of standard deviation %s", q.count(),
					q.shown("sensitivity"), q.shown("sigma"))
			},
		},
		{
			Name: "sampled-gaussian", Summary: "normal noise on sums over random batches (DP-SGD)",
			Long: `Each release is a sum of records, each clipped to norm C, over a random batch,
plus normal noise of standard deviation --noise-multiplier times C. Poisson
batches take every record with probability --sampling-rate; batches without
replacement have a fixed size. Where a record is added or removed the sum moves
by C; where one is exchanged for another, by 2C.`,
			Noise: "noise-multiplier", numbers: []string{"sampling-rate"}, Relations: anyRelation, Sampled: true,
			unit:        privacy.Record,
			Accountants: general, finds: []string{"sampling-rate", "steps"},
			release: batchRelease,
			describe: func(q *Question) string {
				batches := "Poisson samples"
				if q.sampling == privacy.WithoutReplacement {
					batches = "samples of fixed size"
				}
				return fmt.Sprintf("%s on %s of rate %s with noise multiplier %s", q.count(), batches,
					q.shown("sampling-rate"), q.shown("noise-multiplier"))
			},
		},
		{
			Name: "dp-sgd", Summary: "DP-SGD by records, batch and epochs",
			Long: `DP-SGD as training programs are set: --records in the data, --batch of them in a step
(the expected number with poisson), --epochs passes over them. A step releases the
sum of its records' gradients, each clipped to norm C, plus normal noise of standard
deviation --noise-multiplier times C. The rate is batch over records, an epoch has
records over batch steps, and both are rounded up. How batches are drawn decides the
answer: poisson takes every record by itself in every step, truncated-poisson leaves out
records of a batch at random that has more than --most, without-replacement draws a
batch of fixed size in every step, allocation puts every record by itself into
one step of each epoch ("balls in bins"), and shuffled cuts the shuffled records into
batches once an epoch. Shuffled batches are neither: no amplification is proved for them
that is near, so they are charged as without any, with a lower bound beside it. A loader
that shuffles becomes one that allocates by drawing the step of each record by itself.`,
			Noise: "noise-multiplier", numbers: []string{"records", "batch", "epochs"},
			derive: deriveBatches, derived: []string{"sampling-rate", "steps"}, optional: []string{"times", "most"},
			Relations: anyRelation, Sampled: true, unit: privacy.Record,
			Accountants: general, finds: []string{"batch", "epochs"},
			release: batchRelease,
			describe: func(q *Question) string {
				batches := "Poisson samples of about " + q.shown("batch")
				switch q.sampling {
				case privacy.WithoutReplacement:
					batches = "samples of exactly " + q.shown("batch")
				case privacy.Truncated:
					batches += ", cut to " + q.shown("most") + ","
				case privacy.Allocation:
					which := "one"
					if k := q.or("times", 1); k > 1 {
						which = short(k)
					}
					return fmt.Sprintf("%s epochs of %s steps, with each of %s records in a random %s of them, "+
						"with noise multiplier %s", q.shown("epochs"), short(q.perEpoch()), q.shown("records"), which,
						q.shown("noise-multiplier"))
				case eventlog.Shuffled:
					return fmt.Sprintf("%s epochs of shuffled batches of %s of %s records with noise multiplier %s",
						q.shown("epochs"), q.shown("batch"), q.shown("records"), q.shown("noise-multiplier"))
				}
				return fmt.Sprintf("%s steps (%s epochs) on %s of %s records with noise multiplier %s",
					q.shown("steps"), q.shown("epochs"), batches, q.shown("records"), q.shown("noise-multiplier"))
			},
		},
		correlatedSums(anyRelation),
		{
			Name: "laplace", Summary: "Laplace noise on every release",
			Long: "Each release is a value that moves by at most --sensitivity in the l1 norm between\nneighbours, " +
				"plus Laplace noise of scale --scale.",
			Noise: "scale", numbers: []string{"sensitivity"}, Relations: anyRelation, unit: privacy.Record,
			Accountants: general,
			release: func(q *Question) (privacy.Event, error) {
				return privacy.Laplace{Scale: q.get("scale"), Sensitivity: q.get("sensitivity"), Unit: q.unit,
					Neighbouring: q.relation}, nil
			},
			describe: func(q *Question) string {
				return fmt.Sprintf("%s of l1 sensitivity %s with Laplace noise of scale %s", q.count(),
					q.shown("sensitivity"), q.shown("scale"))
			},
		},
		{
			Name: "randomized-response", Summary: "repeated randomized response on one value",
			Long: `Each release reports one of --categories values: the true one with probability
e^epsilon/(e^epsilon + categories - 1), each other one with equal probability. --epsilon
is that of one release.`,
			numbers: []string{"epsilon", "categories"}, unit: privacy.Record, Accountants: general,
			release: func(q *Question) (privacy.Event, error) {
				return privacy.RandomizedResponse{Epsilon: q.get("epsilon"), Categories: int64(q.get("categories")),
					Unit: q.unit}, nil
			},
			describe: func(q *Question) string {
				return fmt.Sprintf("%s of one of %s values by randomized response of epsilon %s", q.count(),
					q.shown("categories"), q.shown("epsilon"))
			},
		},
	}
}

// batchRelease returns the release of a noisy sum over one batch, or, for shuffled batches, over the
// one batch of an epoch that a record is in. Of allocated records it returns a whole epoch.
func batchRelease(q *Question) (privacy.Event, error) {
	g := privacy.Gaussian{Sigma: q.get("noise-multiplier"), Sensitivity: 1, Unit: q.unit, Neighbouring: q.relation}
	if q.relation == privacy.Replace {
		g.Sensitivity, g.Norm = 2, 1
	}
	switch q.sampling {
	case eventlog.Shuffled:
		return g, nil
	case privacy.Allocation:
		return privacy.AllocatedGaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Times: int64(q.or("times", 1)),
			Steps: int64(q.perEpoch()), Unit: g.Unit, Neighbouring: g.Neighbouring}, nil
	case privacy.Truncated:
		return privacy.TruncatedGaussian{Sigma: g.Sigma, Sensitivity: 1, Rate: q.get("sampling-rate"),
			Records: int64(q.get("records")), Most: int64(q.get("most")),
			Unit: g.Unit, Neighbouring: g.Neighbouring}, nil
	}
	return privacy.Sampled{Event: g, Rate: q.get("sampling-rate"), Method: q.sampling}, nil
}

// Noisy returns the mechanisms whose noise can be calibrated.
func Noisy() []*Mechanism {
	return slices.DeleteFunc(Mechanisms(), func(m *Mechanism) bool { return m.Noise == "" })
}

// Single returns the mechanisms of Noisy that single releases can be asked about.
func Single() []*Mechanism {
	return slices.DeleteFunc(Noisy(), func(m *Mechanism) bool { return m.derive != nil })
}

// Dipsgnn returns the mechanism of the DIPSGNN paper's theorem.
func Dipsgnn() *Mechanism {
	return &Mechanism{
		Name: "dipsgnn", Summary: "the closed form of the DIPSGNN theorem",
		Long: `The closed form of theorem 4.2 of Hu and Fang (arXiv 2309.11515): --steps releases,
each of which one edge moves by at most --clip, with normal noise of standard
deviation --sigma. It is Rényi differential privacy under the classic conversion;
the exact value of the same releases is printed beside it.`,
		Noise: "sigma", numbers: []string{"clip"}, unit: privacy.Edge, closed: true,
		release: func(q *Question) (privacy.Event, error) {
			return privacy.Gaussian{Sigma: q.get("sigma"), Sensitivity: q.get("clip"), Unit: q.unit,
				Neighbouring: q.relation}, nil
		},
		describe: func(q *Question) string {
			return fmt.Sprintf("%s of aggregates clipped at %s with normal noise of standard deviation %s", q.count(),
				q.shown("clip"), q.shown("sigma"))
		},
	}
}

// Accountants returns the accountants that a named mechanism accepts. For an unknown name it returns those that accept
// any mechanism.
func Accountants(name string) []accountant.Method {
	for _, m := range Mechanisms() {
		if m.Name == name {
			return m.Accountants
		}
	}
	return general
}
