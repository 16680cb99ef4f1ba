package ials

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/progress"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Options sets the objective and the number of rounds.
type Options struct {
	Dim        int     // d
	Rounds     int     // each solves all users, then all items
	Unobserved float64 // alpha0, the weight of every pair
	Lambda     float64 // of the penalty
	Exponent   float64 // nu, of the numbers of pairs in the penalty
	Std        float64 // of the first vectors, times 1/sqrt(d)
}

// Model holds the vectors of users (users, d) and items (items, d).
type Model struct {
	Users, Items tensor.Matrix
}

// Close frees the memory of the model.
func (m *Model) Close() {
	tensor.Free(m.Users)
	tensor.Free(m.Items)
	*m = Model{}
}

// Fit returns the minimiser of the objective over the pairs of g. The stream draws the first vectors. Fit fails if a
// row's equations are not positive definite in the arithmetic of tensor.Float, and if ctx ends.
func Fit(ctx context.Context, g *graph.Bipartite, o Options, s rng.Stream) (*Model, error) {
	if err := o.check(g); err != nil {
		return nil, err
	}
	m := &Model{tensor.NewTable(g.Users, o.Dim), tensor.NewTable(g.Items, o.Dim)}
	draw(m.Items, o.Std/math.Sqrt(float64(o.Dim)), s.Sub(0))
	users := newSide("user", m.Users, m.Items, g.ItemsOf)
	items := newSide("item", m.Items, m.Users, g.UsersOf)
	if err := o.alternate(ctx, users, items); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// check returns an error for options that have no minimiser.
func (o Options) check(g *graph.Bipartite) error {
	switch {
	case g.Users == 0 || g.Items == 0:
		return fmt.Errorf("ials: %d users and %d items", g.Users, g.Items)
	case o.Dim < 1 || o.Rounds < 1:
		return fmt.Errorf("ials: width %d and %d rounds, want at least 1", o.Dim, o.Rounds)
	}
	for _, x := range []struct {
		name  string
		value float64
		zero  bool
	}{{"the weight of all pairs", o.Unobserved, true}, {"lambda", o.Lambda, false}, {"the exponent", o.Exponent, true},
		{"the standard deviation", o.Std, false}} {
		if !(x.value > 0 || x.zero && x.value == 0) || math.IsInf(x.value, 1) {
			return fmt.Errorf("ials: %s is %v, want positive and finite", x.name, x.value)
		}
	}
	return nil
}

// draw fills a table with normal numbers, row by row.
func draw(x tensor.Matrix, std float64, s rng.Stream) {
	for i := range x.Rows {
		for k := range x.Cols {
			x.Data[i*x.Stride+k] = tensor.Float(std * s.NormFloat64())
		}
	}
}

// alternate runs the rounds.
func (o Options) alternate(ctx context.Context, users, items side) error {
	p := progress.Begin(ctx, "alternate between users and items", 2*o.Rounds+1)
	defer p.End()
	for n := range 2*o.Rounds + 1 {
		s := users
		if n%2 == 1 {
			s = items
		}
		if err := o.solve(ctx, s); err != nil {
			return err
		}
		p.Add(1)
	}
	return nil
}
