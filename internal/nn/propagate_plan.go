package nn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/graph"
	"privrec/internal/tensor"
)

// A piece of a layer that a core takes has at least leastEdges and at most mostEdges
// entries, or a row for every edgesPerRow of them. What a core has near it from a piece
// is lost to the next one if another core takes that, so pieces are long; but each core
// should get corePieces, so that all end at about the same time.
const (
	leastEdges  = 4096
	mostEdges   = 32768
	edgesPerRow = 8
	corePieces  = 16
)

// chunkRows is the number of rows processed at a time if nothing is to be done between sum and store.
const chunkRows = 512

// rowGrain is the number of rows that a core handles in passes over whole tables.
const rowGrain = 256

// blockRows is the number of rows that go through noise and normalisation at a time, while they are in the nearest
// cache; blockFloats is the most that they may hold together.
const (
	blockRows   = 16
	blockFloats = 1024
)

// chunk is a range of places of one side.
type chunk struct {
	side   Side
	lo, hi int
}

// plan holds the data that a propagation keeps between calls.
type plan struct {
	graph       *graph.Bipartite
	norm        graph.Normalizer
	cols        int
	left, right []tensor.Float  // factors by node, users first (N)
	tables      []tensor.Matrix // (N, cols), made on demand
	copies      [][2]tensor.Bfloat16
	work        work
	calls       int
	schedule
}

func newPlan(g *graph.Bipartite, norm graph.Normalizer, cols int) (*plan, error) {
	p := &plan{graph: g, norm: norm, cols: cols}
	if err := p.arrange(nil); err != nil {
		return nil, err
	}
	return p, nil
}

func floats(x []float64) []tensor.Float {
	y := make([]tensor.Float, len(x))
	for i, v := range x {
		y[i] = tensor.Float(v)
	}
	return y
}

// table returns the k-th table of all nodes, with undefined content.
func (p *plan) table(k int) tensor.Matrix {
	for len(p.tables) <= k {
		p.tables = append(p.tables, tensor.NewTable(p.graph.Nodes(), p.cols))
	}
	return p.tables[k]
}

func (p *plan) free() {
	for _, m := range p.tables {
		tensor.Free(m)
	}
	for _, sides := range p.copies {
		sides[UserSide].Free()
		sides[ItemSide].Free()
	}
}

// half returns the rows of one side of a table of all nodes.
func (p *plan) half(m tensor.Matrix, side Side) tensor.Matrix {
	if side == UserSide {
		return tensor.RowsView(m, 0, p.graph.Users)
	}
	return tensor.RowsView(m, p.graph.Users, p.graph.Nodes())
}

// part returns the part of one side of a slice by node.
func (p *plan) part(x []tensor.Float, side Side) []tensor.Float {
	if side == UserSide {
		return x[:p.graph.Users]
	}
	return x[p.graph.Users:]
}

// first returns the number of a side's first node.
func (p *plan) first(side Side) int { return int(side) * p.graph.Users }

// size returns the number of nodes of a side.
func (p *plan) size(side Side) int {
	if side == UserSide {
		return p.graph.Users
	}
	return p.graph.Items
}

