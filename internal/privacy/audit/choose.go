package audit

import (
	"errors"
	"fmt"

	"privrec/internal/rng"
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
	all, err := allCanaries(scores)
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
		b, err := all.bound(coins, r, o, bound)
		if err != nil {
			return Rule{}, Bound{}, fmt.Errorf("rule %d: %w", i, err)
		}
		if i == 0 || b.Epsilon > top.Epsilon {
			rule, top = r, b
		}
	}
	return rule, top, nil
}

// Split chooses the best rule on a random subset of the canaries and returns it with its bound on the rest. The coins
// of the rest had no influence on the choice, so the bound holds at the full level. Each rule is given for 1000
// canaries and scaled to the size of either subset. share, above 0 and below 1, is the share of canaries used for
// choosing. The stream draws this subset, and must not be the stream of the coins.
func Split(coins Coins, scores []float64, rules []Rule, share float64, s rng.Stream, o Options,
	bound Bounder) (Rule, Bound, error) {
	fail := func(err error) (Rule, Bound, error) { return Rule{}, Bound{}, fmt.Errorf("split: %w", err) }
	if len(rules) == 0 || bound == nil {
		return fail(errors.New("no rules, or no bound to compute"))
	}
	if len(scores) != coins.n {
		return fail(fmt.Errorf("%d scores of %d canaries", len(scores), coins.n))
	}
	if !(share > 0 && share < 1) {
		return fail(fmt.Errorf("share is %v, want between 0 and 1", share))
	}
	for i, r := range rules {
		if r.In < 0 || r.Out < 0 || r.In > perMille || r.Out > perMille-r.In {
			return fail(fmt.Errorf("rule %d: %d in and %d out of %d", i, r.In, r.Out, perMille))
		}
	}
	order := s.Perm(coins.n)
	cut := int(share * float64(coins.n))
	if cut < 1 || cut >= coins.n {
		return fail(fmt.Errorf("a share of %v of %d canaries leaves a subset empty", share, coins.n))
	}
	chooser, err := subsetOf(order[:cut], scores)
	if err != nil {
		return fail(err)
	}
	rest, err := subsetOf(order[cut:], scores)
	if err != nil {
		return fail(err)
	}
	rule := rules[0]
	for _, level := range []float64{o.Level, lenientLevel} { // the second if the first shows nothing at all
		choose, top := o, 0.0
		choose.Level = level
		for _, r := range rules {
			b, err := chooser.bound(coins, r.scale(cut), choose, bound)
			if err != nil {
				return fail(err)
			}
			if b.Epsilon > top {
				rule, top = r, b.Epsilon
			}
		}
		if top > 0 {
			break
		}
	}
	b, err := rest.bound(coins, rule.scale(len(rest.of)), o, bound)
	if err != nil {
		return fail(err)
	}
	return rule, b, nil
}

// lenientLevel is a level at which a subset too small for a bound can still rank rules.
const lenientLevel = 0.5

// perMille is the number of canaries for which the rules of Split are given.
const perMille = 1000

func (r Rule) scale(n int) Rule { return Rule{In: r.In * n / perMille, Out: r.Out * n / perMille} }

// subset is a subset of the canaries, sorted by their scores.
type subset struct {
	of    []int // their numbers; nil: all
	order []int // positions in of, from the highest score
}

func allCanaries(scores []float64) (subset, error) {
	order, err := descending(scores)
	return subset{order: order}, err
}

func subsetOf(numbers []int32, scores []float64) (subset, error) {
	of, own := make([]int, len(numbers)), make([]float64, len(numbers))
	for i, at := range numbers {
		of[i], own[i] = int(at), scores[at]
	}
	order, err := descending(own)
	return subset{of, order}, err
}

// bound returns the bound of one rule on the subset.
func (p subset) bound(coins Coins, r Rule, o Options, bound Bounder) (Bound, error) {
	if err := r.fits(len(p.order)); err != nil {
		return Bound{}, err
	}
	count, err := coins.count(r.guesses(p.order), p.of)
	if err != nil {
		return Bound{}, err
	}
	return bound(count, o)
}
