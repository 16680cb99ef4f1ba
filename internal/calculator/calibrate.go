package calculator

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/numeric"
	"privrec/internal/run"
)

// epsilonAt returns epsilon as a function of the noise, by the closed form if m is empty.
func (q *Question) epsilonAt(m accountant.Method) func(noise float64) (float64, error) {
	return func(noise float64) (float64, error) {
		q.put(q.of.Noise, noise)
		if m == "" {
			return q.closed()
		}
		r, err := q.spent(m)
		return r.Epsilon, err
	}
}

// Noise holds the least noise for a guarantee, or the largest value of another number.
type Noise struct {
	Name   string // name of the number: sigma, scale, noise-multiplier, or what was looked for
	Noise  float64
	Goal   string    // what was asked for: epsilon, advantage or tpr
	Target float64   // its value
	FPR    float64   // of the goal tpr
	Spent  Guarantee // the account at that number, at most the target
}

// Text shows the noise and its guarantee to a person.
func (n *Noise) Text(w io.Writer) error { return n.page().Text(w) }

// MarshalJSON writes the content of Text, with every digit.
func (n *Noise) MarshalJSON() ([]byte, error) { return n.page().MarshalJSON() }

func (n *Noise) page() *page {
	p := n.Spent.page()
	key, label := strings.ReplaceAll(n.Name, "-", "_"), strings.ReplaceAll(n.Name, "-", " ")
	p.fields = slices.DeleteFunc(p.fields, func(f field) bool { return f.key == key })
	p.fields = slices.Insert(p.fields, 0, field{key, label, short(n.Noise), n.Noise})
	switch n.Goal {
	case "advantage":
		p.add("target_advantage", n.Target, "target advantage", short(n.Target))
	case "tpr":
		p.add("target_true_positive_rate", n.Target, "target", fmt.Sprintf("at most %s found at %s false alarms",
			percent(n.Target), percent(n.FPR)))
		p.add("target_false_positive_rate", n.FPR, "", "")
	default:
		p.add("target_epsilon", n.Target, "target epsilon", short(n.Target))
	}
	return p
}

// Calibrate returns the least noise for a guarantee, or the largest value of another number, with the account at that
// value.
func (q *Question) Calibrate() (*Noise, error) {
	n := &Noise{Name: q.wanted(), Goal: q.goal(), FPR: q.or("fpr", 0)}
	n.Target = q.get(n.Goal)
	var err error
	switch {
	case n.Name != q.of.Noise:
		n.Noise, err = q.most(n.Name, n.Target)
	case n.Goal == "epsilon":
		n.Noise, err = q.leastNoise(n.Target)
	default:
		n.Noise, err = q.leastForRisk(n.Target)
	}
	if errors.Is(err, accountant.ErrDelta) {
		return nil, run.Usagef(fmt.Sprintf("such a guarantee holds without any noise: every %[1]s that a batch takes "+
			"could be published whole; give a delta well below %[2]s, and below one over the number of %[3]s",
			noun(q.unit), near(q.exposed(), 3), nouns(q.unit)),
			"--delta is %s, and %s is in a batch at all with probability %s", short(q.get("delta")), aNoun(q.unit),
			near(q.exposed(), 6))
	}
	if stopped := q.stopped(); stopped != nil {
		return nil, stopped
	}
	if err != nil {
		at := ""
		if n.Goal == "epsilon" {
			at = " at delta " + short(q.get("delta"))
		}
		return nil, fmt.Errorf("no %s found for %s %s%s: %w", strings.ReplaceAll(n.Name, "-", " "), n.Goal,
			short(n.Target), at, err)
	}
	q.put(n.Name, n.Noise)
	if !q.given("delta") {
		q.put("at-epsilon", 0)
	}
	g, err := q.Account()
	if err != nil {
		return nil, err
	}
	if n.Goal == "epsilon" && g.Epsilon > n.Target && !q.of.closed {
		return nil, fmt.Errorf("epsilon came out as %v at noise %v, above the target", g.Epsilon, n.Noise)
	}
	g.Asked = q.asked("delta", "epsilon", n.Name)
	n.Spent = *g
	return n, nil
}

// goal names the target of a calibration.
func (q *Question) goal() string {
	for _, name := range []string{"advantage", "tpr"} {
		if q.given(name) {
			return name
		}
	}
	return "epsilon"
}

// attacked returns an attacker's gain at the question's numbers, in the measure of its goal: the advantage, or the true
// positive rate minus the false one.
func (q *Question) attacked() (float64, error) {
	books, err := q.books(q.method)
	if err != nil {
		return 0, err
	}
	t, err := books.TradeOff()
	if err != nil {
		return 0, err
	}
	if q.goal() == "advantage" {
		return t.Advantage(), nil
	}
	return t.TPR(q.get("fpr")) - q.get("fpr"), nil
}

