package standin

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/rng"
)

// TestCurves refuses curves that would be divided by a distance of 0, or fall.
func TestCurves(t *testing.T) {
	nan := math.NaN()
	for name, q := range map[string][]Quantile{
		"one point": {{0, 1}}, "late start": {{0.1, 1}, {1, 2}}, "early end": {{0, 1}, {0.9, 2}}, "same share": {{0, 1}, {0.5, 2}, {0.5, 2}, {1, 3}},
		"twice 0": {{0, 1}, {0, 1}, {1, 3}}, "falling": {{0, 3}, {1, 1}}, "negative": {{0, -1}, {1, 1}}, "nan": {{0, 1}, {0.5, nan}, {1, 2}},
		"nan share": {{0, 1}, {nan, 1}, {1, 2}}, "infinite": {{0, 1}, {1, math.Inf(1)}},
	} {
		if _, err := spread(q, 10, 20, 1, 10); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	for _, p := range Profiles() {
		for _, q := range [][]Quantile{p.Lengths, p.Popularity, p.Likes, p.ItemLikes} {
			if q != nil {
				if err := ascends(q); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
			}
		}
	}
}

// TestCoverAll checks that two items without a user get one.
func TestCoverAll(t *testing.T) {
	g := &generator{Profile: Profile{Users: 2, Items: 5}}
	items := [][]int32{{0, 1, 2}, {0, 1}}
	g.coverAll(items)
	counts := make([]int, 5)
	for _, list := range items {
		for _, i := range list {
			counts[i]++
		}
	}
	if slices.Min(counts) != 1 || len(items[0]) != 3 || len(items[1]) != 2 {
		t.Errorf("items %v", items)
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		n             int
		weights, want []int
	}{
		{10, []int{1, 1, 1}, []int{4, 3, 3}}, {7, []int{10, 20, 5}, []int{2, 4, 1}},
		{3, []int{1, 98, 1}, []int{0, 3, 0}}, {100, []int{333, 335, 332}, []int{33, 34, 33}}, {0, []int{1, 2}, []int{0, 0}},
	} {
		if got := share(c.n, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("share of %d by %v is %v, want %v", c.n, c.weights, got, c.want)
		}
	}
	if _, err := spread([]Quantile{{0, 1}, {1, 9}}, 3, 100, 1, 10); err == nil {
		t.Error("three values up to 10 cannot sum to 100")
	}
}

// TestPaired gives out values that fit, sum up and follow the ranks as asked.
func TestPaired(t *testing.T) {
	whole := make([]int, 2000)
	for i := range whole {
		whole[i] = 5 + i%400
	}
	for _, rank := range []float64{0.5, 0.95, 1} {
		got, err := paired([]Quantile{{0, 0}, {0.5, 30}, {1, 300}}, whole, 100000, rank, rng.Seed(5).Stream("paired"))
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for i, n := range got {
			total += n
			if n < 0 || n > whole[i] {
				t.Fatalf("entry %d of %d got %d", i, whole[i], n)
			}
		}
		if total != 100000 {
			t.Errorf("%d given out", total)
		}
		if r := spearman(whole, got); math.Abs(r-rank) > 0.06 && rank > 0.9 || r > 0.9 && rank < 0.9 {
			t.Errorf("ranks correlate by %.3f, want about %g", r, rank)
		}
	}
	if _, err := paired([]Quantile{{0, 0}, {1, 9}}, []int{1, 2}, 9, 1, rng.Seed(5).Stream("paired")); err == nil {
		t.Error("9 do not fit into 1 and 2")
	}
}

// spearman is the rank correlation; ties keep their order.
func spearman(a, b []int) float64 {
	ra, rb := places(a), places(b)
	n, d := float64(len(a)), 0.0
	for i := range ra {
		d += (ra[i] - rb[i]) * (ra[i] - rb[i])
	}
	return 1 - 6*d/(n*(n*n-1))
}

func places(x []int) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return x[a] - x[b] })
	out := make([]float64, len(x))
	for k, i := range order {
		out[i] = float64(k)
	}
	return out
}
