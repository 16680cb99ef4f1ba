package dpfactor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// cells are small data: a rating of every user for every item, 0 for none.
type cells [][]float32

// build makes the factors of cells.
func (c cells) build(t interface{ Fatal(...any) }, cfg Config) *factors {
	d := &dataset.Interactions{Name: "small", Users: len(c), Items: len(c[0]), Train: make([][]int32, len(c)), Ratings: make([][]float32, len(c))}
	var edges []graph.Edge
	for u, row := range c {
		d.UserIDs = append(d.UserIDs, fmt.Sprint("u", u))
		for i, r := range row {
			if r != 0 {
				d.Train[u], d.Ratings[u] = append(d.Train[u], int32(i)), append(d.Ratings[u], r)
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	for i := range c[0] {
		d.ItemIDs = append(d.ItemIDs, fmt.Sprint("i", i))
	}
	g, err := graph.NewBipartite(len(c), len(c[0]), edges)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFactors(cfg, g, d)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// with returns the cells with another value in one.
func (c cells) with(u, i int, v float32) cells {
	out := make(cells, len(c))
	for k := range c {
		out[k] = slices.Clone(c[k])
	}
	out[u][i] = v
	return out
}

// value returns what a matrix has for a rating.
func value(matrix string, r float32) float64 {
	switch {
	case r == 0:
		return 0
	case matrix == MatrixScaled:
		return float64(r) / 5
	case matrix == MatrixAdjacency:
		return 1
	}
	return float64(r)
}

func drawCells(rt *rapid.T) cells {
	c := make(cells, rapid.IntRange(1, 6).Draw(rt, "users"))
	items := rapid.IntRange(1, 5).Draw(rt, "items")
	for u := range c {
		c[u] = rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 1, 2, 3, 4, 5}), items, items).Draw(rt, "row")
	}
	return c
}

func drawConfig(rt *rapid.T) Config {
	c := DefaultDPMF()
	c.Model.Dim, c.Model.Lambda, c.Model.LambdaUsers = rapid.IntRange(1, 4).Draw(rt, "d"), rapid.SampledFrom([]float64{0.1, 2}).Draw(rt, "lambda"), 0.5
	c.Model.Matrix = rapid.SampledFrom([]string{MatrixRatings, MatrixScaled, MatrixAdjacency}).Draw(rt, "matrix")
	return c
}

// objective is F at given vectors, by its formula: n are the noise vectors of the items.
func objective(c cells, cfg Config, f *factors, n []float64) float64 {
	d, total := cfg.Model.Dim, 0.0
	for u := range c {
		for i, r := range c[u] {
			if r != 0 || cfg.Model.Matrix != MatrixRatings {
				e := value(cfg.Model.Matrix, r) - modeltest.Dot(f.users.row(u, d), f.items.row(i, d))
				total += e * e
			}
		}
		x := f.users.row(u, d)
		total += cfg.Model.LambdaUsers * modeltest.Dot(x, x)
	}
	for i := range c[0] {
		x := f.items.row(i, d)
		total += cfg.Model.Lambda*modeltest.Dot(x, x) + modeltest.Dot(n[i*d:(i+1)*d], x)
	}
	return total
}

// Items' vectors are the exact minimiser of the objective with its noise, for fixed users' vectors.
func TestItemsMinimiseTheObjective(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c, cfg := drawCells(rt), drawConfig(rt)
		f := c.build(rt, cfg)
		f.draw(rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("users"))
		n := rapid.SliceOfN(rapid.Float64Range(-3, 3), len(f.items.x), len(f.items.x)).Draw(rt, "n")
		f.noise = make([]float64, len(n))
		for k, v := range n {
			f.noise[k] = -v / 2
		}
		f.fitItems()
		const step = 1e-4
		for k, v := range f.items.x {
			f.items.x[k] = v + step
			up := objective(c, cfg, f, n)
			f.items.x[k] = v - step
			slope := (up - objective(c, cfg, f, n)) / (2 * step)
			if f.items.x[k] = v; math.Abs(slope) > 1e-6*(1+math.Abs(v)) {
				rt.Fatalf("the objective falls with number %d of the items' vectors: slope %g", k, slope)
			}
		}
	})
}

