package audit

import (
	"errors"
	"fmt"

	"privrec/internal/rng"
)

// Bounder computes a bound from counts: OneRun, or OneRunFDP with its conversion.
type Bounder func(Count, Options) (Bound, error)

// Best tries several rules on the same canaries and returns the largest bound with
// its rule. The level is divided by the number of rules, on top of o.Tests
// (Bonferroni): that is what makes the largest of them a bound.
func Best(coins Coins, scores []float64, rules []Rule, o Options, bound Bounder) (Rule, Bound, error) {
	if len(rules) == 0 || bound == nil {
		return Rule{}, Bound{}, errors.New("best of several rules: no rules, or no bound to compute")
	}
	if len(scores) != coins.n {
		return Rule{}, Bound{}, fmt.Errorf("best of several rules: %d scores of %d canaries", len(scores), coins.n)
	}
	all, err := whole(scores)
	if err != nil {
		return Rule{}, Bound{}, fmt.Errorf("best of several rules: %w", err)
	}
	if err := o.complete(); err != nil { // before the product, which could wrap around to an option that is allowed
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

// Split chooses the rule on a random part of the canaries, and counts on the rest,
// whose coins had no part in the choice: the bound holds at the full level. The
// rules are shares of the canaries: a Rule for 1000, scaled to the size of either
// part. share is the part that chooses, above 0 and below 1; the stream draws
// it and must not be that of the coins.
func Split(coins Coins, scores []float64, rules []Rule, share float64, s rng.Stream, o Options, bound Bounder) (Rule, Bound, error) {
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
		return fail(fmt.Errorf("a share of %v of %d canaries leaves a part empty", share, coins.n))
	}
	chooser, err := part(order[:cut], scores)
	if err != nil {
		return fail(err)
	}
	rest, err := part(order[cut:], scores)
	if err != nil {
		return fail(err)
	}
	rule := rules[0]
	for _, level := range []float64{o.Level, anything} { // the second where the first shows nothing at all
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

// anything is a level at which a part too small for a bound still tells rules apart.
const anything = 0.5

// perMille is what the rules of Split are shares of.
const perMille = 1000

func (r Rule) scale(n int) Rule { return Rule{In: r.In * n / perMille, Out: r.Out * n / perMille} }

// some is a part of the canaries, sorted by their scores.
type some struct {
	of    []int // their numbers; nil: all
	order []int // positions in of, from the highest score
}

func whole(scores []float64) (some, error) {
	order, err := descending(scores)
	return some{order: order}, err
}

func part(numbers []int32, scores []float64) (some, error) {
	of, own := make([]int, len(numbers)), make([]float64, len(numbers))
	for i, at := range numbers {
		of[i], own[i] = int(at), scores[at]
	}
	order, err := descending(own)
	return some{of, order}, err
}

// bound is that of one rule on the part.
func (p some) bound(coins Coins, r Rule, o Options, bound Bounder) (Bound, error) {
	if err := r.fits(len(p.order)); err != nil {
		return Bound{}, err
	}
	count, err := coins.count(r.of(p.order), p.of)
	if err != nil {
		return Bound{}, err
	}
	return bound(count, o)
}
