package enumerate

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"

	"privrec/internal/privacy"
	"privrec/internal/privacy/audit/exact"
	"privrec/internal/report"
)

// Answer holds exact facts about a mechanism on a small domain.
type Answer struct {
	Title   string   `json:"title"`
	Size    string   `json:"size"`    // of the domain
	Epsilon float64  `json:"epsilon"` // of the setting
	At      string   `json:"at"`      // the same as a phrase
	Law     string   `json:"law"`     // of what it is the law, and how it was found
	Claim   string   `json:"claim"`   // where the claimed epsilon is from
	Classes []Class  `json:"classes"`
	Holds   bool     `json:"holds"` // every claim
	Notes   []string `json:"notes"`
}

// Class holds the result for one kind of neighbours. The epsilons are natural logarithms.
type Class struct {
	Neighbours string `json:"neighbours"`
	Pairs      int    `json:"pairs"`
	Ratio      string `json:"worst_ratio"` // a fraction where it is short; "unbounded"
	// logarithm of the worst ratio; +Inf: only one of a pair can give some output
	Epsilon  privacy.Number `json:"epsilon"`
	Error    float64        `json:"error"` // of the logarithm, at most; 0: rational arithmetic
	Claimed  privacy.Number `json:"claimed"`
	Recorded privacy.Number `json:"recorded"` // what the ledger of a run says of it
	Verdict  string         `json:"verdict"`  // meets, is below, exceeds
	Example  *Example       `json:"example"`  // nil: the class has no pair
}

// Example is a pair of neighbours and an output with the worst ratio.
type Example struct {
	From        string `json:"from"`
	Against     string `json:"against"`
	Output      string `json:"output"`
	Probability string `json:"probability"`         // of the output from the first
	Other       string `json:"probability_against"` // from the second
}

// The verdicts on a claim.
const (
	meets   = "meets"
	isBelow = "is below"
	exceeds = "exceeds"
)

// near is how close a ratio must come to a claim to count as equal to it if e^epsilon is not rational: rounding the
// thresholds costs about 2^-127.
var near = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 64))

// claim holds the claimed number of epsilons of a class.
type claim struct {
	class             string
	claimed, recorded float64 // in multiples of epsilon, whole
}

// enumerate computes the classes of a mechanism.
func enumerate[I, O comparable](a *Answer, o *Odds, m exact.Mechanism[I, O], classes []exact.Class[I],
	claims []claim) error {
	for i := range classes {
		classes[i].Claim = exact.Power(o.low, int(claims[i].claimed))
	}
	found, err := exact.Verify(m, classes, exact.Limits{})
	if err != nil {
		return err
	}
	for i, f := range found {
		if f.Pairs == 0 {
			continue
		}
		c := Class{Neighbours: f.Class, Pairs: f.Pairs, Epsilon: privacy.Number(f.Epsilon()), Ratio: "unbounded",
			Claimed:  privacy.Number(claims[i].claimed * o.Epsilon),
			Recorded: privacy.Number(claims[i].recorded * o.Epsilon)}
		if f.Worst != nil {
			c.Ratio = fraction(f.Worst)
		}
		switch above := exact.Power(o.high, int(claims[i].claimed)); {
		case f.Worst == nil || f.Worst.Cmp(above) > 0:
			c.Verdict = exceeds
		case !f.Holds():
			return fmt.Errorf("the worst ratio of %q and its claim agree to 2^-198: neither is known to be larger",
				f.Class)
		case f.Tight() || o.x == nil && new(big.Rat).Quo(f.Worst, f.Claim).Cmp(new(big.Rat).Sub(one, near)) > 0:
			c.Verdict = meets
		default:
			c.Verdict = isBelow
		}
		if c.Example, err = example(m, f); err != nil {
			return err
		}
		a.Classes = append(a.Classes, c)
	}
	a.conclude()
	return nil
}

