package correlated

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fitted returns the strategy of fitted buffers.
func fitted(t *testing.T, n, most int, p Participation) Strategy {
	t.Helper()
	buffers, err := Fit(n, most, p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Buffered(n, buffers)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBufferedSensitivity tries every pattern of a unit for strategies of any buffers.
func TestBufferedSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "steps")
		s, err := Buffered(n, drawBuffers(t))
		if err != nil {
			t.Fatal(err)
		}
		p := Participation{rapid.IntRange(1, n+1).Draw(t, "times"), rapid.IntRange(1, n+1).Draw(t, "apart")}
		got, err := s.Sensitivity(p)
		if want := largest(s, p.Times, p.Apart); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%v of %v: sensitivity %v, %v, the largest is %v", p, s.buffers, got, err, want)
		}
	})
}

// TestFitIsNearTheBest holds fitted buffers against other strategies of the same participation: never worse than
// independent noise or any square root with as many bands as it has buffers and one, and better than the whole root for
// a unit that takes part once, whose least mean error no strategy has far below it.
func TestFitIsNearTheBest(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64, 365} {
		for _, p := range []Participation{{1, 1}, {3, 2}, {n, 1}, {52, 7}} {
			s := fitted(t, n, 4, p)
			got := s.loss(p)
			for bands := 1; bands <= min(n, len(s.buffers)+1); bands++ {
				banded, err := Banded(n, bands)
				if err != nil {
					t.Fatal(err)
				}
				if other := banded.loss(p); got > other*(1+1e-9) {
					t.Errorf("%d steps, %v: loss %v of %v, with %d bands it is %v", n, p, got, s.buffers, bands, other)
				}
			}
			if root, err := Banded(n, n); err != nil || p.Times == 1 && got > root.loss(p)*(1+1e-9) {
				t.Errorf("%d steps, %v: loss %v, %v, that of the root is %v", n, p, got, err, root.loss(p))
			}
		}
	}
}

// TestFitRepeats demands the same buffers to the last bit, and no more than were asked for.
func TestFitRepeats(t *testing.T) {
	p := Participation{4, 13}
	losses := []float64{math.Inf(1)}
	for most := 1; most <= 4; most++ {
		one, err := Fit(50, most, p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Fit(50, most, p)
		if err != nil || !slices.Equal(one, again) || len(one) > most {
			t.Errorf("at most %d buffers: %v, then %v, %v", most, one, again, err)
		}
		s := fitted(t, 50, most, p)
		losses = append(losses, s.loss(p))
		if losses[most] > losses[most-1] {
			t.Errorf("losses %v grow with more buffers", losses)
		}
	}
}

func TestBuffersRefused(t *testing.T) {
	nan := math.NaN()
	for name, buffers := range map[string][]Buffer{
		"none": nil, "nine": make([]Buffer, 9), "negative weight": {{-0.1, 0.5}}, "negative decay": {{0.1, -0.5}},
		"growing": {{0.1, 1.1}}, "more than 1": {{0.6, 0.5}, {0.5, 0.1}}, "no weight": {{nan, 0.5}}, "no decay": {{0.1, nan}},
	} {
		if _, err := Buffered(3, buffers); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	once := Participation{1, 1}
	for name, err := range map[string]error{
		"steps": second(Buffered(0, []Buffer{{0.1, 0.1}})), "fit steps": second(Fit(0, 1, once)),
		"fit none": second(Fit(5, 0, once)), "fit nine": second(Fit(5, 9, once)),
		"fit never": second(Fit(5, 1, Participation{})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
