package auditing

import (
	"fmt"
	"math"
	"path/filepath"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/numeric"
	"privrec/internal/run"
)

// entries returns the releases with noise in the ledger of a trained model; none where its account is not finite.
func (w *work) entries(a Accounted, dir string) (noised []privacy.Entry, err error) {
	if !a.finite() {
		return nil, nil
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		return nil, err
	}
	for _, e := range l.Entries() {
		if _, open := privacy.AsUnprotected(e.Event); !open {
			noised = append(noised, e)
		}
	}
	return noised, nil
}

// ledgerCurve is what a ledger allows of one user.
type ledgerCurve struct {
	*accountant.TradeOff
	account *accountant.Account
}

// curveOf returns what the entries of a ledger would allow if all their noise were so many times as large.
func curveOf(entries []privacy.Entry, noise float64) (c ledgerCurve, err error) {
	all := make([]privacy.Entry, len(entries))
	for i, e := range entries {
		if noise != 1 { // noise that is not normal has its curve too
			if e.Event, err = privacy.Wider(e.Event, noise); err != nil {
				return c, err
			}
		}
		all[i] = e
	}
	if c.account, err = accountant.New(accountant.Contour, privacy.User, privacy.AddRemove); err != nil {
		return c, err
	}
	if err := accountant.ChargeLedger(c.account, all); err != nil {
		return c, fmt.Errorf("the curve of the audited run: %w", err)
	}
	c.TradeOff, err = c.account.TradeOff()
	return c, err
}

// found returns what was told apart, each rate at a level, and what a curve allows.
func found(x audit.Rates, level float64, curve *accountant.TradeOff) (*audit.Found, error) {
	t, err := audit.LowerBound(x.TruePositives, x.Positives, level)
	if err != nil {
		return nil, err
	}
	f, err := audit.UpperBound(x.FalsePositives, x.Negatives, level)
	return &audit.Found{False: f, True: t, Allowed: curve.TPR(f)}, err
}

// Noise that byLedger looks for, in units of that in the ledger.
const (
	leastNoise = 1. / 64
	mostNoise  = 64
)

// byLedger returns the bound on epsilon under the hypothesis that the releases are those of the ledger with some other
// noise, the same multiple everywhere. Every multiple under which less would have been found is ruled out. like is a
// bound of the same counts. It returns nil for noise that is not normal.
func byLedger(f audit.Found, entries []privacy.Entry, like audit.Bound, o audit.Options) (*audit.Bound, error) {
	for _, e := range entries {
		if _, err := privacy.Wider(e.Event, 2); err != nil {
			return nil, nil
		}
	}
	var failed error
	allows := func(log float64) bool { // with no more noise
		c, err := curveOf(entries, math.Exp(log))
		if err != nil {
			failed = err
			return false
		}
		return !(f.True > c.TPR(f.False))
	}
	like.Method, like.Mu, like.Epsilon, like.Ceiling = "two-run-ledger", 0, 0, 0
	lo, hi := math.Log(leastNoise), math.Log(mostNoise)
	if allows(hi) || failed != nil {
		return &like, failed
	}
	_, hi = numeric.Halve(14, lo, hi, allows) // less noise allows more
	if failed != nil {
		return nil, failed
	}
	c, err := curveOf(entries, math.Exp(hi))
	if err != nil {
		return nil, err
	}
	spent, err := c.account.Spent(o.Delta)
	like.Epsilon = spent.Epsilon
	return &like, err
}
