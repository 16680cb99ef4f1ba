package dpfactor

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// side holds the vectors of the users or of the items, and the cells that each is fitted to.
type side struct {
	n      int
	cells  func(k int) []int32     // of row k: rows of the other side
	values func(k, at int) float64 // of row k's cell at a place of cells
	x      []float64               // (n, d)
}

// row returns vector k.
func (s *side) row(k, d int) []float64 { return s.x[k*d : (k+1)*d] }

// factors holds the state of a factorisation.
type factors struct {
	cfg          Config
	users, items side
	noise        []float64 // -n/2 of every item (items, d); nil: none yet
}

// newFactors returns the factorisation of the cells of a graph, with ratings if the matrix has them.
func newFactors(c Config, g *graph.Bipartite, d *dataset.Interactions) (*factors, error) {
	f := &factors{cfg: c,
		users: side{n: g.Users, cells: g.ItemsOf, x: make([]float64, g.Users*c.Model.Dim)},
		items: side{n: g.Items, cells: g.UsersOf, x: make([]float64, g.Items*c.Model.Dim)}}
	one := func(int, int) float64 { return 1 }
	f.users.values, f.items.values = one, one
	if c.Model.Matrix == MatrixAdjacency {
		return f, nil
	}
	if d.Ratings == nil {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"model.matrix: %s needs ratings, which recipe %q of %s does not keep", c.Model.Matrix, d.Recipe, d.Name),
			Fix: "take recipe gerai, or model.matrix=" + MatrixAdjacency}
	}
	by := 1.0
	if c.Model.Matrix == MatrixScaled {
		by = highestRating
	}
	ofUser, ofItem, next := make([]float64, 0, g.Edges()), make([]float64, g.Edges()), make([]int64, g.Items)
	for u, ratings := range d.Ratings {
		for k, r := range ratings {
			item := d.Train[u][k]
			if !(r >= lowestRating && r <= highestRating) {
				return nil, &dataset.Error{File: d.Name, Field: "rating",
					Msg: fmt.Sprintf("user %q rates item %q with %v, want %d to %d: the noise is for that range",
						d.UserIDs[u], d.ItemIDs[item], r, lowestRating, highestRating)}
			}
			ofUser = append(ofUser, float64(r)/by)
			ofItem[g.ItemPtr[item]+next[item]] = float64(r) / by // users ascend within an item
			next[item]++
		}
	}
	f.users.values = func(k, at int) float64 { return ofUser[g.UserPtr[k]+int64(at)] }
	f.items.values = func(k, at int) float64 { return ofItem[g.ItemPtr[k]+int64(at)] }
	return f, nil
}

// draw sets users' vectors that do not depend on the data: uniform directions of length 1, after the common number if
// there is one.
func (f *factors) draw(s rng.Stream) {
	d, common := f.cfg.Model.Dim, f.cfg.Model.Common
	for u := range f.users.n {
		x, from := f.users.row(u, d), 0
		if common > 0 {
			x[0], from = common, 1
		}
		sum := 0.0
		for sum == 0 {
			for k := from; k < d; k++ {
				x[k] = s.NormFloat64()
				sum += x[k] * x[k]
			}
		}
		by := math.Sqrt((1 - common*common) / sum)
		for k := from; k < d; k++ {
			x[k] *= by
		}
		shorten(x)
	}
}

// shorten scales a vector to length 1 if it is longer, never above 1 after rounding.
func shorten(x []float64) {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	if sum <= 1-0x1p-40 {
		return
	}
	by := (1 - 0x1p-40) / math.Sqrt(sum)
	for k := range x {
		x[k] *= by
	}
}

// sums writes b without noise, sum_u m_ui u, for every row of a side.
func sums(s, other *side, d int, b []float64) {
	clear(b)
	tensor.Parallel(s.n, 16, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			row := b[k*d : (k+1)*d]
			for at, o := range s.cells(k) {
				v := s.values(k, at)
				for j, x := range other.row(int(o), d) {
					row[j] += v * x
				}
			}
		}
	})
}

// fit sets every vector of a side to the exact minimiser for those of the other side, by its normal equations. b holds
// their right sides and becomes the vectors.
func (f *factors) fit(s, other *side, lambda float64) {
	d := f.cfg.Model.Dim
	if f.cfg.Model.Matrix != MatrixRatings { // one matrix for all
		a := newSquare(d)
		a.reset(lambda)
		for k := range other.n {
			a.add(other.row(k, d))
		}
		a.factor()
		tensor.Parallel(s.n, 16, func(_, lo, hi int) {
			for k := lo; k < hi; k++ {
				a.solve(s.row(k, d))
			}
		})
		return
	}
	tensor.Parallel(s.n, 4, func(_, lo, hi int) {
		a := newSquare(d)
		for k := lo; k < hi; k++ {
			a.reset(lambda)
			for _, o := range s.cells(k) {
				a.add(other.row(int(o), d))
			}
			a.factor()
			a.solve(s.row(k, d))
		}
	})
}

// fitItems fits the items' vectors to those of the users, with the noise.
func (f *factors) fitItems() {
	sums(&f.items, &f.users, f.cfg.Model.Dim, f.items.x)
	for k, v := range f.noise {
		f.items.x[k] += v
	}
	f.fit(&f.items, &f.users, f.cfg.Model.Lambda)
}

// fitUsers fits every user's vector to the items' vectors and the user's own cells.
func (f *factors) fitUsers() {
	sums(&f.users, &f.items, f.cfg.Model.Dim, f.users.x)
	f.fit(&f.users, &f.items, f.cfg.Model.LambdaUsers)
	for u := range f.users.n {
		shorten(f.users.row(u, f.cfg.Model.Dim))
	}
}

// perturbation returns the mechanism of the noise n_i/2 on the items' linear terms.
func (c Config) perturbation() (channel.SphericalLaplace, error) {
	scale, err := channel.LaplaceScale(c.Privacy.Epsilon, c.distance())
	of := c.unit()
	return channel.SphericalLaplace{Purpose: purposeObjective, Scale: scale, Sensitivity: c.distance(), Unit: of.Unit,
		Neighbouring: of.Neighbouring}, err
}

// purposeObjective names the noise in ledgers and streams.
const purposeObjective = "items' linear terms"

// release draws the noise of the objective, once.
func (f *factors) release(l *privacy.Ledger, s rng.Stream) error {
	m, err := f.cfg.perturbation()
	if err != nil {
		return err
	}
	noise, err := channel.OpenSphericalLaplace[float64](m, l, s)
	if err != nil {
		return err
	}
	f.noise = make([]float64, f.items.n*f.cfg.Model.Dim)
	if err := noise.Perturb(f.noise, f.cfg.Model.Dim, 1, 0); err != nil {
		return err
	}
	return noise.Check()
}

// train alternates between items and users. It ends with users' own vectors.
func (f *factors) train(ctx context.Context, done func()) error {
	for round := range f.cfg.Model.Rounds {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w at round %d: %w", run.ErrInterrupted, round, err)
		}
		f.fitItems()
		f.fitUsers()
		done()
	}
	return nil
}

// table returns a side's vectors as a table to rank by.
func (f *factors) table(s *side) tensor.Matrix {
	t := tensor.NewTable(s.n, f.cfg.Model.Dim)
	for k := range s.n {
		row := tensor.Row(t, k)
		for j, v := range s.row(k, f.cfg.Model.Dim) {
			row[j] = tensor.Float(v)
		}
	}
	return t
}
