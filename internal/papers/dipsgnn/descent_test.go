package dipsgnn

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/epsilons"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// Calibrated noise spends the budget and no more, for every unit, with and without a release of items, and a ledger of
// releases about adding or removing one unit composes to the same for exchanging one.
func TestDescent(t *testing.T) {
	b := privacy.Budget{Epsilon: 5, Delta: 2.5e-7}
	for _, c := range []struct {
		d Descent
		s privacy.Subject
	}{
		{Descent{Examples: 1000, Batch: 50, Epochs: 3}, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}},
		{Descent{Examples: 1000, Batch: 50, Epochs: 3, Clip: 0.3}, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}},
		{Descent{Examples: 1000, Batch: 50, Epochs: 3, Inputs: 0.5}, privacy.Subject{Unit: privacy.Interaction, Neighbouring: privacy.Replace}},
		{Descent{Examples: 1000, Batch: 50, Epochs: 3, Inputs: 0.9}, privacy.Subject{Unit: privacy.Interaction, Neighbouring: privacy.Replace}},
	} {
		noise, err := c.d.Calibrate(c.s, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		charges, err := c.d.Charges(noise, c.s, b)
		if err != nil {
			t.Fatal(err)
		}
		var entries []privacy.Entry
		for i, x := range charges {
			one := privacy.Gaussian{Sigma: 1, Unit: c.s.Unit, Neighbouring: privacy.AddRemove}
			var e privacy.Event
			if sampled, ok := x.Event.(privacy.Sampled); ok {
				g := sampled.Event.(privacy.Gaussian)
				one.Sigma, one.Sensitivity = g.Sigma, g.Sensitivity
				if g.Norm > 0 {
					one.Sensitivity = g.Norm
				}
				e = privacy.Sampled{Event: one, Rate: sampled.Rate, Method: sampled.Method}
			} else {
				one.Sigma, one.Sensitivity = x.Event.(privacy.Gaussian).Sigma, x.Event.(privacy.Gaussian).Norm
				e = one
			}
			entries = append(entries, privacy.Entry{Purpose: "release", Period: string(rune('a' + i)), Count: x.Count, Event: e})
		}
		acc, err := accountant.New(accountant.Contour, c.s.Unit, c.s.Neighbouring)
		if err != nil {
			t.Fatal(err)
		}
		r, err := accountant.Covered(acc, entries, b.Delta)
		if err != nil || r.Epsilon > 5*(1+1e-9) || r.Epsilon < 5*(1-1e-6) {
			t.Errorf("%+v: noise multiplier %v composes to epsilon %v, %v", c.d, noise, r.Epsilon, err)
		}
	}
	free, half := Descent{Examples: 1000, Batch: 50, Epochs: 3, Inputs: 1e-9}, Descent{Examples: 1000, Batch: 50, Epochs: 3, Inputs: 0.5}
	s := privacy.Subject{Unit: privacy.Interaction, Neighbouring: privacy.Replace}
	least, err := free.Calibrate(s, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	more, err := half.Calibrate(s, b, nil)
	if err != nil || !(more > least) {
		t.Errorf("a release of items leaves a noise multiplier of %v, none %v: %v", more, least, err)
	}
	deviation, err := half.ItemDeviation(b)
	if err != nil {
		t.Fatal(err)
	}
	mu, _ := accountant.MuFor(b.Epsilon, b.Delta)
	within(t, "squared mu of the release", math.Pow(2/deviation, 2), mu*mu/2, 1e-12)
}

func TestDescentRefuses(t *testing.T) {
	of := epsilons.Setting{Claimed: 5, Delta: 1e-6, Subject: privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}}
	for _, d := range []Descent{{}, {Examples: 10, Batch: 1}, {Examples: 10, Batch: 1, Epochs: 1, Inputs: 1}, {Examples: 10, Batch: 1, Epochs: 1, Clip: -1}, {Examples: 10, Batch: 1, Epochs: 1, Inputs: math.NaN()}} {
		if _, err := d.Releases(of); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
	if _, err := (EpsilonReading{Norm: 1, Descent: &Descent{Examples: 10, Batch: 1, Epochs: 1}}).Releases(of); err == nil || !strings.Contains(err.Error(), "stands alone") {
		t.Errorf("a norm beside a descent: %v", err)
	}
}