// begin validates the fields and the tables and prepares a call.
func (p *Propagation) begin(tables [2]tensor.Matrix) (*work, error) {
	g := p.Graph
	switch {
	case g == nil:
		return nil, errors.New("nn: propagation without a graph")
	case p.Layers < 1:
		return nil, fmt.Errorf("nn: propagation of %d layers, want at least 1", p.Layers)
	case len(p.Weights) != p.Layers+1:
		return nil, fmt.Errorf("nn: propagation: %d weights for layers 0 to %d", len(p.Weights), p.Layers)
	case slices.ContainsFunc(p.Weights, func(a float64) bool { return math.IsNaN(a) || math.IsInf(a, 0) }):
		return nil, fmt.Errorf("nn: propagation: weights %v are not finite", p.Weights)
	case p.Bfloat16 && (p.Noise != nil || p.NormalizeRows):
		return nil, errors.New("nn: propagation: two-byte copies with noise or normalised rows: rounding makes rows " +
			"longer")
	case tables[0].Rows != g.Users || tables[1].Rows != g.Items || tables[0].Cols != tables[1].Cols ||
		tables[0].Cols < 1:
		return nil, fmt.Errorf("nn: propagation: tables of %d x %d and %d x %d for %d users and %d items",
			tables[0].Rows, tables[0].Cols, tables[1].Rows, tables[1].Cols, g.Users, g.Items)
	}
	cols := tables[0].Cols
	if p.plan == nil || p.plan.graph != g || p.plan.norm != p.Norm || p.plan.cols != cols {
		p.Close()
		plan, err := newPlan(g, p.Norm, cols)
		if err != nil {
			return nil, err
		}
		p.plan = plan
	}
	p.turn++
	w := &p.plan.work
	w.plan, w.call, w.tables = p.plan, p, tables
	w.frontier, w.placed, w.short = false, false, p.Bfloat16
	if err := w.improve(); err != nil {
		return nil, err
	}
	w.start()
	return w, nil
}

// reach holds the rows and edges within one edge of the batch: the rows that the layer before the last needs, and the
// edges on which gradients come back to them.
type reach struct {
	edges [2]tensor.Pattern // rows: places of a side; columns: the batch's nodes of the other
	ptr   [2][]int64
	idx   [2][]int32
	need  []bool  // by place of both sides (N): in the batch, or next to it
	rank  []int32 // with noise, by needed node: how many needed nodes of its side have lower numbers (N)
	rows  [2]int  // with noise: how many of a side there are
}

// find fills r for the batch of w.
func (r *reach) find(w *work) error {
	n := w.graph.Nodes()
	if len(r.need) != n {
		r.need, r.rank = make([]bool, n), make([]int32, n)
	}
	var errs [2]error
	tensor.Parallel(2, 1, func(side, _, _ int) { errs[side] = r.findSide(w, Side(side)) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// findSide collects, for every place of a side, the batch's nodes next to its node, in ascending order.
func (r *reach) findSide(w *work, side Side) (err error) {
	other := 1 - side
	lists, batch := w.inner[other], w.batch[w.users:]
	if other == UserSide {
		batch = w.batch[:w.users]
	}
	// Counts go two places up, so that filling moves them into the place of offsets.
	n := w.size(side)
	ptr := slices.Grow(r.ptr[side][:0], n+2)[:n+2]
	clear(ptr)
	for _, v := range batch {
		for _, i := range lists.Row(w.place(other, v)) {
			ptr[i+2]++
		}
	}
	for i := 2; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
	total := int(ptr[n+1])
	idx := slices.Grow(r.idx[side][:0], total)[:total]
	for k, v := range batch {
		for _, i := range lists.Row(w.place(other, v)) {
			idx[ptr[i+1]] = int32(k)
			ptr[i+1]++
		}
	}
	r.ptr[side], r.idx[side] = ptr, idx
	base := w.first(side)
	need, slot := r.need[base:base+n], w.slot[base:base+n]
	for i := range need {
		need[i] = ptr[i+1] > ptr[i] || slot[i] != 0
	}
	if w.call.Noise != nil {
		r.count(w, side)
	}
	r.edges[side], err = tensor.NewPattern(len(batch), ptr[:n+1], idx)
	return err
}

// count ranks the needed nodes of a side by their numbers.
func (r *reach) count(w *work, side Side) {
	base, n := w.first(side), 0
	for v, place := range w.placeOf[side] {
		r.rank[base+v] = int32(n)
		if r.need[base+int(place)] {
			n++
		}
	}
	r.rows[side] = n
}

// run returns the first run of places lo..end whose rows are needed, at most block
// rows, and an empty run at the end. base is the first node of the side. A nil reach
// needs all rows.
func (r *reach) run(base, lo, end, block int) (from, to int) {
	if r == nil {
		return lo, min(end, lo+block)
	}
	for lo < end && !r.need[base+lo] {
		lo++
	}
	to = lo
	for to < end && to-lo < block && r.need[base+to] {
		to++
	}
	return lo, to
}
