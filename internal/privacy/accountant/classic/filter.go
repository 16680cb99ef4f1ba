package classic

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// ErrExhausted is returned if a mechanism costs more than the rest of a filter's budget, and so must not run.
var ErrExhausted = errors.New("the privacy budget is exhausted")

// Filter decides before each mechanism whether it may still run. It is for mechanisms and parameters that are chosen
// after earlier results. Composition theorems need all parameters fixed beforehand: without a filter, stopping when the
// sum reaches the budget guarantees nothing. The zero value is not usable. A Filter is not safe for use by several
// goroutines.
type Filter struct {
	kind         string
	plain        bool    // epsilons are added
	order        float64 // of a Rényi filter
	limit, spent float64
	delta, slack float64 // of an (epsilon, delta) filter: for the mechanisms, for the sum
	failed       float64
	square       float64
}

// NewRenyiFilter returns a filter on the Rényi divergence at one order, which is fixed now. While the charged
// divergences add up to at most its limit, all mechanisms together are (Epsilon, Delta)-DP under the tight conversion
// (Feldman and Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021). It has only one order: with
// several, the results may decide which one stays within its limit, and then none is guaranteed. A good choice is the
// best order of a typical run.
func NewRenyiFilter(b privacy.Budget, order float64) (*Filter, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("rényi filter: %w", err)
	}
	if !(order > 1) || math.IsInf(order, 1) {
		return nil, fmt.Errorf("rényi filter: order is %v, want above 1 and finite", order)
	}
	if b.Delta == 0 {
		return nil, errors.New("rényi filter: delta is 0, want above 0: a finite order has no bound there")
	}
	limit := b.Epsilon - math.Log1p(-1/order) + math.Log(b.Delta*order)/(order-1)
	if !(limit > 0) {
		return nil, fmt.Errorf("rényi filter: order %v leaves nothing of epsilon %v at delta %v: take a higher one",
			order, b.Epsilon, b.Delta)
	}
	return &Filter{kind: "rényi filter", order: order, limit: limit * (1 - rounding)}, nil
}

// NewFilter returns a filter on (epsilon, delta)-DP mechanisms. They may run while
//
//	sqrt(2 ln(1/slack) sum epsilon_i²) + sum epsilon_i²/2 <= Epsilon
//	sum delta_i <= Delta - slack
//
// (Whitehouse, Ramdas, Rogers, Wu, "Fully-adaptive composition in differential privacy", ICML
// 2023). That is as good as advanced composition with all parameters fixed. slack is above 0 and at
// most Delta.
func NewFilter(b privacy.Budget, slack float64) (*Filter, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	if !(slack > 0 && slack <= b.Delta) {
		return nil, fmt.Errorf("filter: slack is %v, want above 0 and at most the delta %v", slack, b.Delta)
	}
	return &Filter{kind: "filter", limit: b.Epsilon * (1 - rounding), delta: b.Delta - slack, slack: slack}, nil
}

// NewSumFilter returns a filter on (epsilon, delta)-DP mechanisms that adds up their costs. They may run while
//
//	sum epsilon_i <= Epsilon
//	sum delta_i <= Delta
//
// Basic composition also holds where a mechanism and its epsilon and delta are chosen after the results of those before
// (Rogers, Roth, Ullman, Vadhan, "Privacy odometers and filters: pay-as-you-go composition", NeurIPS 2016, section 3).
// It is the best filter for a few mechanisms of large epsilon, and the only one for delta 0. Decimals that add up to
// the budget may spend all of it: sums may exceed it by a relative 1e-12.
func NewSumFilter(b privacy.Budget) (*Filter, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	return &Filter{kind: "filter", plain: true, limit: b.Epsilon, delta: b.Delta}, nil
}

// rounding is the relative allowance for rounding errors in a sum of many costs.
const rounding = 1e-12

// ChargeDivergence charges a mechanism to a Rényi filter. The mechanism's divergence at the filter's order must be at
// most the given one after any earlier results. +Inf is refused like any cost above what is left. After an error the
// filter is unchanged and the mechanism must not run.
func (f *Filter) ChargeDivergence(divergence float64) error {
	if f.order == 0 {
		return fmt.Errorf("%s: it takes epsilon and delta, not a divergence", f.kind)
	}
	if !(divergence >= 0) {
		return fmt.Errorf("%s: divergence is %v, want at least 0", f.kind, divergence)
	}
	if f.spent+divergence > f.limit {
		return fmt.Errorf("%s: divergence %v after %v of %v: %w", f.kind, divergence, f.spent, f.limit, ErrExhausted)
	}
	f.spent += divergence
	return nil
}

// Charge charges a mechanism to a filter from NewFilter or NewSumFilter. The mechanism must be (epsilon, delta)-DP
// after any earlier results. After an error the filter is unchanged and the mechanism must not run.
func (f *Filter) Charge(epsilon, delta float64) error {
	if f.order != 0 {
		return fmt.Errorf("%s: it takes a divergence, not epsilon and delta", f.kind)
	}
	if err := errors.Join(checkEpsilon(epsilon), checkProbability("delta", delta)); err != nil {
		return fmt.Errorf("%s: %w", f.kind, err)
	}
	square, failed := f.square+epsilon*epsilon, f.failed+delta
	spent, limit, most := math.Sqrt(-2*math.Log(f.slack)*square)+square/2, f.limit, f.delta*(1-rounding)
	if f.plain {
		spent, limit, most = f.spent+epsilon, limit*(1+rounding), f.delta*(1+rounding)
	}
	if spent > limit || failed > most && failed > 0 {
		return fmt.Errorf("%s: epsilon %v of %v and delta %v of %v with this mechanism: %w", f.kind, spent, f.limit,
			failed, f.delta, ErrExhausted)
	}
	f.square, f.failed, f.spent = square, failed, spent
	return nil
}

// Order returns the order of a Rényi filter, 0 for any other filter.
func (f *Filter) Order() float64 { return f.order }

// Spent returns the amount charged so far, in the units of Limit. It is not a guarantee: even while some of the budget
// is left, only the whole budget is guaranteed.
func (f *Filter) Spent() float64 { return f.spent }

// Limit returns the most that may be charged in all: a divergence at the order, or an epsilon.
func (f *Filter) Limit() float64 { return f.limit }
