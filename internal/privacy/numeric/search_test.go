package numeric

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The ends are neighbours around the change, from either side, for numbers of every size.
func TestBisectEndsAtNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(-1e300, 1e300).Draw(t, "at")
		width := rapid.Float64Range(0, 1e300)
		lo := min(at-width.Draw(t, "below"), math.Nextafter(at, math.Inf(-1)))
		hi := max(at+width.Draw(t, "above"), math.Nextafter(at, math.Inf(1)))
		last, first := Bisect(lo, hi, func(x float64) bool { return x < at })
		if first != at || last != math.Nextafter(at, math.Inf(-1)) {
			t.Fatalf("below %v: %v and %v", at, last, first)
		}
		last, first = Bisect(hi, lo, func(x float64) bool { return x > at })
		if first != at || last != math.Nextafter(at, math.Inf(1)) {
			t.Fatalf("above %v: %v and %v", at, last, first)
		}
		a := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "a")
		n := rapid.Int64Range(1, 1<<40).Draw(t, "n")
		change := a + rapid.Int64Range(1, n).Draw(t, "change")
		asked := 0
		whole, next := Bisect(a, a+n, func(x int64) bool {
			if asked++; x <= a || x >= a+n {
				t.Fatalf("asked at %d, an end of %d to %d", x, a, a+n)
			}
			return x < change
		})
		if whole != change-1 || next != change || float64(asked) > math.Log2(float64(n))+1 {
			t.Fatalf("%d to %d: %d and %d after %d questions, the change is at %d", a, a+n, whole, next, asked, change)
		}
	})
}

// A search that may stop earlier goes through the same points.
func TestBisectStops(t *testing.T) {
	root := func(x float64) bool { return x*x < 2 }
	for n, want := range [][2]float64{{1, 2}, {1, 1.5}, {1.25, 1.5}, {1.375, 1.5}, {1.375, 1.4375}} {
		if last, first := Halve(n, 1, 2, root); last != want[0] || first != want[1] {
			t.Errorf("%d halvings: %v and %v, want %v", n, last, first, want)
		}
	}
	if last, first := Halve(1000, 1, 2, root); last != math.Nextafter(math.Sqrt2, 0) || first != math.Sqrt2 {
		t.Errorf("a thousand halvings: %v and %v around %v", last, first, math.Sqrt2)
	}
	for _, share := range []float64{1e-3, 1e-9, 1e-15} {
		calls := 0
		last, first := BisectWithin(share, 1, 2, func(x float64) bool { calls++; return root(x) })
		if want, end := Halve(calls, 1, 2, root); last != want || first != end || !(first-last < share*last) {
			t.Errorf("within %v: %v and %v after %d halvings, which end at %v and %v", share, last, first, calls,
				want, end)
		}
		if a, b := Halve(calls-1, 1, 2, root); b-a < share*a {
			t.Errorf("within %v: %d halvings, one fewer is enough", share, calls)
		}
	}
	if a, b := BisectWithin(1e-9, -2, -1, func(x float64) bool { return x*x > 2 }); !(a < -math.Sqrt2 &&
		b >= -math.Sqrt2 && b-a < 2e-9) {
		t.Errorf("below 0: %v and %v", a, b)
	}
	for _, end := range []float64{math.NaN(), math.Inf(1)} {
		if last, first := Bisect(0, end, func(float64) bool { return false }); last != 0 || first == first &&
			first != end {
			t.Errorf("to %v: %v and %v", end, last, first)
		}
	}
}

func TestDouble(t *testing.T) {
	for _, c := range []struct{ root, most, last, first float64 }{
		{0.5, 100, 0, 1}, {1, 100, 0, 1}, {5, 100, 4, 8}, {8, 100, 4, 8}, {1000, 100, 64, 128}, {1000, 128, 64, 128},
		{1000, math.Inf(1), 512, 1024}, {math.Inf(1), math.Inf(1), 0x1p1023, math.Inf(1)},
	} {
		last, first := Double(0, 1, c.most, func(x float64) bool { return x < c.root })
		if last != c.last || first != c.first {
			t.Errorf("below %v up to %v: %v and %v, want %v and %v", c.root, c.most, last, first, c.last, c.first)
		}
	}
}
