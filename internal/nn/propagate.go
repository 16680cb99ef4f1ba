package nn

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/tensor"
)

// Side names the users or the items.
type Side uint8

// The sides of a bipartite graph.
const (
	UserSide Side = iota
	ItemSide
)

// LayerNoise adds noise to the aggregates of a propagation, layer by layer, before rows are normalised. An error of a
// method ends the propagation.
type LayerNoise interface {
	// Begin opens layer 1 <= layer <= Layers. rows says how many rows of each side
	// will be added to, cols how long a row is.
	Begin(layer int, rows [2]int, cols int) error
	// Add perturbs some consecutive rows, between Begin and End and from several goroutines. Every row is passed in
	// exactly one call. The rows are of nodes first, first+1, ... of the side. Among the nodes of the side that are
	// passed at all, in ascending order, they have the numbers rank, rank+1, ...; without a frontier all nodes are
	// passed and rank equals first. The noise of a row may depend on the layer, the side, the node and the step, but
	// not on how the rows are cut into calls.
	Add(layer int, side Side, first, rank int, rows []tensor.Float) error
	// End closes the layer.
	End(layer int) error
}

// Propagation is the layered aggregation of LightGCN (He et al. 2020, eqs. 3-4)
// and of RDP-GCF (eqs. 6-10), forward and backward:
//
//	X[0] = E, or its rows divided by their norms
//	V[l] = A~ X[l-1] (+ noise)        A~ = diag(left) A diag(right), both directions
//	X[l] = V[l], or its rows divided by their norms
//	Z    = sum of Weights[l] X[l] over l = 0..Layers
//
// Rows shorter than 1e-30 count as zero and stay as they are. Normalised rows are
// never longer than 1, rounding included. The gradient treats the noise as a
// constant.
//
// Exported fields may change between calls. Big tables are kept from call to
// call; Close frees them. One goroutine at a time may use a Propagation. Results
// do not depend on the number of workers.
type Propagation struct {
	Graph         *graph.Bipartite
	Norm          graph.Normalizer
	Layers        int       // at least 1
	Weights       []float64 // of layers 0..Layers
	NormalizeRows bool
	Noise         LayerNoise // nil: none
	// Frontier computes only rows that the batch depends on: the rows of the batch at the last layer and their
	// neighbours at the layer before. Values and gradients are the same. Noise is drawn only for the computed rows.
	Frontier bool
	// Bfloat16 makes Rows and Product gather from copies in two-byte numbers, which halves the bytes moved. For Rows,
	// V[l] = A~ round(X[l-1]), and the gradient flows back through rounded copies too, except at the last layer. Sums,
	// Z and the gradients of the tables are not rounded, and neither are All and Each. It excludes noise and
	// NormalizeRows: rounding makes rows longer.
	Bfloat16 bool

	plan *plan
	turn int // calls so far: a later one invalidates what an earlier one kept for its backward
}

// EvenWeights returns the weight 1/(1+layers) for each layer 0..layers.
func EvenWeights(layers int) []float64 {
	w := make([]float64, layers+1)
	for l := range w {
		w[l] = 1 / float64(layers+1)
	}
	return w
}

// Rows returns the rows of Z for the nodes of a batch, (len(batchUsers), d) and (len(batchItems), d); nodes may repeat.
// users and items are the tables E, and get dense gradients. The backward of the result must run before the next call
// of a method of p. Rows fails on shapes that do not fit the graph, on nodes outside it, and if the noise fails.
func (p *Propagation) Rows(t *autograd.Tape, users, items *autograd.Param, batchUsers,
	batchItems []int32) (zu, zi *autograd.Node, err error) {
	w, err := p.begin([2]tensor.Matrix{users.Value, items.Value})
	if err != nil {
		return nil, nil, err
	}
	if err := w.admit(batchUsers, batchItems); err != nil {
		return nil, nil, err
	}
	leaves := [2]*autograd.Node{t.Use(users), t.Use(items)}
	w.frontier, w.placed = p.Frontier, true
	if err := w.forward(); err != nil {
		return nil, nil, err
	}
	y := t.Fused("propagate", len(w.at), w.cols, leaves[0], leaves[1])
	w.output(y.V)
	turn := p.turn
	y = t.Custom("propagate", y, func() {
		if p.turn != turn {
			panic(&autograd.Error{Op: "propagate", Message: "backward after another call of the same propagation",
				Params: []string{users.Name, items.Name}})
		}
		p.turn++ // the memory that backward needs is overwritten
		w.backward(t, leaves, y.G)
	})
	return y.SliceRows(0, len(batchUsers)), y.SliceRows(len(batchUsers), len(w.at)), nil
}

// All computes every row of Z, without gradient: zUsers (Users, d) and zItems
// (Items, d) from the tables users and items of the same shapes.
func (p *Propagation) All(users, items, zUsers, zItems tensor.Matrix) error {
	if zUsers.Rows != users.Rows || zUsers.Cols != users.Cols || zItems.Rows != items.Rows ||
		zItems.Cols != items.Cols {
		return fmt.Errorf("nn: propagation of %d x %d and %d x %d into %d x %d and %d x %d", users.Rows, users.Cols,
			items.Rows, items.Cols, zUsers.Rows, zUsers.Cols, zItems.Rows, zItems.Cols)
	}
	return p.Each(users, items, func(layer int, x tensor.Matrix) error {
		a := tensor.Float(p.Weights[layer])
		tensor.Parallel(x.Rows, rowGrain, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				z := zUsers
				k := v
				if v >= users.Rows {
					z, k = zItems, v-users.Rows
				}
				if layer == 0 {
					tensor.ScaleTo(a, tensor.Row(z, k), tensor.Row(x, v))
				} else {
					tensor.Axpy(a, tensor.Row(x, v), tensor.Row(z, k))
				}
			}
		})
		return nil
	})
}

// Each computes every row of every layer and calls visit layer after layer with X[l] (Users+Items, d), users first,
// which is valid until visit returns and must not be changed. Noise is drawn for all rows of layers 1..Layers. Each
// stops at the first error of visit and returns it.
func (p *Propagation) Each(users, items tensor.Matrix, visit func(layer int, x tensor.Matrix) error) error {
	w, err := p.begin([2]tensor.Matrix{users, items})
	if err != nil {
		return err
	}
	w.short = false
	return w.each(visit)
}

// Product aggregates once, without noise, norms or weights: toUsers (Users, d)
// becomes A~ items and toItems (Items, d) A~ users. They must not overlap the
// tables.
func (p *Propagation) Product(users, items, toUsers, toItems tensor.Matrix) error {
	if toUsers.Rows != users.Rows || toUsers.Cols != users.Cols || toItems.Rows != items.Rows ||
		toItems.Cols != items.Cols {
		return fmt.Errorf("nn: product of %d x %d and %d x %d into %d x %d and %d x %d", users.Rows, users.Cols,
			items.Rows, items.Cols, toUsers.Rows, toUsers.Cols, toItems.Rows, toItems.Cols)
	}
	w, err := p.begin([2]tensor.Matrix{users, items})
	if err != nil {
		return err
	}
	w.product(w.entries(), [2]tensor.Matrix{toUsers, toItems})
	return nil
}

// Close frees the tables of p. p may be used again.
func (p *Propagation) Close() {
	p.turn++
	if p.plan != nil {
		p.plan.free()
		p.plan = nil
	}
}
