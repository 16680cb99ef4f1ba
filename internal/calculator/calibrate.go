package calculator

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/run"
)

// epsilonAt returns a function of the noise that gives epsilon, by the closed form if m is empty.
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

// Noise answers which noise is the least for a guarantee.
type Noise struct {
	Name   string // name of the number: sigma, scale or noise-multiplier
	Noise  float64
	Target float64   // the epsilon that was asked for
	Spent  Guarantee // the account at that noise, at most the target
}

// Text shows the noise and its guarantee to a person.
func (n *Noise) Text(w io.Writer) error { return n.page().Text(w) }

// MarshalJSON writes what Text shows, with every digit.
func (n *Noise) MarshalJSON() ([]byte, error) { return n.page().MarshalJSON() }

func (n *Noise) page() *page {
	p := n.Spent.page()
	key, label := strings.ReplaceAll(n.Name, "-", "_"), strings.ReplaceAll(n.Name, "-", " ")
	p.fields = slices.Insert(p.fields, 0, field{key, label, short(n.Noise), n.Noise})
	p.add("target_epsilon", n.Target, "target epsilon", short(n.Target))
	return p
}

// Calibrate finds the least noise for a guarantee. It answers with the account at that noise.
func (q *Question) Calibrate() (*Noise, error) {
	target := q.get("epsilon")
	noise, err := q.leastNoise(target)
	if errors.Is(err, accountant.ErrDelta) {
		return nil, run.Usagef(fmt.Sprintf("such a guarantee holds without any noise: every %[1]s that a batch takes could be published whole; give a delta well below %[2]s, and below one over the number of %[3]s",
			noun(q.unit), near(q.exposed(), 3), nouns(q.unit)),
			"--delta is %s, and a %s is in a batch at all with probability %s", short(q.get("delta")), noun(q.unit), near(q.exposed(), 6))
	}
	if err != nil {
		return nil, fmt.Errorf("no %s found for epsilon %s at delta %s: %w", strings.ReplaceAll(q.of.Noise, "-", " "), short(target), short(q.get("delta")), err)
	}
	q.put(q.of.Noise, noise)
	g, err := q.Account()
	if err != nil {
		return nil, err
	}
	if g.Epsilon > target && !q.of.closed {
		return nil, fmt.Errorf("epsilon came out as %v at noise %v, above the target", g.Epsilon, noise)
	}
	g.Asked = q.asked("delta", "epsilon")
	return &Noise{Name: q.of.Noise, Noise: noise, Target: target, Spent: *g}, nil
}

// exposed returns the probability that one unit is in any of the releases.
func (q *Question) exposed() float64 {
	if q.numbers["sampling-rate"] == nil {
		return 1
	}
	return accountant.Exposed(q.get("sampling-rate"), int64(q.get("steps")))
}

// leastNoise searches for the least noise. If a closed form is known and the accountant agrees that
// it is enough, leastNoise returns that, to the last digit.
func (q *Question) leastNoise(target float64) (float64, error) {
	spent := q.epsilonAt(q.method)
	goal := accountant.Goal{Epsilon: target, Delta: q.get("delta"), Exposed: q.exposed()}
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

// guess returns the noise in closed form. exact says that the chosen accountant has that form, so
// that it is the answer and not only near it.
func (q *Question) guess(target float64) (noise float64, exact, ok bool) {
	steps, delta := q.get("steps"), q.get("delta")
	switch q.of.Name {
	case "dipsgnn":
		noise, exact = accountant.ClosedSigma(q.get("clip"), steps, target, delta), true
		q.relation = privacy.AddRemove
	case "gaussian":
		var err error
		if noise, err = accountant.SigmaFor(q.get("sensitivity")*math.Sqrt(steps), target, delta); err != nil {
			return 0, false, false
		}
		exact = q.method == accountant.Analytic
	default:
		return 0, false, false
	}
	return noise, exact, noise > 0 && !math.IsInf(noise, 1)
}
