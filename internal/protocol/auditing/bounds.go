package auditing

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/metrics"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
)

// Row holds the evidence of one kind of models about the coins, as one line of the result.
type Row struct {
	Name  string      `json:"name"`
	What  string      `json:"what"`
	Bound audit.Bound `json:"bound"`
	// Gaussian holds the bound under the stronger hypothesis that the mechanism's trade-off curve is Gaussian. It is
	// shown beside the bound and compared with nothing.
	Gaussian *audit.Bound `json:"gaussian,omitempty"`
	// Ledger holds the bound under the hypothesis that the releases are those of the ledger with some other noise. It
	// is compared with nothing.
	Ledger *audit.Bound `json:"ledger,omitempty"`
	// Found holds what of releases was told apart, and what the account's curve allows. Nil: no curve was asked.
	Found     *audit.Found `json:"found,omitempty"`
	Rule      *audit.Rule  `json:"rule,omitempty"`      // of one-run: canaries guessed in and out
	Threshold *float64     `json:"threshold,omitempty"` // of canary: scores above it are guessed in
	// Attack is the number, from 0, of the score that gave the bound, of several; By names it.
	Attack int     `json:"-"`
	By     string  `json:"by,omitempty"`
	AUC    float64 `json:"auc"`
	// Advantage is the share of right guesses less that of wrong ones where the guesser must guess about every canary,
	// with its interval at the confidence of the audit. Without training on canaries it is 0.
	Advantage float64    `json:"advantage"`
	Interval  [2]float64 `json:"advantage_interval"`
}

// side returns the advantage for a number of right guesses of some, with its interval; level is split between both
// ends.
func side(right, of int64, level float64) (value float64, interval [2]float64, err error) {
	lo, err := audit.LowerBound(right, of, level/2)
	if err != nil {
		return 0, interval, err
	}
	hi, err := audit.UpperBound(right, of, level/2)
	return 2*float64(right)/float64(of) - 1, [2]float64{2*lo - 1, 2*hi - 1}, err
}

// oneRun returns a lower bound on epsilon from the scores of canaries that one training saw or did not see, according
// to coins. Of several scores it takes the one with the largest bound, at a level divided by their number.
func (c AuditConfig) oneRun(r Row, coins audit.Coins, all [][]float64, delta float64) (Row, error) {
	best := -1
	o := audit.Options{Delta: delta, Level: c.Level, Tests: int64(len(all))}
	for k, scores := range all {
		rule, bound, err := audit.Best(coins, scores, c.rules(len(scores)), o, audit.OneRun)
		if err != nil {
			return r, err
		}
		if best < 0 || bound.Epsilon > r.Bound.Epsilon {
			best, r.Rule, r.Bound = k, &rule, bound
		}
		if !(delta > 0) {
			continue
		}
		_, g, err := audit.Best(coins, scores, c.rules(len(scores)), o,
			func(n audit.Count, o audit.Options) (audit.Bound, error) {
				return audit.OneRunFDP(n, o, accountant.Exact)
			})
		if err != nil {
			return r, err
		}
		if r.Gaussian == nil || g.Epsilon > r.Gaussian.Epsilon {
			r.Gaussian = &g
		}
	}
	r.Attack = best
	return r, c.told(&r, coins, all[best])
}

