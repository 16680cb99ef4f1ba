package correlated

import (
	"math"
	"testing"
)

// TestBestBands tries every number of bands, by matrices that BestBands does not share.
func TestBestBands(t *testing.T) {
	for n := 1; n <= 64; n++ {
		for _, p := range []Participation{{1, 1}, {2, 1}, {3, 5}, {n, 1}, {n, 7}, {52, 7}} {
			got, err := BestBands(n, p)
			if err != nil {
				t.Fatal(err)
			}
			least, loss := math.Inf(1), 0.0
			for bands := 1; bands <= n; bands++ {
				s, err := Banded(n, bands)
				if err != nil {
					t.Fatal(err)
				}
				moved, err := s.Sensitivity(p)
				if err != nil {
					t.Fatal(err)
				}
				other := moved * errorsOf(t, s).Mean
				least = math.Min(least, other)
				if bands == got {
					loss = other
				}
			}
			if loss != least {
				t.Errorf("%d steps, %v: loss %v with %d bands, the least is %v", n, p, loss, got, least)
			}
		}
	}
}

// TestBestBandsOfLongStreams holds what is found without trying all against trying all.
func TestBestBandsOfLongStreams(t *testing.T) {
	const n = exhaustive + 88
	for _, p := range []Participation{{1, 1}, {10, 60}, {40, 7}} {
		got, err := BestBands(n, p)
		if err != nil {
			t.Fatal(err)
		}
		root, least := squareRoot(n), math.Inf(1)
		for bands := 1; bands <= n; bands++ {
			least = math.Min(least, (Strategy{column: root[:bands], steps: n}).loss(p))
		}
		if loss := (Strategy{column: root[:got], steps: n}).loss(p); loss > least*(1+1e-4) {
			t.Errorf("%v: loss %v with %d bands, the least is %v", p, loss, got, least)
		}
	}
}
