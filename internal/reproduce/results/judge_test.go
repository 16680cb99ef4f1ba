package results

import (
	"math"
	"testing"

	"privrec/internal/rng"
)

func TestJudge(t *testing.T) {
	none := math.NaN()
	base := evidence{
		ours:     20,
		printed:  20,
		rounding: 0.005,
		values:   []float64{19.9, 20, 20.1},
		theirs:   3,
		spread:   none,
		users:    none,
		authors:  true,
		gap:      2,
	}
	for _, c := range []struct {
		name   string
		change func(e *evidence)
		status string
		margin float64
		basis  string
	}{
		// t(2) 4.30265, deviation 0.1: 4.30265 * 0.1 * sqrt(1/3 + 1/3) = 0.35131
		{"equal", func(*evidence) {}, Match, 0.35631, "3 seeds beside 3, rounding"},
		{"inside", func(e *evidence) { e.printed = 20.356 }, Match, 0.35631, ""},
		{"outside", func(e *evidence) { e.printed = 20.357 }, Differs, 0.35631, ""},
		{"another method nearer than the interval is wide", func(e *evidence) { e.gap = 0.7 }, WithinNoise, 0.35631, ""},
		{"another method just as near", func(e *evidence) { e.gap = 0.72 }, Match, 0.35631, ""},
		{"no other method", func(e *evidence) { e.gap = none }, Match, 0.35631, ""},
		{"no other method, and wide", func(e *evidence) {
			e.gap, e.ours, e.printed = none, 6, 6
			e.values = []float64{5.9, 6, 6.1}
		}, WithinNoise, 0.35631, ""},
		// one run of theirs: sqrt(1/3 + 1)
		{"number of their runs not said", func(e *evidence) { e.theirs = 0 }, Match, 0.50182, "3 seeds beside 1, rounding"},
		// theirs: 4.30265 * 0.3 / sqrt 3 = 0.74524; ours 0.24841
		{"their spread", func(e *evidence) { e.spread = 0.3 },
			Match, 0.79055, "3 seeds beside 3 with printed spread, rounding"},
		{"one seed beside their spread", func(e *evidence) { e.spread, e.values = 0.1, e.values[:1] },
			WithinNoise, 0.50182, "1 seed beside 3 with printed spread, rounding"},
		// users count where the split is ours: sqrt(0.35131^2 + 0.4^2)
		{"authors' split", func(e *evidence) { e.users = 0.4 }, Match, 0.35631, ""},
		{"our split", func(e *evidence) { e.users, e.authors = 0.4, false },
			Match, 0.53738, "3 seeds beside 3, test users, rounding"},
		{"no spread at all", func(e *evidence) { e.values = []float64{20, 20, 20}; e.printed = 20.01 }, Differs, 0.005, ""},
		{"rounded", func(e *evidence) { e.values = []float64{20, 20, 20}; e.printed = 20.004 }, Match, 0.005, ""},
		// below three seeds
		{"one seed, equal", func(e *evidence) { e.values = e.values[1:2] },
			WithinNoise, 1.005, "1 seed: 5 % of the printed number, rounding"},
		{"one seed, far", func(e *evidence) { e.values, e.ours = e.values[1:2], 21.1 }, Differs, 1.005, ""},
		{"two seeds", func(e *evidence) { e.values = e.values[:2] },
			WithinNoise, 1.005, "2 seeds: 5 % of the printed number, rounding"},
		{"one seed, our split", func(e *evidence) { e.values, e.users, e.authors = e.values[:1], 0.75, false },
			WithinNoise, 1.255, "1 seed: 5 % of the printed number, test users, rounding"},
		{"one seed, our split, users unknown", func(e *evidence) { e.values, e.authors = e.values[:1], false },
			WithinNoise, 2.005, "1 seed: 10 % of the printed number, rounding"},
		{"one seed with noise", func(e *evidence) { e.values, e.noisy = e.values[:1], true }, WithinNoise, 2.005, ""},
	} {
		e := base
		c.change(&e)
		status, margin, basis, err := e.judge()
		if err != nil || status != c.status || math.Abs(margin-c.margin) > 1e-5 || c.basis != "" && basis != c.basis {
			t.Errorf(
				"%s: %s, margin %.5f (%s), %v; want %s, %.5f (%s)",
				c.name,
				status,
				margin,
				basis,
				err,
				c.status,
				c.margin,
				c.basis,
			)
		}
	}
}

// A number that our program gives, as a mean of other seeds, is said to differ once in twenty times
// at most. 20,000 draws exceed 1,190 alarms with probability 1e-9 at the nominal 1,000.
func TestJudgeFalseAlarms(t *testing.T) {
	stream := rng.Seed(3).Stream("false alarms")
	for _, n := range []int{3, 5} {
		for _, m := range []int{1, 5} {
			alarms := 0
			for range 20_000 {
				e := evidence{printed: 0, spread: math.NaN(), users: math.NaN(), authors: true, theirs: m, gap: 1}
				for range n {
					e.values = append(e.values, stream.NormFloat64())
				}
				for range m {
					e.printed += stream.NormFloat64() / float64(m)
				}
				for _, v := range e.values {
					e.ours += v / float64(n)
				}
				status, _, _, err := e.judge()
				if err != nil {
					t.Fatal(err)
				}
				if status == Differs {
					alarms++
				}
			}
			if alarms > 1190 || alarms < 810 { // exact where there is neither rounding nor a split
				t.Errorf("%d seeds beside %d: %d alarms in 20,000, want about 1,000", n, m, alarms)
			}
		}
	}
}

// A count is a printed number if it has all digits of it.
func TestEquals(t *testing.T) {
	for _, c := range []struct {
		x, printed float64
		want       bool
	}{{96.0718, 96.07, true}, {96.0650001, 96.07, true}, {96.0749, 96.07, true}, {96.0751, 96.07, false},
		{5949, 5945, false}, {0.044683, 0.04468, true}, {0.0419, 0.04468, false}, {math.NaN(), 1, false}} {
		if got := equals(c.x, c.printed); got != c.want {
			t.Errorf("%v for printed %v: %v", c.x, c.printed, got)
		}
	}
}
