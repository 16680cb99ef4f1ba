package als

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset"
	"privrec/internal/private/release"
	"privrec/internal/rng"
)

// forms are the settings whose releases differ.
var forms = map[string]ModelConfig{
	"all":            {Items: 6, Dim: 2, Rounds: 3, Cells: CellsAll, Values: ValuesOnes, ItemWeight: 0.5, Clip: 0.3, Growth: 1},
	"observed":       {Items: 6, Dim: 2, Rounds: 3, Cells: CellsObserved, Values: ValuesOnes, ItemWeight: 0.25, Clip: 0.7, Growth: 1, Unobserved: 0.2, Lambda: 0.1, Matrices: 0.4, Common: 0.1},
	"observed, free": {Items: 6, Dim: 3, Rounds: 2, Cells: CellsObserved, Values: ValuesOnes, Clip: 1.5, Growth: 1.3, Lambda: 1e-6, Matrices: 0.5},
	"ratings":        {Items: 6, Dim: 2, Rounds: 2, Cells: CellsObserved, Values: ValuesRatings, ItemWeight: 1, Clip: 0.9, Growth: 1, Unobserved: 0.1, Lambda: 0.01, Matrices: 0.3, Common: 0.2},
}

// sample draws data of users whose rows are empty, one item, all items, and random ones.
func sample(users, items int, seed uint64) *dataset.Interactions {
	s := rng.Seed(seed).Stream("als test")
	d := &dataset.Interactions{Name: "test", Users: users, Items: items}
	for u := range users {
		share := s.Float64()
		switch u {
		case 0:
			share = 0
		case 1:
			share = 1
		}
		var row []int32
		var ratings []float32
		for i := range items {
			if s.Float64() < share || u == 2 && i == 3 {
				row, ratings = append(row, int32(i)), append(ratings, float32(1+math.Floor(5*s.Float64())))
			}
		}
		d.Train, d.Ratings = append(d.Train, row), append(d.Ratings, ratings)
		d.UserIDs = append(d.UserIDs, fmt.Sprint("u", u))
	}
	for i := range items {
		d.ItemIDs = append(d.ItemIDs, fmt.Sprint("i", i))
	}
	return d
}

// without returns d less one user.
func without(d *dataset.Interactions, u int) *dataset.Interactions {
	x := *d
	x.Users--
	x.Train, x.Ratings, x.UserIDs = slices.Delete(slices.Clone(d.Train), u, u+1), slices.Delete(slices.Clone(d.Ratings), u, u+1), slices.Delete(slices.Clone(d.UserIDs), u, u+1)
	return &x
}

// sums computes what a round sums, from V and counts that were released, and users' vectors.
func sums(t testing.TB, d *dataset.Interactions, m ModelConfig, counts []float64, items table, k int, r round) (users, b, a, c table) {
	t.Helper()
	p := newPrior(counts, m.Items, m.ItemWeight, 1)
	draw := release.Draw{Items: k, Weights: release.Weights(counts, p.items, 1, 0.5), Stream: rng.Seed(5).Stream("draw")}
	x, err := newRows(d, p, m, draw)
	if err != nil {
		t.Fatal(err)
	}
	users = newUserStep(m, r.clip, items).all(x.whole)
	return users, x.vectors(users, r.vectors.Grid), x.matrices(users, gridOf(r.clip*r.clip)), common(users, gridOf(r.clip*r.clip))
}

// distance is the l2 norm of the difference. The sums are exact, and so is the difference.
func distance(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return math.Sqrt(sum)
}

// plans returns the releases of a setting.
func plans(t testing.TB, m ModelConfig, k int) []round {
	t.Helper()
	c := Default()
	c.Model, c.Privacy.Items = m, k
	_, rounds, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	return rounds
}

