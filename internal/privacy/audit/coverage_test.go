package audit_test

import (
	"math"
	"testing"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
)

// The tests of this file add up, over all outcomes of a mechanism whose privacy is
// known, the probability that a bound is above the truth. Nothing is drawn: a level
// that is not kept fails for sure. A mistake in the method must break the level of
// the same mechanism, or the test would prove nothing.

// choose is the probability of k in n at p, by logarithms of factorials.
func choose(n, k int64, p float64) float64 {
	switch {
	case p == 0:
		return b2f(k == 0)
	case p == 1:
		return b2f(k == n)
	}
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func b2f(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func phi(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// outcome is a number of guesses and of right ones.
type outcome struct{ r, v int64 }

// shown is the law of a mechanism that shows every canary with probability delta and
// gives an answer of odds e^epsilon of the others: (epsilon, delta)-DP and no better.
// The attacker makes r guesses, about canaries that are shown first.
func shown(m, r int64, epsilon, delta float64) map[outcome]float64 {
	law := map[outcome]float64{}
	for s := range m + 1 {
		known := min(s, r)
		for k := range r - known + 1 {
			law[outcome{r, known + k}] += choose(m, s, delta) * choose(r-known, k, 1/(1+math.Exp(-epsilon)))
		}
	}
	return law
}

// gauss is the law of m normal scores whose means differ by mu, guessed where they
// are beyond reach of the middle.
func gauss(m int64, mu, reach float64) map[outcome]float64 {
	hit, miss := phi(mu/2-reach), phi(-mu/2-reach)
	law := map[outcome]float64{}
	for r := range m + 1 {
		for v := range r + 1 {
			law[outcome{r, v}] = choose(m, r, hit+miss) * choose(r, v, hit/(hit+miss))
		}
	}
	return law
}

// above is the probability of the outcomes at which a bound is above the truth.
func above(t *testing.T, law map[outcome]float64, m int64, truth float64, bound func(audit.Count) (float64, error)) float64 {
	t.Helper()
	sum, total := 0.0, 0.0
	for o, p := range law {
		total += p
		b, err := bound(audit.Count{Canaries: m, Guesses: o.r, Correct: o.v})
		if err != nil {
			t.Fatal(err)
		}
		if b > truth*(1+1e-9) {
			sum += p
		}
	}
	if math.Abs(total-1) > 1e-9 {
		t.Fatalf("the outcomes have probability %v", total)
	}
	return sum
}

// audited is the epsilon of a one-run audit with options.
func audited(o audit.Options) func(audit.Count) (float64, error) {
	return func(c audit.Count) (float64, error) {
		b, err := audit.OneRun(c, o)
		return b.Epsilon, err
	}
}

func TestOneRunKeepsItsLevel(t *testing.T) {
	for _, level := range []float64{0.3, 0.1, 0.04, 0.001} {
		for _, c := range []struct {
			m, r           int64
			epsilon, delta float64
		}{{30, 30, 0, 0}, {30, 30, 1, 0}, {30, 10, 2, 0}, {30, 30, 0.5, 1e-3}, {200, 5, 0, 5e-3}, {200, 5, 1, 5e-3}, {40, 40, 0, 0.02}, {500, 3, 0.2, 1e-3}, {60, 60, 3, 1e-4}} {
			o := audit.Options{Delta: c.delta, Level: level}
			if p := above(t, shown(c.m, c.r, c.epsilon, c.delta), c.m, c.epsilon, audited(o)); p > level*(1+1e-9) {
				t.Errorf("%+v: above the truth with probability %v at level %v", c, p, level)
			}
		}
	}
	// Two mistakes on record. Without the term of delta, or with guesses for
	// canaries in it, an attacker who guesses what was shown breaks the level.
	const m, r, epsilon, delta, level = 200, 5, 0.0, 5e-3, 0.05
	law := shown(m, r, epsilon, delta)
	for name, bound := range map[string]func(audit.Count) (float64, error){
		"no delta": audited(audit.Options{Level: level}),
		"guesses for canaries": func(c audit.Count) (float64, error) {
			c.Canaries = c.Guesses
			return audited(audit.Options{Delta: delta, Level: level})(c)
		},
	} {
		if p := above(t, law, m, epsilon, bound); p < 1.5*level {
			t.Errorf("%s: probability %v at level %v, the law does not show the mistake", name, p, level)
		}
	}
}

// The bound of Gaussian DP, with all canaries guessed and with abstention.
func TestGaussianOneRunKeepsItsLevel(t *testing.T) {
	for _, c := range []struct {
		m         int64
		mu, reach float64
	}{{40, 0, 0}, {40, 0.5, 0}, {40, 2, 0}, {22, 1, 1}, {22, 0.3, 1.5}, {22, 2, 0.7}} {
		law := gauss(c.m, c.mu, c.reach)
		for _, level := range []float64{0.3, 0.05, 1e-3} {
			mu := func(n audit.Count) (float64, error) { return audit.OneRunMu(n, level) }
			if p := above(t, law, c.m, c.mu, mu); p > level {
				t.Errorf("%+v: mu above the truth with probability %v at level %v", c, p, level)
			}
			// The share of right guesses is Phi(mu/2): read off as it is, that is no bound.
			read := func(n audit.Count) (float64, error) {
				mu := 0.0
				for phi(mu/2)*float64(n.Guesses) < float64(n.Correct) && mu < 20 {
					mu += 1e-2
				}
				return mu, nil
			}
			if p := above(t, law, c.m, c.mu, read); c.reach == 0 && p < 1.2*level {
				t.Errorf("%+v: the share read off is above with probability %v at level %v", c, p, level)
			}
			// The other audit holds for the same mechanism with what the accountant says.
			const delta = 1e-3
			if c.mu > 0 && level == 0.05 {
				epsilon, err := accountant.Exact(c.mu, delta)
				if err != nil {
					t.Fatal(err)
				}
				if p := above(t, law, c.m, epsilon, audited(audit.Options{Delta: delta, Level: level})); p > level {
					t.Errorf("%+v: epsilon above %v with probability %v at level %v", c, epsilon, p, level)
				}
			}
		}
	}
}

// aboveTwo is above for two runs of n each.
func aboveTwo(t *testing.T, n int64, tpr, fpr, truth float64, bound func(audit.Rates) (float64, error)) (sum float64) {
	t.Helper()
	for tp := range n + 1 {
		for fp := range n + 1 {
			b, err := bound(audit.Rates{TruePositives: tp, Positives: n, FalsePositives: fp, Negatives: n})
			if err != nil {
				t.Fatal(err)
			}
			if b > truth*(1+1e-9) {
				sum += choose(n, tp, tpr) * choose(n, fp, fpr)
			}
		}
	}
	return sum
}

func TestTwoRunKeepsItsLevel(t *testing.T) {
	const n = 20
	twoRun := func(o audit.Options) func(audit.Rates) (float64, error) {
		return func(r audit.Rates) (float64, error) { b, err := audit.TwoRun(r, o); return b.Epsilon, err }
	}
	for _, c := range []struct{ epsilon, delta, level float64 }{{0, 0, 0.3}, {1, 0, 0.1}, {0.1, 0.5, 0.05}, {2, 0.1, 0.05}, {0, 0.9, 0.2}} {
		p := 1 / (1 + math.Exp(-c.epsilon))
		tpr, fpr := c.delta+(1-c.delta)*p, (1-c.delta)*(1-p)
		o := audit.Options{Delta: c.delta, Level: c.level}
		if p := aboveTwo(t, n, tpr, fpr, c.epsilon, twoRun(o)); p > c.level {
			t.Errorf("%+v: above the truth with probability %v", c, p)
		}
		if c.delta < 0.3 || c.delta > 0.6 {
			continue
		}
		for name, bound := range map[string]func(audit.Rates) (float64, error){
			"ratio bounds that ignore delta": twoRun(audit.Options{Level: c.level}),
			"rates as they are": func(r audit.Rates) (float64, error) {
				return math.Log((float64(r.TruePositives)/n - c.delta) / (float64(r.FalsePositives) / n)), nil
			},
		} {
			if p := aboveTwo(t, n, tpr, fpr, c.epsilon, bound); p < 1.5*c.level {
				t.Errorf("%+v, %s: probability %v, the law does not show the mistake", c, name, p)
			}
		}
	}
	// Gaussian DP, with the threshold in the middle and beside it.
	for _, c := range []struct{ mu, shift, level float64 }{{0, 0, 0.3}, {1, 0, 0.1}, {1, 0.8, 0.1}, {2, -1, 0.05}, {3, 0.5, 0.2}} {
		mu := func(r audit.Rates) (float64, error) { return audit.TwoRunMu(r, c.level) }
		if p := aboveTwo(t, n, phi(c.mu/2+c.shift), phi(c.shift-c.mu/2), c.mu, mu); p > c.level {
			t.Errorf("%+v: mu above the truth with probability %v", c, p)
		}
	}
}

// A group of k records under a mechanism of epsilon each may be answered with odds
// e^(k epsilon): the bounds with Copies hold for one record, those without do not.
func TestCopiesKeepTheLevel(t *testing.T) {
	const epsilon, k, n, level = 0.4, 5, 24, 0.05
	p := 1 / (1 + math.Exp(-k*epsilon))
	for copies, holds := range map[int64]bool{k: true, 1: false} {
		o := audit.Options{Level: level, Copies: copies}
		one := above(t, shown(n, n, k*epsilon, 0), n, epsilon, audited(o))
		two := aboveTwo(t, n, p, 1-p, epsilon, func(r audit.Rates) (float64, error) { b, err := audit.TwoRun(r, o); return b.Epsilon, err })
		if (one <= level) != holds || (two <= level) != holds {
			t.Errorf("%d copies: above the truth with probability %v in one run, %v in two", copies, one, two)
		}
	}
}