// Users' vectors minimise it for fixed items' vectors, where they are not shortened.
func TestUsersMinimiseTheObjective(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c, cfg := drawCells(rt), drawConfig(rt)
		f := c.build(rt, cfg)
		d := cfg.Model.Dim
		f.items.x = rapid.SliceOfN(rapid.Float64Range(-3, 3), len(f.items.x), len(f.items.x)).Draw(rt, "items")
		f.fitUsers()
		none := make([]float64, len(f.items.x))
		const step = 1e-4
		for u := range c {
			x := f.users.row(u, d)
			if l := modeltest.Dot(x, x); l > 1 {
				rt.Fatalf("user %d: a vector of squared length %v", u, l)
			} else if l > 1-1e-9 {
				continue
			}
			for k, v := range x {
				x[k] = v + step
				up := objective(c, cfg, f, none)
				x[k] = v - step
				slope := (up - objective(c, cfg, f, none)) / (2 * step)
				if x[k] = v; math.Abs(slope) > 1e-6*(1+math.Abs(v)) {
					rt.Fatalf("user %d: slope %g", u, slope)
				}
			}
		}
	})
}

// neighbours calls yield for every change of one unit of small data.
func neighbours(c cells, matrix string, yield func(other cells, item int)) {
	for u := range c {
		for i, r := range c[u] {
			for v := range 6 {
				there, next := r != 0, v != 0
				if matrix == MatrixRatings && (!there || !next) || matrix != MatrixRatings && there == next {
					continue // a rating's value changes, or an edge comes or goes
				}
				yield(c.with(u, i, float32(v)), i)
			}
		}
	}
}

// The proof on small data, for all neighbours: with users' vectors fixed, a unit moves one row of b
// by at most D; so noise that differs there by as much gives the same items' vectors, and the
// densities of the two differ by a factor of at most exp(epsilon).
func TestOneUnitMovesOneRow(t *testing.T) {
	largest := map[string]float64{}
	rapid.Check(t, func(rt *rapid.T) {
		c, cfg := drawCells(rt), drawConfig(rt)
		cfg.Model.Common = 0
		seed, d := rng.Seed(rapid.Uint64().Draw(rt, "seed")), cfg.Model.Dim
		m, err := cfg.perturbation()
		if err != nil {
			rt.Fatal(err)
		}
		one := c.build(rt, cfg)
		one.draw(seed.Stream("users"))
		sums(&one.items, &one.users, d, one.items.x)
		b := slices.Clone(one.items.x)
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			rt.Fatal(err)
		}
		if err := one.release(l, seed.Stream("noise")); err != nil {
			rt.Fatal(err)
		}
		one.fitItems()
		neighbours(c, cfg.Model.Matrix, func(other cells, item int) {
			two := other.build(rt, cfg)
			two.draw(seed.Stream("users"))
			sums(&two.items, &two.users, d, two.items.x)
			two.noise = make([]float64, len(b))
			loss := 0.0 // of the logarithm of the density
			for i := range c[0] {
				moved, here, there := 0.0, 0.0, 0.0
				for k := i * d; k < (i+1)*d; k++ {
					change := b[k] - two.items.x[k]
					two.noise[k] = one.noise[k] + change
					moved, here, there = moved+change*change, here+one.noise[k]*one.noise[k], there+two.noise[k]*two.noise[k]
				}
				if i != item && moved != 0 {
					rt.Fatalf("a change at item %d moves the row of item %d by %g", item, i, math.Sqrt(moved))
				}
				if moved = math.Sqrt(moved); moved > m.Sensitivity {
					rt.Fatalf("a row moves by %g, want at most %g", moved, m.Sensitivity)
				}
				largest[cfg.Model.Matrix] = max(largest[cfg.Model.Matrix], moved/m.Sensitivity)
				loss += (math.Sqrt(here) - math.Sqrt(there)) / m.Scale
			}
			if math.Abs(loss) > cfg.Privacy.Epsilon*(1+1e-9) {
				rt.Fatalf("a loss of %g, want at most %g", loss, cfg.Privacy.Epsilon)
			}
			two.fitItems()
			for k, v := range two.items.x {
				if math.Abs(v-one.items.x[k]) > 1e-6*(1+math.Abs(v)) {
					rt.Fatalf("other noise of the same output gives %g at %d, want %g", v, k, one.items.x[k])
				}
			}
		})
	})
	for _, matrix := range []string{MatrixRatings, MatrixScaled, MatrixAdjacency} {
		if largest[matrix] < 0.999 {
			t.Errorf("%s: rows move by at most %g of the stated distance", matrix, largest[matrix])
		}
	}
}

