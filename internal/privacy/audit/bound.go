package audit

import (
	"errors"
	"fmt"
	"math"
)

// Options holds the inputs of a bound besides the counts. Fix them before the counts are known.
type Options struct {
	Delta  float64 // of the guarantee that is audited, in [0, 1)
	Level  float64 // largest probability that the bound is above the truth, in (0, 1)
	Copies int64   // of every canary in the data, at least 1; 0 means 1
	// Tests is the number of bounds that are computed to report the largest, at least 1. The level is divided by it
	// (Bonferroni). 0 means 1.
	Tests int64
}

func (o *Options) complete() error {
	if o.Copies == 0 {
		o.Copies = 1
	}
	if o.Tests == 0 {
		o.Tests = 1
	}
	if o.Copies < 1 || o.Copies > maxCanaries {
		return fmt.Errorf("copies are %d, want 1 to %d", o.Copies, int64(maxCanaries))
	}
	if o.Tests < 1 || o.Tests > maxCanaries {
		return fmt.Errorf("tests are %d, want 1 to %d", o.Tests, int64(maxCanaries))
	}
	return errors.Join(checkEpsilonDelta(0, o.Delta), checkLevel(o.Level))
}

// Convert returns the epsilon of mu-Gaussian-DP at delta, as accountant.Exact does.
type Convert func(mu, delta float64) (float64, error)

// Bound is an empirical lower bound on epsilon, with the numbers that it comes from.
type Bound struct {
	Method     string  `json:"method"`
	Epsilon    float64 `json:"epsilon"`      // the mechanism is not (less, Delta)-DP
	Mu         float64 `json:"mu,omitempty"` // of Gaussian DP, if the method has one
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"` // 1 - Level
	Level      float64 `json:"level"`      // largest probability that Epsilon is above the truth
	Ceiling    float64 `json:"ceiling"`    // Epsilon if all guesses had been right
	Copies     int64   `json:"copies"`
	Tests      int64   `json:"tests"`
	Count      *Count  `json:"count,omitempty"` // of a one-run audit
	Rates      *Rates  `json:"rates,omitempty"` // of a two-run audit
}

// AtCeiling reports whether the bound is as large as the experiment allows, so that only a larger one could show more.
func (b Bound) AtCeiling() bool { return b.Epsilon >= b.Ceiling }

// Contradicts reports whether the bound contradicts a guarantee with this epsilon at the same
// delta. Then there is a mistake, with probability at least Confidence.
func (b Bound) Contradicts(epsilon float64) bool { return b.Epsilon > epsilon }

func (o Options) bound(method string) Bound {
	return Bound{Method: method, Delta: o.Delta, Confidence: 1 - o.Level, Level: o.Level, Copies: o.Copies,
		Tests: o.Tests}
}

// OneRun audits one run under (epsilon, delta)-DP (Steinke, Nasr, Jagielski 2023).
func OneRun(c Count, o Options) (Bound, error) {
	if err := errors.Join(c.Validate(), o.complete()); err != nil {
		return Bound{}, fmt.Errorf("one-run audit: %w", err)
	}
	b, level := o.bound("one-run"), o.Level/float64(o.Tests)
	b.Count = &c
	b.Epsilon = c.epsilon(o.Delta, level, o.Copies)
	b.Ceiling = c.perfect().epsilon(o.Delta, level, o.Copies)
	return b, nil
}

// perfect returns the counts of the same experiment with every guess right.
func (c Count) perfect() Count {
	c.Correct = c.Guesses
	return c
}

// OneRunFDP audits one run under Gaussian DP (Mahloujifar, Melis, Chaudhuri 2024). The mu rejected for a group of
// Copies canaries is divided by Copies to get that of one unit.
func OneRunFDP(c Count, o Options, epsilon Convert) (Bound, error) {
	fail := func(err error) (Bound, error) { return Bound{}, fmt.Errorf("one-run f-DP audit: %w", err) }
	if err := errors.Join(c.Validate(), o.complete()); err != nil {
		return fail(err)
	}
	b, level := o.bound("one-run-fdp"), o.Level/float64(o.Tests)
	b.Count = &c
	b.Mu = c.mu(level) / float64(o.Copies)
	var err error
	if b.Epsilon, err = epsilon.lower(b.Mu, o.Delta); err != nil {
		return fail(err)
	}
	if b.Ceiling, err = epsilon.lower(c.perfect().mu(level)/float64(o.Copies), o.Delta); err != nil {
		return fail(err)
	}
	return b, nil
}

