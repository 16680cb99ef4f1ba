package calculator

import (
	"fmt"
	"math"
	"testing"
)

// TestCorrelatedSumsAreOneGaussian compares the account of a stream with that of a single release of its sensitivity.
func TestCorrelatedSumsAreOneGaussian(t *testing.T) {
	for _, c := range []struct {
		stream string
		moved  float64 // by one user, for a norm of 1
		sigma  float64
	}{
		{"--horizon 1 --noise-multiplier 2", 1, 2},
		{"--horizon 2 --noise-multiplier 2", math.Sqrt(1.25), 2},                         // the column 1, 1/2
		{"--horizon 3 --noise-multiplier 2", math.Sqrt(1.25 + 9./64), 2},                 // and 3/8
		{"--horizon 3 --bands 1 --participations 2 --noise-multiplier 2", math.Sqrt2, 2}, // two steps apart from each other
		{"--horizon 3 --participations 3 --noise-multiplier 4", math.Sqrt(1 + 2.25 + 225./64), 4},
		{"--horizon 3 --participations 2 --apart 2 --noise-multiplier 4", math.Sqrt(1 + .25 + 121./64), 4},
		{"--horizon 2 --noise-multiplier 3 --neighbouring replace", 2 * math.Sqrt(1.25), 3},
	} {
		relation := ""
		if c.stream[len(c.stream)-7:] == "replace" {
			relation = " --neighbouring replace"
		}
		got := keys(t, "account correlated-sums --delta 1e-6 "+c.stream)
		want := keys(t, fmt.Sprintf("account gaussian --delta 1e-6 --steps 1 --sigma %v --sensitivity %v%s", c.sigma,
			c.moved, relation))
		if g, w := got["epsilon"].(float64), want["epsilon"].(float64); math.Abs(g-w) > 1e-12*w {
			t.Errorf("%s: epsilon %v, want %v", c.stream, g, w)
		}
	}
}

// TestErrorsOfCorrelatedSums states the errors that an answer has, by hand.
func TestErrorsOfCorrelatedSums(t *testing.T) {
	// B is the square root itself: its rows are 1 and 1/2, 1.
	a := keys(t, "account correlated-sums --delta 1e-6 --horizon 2 --noise-multiplier 10")
	for key, want := range map[string]float64{
		"error_last": 10 * math.Sqrt(1.25), "error_mean": 10 * math.Sqrt(1.125),
		"error_single_releases": 10 * math.Sqrt(2/1.25),
	} {
		if got := a[key].(float64); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// TestCalibratedSums demands that the least noise has the epsilon that was asked for, and that 1e-6 less has more.
func TestCalibratedSums(t *testing.T) {
	for _, rest := range []string{"", " --participations 52 --apart 7", " --bands 30", " --neighbouring replace"} {
		stream := "correlated-sums --horizon 365 --delta 1e-6" + rest
		noise := keys(t, "calibrate "+stream+" --epsilon 1")["noise_multiplier"].(float64)
		at := func(noise float64) float64 {
			return keys(t, fmt.Sprintf("account %s --noise-multiplier %v", stream, noise))["epsilon"].(float64)
		}
		if e, less := at(noise), at(noise*(1-1e-6)); e > 1 || less <= 1 {
			t.Errorf("%s: epsilon %v at noise %v, and %v below it", stream, e, noise, less)
		}
	}
}
