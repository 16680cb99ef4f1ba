package calculator

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// Risk holds upper bounds on the success of an attacker who tells members from non-members. Every number is rounded up,
// from a trade-off curve that is itself an upper bound.
type Risk struct {
	privacy.Subject
	Prior     float64 // share of members among those the attacker looks at
	Advantage float64 // largest true minus false positive rate
	Right     float64 // largest probability of a right guess
	Rates     []Rate
	FPR, TPR  []float64 // the trade-off curve
	Method    string    // of the curve
	Notes     []string
}

// Rate is a point of a trade-off curve.
type Rate struct {
	FPR       float64 `json:"false_positive_rate"`
	TPR       float64 `json:"true_positive_rate"`
	Posterior float64 `json:"posterior"` // share of members among those taken for members
}

// riskRates lists the false positive rates at which a risk is stated.
var riskRates = []float64{0.001, 0.01, 0.1}

// The trade-off curve of a risk is computed at this number of false positive rates, from riskLeast on.
const riskLeast, riskPoints = 1e-4, 120

// riskOf returns the risk of a trade-off curve.
func riskOf(t *accountant.TradeOff, prior float64) *Risk {
	r := &Risk{Subject: t.Subject, Prior: prior, Advantage: t.Advantage(), Right: t.Right(prior), Method: t.Method,
		Notes: t.Notes}
	for _, a := range riskRates {
		r.Rates = append(r.Rates, Rate{a, t.TPR(a), t.Posterior(prior, a)})
	}
	r.FPR, r.TPR = t.Points(riskLeast, riskPoints)
	return r
}

// MarshalJSON writes the risk with every digit.
func (r *Risk) MarshalJSON() ([]byte, error) {
	p := &page{}
	p.add("prior", r.Prior, "", "")
	p.add("advantage", r.Advantage, "", "")
	p.add("right_guess", r.Right, "", "")
	p.add("rates", r.Rates, "", "")
	p.add("curve", r.Method, "", "")
	p.statement = r.Statement()
	return p.MarshalJSON()
}

// risk adds an attacker's success to the page.
func (p *page) risk(r *Risk) {
	if r == nil {
		return
	}
	p.add("risk", r, "", "")
	if r.Advantage == 1 { // the statement says it
		p.statement += " " + r.Statement()
		return
	}
	for _, one := range r.Rates {
		p.add("", nil, "members found at "+percent(one.FPR)+" false alarms", "at most "+percentUp(one.TPR))
	}
	p.add("", nil, "advantage of an attacker", "at most "+RoundUp(r.Advantage, 4))
	p.statement += " " + r.Statement()
	for _, n := range r.Notes {
		p.warn("%s", n)
	}
}

// Statement returns an attacker's success at a false positive rate of 1 % in words.
func (r *Risk) Statement() string {
	one := r.Rates[1]
	if one.TPR == 1 {
		return fmt.Sprintf("Nothing rules out an attacker who finds every %s and is never wrong.", noun(r.Unit))
	}
	outsiders, named, are, too := "outsiders", fmt.Sprintf("members (a member is %s in the data)", aNoun(r.Unit)),
		"are members", "are"
	if r.Neighbouring == privacy.Replace {
		outsiders, named, are, too = "those with another "+noun(r.Unit), fmt.Sprintf("those with the %s in question",
			noun(r.Unit)), "have it", "do"
	}
	return fmt.Sprintf("An attacker who is wrong about %s of %s finds at most %s of %s. If %s of all %s, then at "+
		"most %s of those that this attacker names %s, and no attacker guesses right with a probability above %s.",
		percent(one.FPR), outsiders, percentUp(one.TPR), named, percent(r.Prior), are, percentUp(one.Posterior), too,
		percentUp(r.Right))
}

// percent returns a share in percent as given; percentUp rounds it up to four digits.
func percent(v float64) string { return near(100*v, 10) + " %" }

func percentUp(v float64) string {
	return RoundUp(math.Min(100, 100*v), 4) + " %"
}
