package gram

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// drawGram draws a positive definite matrix.
func drawGram(rt *rapid.T) square {
	n := rapid.IntRange(2, 6).Draw(rt, "n")
	x := make([][]float64, rapid.IntRange(1, 8).Draw(rt, "rows"))
	for i := range x {
		x[i] = rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0.05, 2)), n, n).Draw(rt, "row")
	}
	return symmetric(n, func(i, j int) (sum float64) {
		for _, r := range x {
			sum += r[i] * r[j]
		}
		if i == j {
			sum += 0.1
		}
		return sum
	})
}

// Column j of EASE's weights minimises b'Gb - 2 b'G_j + lambda |b|² over b with b_j = 0: the gradient
// vanishes everywhere else (Steck 2019, equation 5).
func TestEASEMinimises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGram(rt)
		c := MatrixConfig{Lambda: rapid.Float64Range(0.1, 3).Draw(rt, "lambda")}
		unit := rapid.Float64Range(0.5, 2).Draw(rt, "unit")
		b, _, err := c.ease(t.Context(), g, unit)
		if err != nil {
			rt.Fatal(err)
		}
		defer tensor.Free(b)
		w := modeltest.Rows(b)
		size := 0.0
		for i := range g.n {
			size = math.Max(size, g.row(i)[i])
		}
		for j := range g.n {
			if w[j][j] != 0 {
				rt.Fatalf("the diagonal has %g", w[j][j])
			}
			for i := range g.n {
				slope := c.Lambda*unit*w[i][j] - g.row(i)[j]
				for k := range g.n {
					slope += g.row(i)[k] * w[k][j]
				}
				if i != j && math.Abs(slope) > 2e-3*(1+size) {
					rt.Fatalf("weight %d, %d: slope %g", i, j, slope)
				}
			}
		}
	})
}

// A matrix that noise left with a negative eigenvalue gets the ridge that it needs: the first that lambda reaches by
// doubling. Nothing fails that a matrix with other noise would not.
func TestEASERaisesItsRidge(t *testing.T) {
	g := symmetric(3, func(i, j int) float64 { return []float64{1, 5, 5}[j-i] }) // eigenvalues down to -4
	b, raised, err := (MatrixConfig{Lambda: 0.1}).ease(t.Context(), g, 1)
	if err != nil || raised != 6 { // 0.1 x 2^6 is above 4, 0.1 x 2^5 below
		t.Fatalf("raised %d times, %v", raised, err)
	}
	defer tensor.Free(b)
	same, raised, err := (MatrixConfig{Lambda: 6.4}).ease(t.Context(), g, 1)
	if err != nil || raised != 0 {
		t.Fatalf("raised %d times, %v", raised, err)
	}
	defer tensor.Free(same)
	for i := range g.n {
		for j, v := range tensor.Row(b, i) {
			if w := tensor.Row(same, i)[j]; math.Abs(float64(v-w)) > 1e-5 {
				t.Errorf("weight %d, %d is %v, with that lambda %v", i, j, v, w)
			}
		}
	}
}

func TestCosine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGram(rt)
		c := MatrixConfig{Lambda: rapid.Float64Range(0, 3).Draw(rt, "lambda"), Neighbours: rapid.IntRange(1, 6).Draw(rt, "neighbours")}
		diagonal := rapid.SliceOfN(rapid.Float64Range(0.1, 5), g.n, g.n).Draw(rt, "diagonal")
		for i := range g.n { // some similarities below 0
			g.row(0)[i], g.row(i)[0] = -g.row(0)[i], -g.row(i)[0]
		}
		b := c.cosine(g, diagonal, 0.5)
		defer tensor.Free(b)
		w := modeltest.Rows(b)
		for j := range g.n {
			kept, least := 0, math.Inf(1)
			of := func(i int) float64 { return g.row(i)[j] / (math.Sqrt(diagonal[i]*diagonal[j]) + c.Lambda*0.5) }
			for i := range g.n {
				if w[i][j] != 0 {
					kept++
					least = math.Min(least, of(i))
					if i == j || math.Abs(w[i][j]-of(i)) > 1e-5*of(i) {
						rt.Fatalf("similarity %d, %d is %g, want %g", i, j, w[i][j], of(i))
					}
				}
			}
			free := 0
			for i := range g.n {
				if i != j && of(i) > 0 {
					free++
					if w[i][j] == 0 && of(i) > least*(1+1e-12) {
						rt.Fatalf("item %d is nearer to %d than what was kept", i, j)
					}
				}
			}
			if kept != min(c.Neighbours, free) {
				rt.Fatalf("%d neighbours of %d, want %d", kept, free, c.Neighbours)
			}
		}
	})
}

