package secure

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
)

// A release that is a step of an epoch is recorded as one of normal noise that is at most as private, once an epoch.
func TestAllocatedEvents(t *testing.T) {
	m := DiscreteGaussian{Purpose: "p", Sigma: 3, Sensitivity: 1, Dimension: 5, Bound: 100, Grid: 0x1p-10,
		Whole: true, Steps: 2, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	l := mechanismtest.SecureLedger(t)
	c := mechanismtest.Must(OpenGaussian[float64](m, l))
	for k := range uint64(5) {
		r := mechanismtest.Must(c.Begin(1, 5, 0, k))
		r.Row(0, make([]float64, 5))
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	plain := m
	plain.Steps = 0
	d := mechanismtest.Must(plain.Event()).(privacy.DiscreteGaussian)
	want := privacy.AllocatedGaussian{Sigma: mechanismtest.Must(m.Event()).(privacy.AllocatedGaussian).Sigma,
		Sensitivity: d.Sensitivity, Times: 1, Steps: 2, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	if e := l.Entries(); len(e) != 1 || e[0].Count != 3 || e[0].Event != privacy.Event(want) ||
		math.Abs(want.Sigma*want.Sigma-(d.Sigma*d.Sigma-8)) > 1e-6 {
		t.Errorf("%+v, want 3 of %+v", e, want)
	}
	for name, change := range map[string]func(*DiscreteGaussian){
		"64 steps": func(m *DiscreteGaussian) { m.Grid = 0.25 },
		"no rate":  func(m *DiscreteGaussian) { m.Rate = 0.5 },
		"no rate ": func(m *DiscreteGaussian) { m.Steps = -1 },
	} {
		x := m
		change(&x)
		if _, err := x.Event(); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
