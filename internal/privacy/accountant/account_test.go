package accountant

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
)

var (
	gauss = privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	loud  = privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	ldp   = privacy.PureLDP{Epsilon: 1, Unit: privacy.Feature}
	bare  = privacy.Unprotected{What: "labels", Why: "the loss sees them"}
)

func account(t *testing.T) *Account {
	t.Helper()
	a, err := New(Analytic, privacy.Edge, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// charged is the mu² of an account of normal noise.
func charged(t *testing.T, a *Account) float64 {
	t.Helper()
	mu2, err := sumMu2(a.list)
	if err != nil {
		t.Fatal(err)
	}
	return mu2
}

// n at once cost what n times cost, for every kind of event.
func TestCountIsHonoured(t *testing.T) {
	for _, c := range []struct {
		e   privacy.Event
		mu2 float64
	}{
		{gauss, 0.25}, {privacy.SelfComposed{Event: gauss, Count: 3}, 0.75},
		{privacy.Composed{Events: []privacy.Event{gauss, loud}}, 1.25},
		{privacy.Parallel{Events: []privacy.Event{gauss, loud, gauss}}, 1},
		{privacy.Sampled{Event: loud, Rate: 1, Method: privacy.Poisson}, 1},
		{privacy.SelfComposed{Event: privacy.Parallel{Events: []privacy.Event{privacy.SelfComposed{Event: gauss, Count: 8}, loud}}, Count: 2}, 4},
	} {
		once, many := account(t), account(t)
		if err := once.Charge(c.e, 100); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err := many.Charge(c.e, 1); err != nil {
				t.Fatal(err)
			}
		}
		if at, one, want := charged(t, once), charged(t, many), 100*c.mu2; math.Abs(at-want) > 1e-12*want || math.Abs(one-want) > 1e-12*want {
			t.Errorf("%s: %g at once, %g one by one, want %g", c.e.Kind(), at, one, want)
		}
	}
}

// A refused event leaves the account as it was.
func TestRefusals(t *testing.T) {
	other, user := gauss, gauss
	other.Neighbouring, user.Unit = privacy.Replace, privacy.User
	for want, e := range map[string]privacy.Event{
		`"laplace"`:       privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
		"pure-ldp about":  ldp,
		`"sampled"`:       privacy.Sampled{Event: gauss, Rate: 0.5, Method: privacy.Poisson},
		"replace":         other,
		"user":            user,
		"event 1":         privacy.Composed{Events: []privacy.Event{gauss, ldp}},
		"sigma is":        privacy.Gaussian{},
		"labels":          privacy.Unprotected{What: "labels", Why: "w", Unit: privacy.User},
		"out of range":    privacy.Gaussian{Sigma: 1e200, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
		"is out of":       privacy.SelfComposed{Event: privacy.Gaussian{Sigma: 1e-150, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, Count: 1 << 62},
		"no event":        nil,
		"self-composed: ": privacy.SelfComposed{Event: gauss},
	} {
		a := account(t)
		if err := a.Charge(gauss, 3); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{a.Price(e, 1), a.Charge(e, 1)} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v", want, err)
			}
		}
		if got := charged(t, a); got != 0.75 {
			t.Errorf("%s: a refused event left mu² %g", want, got)
		}
	}
	if err := account(t).Charge(gauss, 0); err == nil {
		t.Error("count 0 accepted")
	}
	if err := account(t).Charge(user, 1); !errors.Is(err, ErrUnit) {
		t.Errorf("%v", err)
	}
	if _, err := New(Analytic, "node", privacy.AddRemove); err == nil {
		t.Error("unknown unit accepted")
	}
}

func TestSpent(t *testing.T) {
	a := account(t)
	for range 4 {
		if err := a.Charge(gauss, 1); err != nil {
			t.Fatal(err)
		}
	}
	r, err := a.Spent(1e-5) // mu = 1
	if err != nil || math.Abs(r.Epsilon-4.3771780956812245) > 1e-12 || r.Unit != privacy.Edge {
		t.Errorf("%+v, %v", r, err)
	}
	for range 2 {
		if err := a.Charge(privacy.Composed{Events: []privacy.Event{bare, gauss}}, 5); err != nil {
			t.Fatal(err)
		}
	}
	r, err = a.Spent(1e-5)
	if err != nil || !math.IsInf(r.Epsilon, 1) || len(r.Unprotected) != 1 || r.Unprotected[0] != bare {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := a.Spent(0); err == nil {
		t.Error("delta 0 has no finite epsilon")
	}
}

func TestChargeLedger(t *testing.T) {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	record := func(purpose string, e privacy.Event, n int64) {
		t.Helper()
		if err := l.Record(purpose, e, n); err != nil {
			t.Fatal(err)
		}
	}
	record("features", ldp, 6000)
	if err := l.Bound("aggregate", 78); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		record("aggregate", gauss, 284863)
		if err := l.Flush("epoch"); err != nil {
			t.Fatal(err)
		}
	}
	a := account(t)
	if err := ChargeLedger(a, l.Entries()); err != nil { // features are other data than edges
		t.Fatal(err)
	}
	if got, want := charged(t, a), 780*0.25; got != want {
		t.Errorf("mu² %g, want 78 releases an epoch: %g", got, want)
	}
	want, err := a.Spent(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	record("labels", bare, 1)
	if err := l.Flush("end"); err != nil {
		t.Fatal(err)
	}
	got, err := Covered(account(t), l.Entries(), 1e-5)
	if err != nil || got.Epsilon != want.Epsilon || len(got.Unprotected) != 0 {
		t.Errorf("beside what is open noise covers %+v (%v), want epsilon %v", got, err, want.Epsilon)
	}
	if all := account(t); ChargeLedger(all, l.Entries()) != nil {
		t.Error("the whole ledger is refused")
	} else if r, err := all.Spent(1e-5); err != nil || !math.IsInf(r.Epsilon, 1) {
		t.Errorf("the whole ledger comes to %+v (%v)", r, err)
	}
	if _, err := Covered(account(t), l.Entries(), 0); err == nil || !strings.Contains(err.Error(), "compose the ledger") {
		t.Errorf("delta 0: %v", err)
	}
}
