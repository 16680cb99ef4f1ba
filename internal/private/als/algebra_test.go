package als

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

func random(rows, cols int, seed uint64) table {
	s, t := rng.Seed(seed).Stream("algebra"), newTable(rows, cols)
	for i := range t.x {
		t.x[i] = s.NormFloat64()
	}
	return t
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A user's vector of the cells "observed" is where the gradient of the objective is 0, by loops over its terms.
func TestUserStepMinimises(t *testing.T) {
	m := forms["ratings"]
	v := random(6, m.Dim, 1)
	cells := []cell{{item: 1, weight: 0.6, value: 1.5}, {item: 4, weight: 0.8, value: -2}}
	u := make([]float64, m.Dim)
	newUserStep(m, 1e9, v).vector(cells, u)
	for k := range u {
		g := m.Lambda * u[k]
		for j := range v.rows {
			g += m.Unobserved * dot(u, v.row(j)) * v.row(j)[k]
		}
		for _, c := range cells {
			g -= (c.value - dot(u, v.row(int(c.item)))) * v.row(int(c.item))[k]
		}
		near(t, "the gradient", g, 0, 1e-12)
	}
	long := slices.Clone(u)
	newUserStep(m, 0.01, v).vector(cells, u)
	near(t, "the clipped length", math.Sqrt(dot(u, u)), 0.01, 1e-9)
	near(t, "the direction", dot(u, long)/math.Sqrt(dot(u, u)*dot(long, long)), 1, 1e-9)
}

// The sums are those of loops over users.
func TestSumsEqualLoops(t *testing.T) {
	for name, m := range forms {
		d := sample(7, 8, 4)
		counts := []float64{9, 3, 4, 8, -2, 6, 7, 1}
		v := random(m.Items, m.Dim, 2)
		r := plans(t, m, 3)[1]
		users, b, a, k := sums(t, d, m, counts, v, 3, r)
		p := newPrior(counts, m.Items, m.ItemWeight, 1)
		draw := release.Draw{Items: 3, Weights: release.Weights(counts, p.items, 1, 0.5), Stream: rng.Seed(5).Stream("draw")}
		wantB, wantA, wantK := newTable(b.rows, b.cols), newTable(b.rows, m.Dim*m.Dim), newTable(m.Dim, m.Dim)
		for u := range d.Train {
			given := draw.Of(d.UserIDs[u], d.Train[u])
			norm := 0.0
			for _, i := range given {
				norm += p.weight[p.place[i]] * p.weight[p.place[i]]
			}
			for k, x := range users.row(u) {
				for l, y := range users.row(u) {
					wantK.row(k)[l] += x * y
					for _, i := range given {
						wantA.row(int(p.place[i]))[k*m.Dim+l] += p.weight[p.place[i]] / math.Sqrt(norm) * x * y
					}
				}
				for _, i := range given {
					value := 1.0
					if m.Values == ValuesRatings {
						value = float64(d.Ratings[u][slices.Index(d.Train[u], i)]) - middle
					}
					wantB.row(int(p.place[i]))[k] += p.weight[p.place[i]] / math.Sqrt(norm) * value * x
				}
			}
		}
		for i, x := range wantB.x {
			near(t, name+": b", b.x[i], x, 1e-7)
		}
		for j := range a.rows {
			for i, x := range square(a.row(j), m.Dim).x {
				near(t, name+": A", x, wantA.row(j)[i], 1e-7)
			}
		}
		for i, x := range square(k.x, m.Dim).x {
			near(t, name+": K", x, wantK.x[i], 1e-7)
		}
	}
}

// An item's vector solves its equations where the released matrix is positive semidefinite. Where it is not, negative
// eigenvalues count as 0.
func TestItemsSolveTheirEquations(t *testing.T) {
	c := Default()
	c.Model = forms["observed"]
	c.Model.LambdaItem = 2
	tr := &trainer{cfg: c, items: newTable(2, 2)}
	// eigenvalues 3 and 1 along (1,1) and (1,-1); then 3 and -1.
	a := table{2, 3, []float64{1.8, 1, 1.8, 0.8, 2, 0.8}}
	b := table{2, 2, []float64{1, 0, 3, 1}}
	k := table{1, 3, []float64{1, 0, 1}} // 0.2 of it
	if err := tr.solveItems(a, b, k, 0.25); err != nil {
		t.Fatal(err)
	}
	lambda := 2 * 0.25 * math.Sqrt2
	for j, want := range [][]float64{
		{0.5/(3+lambda) + 0.5/(1+lambda), 0.5/(3+lambda) - 0.5/(1+lambda)},
		{2/(3+lambda) + 1/lambda, 2/(3+lambda) - 1/lambda},
	} {
		for i, x := range want {
			near(t, "v", tr.items.row(j)[i], x, 1e-12)
		}
	}
	if err := tr.solveItems(table{1, 3, []float64{math.NaN(), 0, 1}}, table{1, 2, []float64{1, 1}}, table{}, 1); err == nil {
		t.Error("a matrix that is not finite is no error")
	}
}

// The columns are orthonormal, beside the direction aside, and span what they did.
func TestOrthonormal(t *testing.T) {
	x, aside := random(9, 4, 3), random(1, 9, 4)
	n := math.Sqrt(dot(aside.x, aside.x))
	for i := range aside.x {
		aside.x[i] /= n
	}
	q := newTable(9, 4)
	copy(q.x, x.x)
	if err := q.orthonormal(aside.x); err != nil {
		t.Fatal(err)
	}
	g := q.gram(1)
	for i := range 4 {
		near(t, "the product with aside", table{1, 9, aside.x}.times(q).x[i], 0, 1e-14)
		for j := range 4 {
			near(t, "q'q", g.row(i)[j], map[bool]float64{true: 1}[i == j], 1e-14)
		}
	}
	rest := newTable(9, 4) // x without aside and its projection
	copy(rest.x, x.x)
	along := table{1, 9, aside.x}.times(x)
	back := q.times(q.crossed(x))
	for i := range 9 {
		for k := range 4 {
			near(t, "what the columns leave", rest.row(i)[k]-aside.x[i]*along.x[k]-back.row(i)[k], 0, 1e-13)
		}
	}
	twice := table{3, 2, []float64{1, 0, 0, 0, 0, 0}}
	if err := twice.orthonormal(nil); err == nil {
		t.Error("dependent columns are no error")
	}
}

// Without noise, rounds of the cells "all" find the leading eigenvectors of C beside the popular direction, and keep
// them whole; with noise above their eigenvalues they keep nothing.
func TestBasisFindsDirections(t *testing.T) {
	const m, d = 12, 3
	popular := make([]float64, m)
	popular[0] = 1
	eigen := []float64{50, 40, 30, 5, 4, 3, 2, 1, 1, 1, 1}
	q := random(m, m-1, 5)
	if err := q.orthonormal(popular); err != nil {
		t.Fatal(err)
	}
	step := func(v table) table { // C v
		y := q.crossed(v)
		for i, e := range eigen {
			for k := range y.row(i) {
				y.row(i)[k] *= e
			}
		}
		return q.times(y)
	}
	for _, average := range []bool{false, true} {
		v := random(m, d, 6)
		if err := v.orthonormal(popular); err != nil {
			t.Fatal(err)
		}
		z := &basis{}
		for n := range 30 {
			z.add(v, step(v), popular, 1e-9, average && n > 20)
			v = newTable(m, d)
			copy(v.x, z.sum.x)
			if err := v.orthonormal(popular); err != nil {
				t.Fatal(err)
			}
		}
		directions, keep, err := z.factors(1, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		found := q.crossed(directions) // (m-1, d): one eigenvector each
		for k, e := range []int{2, 1, 0} {
			near(t, "the direction", math.Abs(found.row(e)[k]), 1, 1e-6)
			near(t, "what is kept", keep[k], eigen[e]/(eigen[e]+5), 1e-6)
		}
		z.deviation = 35 / math.Sqrt(m)
		if _, keep, err = z.factors(1, 0); err != nil || keep[0] != 0 || !(keep[2] > 0.6 && keep[2] < 1) {
			t.Errorf("kept %v, %v", keep, err)
		}
	}
}

// Averages weigh sums by their precision.
func TestAverage(t *testing.T) {
	v := table{3, 1, []float64{0, 1, 0}}
	popular := []float64{1, 0, 0}
	z := &basis{}
	z.add(v, table{3, 1, []float64{7, 2, 0}}, popular, 1, true)
	z.add(v, table{3, 1, []float64{-3, 5, 6}}, popular, 0.5, true)
	for i, want := range []float64{0, (2 + 4*5.) / 5, 4 * 6. / 5} {
		near(t, "the average", z.sum.x[i], want, 1e-12)
	}
	near(t, "its deviation", z.deviation, 1/math.Sqrt(5), 1e-12)
	z.add(v, table{3, 1, []float64{0, 1, 1}}, popular, 2, false)
	near(t, "the last one alone", z.sum.x[1], 1, 0)
	near(t, "its deviation", z.deviation, 2, 0)
}

// trained makes the rounds of a setting on data, with counts that were released.
func trained(t *testing.T, d *dataset.Interactions, m ModelConfig, counts []float64, k int, epsilon float64) (tr *trainer, users, items tensor.Matrix) {
	t.Helper()
	c := Default()
	c.Model, c.Privacy.Items, c.Privacy.Epsilon = m, k, epsilon
	ledger, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	tr = &trainer{cfg: c, prior: newPrior(counts, m.Items, m.ItemWeight, 1),
		releaser: &release.Releaser{Ledger: ledger, Releases: m.releases(), Noise: func(p string) (rng.Stream, error) { return rng.Seed(3).Stream(p), nil }}}
	if tr.rows, err = newRows(d, tr.prior, m, release.Draw{Items: k, Stream: rng.Seed(1).Stream("draw")}); err != nil {
		t.Fatal(err)
	}
	if err := tr.begin(rng.Seed(2).Stream("first")); err != nil {
		t.Fatal(err)
	}
	_, rounds, err := c.plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.train(t.Context(), rounds, func() {}); err != nil {
		t.Fatal(err)
	}
	if users, items, err = tr.vectors(); err != nil {
		t.Fatal(err)
	}
	return tr, users, items
}

// Of two groups of users with items of their own, the rounds find which items go together: a user's best unseen item is
// always of the user's group, at an epsilon at which hardly any noise is added.
func TestFindsPlantedGroups(t *testing.T) {
	const n, half = 200, 8
	d := &dataset.Interactions{Name: "planted", Users: n, Items: 2 * half}
	s := rng.Seed(9).Stream("planted")
	for u := range n {
		var row []int32
		for i := range half {
			if s.Float64() < 0.5 {
				row = append(row, int32(u%2*half+i))
			}
		}
		d.Train, d.UserIDs = append(d.Train, row), append(d.UserIDs, fmt.Sprint(u))
	}
	counts := slices.Repeat([]float64{n / 4}, 2*half)
	for name, m := range map[string]ModelConfig{
		"all":      {Items: 2 * half, Dim: 1, Rounds: 4, Cells: CellsAll, Values: ValuesOnes, Clip: 1, Growth: 1, Average: true, Shrink: 1},
		"observed": {Items: 2 * half, Dim: 2, Rounds: 6, Cells: CellsObserved, Values: ValuesOnes, Clip: 1, Growth: 1, Unobserved: 0.1, Lambda: 0.1, Matrices: 0.4, Common: 0.2},
	} {
		_, users, items := trained(t, d, m, counts, half, 900)
		for u := range n {
			best, at := math.Inf(-1), -1
			for i := range 2 * half {
				if x := float64(tensor.Dot(tensor.Row(users, u), tensor.Row(items, i))); x > best && !slices.Contains(d.Train[u], int32(i)) {
					best, at = x, i
				}
			}
			if len(d.Train[u]) > 0 && len(d.Train[u]) < half && at/half != u%2 {
				t.Errorf("%s: user %d of group %d gets item %d", name, u, u%2, at)
			}
		}
	}
}

// A whole run of rounds has the same bytes for any number of workers, and items without a vector come last.
func TestRoundsAndRanking(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	for name, m := range forms {
		var before []tensor.Float
		for _, workers := range []int{1, 3} {
			tensor.SetWorkers(workers)
			d, counts := sample(40, 9, 8), []float64{9, 30, 4, 18, -2, 6, 17, 12, 3}
			tr, users, items := trained(t, d, m, counts, 5, 1)
			for u := range d.Train {
				least, outside := math.Inf(1), math.Inf(-1)
				for i, r := range tr.prior.place {
					if s := float64(tensor.Dot(tensor.Row(users, u), tensor.Row(items, i))); r >= 0 {
						least = min(least, s)
					} else {
						outside = max(outside, s)
					}
				}
				if !(least > outside) {
					t.Errorf("%s: user %d: an item without a vector scores %v, one with a vector %v", name, u, outside, least)
				}
			}
			if a, b := float64(items.Data[8*items.Stride+m.rankWidth()]), float64(items.Data[4*items.Stride+m.rankWidth()]); !(a > b) {
				t.Errorf("%s: counts of 3 and -2 score %v and %v", name, a, b)
			}
			all := append(slices.Clone(users.Data), items.Data...)
			if before != nil && !slices.Equal(all, before) {
				t.Errorf("%s: the number of workers changes the vectors", name)
			}
			before = all
		}
	}
}

// rankWidth is where the last number of the vectors that rank stands.
func (m ModelConfig) rankWidth() int {
	if m.Cells == CellsAll {
		return m.Dim + 1
	}
	return m.Dim
}