// leastForRisk returns the least noise with which an attacker reaches at most a target.
func (q *Question) leastForRisk(target float64) (float64, error) {
	gain := target - q.or("fpr", 0)
	c, err := accountant.Calibrate(accountant.Goal{Epsilon: gain, Exposed: 1, Least: spanNoise.lo, Most: spanNoise.hi},
		1, func(noise float64) (float64, error) {
			q.put(q.of.Noise, noise)
			return q.attacked()
		})
	return c.Noise, err
}

// most returns the largest value of a number that stays within a target. The cost must not fall as the number grows. A
// value without an account counts as too large.
func (q *Question) most(name string, target float64) (float64, error) {
	var last error
	within := func(v float64) bool {
		q.put(name, v)
		cost, bound := 0.0, target
		if q.goal() == "epsilon" {
			var r accountant.Result
			r, last = q.spent(q.method)
			cost = r.Epsilon
		} else {
			cost, last = q.attacked()
			bound -= q.or("fpr", 0)
		}
		return last == nil && cost <= bound
	}
	s := kinds[name].span
	hi := s.hi
	if name == "batch" {
		hi = q.get("records")
	}
	lo := 1.0 // of whole numbers
	if !s.whole {
		for lo = hi; !within(lo); lo /= 8 {
			if lo < s.lo {
				return 0, errors.Join(fmt.Errorf("even %s is too much", short(lo)), last)
			}
		}
		if lo == hi {
			return hi, nil
		}
		hi = math.Min(hi, 8*lo)
	} else {
		if !within(lo) {
			return 0, errors.Join(errors.New("even 1 is too much"), last)
		}
		for lo < hi && within(math.Min(2*lo, hi)) {
			lo = math.Min(2*lo, hi)
		}
		if lo == hi {
			return hi, nil
		}
		hi = math.Min(2*lo, hi)
	}
	if s.whole {
		most, _ := numeric.Bisect(int64(lo), int64(hi), func(n int64) bool { return within(float64(n)) })
		return float64(most), nil
	}
	lo, _ = numeric.BisectWithin(1e-6, lo, hi, within)
	return lo, nil
}

// exposed returns the probability that one unit is in any of the releases.
func (q *Question) exposed() float64 {
	if q.numbers["sampling-rate"] == nil || eventlog.ByEpoch(q.sampling) {
		return 1
	}
	return accountant.Exposed(q.get("sampling-rate"), int64(q.get("steps")))
}

// leastNoise returns the least noise. If a closed form is known and the accountant confirms that it suffices,
// leastNoise returns that, to the last digit.
func (q *Question) leastNoise(target float64) (float64, error) {
	if err := q.derive(); err != nil {
		return 0, err
	}
	spent := q.epsilonAt(q.method)
	goal := accountant.Goal{Epsilon: target, Delta: q.get("delta"), Exposed: q.exposed(), Least: spanNoise.lo,
		Most: spanNoise.hi}
	start := 1.0
	if guess, exact, ok := q.guess(target); ok {
		start = guess
		if exact {
			for range 64 {
				if eps, err := spent(guess); err != nil {
					break
				} else if eps <= target {
					return guess, nil
				}
				guess = math.Nextafter(guess, math.Inf(1))
			}
		}
	}
	if q.method == accountant.Contour || q.method == accountant.PLD {
		// The Rényi bound is quick and slightly above: a search from there is short.
		if c, err := accountant.Calibrate(goal, start, q.epsilonAt(accountant.RDP)); err == nil {
			start = c.Noise
		}
	}
	if q.method == accountant.Contour {
		// If the bracket answers for the exact accountant, ask the bracket at once.
		q.put(q.of.Noise, start)
		if r, err := q.spent(q.method); err == nil && r.Method == string(accountant.PLD) {
			spent = q.epsilonAt(accountant.PLD)
		}
	}
	c, err := accountant.Calibrate(goal, start, spent)
	return c.Noise, err
}

// guess returns the noise in closed form. exact says that the chosen accountant uses that form, so that the value is
// the answer and not only near it.
func (q *Question) guess(target float64) (noise float64, exact, ok bool) {
	steps, delta := q.get("steps"), q.get("delta")
	switch q.of.Name {
	case "dipsgnn":
		noise, exact = accountant.ClosedSigma(q.get("clip"), steps, target, delta), true
		q.relation = privacy.AddRemove
	case "gaussian", "correlated-sums":
		moved := q.get("sensitivity") * math.Sqrt(steps)
		if q.of.Name != "gaussian" {
			moved = q.movedSums()
		}
		var err error
		if noise, err = accountant.SigmaFor(moved, target, delta); err != nil {
			return 0, false, false
		}
		exact = q.method == accountant.Analytic
	default:
		return 0, false, false
	}
	return noise, exact && spanNoise.holds(noise), noise > 0 && !math.IsInf(noise, 1)
}
