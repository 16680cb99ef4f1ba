package local

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// OracleKind names a protocol that estimates the frequencies of categories from locally private reports (Wang, Blocki,
// Li, Jha, "Locally differentially private protocols for frequency estimation", USENIX Security 2017).
type OracleKind string

const (
	// GRR sends a category by randomised response (section 4.1, direct encoding).
	GRR OracleKind = "grr"
	// SUE sends every bit of the one-hot vector by randomised response with half of epsilon
	// (section 4.3, basic RAPPOR).
	SUE OracleKind = "sue"
	// OUE sends a 1 as 1 with probability 1/2 and a 0 as 1 with 1/(e^eps+1) (section 4.3). It
	// has the smallest variance of its kind. See UnaryEncoding.
	OUE OracleKind = "oue"
	// OLH hashes to g categories, with a hash function drawn for each report, and sends the
	// hash by randomised response (section 4.4).
	OLH OracleKind = "olh"
)

// Oracle describes a frequency oracle, which turns categories into reports, and reports into unbiased estimates of the
// categories' shares.
type Oracle struct {
	Purpose    string
	Kind       OracleKind
	Epsilon    float64 // of one report
	Categories int     // values are 0 .. Categories-1, at least 2 of them
	Unit       privacy.Unit
	Share      mechanism.Share // of the run's false-alarm probability
}

// maxHashes bounds the range of the hash of OLH, so that the bias from hashing stays below
// 2^-31. From epsilon = 20.7 on it is below the best range.
const maxHashes = 1 << 30

// Hashes returns the range g of the hash of OLH, e^eps + 1 to the nearest integer (half to
// even).
func (m Oracle) Hashes() int {
	return int(math.Min(math.RoundToEven(math.Exp(m.Epsilon))+1, maxHashes))
}

// P returns the probability that a report supports the category that it was made from. It does so by being that
// category, having its bit set, or being its hash.
func (m Oracle) P() float64 {
	switch m.Kind {
	case SUE:
		return mechanism.KeepProbability(m.Epsilon/2, 1)
	case OUE:
		return UnaryEncoding{Epsilon: m.Epsilon}.P()
	case OLH:
		return mechanism.KeepProbability(m.Epsilon, float64(m.Hashes()-1))
	}
	return mechanism.KeepProbability(m.Epsilon, float64(m.Categories-1))
}

// Q returns the probability that a report supports one particular other category.
func (m Oracle) Q() float64 {
	switch m.Kind {
	case SUE:
		return mechanism.ReplaceProbability(m.Epsilon/2, 1)
	case OUE:
		return UnaryEncoding{Epsilon: m.Epsilon}.Q()
	case OLH:
		return 1 / float64(m.Hashes())
	}
	return 1 / (math.Exp(m.Epsilon) + float64(m.Categories-1))
}

// FrequencyVariance returns the variance of the estimate of a share f from n reports, each made
// from the category with probability f, without the variance that this choice itself adds: (f P
// (1-P) + (1-f) Q (1-Q)) / (n (P-Q)²).
func (m Oracle) FrequencyVariance(n, f float64) float64 {
	p, q := m.P(), m.Q()
	d := m.Gap()
	return (f*p*m.lost() + (1-f)*q*(1-q)) / (n * d * d)
}

// Gap returns P - Q, computed without cancellation; lost returns 1 - P likewise.
func (m Oracle) Gap() float64 {
	switch m.Kind {
	case SUE:
		return math.Tanh(m.Epsilon / 4)
	case OUE:
		return math.Tanh(m.Epsilon/2) / 2
	case OLH: // x/(x+g-1) - 1/g = (x-1)(g-1)/(g (x+g-1))
		return -math.Expm1(-m.Epsilon) * m.P() * (1 - 1/float64(m.Hashes()))
	}
	return -math.Expm1(-m.Epsilon) * m.P()
}

func (m Oracle) lost() float64 {
	switch m.Kind {
	case SUE:
		return mechanism.ReplaceProbability(m.Epsilon/2, 1)
	case OUE:
		return 0.5
	case OLH:
		return mechanism.ReplaceProbability(m.Epsilon, float64(m.Hashes()-1))
	}
	return mechanism.ReplaceProbability(m.Epsilon, float64(m.Categories-1))
}

// Event returns one report as an accountant sees it.
func (m Oracle) Event() privacy.Event {
	if m.Kind == GRR {
		return m.response(m.Categories).Event()
	}
	return privacy.PureLDP{Epsilon: m.Epsilon, Unit: m.Unit}
}

// response returns randomised response over k categories with the oracle's budget.
func (m Oracle) response(k int) Response {
	return Response{Purpose: m.Purpose, Epsilon: m.Epsilon, Categories: int64(k), Unit: m.Unit, Share: m.Share}
}

func (m Oracle) validate() error {
	var kind, categories error
	if m.Kind != GRR && m.Kind != SUE && m.Kind != OUE && m.Kind != OLH {
		kind = fmt.Errorf("%s: unknown oracle %q", m.Purpose, string(m.Kind))
	}
	if m.Categories < 2 || m.Categories > maxCategories {
		categories = fmt.Errorf("%s: categories is %d, want 2 to %d", m.Purpose, m.Categories, int64(maxCategories))
	}
	return errors.Join(kind, categories)
}
