package synthetic

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/private/gram"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// together returns the probability that two normal numbers of a correlation are above s and t.
func together(s, t, correlation float64) float64 {
	return bothAbove(above(s)*above(t), s, t, correlation)
}

// pair returns the probability that a user of a model has two different items, by their places.
func pair(m *Model, i, j int) float64 {
	c := 0.0
	for k, v := range m.loadings[i] {
		c += v * m.loadings[j][k]
	}
	return together(m.threshold[i], m.threshold[j], c)
}

// TestBothAbove compares the probability with the closed form at 0, 0 and with an integral of conditional
// probabilities elsewhere.
func TestBothAbove(t *testing.T) {
	for _, c := range []float64{-0.95, -0.6, 0, 0.3, 0.8, 0.95} {
		if got, want := together(0, 0, c), 0.25+math.Asin(c)/(2*math.Pi); math.Abs(got-want) > 1e-12 {
			t.Errorf("0, 0, %v: %v, want %v", c, got, want)
		}
		for _, x := range [][2]float64{{1, 1}, {0.5, 2}, {-1, 1.5}, {2.5, 2.5}, {3, 1}} {
			want, step := 0.0, 1e-4
			for z := x[0] + step/2; z < 9; z += step { // z is above x[0]; then the other one is above x[1]
				want += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * above((x[1]-c*z)/math.Sqrt(1-c*c))
			}
			if got := together(x[0], x[1], c); math.Abs(got-want) > 1e-6 {
				t.Errorf("%v, %v: %v, want %v", x, c, got, want)
			}
		}
	}
}

// Thresholds and correlations come back from the probabilities that they give.
func TestCorrelation(t *testing.T) {
	for _, p := range []float64{1e-4, 0.02, 0.5, 0.9} {
		if got := above(threshold(p)); math.Abs(got-p) > 1e-12 {
			t.Errorf("threshold of %v: %v", p, got)
		}
	}
	for _, c := range []float64{-0.7, 0, 0.2, 0.9} {
		if got := correlation(1, 0.4, together(1, 0.4, c)); math.Abs(got-c) > 1e-6 {
			t.Errorf("correlation %v, want %v", got, c)
		}
	}
	if got := correlation(1, 1, 0.5); got < mostCorrelated-1e-6 || got > mostCorrelated {
		t.Errorf("of a probability that no correlation has: %v", got)
	}
}

// planted returns a release of two groups of items: those of one group are together more often than those of two.
func planted(m, rank int) *gram.Kept {
	k := &gram.Kept{Rank: rank, Users: 40}
	for i := range m {
		k.IDs, k.Items = append(k.IDs, "out", string(rune('a'+i))), append(k.Items, int32(2*i+1))
		k.Diagonal = append(k.Diagonal, 60-float64(i))
	}
	for i, d := range k.Diagonal {
		row := make([]float64, m)
		for j, e := range k.Diagonal {
			if row[j] = 0.006 * d * e; i%2 == j%2 {
				row[j] = 0.01 * d * e
			}
		}
		row[i] = d
		k.Pairs = append(k.Pairs, row)
	}
	return k
}

// A model has the margins of the release and, where factors can, its pairs, in proportion. Drawn users have them within
// chance. Each of the 276 counts is compared at 5.5 deviations: the test fails by chance once in 9e4 seeds at most.
func TestModel(t *testing.T) {
	const m, n = 23, 20000
	k := planted(m, 2)
	model, err := NewModel(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	scale := model.Probability[0] / k.Diagonal[0]
	for i := range m {
		if got := model.Probability[i] / k.Diagonal[i]; math.Abs(got-scale) > 1e-12 {
			t.Errorf("item %d: %v for each released one, want %v", i, got, scale)
		}
		for j := range i {
			if got, want := pair(model, i, j), scale*k.Pairs[i][j]; math.Abs(got-want) > 0.05*want {
				t.Errorf("items %d and %d are together with probability %v, want %v", i, j, got, want)
			}
		}
	}
	users, err := model.Users(t.Context(), 1, n)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([][]float64, m)
	for i := range counts {
		counts[i] = make([]float64, m)
	}
	for _, items := range users {
		for _, a := range items {
			for _, b := range items {
				counts[a/2][b/2]++
			}
		}
	}
	for i := range m {
		for j := range i + 1 {
			p := model.Probability[i]
			if i != j {
				p = pair(model, i, j)
			}
			if d := counts[i][j] - n*p; math.Abs(d) > 5.5*math.Sqrt(n*p*(1-p)) {
				t.Errorf("%d users have items %d and %d, want %v", int(counts[i][j]), i, j, n*p)
			}
		}
	}
}

// The first users of a larger set are those of a smaller one, for any number of workers, and another seed has others.
func TestUsers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	model, err := NewModel(t.Context(), planted(20, 2))
	if err != nil {
		t.Fatal(err)
	}
	draw := func(workers, n int, seed rng.Seed) [][]int32 {
		tensor.SetWorkers(workers)
		users, err := model.Users(t.Context(), seed, n)
		if err != nil {
			t.Fatal(err)
		}
		return users
	}
	few, many := draw(1, 50, 1), draw(3, 9000, 1)
	same := func(a, b [][]int32) bool { return slices.EqualFunc(a, b, slices.Equal[[]int32]) }
	if !same(few, many[:50]) {
		t.Error("the first 50 users of 9000 are not those of 50")
	}
	if same(few, draw(1, 50, 2)) {
		t.Error("two seeds have the same users")
	}
	sorted := 0
	for _, items := range many {
		if len(items) > 3 && slices.IsSorted(items) {
			sorted++
		}
	}
	if sorted > len(many)/20 { // one in 24 of those with four items, and fewer of longer ones
		t.Errorf("%d of %d users have their items in the order of the catalogue", sorted, len(many))
	}
}

// If the noise hides all pairs, items are independent, and users have some all the same.
func TestNoFactors(t *testing.T) {
	k := planted(20, 0)
	for i := range k.Pairs {
		k.Pairs[i] = make([]float64, 20)
	}
	model, err := NewModel(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if model.Factors != 0 || math.Abs(model.Mean-fewest) > 1e-9 {
		t.Errorf("%d factors, %v items a user, want 0 and %v", model.Factors, model.Mean, fewest)
	}
	if got, want := pair(model, 0, 1), model.Probability[0]*model.Probability[1]; math.Abs(got-want) > 1e-12 {
		t.Errorf("together with probability %v, want %v", got, want)
	}
	if _, err := NewModel(t.Context(), &gram.Kept{}); err == nil {
		t.Error("a release without items is taken")
	}
}
