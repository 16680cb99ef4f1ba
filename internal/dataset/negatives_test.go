package dataset

import (
	"math"
	"testing"

	"privrec/internal/rng"
)

// TestNegativesDistribution draws for a user who has met few items (rejection) and for
// one who has met nearly all (exact path) and compares frequencies with the weights of
// the unmet items: every frequency within 6.2 standard deviations, which fails by
// chance with probability below 1e-9 a comparison.
func TestNegativesDistribution(t *testing.T) {
	const items, draws = 50, 40000
	few := []int32{3, 3, 7}
	var most []int32
	for i := int32(1); i <= items; i++ {
		if i != 11 && i != 12 && i != 13 {
			most = append(most, i, i)
		}
	}
	others := []int32{11, 12, 12, 13, 13, 13, 13}
	met := [][]int32{few, most, others}
	for _, power := range []float64{0, 1, 0.75} {
		n, err := NewNegatives(items, power, met)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]float64, items+1)
		for _, seq := range met {
			for _, i := range seq {
				counts[i]++
			}
		}
		for u := range met {
			s := rng.Seed(1).Stream("negatives", uint64(u))
			weight, total := make([]float64, items+1), 0.0
			for i := int32(1); i <= items; i++ {
				if !n.Seen(u, i) {
					weight[i] = math.Pow(counts[i], power)
					if counts[i] == 0 && power > 0 {
						weight[i] = 0
					}
					total += weight[i]
				}
			}
			got := make([]float64, items+1)
			for range draws {
				i, err := n.Draw(u, &s)
				if err != nil {
					t.Fatal(err)
				}
				got[i]++
			}
			for i := range got {
				p := weight[i] / total
				if dev := math.Abs(got[i] - draws*p); dev > 6.2*math.Sqrt(draws*p*(1-p)) {
					t.Errorf("power %g, user %d: item %d drawn %g times, want %g", power, u, i, got[i], draws*p)
				}
			}
		}
	}
}

func TestNegativesRefuse(t *testing.T) {
	all := [][]int32{{1, 2, 3}}
	n, err := NewNegatives(3, 0, all)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := n.Draw(0, &rng.Stream{}); err == nil {
		t.Errorf("drew %d for a user who has met everything", i)
	}
	for _, c := range []struct {
		items int
		power float64
		met   [][]int32
	}{{0, 0, nil}, {3, -1, all}, {3, math.NaN(), all}, {2, 0, all}, {3, 0, [][]int32{{0}}}, {3, 1, nil}} {
		if _, err := NewNegatives(c.items, c.power, c.met); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
}

// TestNegativesTrainCounts: test excludes items but does not make them popular, and an
// unknown user has met nothing.
func TestNegativesTrainCounts(t *testing.T) {
	n, err := NewNegatives(4, 1, [][]int32{{1, 2}}, [][]int32{{3, 3, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	if !n.Seen(0, 3) || !n.Seen(1, 4) || n.Seen(2, 4) || n.Seen(-1, 1) {
		t.Error("what a user has met is wrong")
	}
	s := rng.Seed(1).Stream("negatives")
	for _, u := range []int{1, 2, 77} {
		for range 100 {
			if i, err := n.Draw(u, &s); err != nil || i > 2 {
				t.Fatalf("user %d: drew %d (%v), which is not in train", u, i, err)
			}
		}
	}
	if i, err := n.Draw(0, &s); err == nil {
		t.Errorf("drew %d for a user who has met all of train", i)
	}
}
