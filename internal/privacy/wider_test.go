package privacy_test

import (
	"testing"

	"privrec/internal/privacy"
)

func TestWider(t *testing.T) {
	g := privacy.Gaussian{Sigma: 2, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	wide := g
	wide.Sigma = 6
	sampled := func(e privacy.Event) privacy.Event {
		return privacy.Sampled{Event: e, Rate: 0.5, Method: privacy.Poisson}
	}
	for _, c := range []struct{ from, want privacy.Event }{{g, wide}, {sampled(g), sampled(wide)}} {
		if got, err := privacy.Wider(c.from, 3); err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v, want %+v", c.from, got, err, c.want)
		}
	}
	for _, e := range []privacy.Event{privacy.Laplace{}, sampled(privacy.Laplace{})} {
		if _, err := privacy.Wider(e, 3); err == nil {
			t.Errorf("%T got wider", e)
		}
	}
}