// TwoRun audits many runs under (epsilon, delta)-DP. Its bound per unit is the larger of log((TPR-delta)/FPR) and
// that of the complementary event, log((TNR-delta)/FNR), with confidence bounds at level/2 each: they share them, so
// that the larger of the two holds at level without correction.
func TwoRun(r Rates, o Options) (Bound, error) {
	if err := errors.Join(r.Validate(), o.complete()); err != nil {
		return Bound{}, fmt.Errorf("two-run audit: %w", err)
	}
	b, level := o.bound("two-run"), o.Level/float64(o.Tests)
	b.Rates = &r
	epsilon := func(r Rates) (float64, error) {
		p, err := r.bounds(level)
		return math.Max(ratio(p.truePositive, p.falsePositive, o.Delta, o.Copies),
			ratio(p.trueNegative, p.falseNegative, o.Delta, o.Copies)), err
	}
	var first, second error
	b.Epsilon, first = epsilon(r)
	b.Ceiling, second = epsilon(r.perfect())
	if err := errors.Join(first, second); err != nil {
		return Bound{}, fmt.Errorf("two-run audit: %w", err)
	}
	return b, nil
}

// perfect returns the rates of the same experiment with every model told apart.
func (r Rates) perfect() Rates {
	r.TruePositives, r.FalsePositives = r.Positives, 0
	return r
}

// TwoRunGDP audits many runs under Gaussian DP, see TwoRunMu.
func TwoRunGDP(r Rates, o Options, epsilon Convert) (Bound, error) {
	fail := func(err error) (Bound, error) { return Bound{}, fmt.Errorf("two-run Gaussian audit: %w", err) }
	if err := errors.Join(r.Validate(), o.complete()); err != nil {
		return fail(err)
	}
	b, level := o.bound("two-run-gdp"), o.Level/float64(o.Tests)
	b.Rates = &r
	for _, s := range []struct {
		rates Rates
		mu    *float64
		eps   *float64
	}{{r, &b.Mu, &b.Epsilon}, {r.perfect(), new(float64), &b.Ceiling}} {
		mu, err := TwoRunMu(s.rates, level)
		if err != nil {
			return fail(err)
		}
		*s.mu = mu / float64(o.Copies)
		if *s.eps, err = epsilon.lower(*s.mu, o.Delta); err != nil {
			return fail(err)
		}
	}
	return b, nil
}

// lower converts mu to epsilon, rounded down. Gaussian DP has no finite epsilon at delta 0 unless
// mu is 0.
func (f Convert) lower(mu, delta float64) (float64, error) {
	if f == nil {
		return 0, errors.New("no conversion from mu to epsilon")
	}
	if !(delta > 0) {
		return 0, fmt.Errorf("delta is %v, want above 0: Gaussian DP has no epsilon without it", delta)
	}
	epsilon, err := f(mu, delta)
	if err != nil {
		return 0, fmt.Errorf("epsilon of mu %v: %w", mu, err)
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("epsilon of mu %v is %v, want at least 0 and finite", mu, epsilon)
	}
	return epsilon * (1 - margin), nil
}

// Contradiction is the error of an audit whose lower bound exceeds the accounted upper bound: one of the two is wrong.
type Contradiction struct {
	Audited   Bound
	Accounted float64 // epsilon at the same delta
	Unit      string  // of the promise
	Of        string  // what was audited
	// Found contradicts the account's trade-off curve where Audited does not contradict its epsilon. Nil: Audited does.
	Found *Found
	// Faults holds sentences on what of a release does not fit the ledger.
	Faults []string
}

// Found holds how well the canary's releases were told from others, and how well the account allows.
type Found struct {
	False   float64 `json:"false_positives"` // at most, of releases without the canary
	True    float64 `json:"true_positives"`  // at least, of releases with it
	Allowed float64 `json:"allowed"`         // by the account, at that many false positives
}

// Contradicts reports whether more was found than the account allows.
func (f Found) Contradicts() bool { return f.True > f.Allowed }

// Error returns a message with both numbers.
func (e *Contradiction) Error() string {
	faults := ""
	for _, f := range e.Faults {
		faults += "; " + f
	}
	if f := e.Found; f != nil {
		return fmt.Sprintf("the audit of %s finds at least %.4g %% of the releases with the canary at %.4g %% false "+
			"alarms with confidence %.4g %%, and the account allows %.4g %% for one %s: one of the two is wrong%s",
			e.Of, 100*f.True, 100*f.False, 100*e.Audited.Confidence, 100*f.Allowed, e.Unit, faults)
	}
	return fmt.Sprintf("the audit of %s shows epsilon above %.4g at delta %g with confidence %.4g %%, and the "+
		"account promises %.4g for one %s: one of the two is wrong%s",
		e.Of, e.Audited.Epsilon, e.Audited.Delta, 100*e.Audited.Confidence, e.Accounted, e.Unit, faults)
}

// Hint suggests where the mistake may be.
func (e *Contradiction) Hint() string {
	return "look at the noise, the accountant and what the auditor was shown; by chance it happens once in " +
		fmt.Sprintf("%.4g", 1/e.Audited.Level) + " audits at most"
}