// rules returns one guessing rule for each share of canaries that is guessed about.
func (c AuditConfig) rules(n int) (rules []audit.Rule) {
	for _, share := range c.Guesses {
		each := max(1, int(math.Round(share*float64(n)/2)))
		if rule := (audit.Rule{In: each, Out: min(each, n-each)}); !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// told adds to a row how well scores separate canaries that are in from those that are out.
func (c AuditConfig) told(r *Row, coins audit.Coins, scores []float64) (err error) {
	in := make([]bool, len(scores))
	for i := range in {
		in[i] = coins.In(i)
	}
	if slices.Contains(in, true) && slices.Contains(in, false) {
		if r.AUC, err = metrics.AUC(scores, in); err != nil {
			return err
		}
	}
	guesses, err := audit.Rule{In: len(scores) / 2, Out: len(scores) - len(scores)/2}.Guess(scores)
	if err != nil {
		return err
	}
	all, err := coins.Count(guesses)
	if err != nil {
		return err
	}
	r.Advantage, r.Interval, err = side(all.Correct, all.Guesses, c.Level)
	return err
}

// lenient is a significance level at which few models suffice to tell thresholds apart.
const lenient = 0.5

// twoRun returns a lower bound on epsilon from the scores of models trained with the canary and of models trained
// without it. A quarter of each chooses the threshold; the others are counted.
func (c AuditConfig) twoRun(r Row, with, without []float64, delta float64) (Row, error) {
	n := len(with) / 4
	if n < 1 || len(without) != len(with) {
		return r, fmt.Errorf("%d models with the canary and %d without, want as many, at least 4", len(with),
			len(without))
	}
	threshold, err := choose(with[:n], without[:n], delta)
	if err != nil {
		return r, err
	}
	rates := ratesOf(with[n:], without[n:], threshold)
	o := audit.Options{Delta: delta, Level: c.Level}
	r.Threshold = &threshold
	if r.Bound, err = audit.TwoRun(rates, o); err != nil {
		return r, err
	}
	if delta > 0 {
		g, err := audit.TwoRunGDP(rates, o, accountant.Exact)
		if err != nil {
			return r, err
		}
		r.Gaussian = &g
	}
	in := make([]bool, len(with)+len(without))
	for i := range with {
		in[i] = true
	}
	if r.AUC, err = metrics.AUC(slices.Concat(with, without), in); err != nil {
		return r, err
	}
	return r, c.advantage(&r, rates)
}

// advantage adds to a row the true less the false positive rate, with its interval.
func (c AuditConfig) advantage(r *Row, rates audit.Rates) (err error) {
	r.Advantage = float64(rates.TruePositives)/float64(rates.Positives) - float64(rates.FalsePositives)/float64(
		rates.Negatives)
	var bounds [4]float64
	for i, f := range []struct {
		bound func(k, n int64, level float64) (float64, error)
		k, n  int64
	}{{audit.LowerBound, rates.TruePositives, rates.Positives},
		{audit.UpperBound, rates.FalsePositives, rates.Negatives},
		{audit.UpperBound, rates.TruePositives, rates.Positives},
		{audit.LowerBound, rates.FalsePositives, rates.Negatives}} {
		if bounds[i], err = f.bound(f.k, f.n, c.Level/4); err != nil {
			return err
		}
	}
	r.Interval = [2]float64{bounds[0] - bounds[1], bounds[2] - bounds[3]}
	return nil
}

// choose returns the threshold with the largest bound under few models, and of equal bounds the one with the largest
// advantage. Thresholds lie in the middle between neighbouring scores.
func choose(with, without []float64, delta float64) (float64, error) {
	all := slices.Sorted(slices.Values(slices.Concat(with, without)))
	best, top, most := all[0], -1.0, -1.0
	for i := 1; i < len(all); i++ {
		at := all[i-1] + (all[i]-all[i-1])/2
		r := ratesOf(with, without, at)
		b, err := audit.TwoRun(r, audit.Options{Delta: delta, Level: lenient})
		if err != nil {
			return 0, err
		}
		gain := math.Abs(float64(r.TruePositives)/float64(r.Positives) - float64(r.FalsePositives)/float64(r.Negatives))
		if b.Epsilon > top || b.Epsilon == top && gain > most {
			best, top, most = at, b.Epsilon, gain
		}
	}
	return best, nil
}

// ratesOf counts scores above a threshold.
func ratesOf(with, without []float64, threshold float64) audit.Rates {
	r := audit.Rates{Positives: int64(len(with)), Negatives: int64(len(without))}
	for _, s := range with {
		if s > threshold {
			r.TruePositives++
		}
	}
	for _, s := range without {
		if s > threshold {
			r.FalsePositives++
		}
	}
	return r
}
