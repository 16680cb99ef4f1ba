package privacy_test

import (
	"fmt"
	"math"
	"testing"

	"privrec/internal/privacy"
)

// off lists relative distances from a whole number that rounding explains.
var off = []float64{0, 1e-16, 3e-16, 1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 5e-10, 1e-9}

// TestStepsOfRoundedSensitivities holds sensitivities next to a whole number to it, on
// both sides and in every dimension.
func TestStepsOfRoundedSensitivities(t *testing.T) {
	for k := 1.0; k <= 50; k++ {
		for _, d := range off {
			for _, s := range []float64{k * (1 - d), k - k*d, k * (1 + d), k + k*d} {
				if got := (privacy.DiscreteLaplace{Sensitivity: s}).Steps(); got != k {
					t.Errorf("%v moves by %v steps in the l1 norm, want %v", s, got, k)
				}
				for _, n := range []int64{1, 2, 10} {
					if got := (privacy.DiscreteGaussian{Sensitivity: s, Dimension: n}).Squared(); got != k*k {
						t.Errorf("%v moves by the root of %v steps in %d dimensions, want of %v", s, got, n, k*k)
					}
				}
			}
		}
	}
}

// TestStepsBetweenWholeNumbers holds what is far from a whole number to what integers
// can do: whole steps in the l1 norm and in one dimension, roots of whole numbers else.
func TestStepsBetweenWholeNumbers(t *testing.T) {
	sum := 0.0
	for range 10 {
		sum += 0.1
	}
	for _, c := range []struct{ sensitivity, steps, line, many float64 }{
		{sum, 1, 1, 1},
		{1 + 1e-6, 1, 1, 1},
		{1.4, 1, 1, 1},
		{math.Sqrt2, 1, 1, 2},
		{math.Sqrt2 * (1 - 1e-10), 1, 1, 2},
		{1.5, 1, 1, 2},
		{2 - 1e-6, 1, 1, 3},
		{2.5, 2, 4, 6},
		{2.9999999999, 3, 9, 9},
		{1e5 * (1 - 1e-10), 1e5, 1e10, 1e10},
		{1 << 60, 1 << 60, math.Exp2(120), math.Exp2(120)},
	} {
		if got := (privacy.DiscreteLaplace{Sensitivity: c.sensitivity}).Steps(); got != c.steps {
			t.Errorf("%v: %v steps, want %v", c.sensitivity, got, c.steps)
		}
		if got := (privacy.DiscreteGaussian{Sensitivity: c.sensitivity, Dimension: 1}).Squared(); got != c.line {
			t.Errorf("%v: square %v on a line, want %v", c.sensitivity, got, c.line)
		}
		if got := (privacy.DiscreteGaussian{Sensitivity: c.sensitivity, Dimension: 3}).Squared(); got != c.many {
			t.Errorf("%v: square %v in three dimensions, want %v", c.sensitivity, got, c.many)
		}
	}
}

// TestLessThanAStepIsRefused holds an event, and a line of a file, that says an integer
// moves by less than one to be an error.
func TestLessThanAStepIsRefused(t *testing.T) {
	for _, s := range []float64{1e-300, 0.1, 0.5, 0.999, 1 - 1e-8} {
		for _, e := range []privacy.Event{
			privacy.DiscreteLaplace{Scale: 1, Sensitivity: s, Unit: privacy.Record, Neighbouring: privacy.AddRemove},
			privacy.DiscreteGaussian{Sigma: 1, Sensitivity: s, Dimension: 4, Unit: privacy.Record, Neighbouring: privacy.AddRemove},
		} {
			if err := e.Validate(); err == nil {
				t.Errorf("%s with a sensitivity of %v steps passes", e.Kind(), s)
			}
		}
		text := fmt.Sprintf(`{"kind":"discrete-laplace","scale":1,"sensitivity":%v,"unit":"record","neighbouring":"add-remove"}`, s)
		if e, err := privacy.UnmarshalEvent([]byte(text)); err == nil {
			t.Errorf("%s is read as %v", text, e)
		}
	}
	e := privacy.DiscreteLaplace{Scale: 1, Sensitivity: 0.9999999999999999, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	if err := e.Validate(); err != nil {
		t.Errorf("ten times 0.1: %v", err)
	}
}
