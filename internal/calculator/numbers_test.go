package calculator

import (
	"math"
	"strings"
	"testing"
)

// FuzzSpan checks that what a range accepts is in it, and can be typed again.
func FuzzSpan(f *testing.F) {
	for _, s := range []string{"1", "1e-9", "NaN", "-0", "0x1p-3", "1_0", " 1", "1e400", "Infinity", "1.5", "²", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []span{spanNoise, spanSteps, spanDelta, spanEpsilon, spanAlpha, spanRate, spanClasses, spanPoints, spanTrials, spanShape} {
			v, err := s.parse("x", text)
			if err != nil {
				if !strings.Contains(err.Error(), "--x is ") || !strings.Contains(err.Error(), s.String()) || kind(err) != usage {
					t.Fatalf("%q: %v", text, err)
				}
				continue
			}
			if !(v >= s.lo && v <= s.hi) || s.whole && v != math.Trunc(v) || s.openLo && v == s.lo || s.openHi && v == s.hi {
				t.Fatalf("%q was read as %v for %s", text, v, s)
			}
			if again, err := s.parse("x", short(v)); err != nil || again != v {
				t.Fatalf("%q is %v, shown as %s, read as %v (%v)", text, v, short(v), again, err)
			}
		}
	})
}

// The ends of every range, which the help shows, and what is just outside of it.
func TestSpans(t *testing.T) {
	for name, k := range kinds {
		s := k.span
		if u := newNumber(name).Usage(); !strings.Contains(u, k.usage) || !strings.Contains(u, s.String()) {
			t.Errorf("%s is explained as %q, without its range %s", name, u, s)
		}
		for _, c := range []struct {
			v  float64
			ok bool
		}{
			{s.lo, !s.openLo}, {s.hi, !s.openHi}, {math.Nextafter(s.lo, math.Inf(-1)), false}, {math.Nextafter(s.hi, math.Inf(1)), false},
			{math.NaN(), false}, {math.Inf(1), false}, {math.Inf(-1), false}, {-s.hi, false}, {0, s.lo <= 0},
			{math.Nextafter(s.lo, s.hi), !s.whole}, {math.Nextafter(s.hi, 0), !s.whole},
		} {
			if got := s.holds(c.v); got != c.ok {
				t.Errorf("%s: %v in range: %v, want %v", name, c.v, got, c.ok)
			}
		}
	}
}
