package ease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	gramfile "privrec/internal/graph/gram"
	"privrec/internal/progress"
	"privrec/internal/tensor"
)

// Model is a fitted EASE. It implements eval.Scorer, with users as samples. It keeps a reference to the graph. One
// goroutine at a time may call Score.
type Model struct {
	graph   *graph.Bipartite
	byUser  bool          // inverse is K of users, not P of items
	inverse tensor.Matrix // (n, n), n the smaller of users and items
	scale   []float64     // 1/P_jj (items)

	items         *tensor.CSR   // byUser: X' (items, users)
	gather, score tensor.Matrix // byUser: K[:, chunk] (users, chunk) and its product (items, chunk)
}

// Memory returns the size of the model's matrix in bytes, so that a caller can refuse a
// graph that does not fit into memory.
func Memory(g *graph.Bipartite) int64 {
	n := int64(min(g.Users, g.Items))
	const bytes = int64(unsafe.Sizeof(tensor.Float(0)))
	return n * n * bytes
}

// ItemMemory returns the size of Memory for a model from FitGram.
func ItemMemory(g *graph.Bipartite) int64 {
	n := int64(g.Items)
	const bytes = int64(unsafe.Sizeof(tensor.Float(0)))
	return n * n * bytes
}

// Fit returns the model for lambda > 0. It takes the time of inverting a matrix as wide as the smaller of the numbers
// of users and items, which is cubic. It fails if the matrix is not positive definite in the arithmetic of
// tensor.Float, and if ctx ends.
func Fit(ctx context.Context, g *graph.Bipartite, lambda float64) (*Model, error) {
	return FitGram(ctx, g, lambda, nil)
}

// FitGram returns the model of Fit, from a Gram matrix that was counted elsewhere; nil: it is counted here. It inverts
// the matrix of the items, even if there are fewer users. It fails if the matrix has other numbers of users or
// interactions than the graph, or an item has other users.
func FitGram(ctx context.Context, g *graph.Bipartite, lambda float64, counted *gramfile.Reader) (*Model, error) {
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("ease: lambda is %v, want positive and finite", lambda)
	}
	if g.Users == 0 || g.Items == 0 {
		return nil, errors.New("ease: no users or no items")
	}
	m := &Model{graph: g, byUser: g.Users < g.Items && counted == nil, scale: make([]float64, g.Items)}
	n := g.Items
	if m.byUser {
		n = g.Users
	}
	m.inverse = tensor.NewTable(n, n)
	if err := m.fit(ctx, lambda, counted); err != nil {
		m.Close()
		return nil, fmt.Errorf("ease: %w", err)
	}
	return m, nil
}

func (m *Model) fit(ctx context.Context, lambda float64, counted *gramfile.Reader) error {
	rows, cols := m.graph.UsersOf, m.graph.ItemsOf // of X': items x users
	if m.byUser {
		rows, cols = cols, rows
	}
	var err error
	if counted != nil {
		err = m.read(ctx, counted, tensor.Float(lambda))
	} else {
		err = gram(ctx, m.inverse, rows, cols, tensor.Float(lambda))
	}
	if err != nil {
		return err
	}
	if err := Invert(ctx, m.inverse); err != nil {
		return err
	}
	if m.byUser {
		m.items = &tensor.CSR{Rows: m.graph.Items, Cols: m.graph.Users, Ptr: m.graph.ItemPtr, Idx: m.graph.ItemUser,
			Val: ones(m.graph.Edges())}
	}
	return m.weigh(ctx, lambda)
}

// weigh sets the scales of the items from the inverse. It fails if one is not positive, and if ctx ends.
func (m *Model) weigh(ctx context.Context, lambda float64) (bad error) {
	s := progress.Begin(ctx, "weigh items", len(m.scale))
	defer s.End()
	for j := range m.scale {
		s.Add(1)
		if j%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := m.diagonal(j, lambda)
		if m.scale[j] = 1 / p; !(p > 0) || math.IsInf(m.scale[j], 1) {
			bad = errors.Join(bad, fmt.Errorf(
				"item %d has weight %g on itself, want positive: lambda %g is too small for this precision", j, p,
				lambda))
			break
		}
	}
	return bad
}

// Close frees the memory of the model. The model must not be used afterwards.
func (m *Model) Close() {
	for _, t := range []*tensor.Matrix{&m.inverse, &m.gather, &m.score} {
		tensor.Free(*t)
		*t = tensor.Matrix{}
	}
}

