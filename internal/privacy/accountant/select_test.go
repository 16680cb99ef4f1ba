package accountant_test

import (
	"errors"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
)

// chargedWith is an account of one event about a user.
func chargedWith(t *testing.T, e privacy.Event) *accountant.Account {
	t.Helper()
	a, err := accountant.New(accountant.Contour, privacy.User, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Charge(e, 1); err != nil {
		t.Fatal(err)
	}
	return a
}

// The best of Gaussian runs costs what theorem 2 of Papernot and Steinke says, computed by a plain
// program; the most expensive run decides; what follows is added; what has no noise has no bound.
func TestBestOfRuns(t *testing.T) {
	of := func(sigma float64) *accountant.Account {
		return chargedWith(t, privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove})
	}
	s, err := rdp.SelectionFor(0, 10)
	if err != nil {
		t.Fatal(err)
	}
	at := func(runs, after []*accountant.Account) float64 {
		r, err := accountant.Best(runs, s, after, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return r.Epsilon
	}
	one := at([]*accountant.Account{of(2)}, nil)
	if math.Abs(one/3.868385537438282-1) > 1e-5 {
		t.Errorf("epsilon %v", one)
	}
	if two := at([]*accountant.Account{of(3), of(2), of(9)}, nil); two != one {
		t.Errorf("of several runs %v, of the most expensive %v", two, one)
	}
	if again := at([]*accountant.Account{of(2)}, []*accountant.Account{of(2)}); !(again > 1.2*one && again < 2*one) {
		t.Errorf("trained again %v, once %v", again, one)
	}
	if open := at([]*accountant.Account{of(2), chargedWith(t, privacy.Unprotected{What: "rows", Why: "in the clear"})}, nil); !math.IsInf(open, 1) {
		t.Errorf("without noise: %v", open)
	}
	if _, err := accountant.Best(nil, s, nil, 1e-6); err == nil {
		t.Error("no runs were taken")
	}
	edge, err := accountant.New(accountant.Contour, privacy.Edge, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accountant.Best([]*accountant.Account{of(2), edge}, s, nil, 1e-6); !errors.Is(err, accountant.ErrUnit) {
		t.Errorf("another unit: %v", err)
	}
}
