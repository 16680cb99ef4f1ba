package accountant_test

import (
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// TestExchangedBetweenParts: under Replace a unit may leave one part and enter another,
// so two Gaussians on two parts cost what both do: 6.573, and not 4.377.
func TestExchangedBetweenParts(t *testing.T) {
	part := func(sigma float64) privacy.Event {
		return privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: unitOf, Neighbouring: privacy.Replace}
	}
	spent := func(m accountant.Method, events ...privacy.Event) float64 {
		return must(charged(t, m, privacy.Replace, 1, events...).Spent(1e-5)).Epsilon
	}
	for _, m := range accountant.Methods() {
		both := spent(m, part(1), part(1))
		if got := spent(m, privacy.Parallel{Events: []privacy.Event{part(1), part(1)}}); got != both || !(got > 6.57) {
			t.Errorf("%s: two parts cost %v, want what both do, %v", m, got, both)
		}
		if got := spent(m, privacy.Parallel{Events: []privacy.Event{part(3), part(1), part(2), part(4)}}); math.Abs(got-spent(m, part(1), part(2))) > 1e-9 {
			t.Errorf("%s: four parts cost %v, want what the worst two do, %v", m, got, spent(m, part(1), part(2)))
		}
		one := spent(m, part(1))
		if got := spent(m, privacy.Parallel{Events: []privacy.Event{part(1), part(1)}, Fixed: true}); got != one {
			t.Errorf("%s: two fixed parts cost %v, want that of one, %v", m, got, one)
		}
	}
	thrice := privacy.SelfComposed{Event: privacy.Parallel{Events: []privacy.Event{part(1), part(1), part(2)}}, Count: 3}
	if got, want := spent(accountant.Analytic, thrice), spent(accountant.Analytic, privacy.SelfComposed{Event: part(1), Count: 6}); got != want {
		t.Errorf("three times cost %v, want what two parts do three times, %v", got, want)
	}
	// Branches of which none is the worst: every method that has an answer is above that of each pair.
	noisy := privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: unitOf, Neighbouring: privacy.Replace}
	events := []privacy.Event{part(1), noisy, part(2)}
	whole := spent(accountant.RDP, privacy.Parallel{Events: events})
	for i := range events {
		for j := range i {
			if pair := spent(accountant.RDP, events[i], events[j]); whole < pair {
				t.Errorf("parts %d and %d cost %v, all %v", j, i, pair, whole)
			}
		}
	}
}
