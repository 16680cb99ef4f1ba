package budget

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/classic"
)

// Rule names how the costs of runs add up.
type Rule string

// The rules. See the package comment.
const (
	Sum         Rule = "sum"
	Approximate Rule = "approximate"
	Renyi       Rule = "renyi"
)

// Rules returns the rules.
func Rules() []Rule { return []Rule{Sum, Approximate, Renyi} }

// Terms holds the fixed terms of a budget, the first line of its file: the limits, the unit, the data and the rule.
type Terms struct {
	Version      string               `json:"budget"`
	Epsilon      float64              `json:"epsilon"`
	Delta        float64              `json:"delta"`
	Unit         privacy.Unit         `json:"unit"`
	Neighbouring privacy.Neighbouring `json:"neighbouring"`
	Data         string               `json:"data"` // name, for readers
	// of the data as manifests have it; "": those of the first run
	SHA256 string  `json:"sha256,omitempty"`
	Rule   Rule    `json:"filter"`
	Order  float64 `json:"order,omitempty"` // of a Rényi rule
	Slack  float64 `json:"slack,omitempty"` // of an approximate rule
}

// The versions of a budget's file. The first one has no attempts, but a file of it that is used again gets them too.
const (
	version    = "privrec-budget/2"
	oldVersion = "privrec-budget/1"
)

// Validate returns an error for terms that no budget can have.
func (t Terms) Validate() error {
	if t.Version != version && t.Version != oldVersion {
		return fmt.Errorf("it is of version %q, this program reads %q and %q", t.Version, oldVersion, version)
	}
	err := errors.Join(privacy.Budget{Epsilon: t.Epsilon, Delta: t.Delta}.Validate(), t.Unit.Validate(),
		t.Neighbouring.Validate())
	if err != nil {
		return err
	}
	if math.IsInf(t.Epsilon, 0) {
		return errors.New("epsilon is infinite")
	}
	_, err = t.filter()
	return err
}

// filter returns the filter of the terms, with nothing charged.
func (t Terms) filter() (*classic.Filter, error) {
	b := privacy.Budget{Epsilon: t.Epsilon, Delta: t.Delta}
	if (t.Order != 0) != (t.Rule == Renyi) || (t.Slack != 0) != (t.Rule == Approximate) {
		return nil, fmt.Errorf("filter %s with order %v and slack %v: only %s has an order, and only %s a slack",
			t.Rule, t.Order, t.Slack, Renyi, Approximate)
	}
	switch t.Rule {
	case Sum:
		return classic.NewSumFilter(b)
	case Approximate:
		return classic.NewFilter(b, t.Slack)
	case Renyi:
		return classic.NewRenyiFilter(b, t.Order)
	}
	return nil, fmt.Errorf("filter is %q, want one of %v", t.Rule, Rules())
}

// Cost holds the charge for one run.
type Cost struct {
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	Divergence float64 `json:"divergence,omitempty"` // at the budget's order; 0 under other rules
}

// validate returns an error for a cost that no run can have under terms t.
func (c Cost) validate(t Terms) error {
	for _, x := range []float64{c.Epsilon, c.Delta, c.Divergence} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("a cost of %v", x)
		}
	}
	if c.Delta > t.Delta || c.Divergence != 0 && t.Rule != Renyi {
		return fmt.Errorf("a cost of delta %v and divergence %v, by the filter %s at delta %v", c.Delta, c.Divergence,
			t.Rule, t.Delta)
	}
	return nil
}

// charge charges a cost to a filter of the terms.
func (t Terms) charge(f *classic.Filter, c Cost) error {
	if t.Rule == Renyi {
		return f.ChargeDivergence(c.Divergence)
	}
	return f.Charge(c.Epsilon, c.Delta)
}

// Price returns an upper bound on the cost of releases for one unit of the budget. The epsilon is that at delta, by the
// best accountant. It is infinite, with the reasons in open, if nothing bounds the cost.
func (t Terms) Price(entries []privacy.Entry, held []privacy.Holding,
	delta float64) (c Cost, open []privacy.Unprotected, err error) {
	c.Delta = delta
	method := accountant.Contour
	if t.Rule == Renyi {
		method = accountant.RDP
	}
	a, err := accountant.New(method, t.Unit, t.Neighbouring)
	if err != nil {
		return c, nil, err
	}
	if err := accountant.ChargeLedger(a, entries, held...); err != nil {
		return c, nil, err
	}
	r, err := a.Spent(delta)
	if err != nil {
		return c, nil, err
	}
	c.Epsilon = r.Epsilon
	if t.Rule == Renyi && !math.IsInf(c.Epsilon, 1) {
		c.Divergence, err = a.Divergence(t.Order)
		c.Divergence *= 1 + privacy.PlanMargin
	}
	return c, r.Unprotected, err
}
