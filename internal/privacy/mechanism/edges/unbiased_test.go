package edges

import (
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// Degrees estimated from perturbed graphs, (ones - n add)/(1 - drop - add) of n
// cells, are unbiased and have the variance of the flips.
func TestDegreesAreUnbiased(t *testing.T) {
	const rows, cols, runs = 40, 900, 60
	a := grid(rows, cols, 30)
	for name, c := range map[string]struct {
		drop, add float64
		perturb   func(s rng.Stream) (Adjacency, error)
	}{
		"tossed": {EdgeRand{Epsilon: 1.5}.Flip(), EdgeRand{Epsilon: 1.5}.Flip(), func(s rng.Stream) (Adjacency, error) {
			return PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 1.5, Unit: privacy.Edge}, mechanismtest.Ledger(t), s, a)
		}},
		"counted": {EdgeRand{Epsilon: 5}.Flip(), EdgeRand{Epsilon: 5}.Flip(), func(s rng.Stream) (Adjacency, error) {
			return PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 5, Unit: privacy.Edge}, mechanismtest.Ledger(t), s, a)
		}},
	} {
		sum, sq, byColumn := 0.0, 0.0, make([]float64, 2)
		variance := (30*c.drop*(1-c.drop) + (cols-30)*c.add*(1-c.add)) / math.Pow(1-c.drop-c.add, 2)
		for run := range uint64(runs) {
			out, err := c.perturb(rng.Seed(9).Stream("unbiased", run))
			if err != nil {
				t.Fatal(err)
			}
			d, columns := out.Degrees()
			for _, n := range d {
				e := (float64(n)-cols*c.add)/(1-c.drop-c.add) - 30
				sum += e
				sq += e * e
			}
			for j, n := range columns {
				byColumn[j&1] += float64(n)
			}
		}
		n := float64(rows * runs)
		if z := sum / math.Sqrt(n*variance); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("%s: degrees are %.1f standard errors off", name, z)
		}
		// A sum of many flips: its square has variance below 3 variance² here.
		if z := (sq/n - variance) / (variance * math.Sqrt(3/n)); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("%s: degrees have variance %g, want %g", name, sq/n, variance)
		}
		// The ones of the matrix lie evenly on even and odd columns, and so must the flips.
		_, columns := a.Degrees()
		odd := 0.0
		for j, n := range columns {
			if j&1 == 1 {
				odd += float64(n)
			}
		}
		even := float64(a.Edges()) - odd
		want := runs * ((even-odd)*(1-c.drop) + (odd-even)*c.add)
		if z := (byColumn[0] - byColumn[1] - want) / math.Sqrt(n*variance*math.Pow(1-c.drop-c.add, 2)); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("%s: even columns have %g ones more than odd ones, want %g", name, byColumn[0]-byColumn[1], want)
		}
	}
}
