package attribute

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// tree is a binary decision tree. Node 0 is the root.
type tree []node

// node asks whether x[column] <= threshold, and goes left if so. A leaf has the shares of the classes instead.
type node struct {
	column      int32
	threshold   float64
	left, right int32
	shares      []float64 // nil unless a leaf
}

// leaf returns the shares of the classes in the leaf that a row reaches.
func (t tree) leaf(x []tensor.Float) []float64 {
	n := &t[0]
	for n.shares == nil {
		if float64(x[n.column]) <= n.threshold {
			n = &t[n.left]
		} else {
			n = &t[n.right]
		}
	}
	return n.shares
}

// table holds rows in the form that trees need. Trees that grow at the same time share it.
type table struct {
	*training
	columns sparse // column j has the users with a value that is not zero, by value
}

func newTable(t *training) *table {
	columns := sparseOf(t.x).transposed()
	for j := range columns.rows {
		idx, val := columns.row(j)
		if slices.IsSorted(val) {
			continue
		}
		order := make([]int, len(idx))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(val[a], val[b]) })
		idx0, val0 := slices.Clone(idx), slices.Clone(val)
		for k, from := range order {
			idx[k], val[k] = idx0[from], val0[from]
		}
	}
	return &table{t, columns}
}

// grower grows one tree.
type grower struct {
	*table
	weight []int64     // how often a user counts; 0 leaves the user out
	draw   *rng.Stream // of the columns that a node looks at; nil for all columns
	looks  int         // columns that a node looks at
	order  []int32     // columns, permuted by the draws
	inside []int64     // weight of the users in the node being split, else 0
	search search
	tree   tree
}

// grow returns the tree of the weighted users. It splits until a node has one class or its rows are equal, with
// no limit of depth (Breiman et al. 1984, without pruning). looks and draw are as in grower.
func (t *table) grow(ctx context.Context, weight []int64, looks int, draw *rng.Stream) (tree, error) {
	g := &grower{table: t, weight: weight, draw: draw, looks: looks, inside: make([]int64, len(t.class)),
		order: make([]int32, t.columns.rows)}
	for j := range g.order {
		g.order[j] = int32(j)
	}
	g.search.init(t.classes)
	var users []int32
	for u, w := range weight {
		if w > 0 {
			users = append(users, int32(u))
		}
	}
	if err := g.add(ctx, users); err != nil {
		return nil, err
	}
	return g.tree, nil
}

// add appends the subtree of these users.
func (g *grower) add(ctx context.Context, users []int32) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", g.name, context.Cause(ctx))
	}
	at := len(g.tree)
	g.tree = append(g.tree, node{})
	count := g.search.start()
	for _, u := range users {
		count[g.class[u]] += g.weight[u]
	}
	g.search.total()
	s, ok := split{}, false
	if !g.search.pure() {
		s, ok = g.best(users)
	}
	if !ok {
		shares := make([]float64, g.classes)
		for c, n := range count {
			shares[c] = float64(n) / float64(g.search.n)
		}
		g.tree[at].shares = shares
		return nil
	}
	var left, right []int32
	for _, u := range users {
		if float64(g.x.Data[int(u)*g.x.Stride+int(s.column)]) <= s.threshold {
			left = append(left, u)
		} else {
			right = append(right, u)
		}
	}
	g.tree[at] = node{column: s.column, threshold: s.threshold, left: int32(len(g.tree))}
	if err := g.add(ctx, left); err != nil {
		return err
	}
	g.tree[at].right = int32(len(g.tree))
	return g.add(ctx, right)
}

// best returns the best split of the users, or false if their rows are equal in every column. Of equally good splits it
// takes the first column, in the order in which it looks, and the lowest threshold. It looks at all columns in their
// order. With draws it looks at random columns, without replacement, until it has seen looks of them and could split by
// one.
func (g *grower) best(users []int32) (split, bool) {
	for _, u := range users {
		g.inside[u] = g.weight[u]
	}
	best, found := split{}, false
	for k := range g.order {
		if g.draw != nil {
			if k >= g.looks && found {
				break
			}
			at := k + g.draw.IntN(len(g.order)-k)
			g.order[k], g.order[at] = g.order[at], g.order[k]
		}
		j := g.order[k]
		idx, val := g.columns.row(int(j))
		if s, ok := g.search.column(idx, val, g.inside, g.class); ok && (!found || s.gain.above(best.gain)) {
			s.column = j
			best, found = s, true
		}
	}
	for _, u := range users {
		g.inside[u] = 0
	}
	return best, found
}

// fitTree grows one tree that looks at all columns.
func fitTree(ctx context.Context, t *training, _ rng.Stream) (fill, error) {
	weight := make([]int64, len(t.class))
	for u := range weight {
		weight[u] = 1
	}
	grown, err := newTable(t).grow(ctx, weight, 0, nil)
	if err != nil {
		return nil, err
	}
	return func(x tensor.Matrix, p [][]float64) error {
		for i := range p {
			copy(p[i], grown.leaf(tensor.Row(x, i)))
		}
		return nil
	}, nil
}