// For random data, counts and V, every user removed (and so every user added to the rest): each sum of a round moves by
// at most its sensitivity, and the vectors of all other users stay as they are, bit by bit. The largest moves come
// near the sensitivities, so that these are not too large either.
func TestSensitivityOfARound(t *testing.T) {
	for name, m := range forms {
		t.Run(name, func(t *testing.T) {
			var nearB, nearA, nearK float64
			rapid.Check(t, func(rt *rapid.T) {
				users, items := rapid.IntRange(3, 7).Draw(rt, "users"), 8
				d := sample(users, items, rapid.Uint64Range(0, 1<<20).Draw(rt, "data"))
				s := rng.Seed(rapid.Uint64Range(0, 1<<20).Draw(rt, "V")).Stream("V")
				k := rapid.IntRange(1, 8).Draw(rt, "k")
				counts := make([]float64, items)
				for i := range counts {
					counts[i] = 20 * s.NormFloat64()
				}
				v := newTable(m.Items, m.Dim)
				scale := math.Pow(10, float64(rapid.IntRange(-3, 3).Draw(rt, "scale")))
				for i := range v.x {
					v.x[i] = scale * s.NormFloat64()
				}
				if m.Cells == CellsAll {
					if err := v.orthonormal(nil); err != nil {
						rt.Fatal(err)
					}
				}
				for n, r := range plans(t, m, k) {
					all, b, a, c := sums(t, d, m, counts, v, k, r)
					for x := range users {
						others, b1, a1, c1 := sums(t, without(d, x), m, counts, v, k, r)
						if rest := slices.Delete(slices.Clone(all.x), x*m.Dim, (x+1)*m.Dim); !slices.Equal(rest, others.x) {
							rt.Fatalf("round %d: without user %d the vectors of others change", n, x)
						}
						db, da, dk := distance(b.x, b1.x), distance(a.x, a1.x), distance(c.x, c1.x)
						if !(db <= r.vectors.Sensitivity) {
							rt.Fatalf("round %d, user %d: b moves by %v, the sensitivity is %v", n, x, db, r.vectors.Sensitivity)
						}
						nearB = max(nearB, db/r.vectors.Sensitivity)
						if m.Cells == CellsAll {
							continue
						}
						if !(da <= r.matrix.Sensitivity) {
							rt.Fatalf("round %d, user %d: A moves by %v, the sensitivity is %v", n, x, da, r.matrix.Sensitivity)
						}
						nearA = max(nearA, da/r.matrix.Sensitivity)
						if m.Unobserved > 0 {
							if !(dk <= r.common.Sensitivity) {
								rt.Fatalf("round %d, user %d: K moves by %v, the sensitivity is %v", n, x, dk, r.common.Sensitivity)
							}
							nearK = max(nearK, dk/r.common.Sensitivity)
						}
					}
				}
			})
			if !(nearB > 0.9) || m.Cells == CellsObserved && !(nearA > 0.9) || m.Unobserved > 0 && !(nearK > 0.9) {
				t.Errorf("the largest moves are %.3f, %.3f and %.3f of the sensitivities of b, A and K: these may be too large", nearB, nearA, nearK)
			}
		})
	}
}

// The counts move by at most their sensitivity when a user is removed, whatever is contributed.
func TestSensitivityOfCounts(t *testing.T) {
	d := sample(8, 9, 3)
	for k := 1; k <= 9; k++ {
		draw := release.Draw{Items: k, Stream: rng.Seed(1).Stream("counts")}
		count := func(d *dataset.Interactions) []float64 {
			c := make([]float64, 9)
			for _, list := range draw.All(d.UserIDs, d.Train) {
				for _, i := range list {
					c[i]++
				}
			}
			return c
		}
		worst := 0.0
		for x := range d.Users {
			worst = max(worst, distance(count(d), count(without(d, x))))
		}
		if s := release.CountSum(k).Sensitivity; !(worst <= s && worst > 0.999*s) {
			t.Errorf("k %d: the counts move by %v, the sensitivity is %v", k, worst, s)
		}
	}
}

// A row of any weights and values, a user of any vector, even one that overflows, stays within the bounds.
func TestRowsStayWithinBounds(t *testing.T) {
	for _, counts := range [][]float64{{5, 3, 1, 1}, {1e18, 1, 1e-9, -4}, {-1, -1, -1, -1}} {
		for _, power := range []float64{0, 0.25, 4} {
			p := newPrior(counts, 4, power, 1)
			row := p.row([]int32{0, 1, 2, 3}, func(at int) float64 { return []float64{1e300, -1e300, 2, -3}[at] }, 2)
			sum := 0.0
			for _, c := range row {
				sum += c.weight * c.weight
				if math.Abs(c.value) > 2 {
					t.Errorf("value %v", c.value)
				}
			}
			if !(sum <= 1 && sum > 0.999) {
				t.Errorf("counts %v, power %v: weights have norm² %v", counts, power, sum)
			}
		}
	}
	for _, x := range [][]float64{{3, 4}, {1e200, 1e200}, {math.Inf(1), 0}, {math.NaN(), 1}, {0, 0}, {1, 0}, {1e-320, 0}} {
		for _, g := range []float64{1, 1e-6, 5} {
			v := slices.Clone(x)
			clip(v, g)
			if n := math.Sqrt(dot(v, v)); !(n <= g) {
				t.Errorf("%v clipped to %v has length %v", x, g, n)
			}
		}
	}
}