func ones(n int) []tensor.Float {
	v := make([]tensor.Float, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// read copies the lower triangle of a given Gram matrix, plus lambda I, into the matrix to invert.
func (m *Model) read(ctx context.Context, counted *gramfile.Reader, lambda tensor.Float) error {
	var bad error
	err := counted.Of(ctx, m.graph, func(i, j int, n int64) {
		v := tensor.Float(n)
		if int64(v) != n && bad == nil {
			bad = fmt.Errorf("%d users have items %d and %d, more than this precision holds", n, i, j)
		}
		tensor.Row(m.inverse, i)[j] = v
	})
	for i := range m.graph.Items {
		tensor.Row(m.inverse, i)[i] += lambda
	}
	return errors.Join(err, bad)
}

// gramRows is the number of rows of the Gram matrix computed between two reports.
const gramRows = 1024

// gram writes the lower triangle of Y Y' + lambda I into a. rows returns the columns of a row of the 0/1 matrix Y, cols
// the rows of a column. It fails if ctx ends.
func gram(ctx context.Context, a tensor.Matrix, rows, cols func(int) []int32, lambda tensor.Float) error {
	s := progress.BeginShares(ctx, fmt.Sprintf("multiply the interactions, %d by %d", a.Rows, a.Rows))
	defer s.End()
	all, done := 0.0, 0.0 // additions
	for i := range a.Rows {
		all += pairsBelow(i, rows, cols)
	}
	for from := 0; from < a.Rows; from += gramRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+gramRows, a.Rows)
		tensor.Parallel(to-from, 16, func(_, lo, hi int) {
			for i := from + lo; i < from+hi; i++ {
				row := tensor.Row(a, i)[:i+1]
				for _, c := range rows(i) {
					for _, j := range cols(int(c)) {
						if int(j) > i {
							break // ascending
						}
						row[j]++
					}
				}
				row[i] += lambda
			}
		})
		for i := from; i < to; i++ {
			done += pairsBelow(i, rows, cols)
		}
		s.Share(done / max(1, all))
	}
	return nil
}

// pairsBelow returns an estimate of the additions for row i of the Gram matrix: for each of its columns the rows up to
// i, as if they were spread evenly.
func pairsBelow(i int, rows, cols func(int) []int32) (n float64) {
	for _, c := range rows(i) {
		of := cols(int(c))
		if last := float64(of[len(of)-1]); last > 0 {
			n += float64(len(of)) * min(1, float64(i)/last)
		}
	}
	return n
}

// diagonal returns P_jj.
func (m *Model) diagonal(j int, lambda float64) float64 {
	if !m.byUser {
		return float64(m.inverse.Data[j*m.inverse.Stride+j])
	}
	users, leverage := m.graph.UsersOf(j), 0.0
	for _, u := range users {
		row := tensor.Row(m.inverse, int(u))
		for _, v := range users {
			leverage += float64(row[v])
		}
	}
	return (1 - leverage) / lambda
}

// Items returns the number of items.
func (m *Model) Items() int { return m.graph.Items }

// Score writes (X B)_uj of every sample u and item j into scores (len(samples), Items()). It fails on a user outside
// the graph.
func (m *Model) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for _, u := range samples {
		if u < 0 || int(u) >= m.graph.Users {
			return fmt.Errorf("ease: user %d is outside 0..%d", u, m.graph.Users-1)
		}
	}
	if m.byUser {
		m.scoreByUser(samples, scores)
	} else {
		m.history(samples).MulDense(scores, m.inverse)
	}
	tensor.Parallel(len(samples), 1, func(_, lo, hi int) {
		for b := lo; b < hi; b++ {
			row := tensor.Row(scores, b)
			for j := range row {
				row[j] = tensor.Float(-float64(row[j]) * m.scale[j])
			}
			for _, i := range m.graph.ItemsOf(int(samples[b])) {
				row[i]++
			}
		}
	})
	return nil
}

// history returns the samples' rows of X.
func (m *Model) history(samples []int32) *tensor.CSR {
	x := &tensor.CSR{Rows: len(samples), Cols: m.graph.Items, Ptr: make([]int64, 1, len(samples)+1)}
	for _, u := range samples {
		x.Idx = append(x.Idx, m.graph.ItemsOf(int(u))...)
		x.Ptr = append(x.Ptr, int64(len(x.Idx)))
	}
	x.Val = ones(len(x.Idx))
	return x
}

// scoreByUser writes K[samples] X into scores, as the transpose of X' K[:, samples].
func (m *Model) scoreByUser(samples []int32, scores tensor.Matrix) {
	if m.gather.Cols < len(samples) {
		tensor.Free(m.gather)
		tensor.Free(m.score)
		m.gather, m.score = tensor.NewTable(m.graph.Users, len(samples)), tensor.NewTable(m.graph.Items, len(samples))
	}
	k, s := tensor.ColsView(m.gather, 0, len(samples)), tensor.ColsView(m.score, 0, len(samples))
	const tile = 256
	tensor.Parallel(m.graph.Users, tile, func(_, lo, hi int) {
		for b, u := range samples {
			row := tensor.Row(m.inverse, int(u)) // K is symmetric
			for v := lo; v < hi; v++ {
				k.Data[v*k.Stride+b] = row[v]
			}
		}
	})
	m.items.MulDense(s, k)
	tensor.Parallel(m.graph.Items, tile, func(_, lo, hi int) {
		for b := range samples {
			row := tensor.Row(scores, b)
			for j := lo; j < hi; j++ {
				row[j] = s.Data[j*s.Stride+b]
			}
		}
	})
}
