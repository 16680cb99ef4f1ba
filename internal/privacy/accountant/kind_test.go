package accountant_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/correlated"
)

// masked is a kind of event that no accountant has heard of: normal noise of twice sigma,
// in two shares that are both released, as two parties add it.
type masked struct{ privacy.Gaussian }

func (masked) Kind() string { return "masked" }

func (e masked) Law() privacy.Law {
	return privacy.Gaussian{Sigma: 2 * e.Sigma, Sensitivity: e.Sensitivity, Norm: e.Norm}
}

func (e masked) Group(size int64, s privacy.Subject) privacy.Event {
	return masked{e.Gaussian.Group(size, s).(privacy.Gaussian)}
}

// coin is another: a local randomiser, of a law that it does not say.
type coin struct{ privacy.PureLDP }

func (coin) Kind() string     { return "coin" }
func (coin) Law() privacy.Law { return nil }

func (e coin) Group(size int64, s privacy.Subject) privacy.Event {
	return coin{e.PureLDP.Group(size, s).(privacy.PureLDP)}
}

// setting is an event of a ledger, and about whom an account of it is.
type setting struct {
	event privacy.Event
	about privacy.Subject
}

// settings are ways in which one release, under a relation, is part of a ledger.
func settings(release func(n privacy.Neighbouring) privacy.Event) map[string]setting {
	one, exchanged := release(privacy.AddRemove), release(privacy.Replace)
	sampled := func(e privacy.Event, m privacy.Sampling) privacy.Event {
		return privacy.Sampled{Event: e, Rate: 0.1, Method: m}
	}
	twice := privacy.SelfComposed{Event: one, Count: 2}
	laplace := privacy.Laplace{Scale: 5, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	more, other := privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.Replace}
	return map[string]setting{
		"alone":               {one, more},
		"composed":            {privacy.Composed{Events: []privacy.Event{one, laplace, twice}}, more},
		"in parallel":         {privacy.Parallel{Events: []privacy.Event{twice, one}}, more},
		"on a sample":         {sampled(one, privacy.Poisson), more},
		"twice on a sample":   {sampled(twice, privacy.Poisson), more},
		"on a subset":         {sampled(exchanged, privacy.WithoutReplacement), other},
		"exchanged, sampled":  {sampled(exchanged, privacy.Poisson), other},
		"sampled, exchanging": {sampled(one, privacy.Poisson), other},
		"of a user":           {one, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.Replace}},
		"of a user, sampled":  {sampled(twice, privacy.Poisson), privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}},
	}
}

// answer charges an event and asks what it comes to.
func answer(m accountant.Method, e privacy.Event, s privacy.Subject) (accountant.Result, error) {
	a, err := accountant.New(m, s.Unit, s.Neighbouring)
	if err != nil {
		return accountant.Result{}, err
	}
	entries := []privacy.Entry{{Period: "1", Purpose: "noise", Count: 3, Event: e}}
	if err := accountant.ChargeLedger(a, entries, privacy.Holding{Unit: privacy.User, Of: privacy.Edge, Most: 4}); err != nil {
		return accountant.Result{}, err
	}
	return a.Spent(1e-5)
}

// An accountant asks an event what it must know of it: a new kind that says the law of a
// known one costs the same to the last bit, however it is composed, sampled or restated,
// under every method; or is refused alike.
func TestNewKindOfEventIsPricedByItsLaw(t *testing.T) {
	normal := func(n privacy.Neighbouring) privacy.Gaussian {
		g := privacy.Gaussian{Sigma: 3, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: n}
		if n == privacy.Replace {
			g.Norm = 0.5
		}
		return g
	}
	fresh := settings(func(n privacy.Neighbouring) privacy.Event { return masked{normal(n)} })
	answered := 0
	for name, known := range settings(func(n privacy.Neighbouring) privacy.Event {
		g := normal(n)
		g.Sigma *= 2
		return g
	}) {
		for _, m := range accountant.Methods() {
			got, err := answer(m, fresh[name].event, known.about)
			want, wantErr := answer(m, known.event, known.about)
			if said := strings.ReplaceAll(fmt.Sprintf("%+v, %v", got, err), "masked", "gaussian"); said != fmt.Sprintf("%+v, %v", want, wantErr) {
				t.Errorf("%s, %s: %+v, %v; of the known kind %+v, %v", name, m, got, err, want, wantErr)
			}
			if err == nil && got.Epsilon > 0 && !math.IsInf(got.Epsilon, 1) {
				answered++
			}
		}
	}
	if answered < 30 {
		t.Errorf("only %d answers to compare", answered)
	}
}

// A new kind that says no law is refused by its name: no accountant guesses.
func TestNewKindOfEventWithoutALawIsRefused(t *testing.T) {
	e := coin{privacy.PureLDP{Epsilon: 1, Unit: privacy.User}}
	for _, m := range accountant.Methods() {
		r, err := answer(m, e, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.Replace})
		if err == nil || !strings.Contains(err.Error(), `"coin"`) {
			t.Errorf("%s: %+v, %v", m, r, err)
		}
	}
}

// TestCorrelatedSumsArePricedByTheirLaw demands of all sums of a stream the price of one normal release, to the last
// bit, however they are composed, sampled or restated, under every method.
func TestCorrelatedSumsArePricedByTheirLaw(t *testing.T) {
	stream := settings(func(n privacy.Neighbouring) privacy.Event {
		e := privacy.CorrelatedGaussian{NoiseMultiplier: 9, Sensitivity: 6, Unit: privacy.Edge, Neighbouring: n,
			Design:        correlated.Design{Name: correlated.NameTree, Steps: 30},
			Participation: correlated.Participation{Times: 1, Apart: 1}}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		return e
	})
	single := settings(func(n privacy.Neighbouring) privacy.Event {
		return privacy.Gaussian{Sigma: 9, Sensitivity: 6, Unit: privacy.Edge, Neighbouring: n}
	})
	priced := 0
	for name, c := range stream {
		for _, m := range accountant.Methods() {
			got, err := answer(m, c.event, c.about)
			want, refused := answer(m, single[name].event, single[name].about)
			if (err == nil) != (refused == nil) || err == nil && got.Epsilon != want.Epsilon {
				t.Errorf("%s, %s: %v, %v, want %v, %v", name, m, got.Epsilon, err, want.Epsilon, refused)
			}
			if err == nil {
				priced++
			}
		}
	}
	if priced < 20 {
		t.Errorf("only %d prices", priced)
	}
}