// Scores are the user's own row times the weights, and the prior for all items.
func TestScorer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const users, items = 5, 6
		var edges []graph.Edge
		has := [users][items]float64{}
		for u := range users {
			for i := range items {
				if rapid.Bool().Draw(rt, "has") {
					edges, has[u][i] = append(edges, graph.Edge{User: int32(u), Item: int32(i)}), 1
				}
			}
		}
		g, err := graph.NewBipartite(users, items, edges)
		if err != nil {
			rt.Fatal(err)
		}
		rows := []int32{1, 2, 5}
		b := tensor.NewTable(3, 3)
		for e := range 3 {
			for k := range 3 {
				tensor.Row(b, e)[k] = tensor.Float(rapid.Float64Range(-2, 2).Draw(rt, "weight"))
			}
		}
		prior := rapid.SliceOfN(rapid.Float64Range(-1, 1), items, items).Draw(rt, "prior")
		s := newScorer(g, prior, rows, b)
		defer s.Close()
		samples := []int32{4, 0, 0, 2}
		got := modeltest.Rows(modeltest.Score(t, s, samples))
		for k, u := range samples {
			for i := range items {
				want := prior[i]
				for c, j := range rows {
					if int(j) == i {
						for r, from := range rows {
							want += has[u][from] * float64(tensor.Row(b, r)[c])
						}
					}
				}
				if math.Abs(got[k][i]-want) > 1e-5 {
					rt.Fatalf("user %d, item %d: %g, want %g", u, i, got[k][i], want)
				}
			}
		}
		if err := s.Score(nil, []int32{users}, tensor.NewTable(1, items)); err == nil {
			rt.Fatal("a user outside the data")
		}
	})
}

// Users of two groups without a common item: after noise that is small beside 200 users, everyone's best
// item that they lack is of their own group, under both models.
func TestGroupsAreFound(t *testing.T) {
	const users, items = 200, 20
	s := rng.Seed(5).Stream("rows")
	var rows [][]int32
	var edges []graph.Edge
	for u := range users {
		row := s.Perm(items / 2)[:5]
		for k := range row {
			row[k] = 2*row[k] + int32(u%2)
			edges = append(edges, graph.Edge{User: int32(u), Item: row[k]})
		}
		slices.Sort(row)
		rows = append(rows, row)
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	all, ones := make([]int32, items), slices.Repeat([]float64{1}, items)
	for i := range all {
		all[i] = int32(i)
	}
	p := newPlan(all, ones, 5, 1)
	r := &released{items: all, triangle: p.triangle(rows)}
	for e := range r.triangle {
		r.triangle[e] += 0.3 * s.NormFloat64()
	}
	for _, method := range []string{EASE, ItemKNN} {
		c := Default().Model
		c.Neighbours = items
		d, err := c.denoise(t.Context(), r.full(), 0.3)
		if err != nil {
			t.Fatal(err)
		}
		if d.rank < 2 {
			t.Fatalf("%d eigenvalues are left of two groups", d.rank)
		}
		b, _, err := c.ease(t.Context(), d.square, 10)
		if method == ItemKNN {
			tensor.Free(b)
			b = c.cosine(d.square, slices.Repeat([]float64{10}, items), 10)
		}
		if err != nil {
			t.Fatal(err)
		}
		m := newScorer(g, make([]float64, items), all, b)
		for u, row := range modeltest.Rows(modeltest.Score(t, m, modeltest.Everyone(users))) {
			best := -1
			for i, v := range row {
				if !slices.Contains(rows[u], int32(i)) && (best < 0 || v > row[best]) {
					best = i
				}
			}
			if best%2 != u%2 {
				t.Fatalf("%s: the best item of user %d is of the other group", method, u)
			}
		}
		m.Close()
	}
}