// What the account leaves open is there: with trained users' vectors one unit moves other rows too,
// and its own by more than D.
func TestTrainedUsersMoveMore(t *testing.T) {
	c := cells{{5, 4, 0, 1}, {0, 1, 4, 0}, {4, 0, 5, 3}, {0, 3, 0, 2}}
	cfg := DefaultDPNE()
	cfg.Model.Dim, cfg.Model.Lambda, cfg.Model.LambdaUsers, cfg.Model.Rounds = 2, 0.1, 0.1, 2
	before := func(c cells) []float64 { // b without noise, in the last round
		f := c.build(t, cfg)
		f.draw(rng.Seed(3).Stream("users"))
		if err := f.train(t.Context(), func() {}); err != nil {
			t.Fatal(err)
		}
		b := make([]float64, len(f.items.x))
		sums(&f.items, &f.users, 2, b)
		return b
	}
	own, others := 0.0, 0.0
	was := before(c)
	neighbours(c, MatrixAdjacency, func(other cells, item int) {
		b := before(other)
		for i := range c[0] {
			moved := math.Hypot(b[2*i]-was[2*i], b[2*i+1]-was[2*i+1])
			if i == item {
				own = max(own, moved)
			} else {
				others = max(others, moved)
			}
		}
	})
	if own <= 1 || others <= 0.1 {
		t.Errorf("rows move by %g, those of other items by %g: want more than the noise is for", own, others)
	}
}

// Public vectors have length 1 and never more, share their first number, and depend on no data.
func TestPublicVectors(t *testing.T) {
	for _, common := range []float64{0, 0.3, 0.999} {
		cfg := DefaultDPNE()
		cfg.Model.Dim, cfg.Model.Common = 7, common
		a, b := cells{{1, 0}, {0, 1}, {5, 5}}.build(t, cfg), cells{{0, 0}, {0, 0}, {0, 1}}.build(t, cfg)
		a.draw(rng.Seed(1).Stream("users"))
		b.draw(rng.Seed(1).Stream("users"))
		if !slices.Equal(a.users.x, b.users.x) {
			t.Error("the vectors depend on the data")
		}
		for u := range 3 {
			x := a.users.row(u, 7)
			if l := modeltest.Dot(x, x); l > 1 || l < 1-1e-9 || common > 0 && math.Abs(x[0]-common) > 1e-9 {
				t.Errorf("common %v: user %d has squared length %v and begins with %v", common, u, l, x[0])
			}
		}
		if slices.Equal(a.users.row(0, 7), a.users.row(1, 7)) {
			t.Error("two users have one vector")
		}
	}
}

// Noise is recorded before it is drawn, at the scale D/epsilon.
func TestReleaseIsRecorded(t *testing.T) {
	for matrix, want := range map[string]privacy.Event{
		MatrixRatings:   privacy.SphericalLaplace{Scale: 2, Sensitivity: 4, Unit: privacy.Interaction, Neighbouring: privacy.Replace},
		MatrixScaled:    privacy.SphericalLaplace{Scale: 0.5, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
		MatrixAdjacency: privacy.SphericalLaplace{Scale: 0.5, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
	} {
		cfg := DefaultDPMF()
		cfg.Model.Matrix, cfg.Privacy.Epsilon = matrix, 2
		f, l := (cells{{1, 2}}).build(t, cfg), mechanismtest.Ledger(t)
		if err := f.release(l, rng.Seed(1).Stream("noise")); err != nil {
			t.Fatal(err)
		}
		if e := l.Entries(); len(e) != 1 || e[0].Count != 1 || e[0].Event != want {
			t.Errorf("%s: %v, want %v", matrix, e, want)
		}
	}
}

func TestBadRatings(t *testing.T) {
	g, err := graph.NewBipartite(1, 2, []graph.Edge{{User: 0, Item: 1}})
	if err != nil {
		t.Fatal(err)
	}
	d := &dataset.Interactions{Name: "small", Recipe: "r", Train: [][]int32{{1}}, UserIDs: []string{"Ann"}, ItemIDs: []string{"A", "B"}}
	_, err = newFactors(DefaultDPMF(), g, d)
	if usage := (*run.UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), "model.matrix") {
		t.Errorf("without ratings: %v", err)
	}
	for _, r := range []float32{0.5, 5.5, float32(math.NaN())} {
		d.Ratings = [][]float32{{r}}
		_, err = newFactors(DefaultDPMF(), g, d)
		if bad := (*dataset.Error)(nil); !errors.As(err, &bad) || bad.Field != "rating" || !strings.Contains(err.Error(), `user "Ann" rates item "B"`) {
			t.Errorf("rating %v: %v", r, err)
		}
	}
}
