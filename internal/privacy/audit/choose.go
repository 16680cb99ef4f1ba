package audit

import (
	"errors"
	"fmt"
)

// Bounder computes a bound from counts: OneRun, or OneRunFDP with its conversion.
type Bounder func(Count, Options) (Bound, error)

// Best tries several rules on the same canaries and returns the largest bound with its rule. It divides the level by
// the number of rules, as well as by o.Tests (Bonferroni). Without this division the largest would not be a bound.
func Best(coins Coins, scores []float64, rules []Rule, o Options, bound Bounder) (Rule, Bound, error) {
	if len(rules) == 0 || bound == nil {
		return Rule{}, Bound{}, errors.New("best of several rules: no rules, or no bound to compute")
	}
	if len(scores) != coins.n {
		return Rule{}, Bound{}, fmt.Errorf("best of several rules: %d scores of %d canaries", len(scores), coins.n)
	}
	order, err := descending(scores)
	if err != nil {
		return Rule{}, Bound{}, fmt.Errorf("best of several rules: %w", err)
	}
	if err := o.complete(); err != nil { // before the product, which could wrap around to an allowed option
		return Rule{}, Bound{}, fmt.Errorf("best of several rules: %w", err)
	}
	o.Tests *= int64(len(rules))
	var rule Rule
	var top Bound
	for i, r := range rules {
		b, err := r.bound(coins, order, o, bound)
		if err != nil {
			return Rule{}, Bound{}, fmt.Errorf("rule %d: %w", i, err)
		}
		if i == 0 || b.Epsilon > top.Epsilon {
			rule, top = r, b
		}
	}
	return rule, top, nil
}

// bound returns the bound of the rule on canaries in descending order of their scores.
func (r Rule) bound(coins Coins, order []int, o Options, bound Bounder) (Bound, error) {
	if err := r.fits(len(order)); err != nil {
		return Bound{}, err
	}
	count, err := coins.Count(r.guesses(order))
	if err != nil {
		return Bound{}, err
	}
	return bound(count, o)
}
