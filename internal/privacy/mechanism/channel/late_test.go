package channel

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// lateOf returns late noise of a table of four rows of three values, after three releases.
func lateOf(t *testing.T) (*Late[float64], *Channel[float64]) {
	t.Helper()
	c, _ := open[float64](t, noisy)
	l, err := c.Late(4, 3, Weighted(0), rng.Seed(5).Stream("late"))
	if err != nil {
		t.Fatal(err)
	}
	for step := range uint64(3) {
		if err := l.Record(0, step); err != nil {
			t.Fatal(err)
		}
	}
	return l, c
}

// drawLate draws what rows missed, the last row first, and returns it by row.
func drawLate(t *testing.T, l *Late[float64], to int64, rows ...int32) map[int32][]float64 {
	t.Helper()
	behind, err := l.Begin(rows, to)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int32][]float64{}
	for i := len(behind) - 1; i >= 0; i-- {
		out[behind[i]] = []float64{7, 7, 7} // overwritten
		l.Row(i, out[behind[i]])
	}
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	return out
}

// The deviation of missed noise is the root of the sum of its squared weights.
func TestWeighted(t *testing.T) {
	for _, share := range []float64{0, 1e-12, 0.05, 0.5, 0.999} {
		f, sum := Weighted(share), 0.0
		for n := range int64(200) {
			sum += math.Pow(1-share, 2*float64(n))
			if got := f(n + 1); math.Abs(got-math.Sqrt(sum)) > 1e-12*math.Sqrt(sum) {
				t.Fatalf("share %v, %d missed: %v, want %v", share, n+1, got, math.Sqrt(sum))
			}
		}
	}
}

// Every release is in the ledger, and a row gets what it missed once, whatever else is drawn.
func TestLateDrawsOnce(t *testing.T) {
	l, c := lateOf(t)
	first := drawLate(t, l, 2, 3, 1, 3)
	if len(first) != 2 || first[1] == nil || l.Has(3) != 2 || l.Has(0) != 0 {
		t.Fatalf("%v", first)
	}
	if again := drawLate(t, l, 2, 1, 3); len(again) != 0 {
		t.Errorf("noise was drawn twice: %v", again)
	}
	other, _ := lateOf(t)
	if alone := drawLate(t, other, 2, 1); !slices.Equal(alone[1], first[1]) {
		t.Errorf("row 1 alone has %v, with another row %v", alone[1], first[1])
	}
	// What row 1 missed after that is no multiple of what it had: noise of its own.
	if later := drawLate(t, other, 3, 1)[1]; math.Abs(later[0]*first[1][1]-later[1]*first[1][0]) < 1e-6 {
		t.Errorf("row 1 got %v first and then %v", first[1], later)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

// A draw is refused before its releases are recorded, for rows that are not there, and within another; one that leaves
// out a row is found.
func TestLateMisuse(t *testing.T) {
	for want, misuse := range map[string]func(l *Late[float64]) error{
		"noise of 4 releases, the ledger has 3": func(l *Late[float64]) error { _, err := l.Begin(nil, 4); return err },
		"noise of -1 releases": func(l *Late[float64]) error {
			_, err := l.Begin(nil, -1)
			return err
		},
		"row 4, the table has 4": func(l *Late[float64]) error {
			_, err := l.Begin([]int32{4}, 1)
			return err
		},
		"ended before it was begun": func(l *Late[float64]) error { return l.Finish() },
		"begun before the last": func(l *Late[float64]) error {
			if _, err := l.Begin(nil, 1); err != nil {
				return err
			}
			_, err := l.Begin(nil, 1)
			return err
		},
		"got no noise": func(l *Late[float64]) error {
			if _, err := l.Begin([]int32{2}, 1); err != nil {
				return err
			}
			return l.Finish()
		},
		"row 1 of length 3": func(l *Late[float64]) error {
			if _, err := l.Begin([]int32{2}, 1); err != nil {
				return err
			}
			l.Row(1, make([]float64, 3))
			return l.Finish()
		},
		"is used twice": func(l *Late[float64]) error { return l.Record(0, 1) },
		"more than 2147483647": func(l *Late[float64]) error {
			l.made = math.MaxInt32
			return l.Record(0, 9)
		},
	} {
		l, c := lateOf(t)
		if err := misuse(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if _, err := l.Begin(nil, 1); err == nil || c.Check() == nil {
			t.Errorf("%s: the channel goes on", want)
		}
	}
}

// Only normal noise from a seed can be late, on a table, with a deviation that is a number.
func TestLateRefuses(t *testing.T) {
	s := rng.Seed(5).Stream("late")
	laplace, err := OpenLaplace[float64](Laplace{Purpose: "p", Scale: 1, Sensitivity: 1, Unit: noisy.Unit,
		Neighbouring: noisy.Neighbouring}, mechanismtest.Ledger(t), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := laplace.Late(1, 1, Weighted(0), s); err == nil {
		t.Error("late Laplace noise")
	}
	c, _ := open[float64](t, noisy)
	for name, late := range map[string]func() (*Late[float64], error){
		"no rows":      func() (*Late[float64], error) { return c.Late(0, 1, Weighted(0), s) },
		"no columns":   func() (*Late[float64], error) { return c.Late(1, 0, Weighted(0), s) },
		"no deviation": func() (*Late[float64], error) { return c.Late(1, 1, func(int64) float64 { return 0 }, s) },
		"not a number": func() (*Late[float64], error) { return c.Late(1, 1, Weighted(math.NaN()), s) },
		"too much of it": func() (*Late[float64], error) {
			return c.Late(1, 1, func(int64) float64 { return math.Inf(1) }, s)
		},
	} {
		if _, err := late(); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	l, _ := lateOf(t)
	if l.Restore(3, make([]int32, 4)) == nil {
		t.Error("restored after use")
	}
	fresh, err := c.Late(2, 1, Weighted(0), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, since := range [][]int32{{0}, {0, 4}, {-1, 0}} {
		if fresh.Restore(3, since) == nil {
			t.Errorf("restored %v of 3 releases", since)
		}
	}
	if err := fresh.Restore(3, []int32{3, 0}); err != nil || !slices.Equal(fresh.Since(), []int32{3, 0}) {
		t.Errorf("%v, %v", fresh.Since(), err)
	}
}