// example computes the probabilities of the output of a finding.
func example[I, O comparable](m exact.Mechanism[I, O], f exact.Finding[I, O]) (*Example, error) {
	e := &Example{From: fmt.Sprint(f.A), Against: fmt.Sprint(f.B), Output: fmt.Sprint(f.Output)}
	for _, of := range []struct {
		in I
		to *string
	}{{f.A, &e.Probability}, {f.B, &e.Other}} {
		law, err := exact.Enumerate(func(c *exact.Choices) O { return m(of.in, c) }, exact.Limits{})
		if err != nil {
			return nil, err
		}
		p := law[f.Output]
		if p == nil {
			p = new(big.Rat)
		}
		*of.to = fraction(p)
	}
	return e, nil
}

// fraction returns a rational number as a fraction if that is short, otherwise as a decimal.
func fraction(x *big.Rat) string {
	if s := x.RatString(); len(s) <= 24 {
		return s
	}
	f, _ := x.Float64()
	return fmt.Sprintf("%.12g", f)
}

// conclude sets Holds, and names for each claim that is exceeded the inputs and the output that exceed it.
func (a *Answer) conclude() {
	a.Holds = true
	for _, c := range a.Classes {
		if c.Verdict != exceeds {
			continue
		}
		a.Holds = false
		if e := c.Example; math.IsInf(float64(c.Epsilon), 1) {
			a.Notes = append(a.Notes,
				fmt.Sprintf("the claim is false for %s: output %s has probability %s from %s and cannot come from "+
					"%s, so no epsilon holds",
					c.Neighbours, e.Output, e.Probability, e.From, e.Against))
		} else {
			a.Notes = append(a.Notes,
				fmt.Sprintf("the claim is false for %s: output %s has probability %s from %s and %s from %s, a ratio "+
					"of %s: epsilon is at least %.6g, and %.6g is claimed",
					c.Neighbours, e.Output, e.Probability, e.From, e.Other, e.Against, c.Ratio, float64(c.Epsilon),
					float64(c.Claimed)))
		}
	}
	if a.Holds {
		a.Notes = append(a.Notes,
			"the claim holds for every pair of neighbours of this size, and for no others is anything shown")
	}
}

// Text shows the answer to a person.
func (a *Answer) Text(w io.Writer) error {
	t := &report.Table{Name: "classes",
		Title: "The worst ratio of probabilities of one output, for each class of neighbours", Columns: []report.Column{
			{Name: "neighbours"}, {Name: "pairs"}, {Name: "worst ratio"}, {Name: "epsilon", Format: "%.6g"},
			{Name: "claimed", Format: "%.6g"},
			{Name: "in ledgers", Format: "%.6g"}, {Name: "the worst"}, {Name: "from"}, {Name: "against"},
			{Name: "output"}}}
	for _, c := range a.Classes {
		t.Add(c.Neighbours, c.Pairs, c.Ratio, float64(c.Epsilon), float64(c.Claimed), float64(c.Recorded), c.Verdict+
			" the claim", c.Example.From, c.Example.Against, c.Example.Output)
	}
	d := &report.Document{Title: a.Title, Facts: []report.Fact{{Label: "size", Value: a.Size},
		{Label: "epsilon", Value: a.At}, {Label: "law", Value: a.Law}, {Label: "claim", Value: a.Claim}},
		Tables: []*report.Table{t}, Notes: a.Notes}
	return d.Text(w)
}

// MarshalJSON writes the fields, with empty lists instead of null.
func (a *Answer) MarshalJSON() ([]byte, error) {
	p := answerForm(*a)
	if p.Notes == nil {
		p.Notes = []string{}
	}
	if p.Classes == nil {
		p.Classes = []Class{}
	}
	return json.Marshal(p)
}

// answerForm is an answer in JSON.
type answerForm Answer

// JSONForms returns the types that MarshalJSON writes.
func (*Answer) JSONForms() []any { return []any{answerForm{}} }
