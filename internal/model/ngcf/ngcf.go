// Package ngcf is NGCF: Wang, He, Wang, Feng, Chua, "Neural Graph Collaborative
// Filtering", SIGIR 2019, arXiv 1905.08108. A layer adds up the messages of the
// neighbours and of the node itself, of one node (eq. 3 to 6) or of all (eq. 7):
//
//	m_ui = (W1 e_i + W2 (e_i ∘ e_u)) / sqrt(|N(u)| |N(i)|),  m_uu = W1 e_u    eq. 3
//	e_u^(1) = LeakyReLU(m_uu + sum over i in N(u) of m_ui)                    eq. 4
//	E^(l) = LeakyReLU((L + I) E^(l-1) W1 + (L E^(l-1)) ∘ E^(l-1) W2)          eq. 7
//	e_u* = e_u^(0) | e_u^(1) | ... side by side,  y_ui = e_u* · e_i*          eq. 9, 10
//
// What is computed here, with the rows of a layer after the first as e_u^(l)/|e_u^(l)| in
// e_u*, is
//
//	S = Lap E;  E' = LeakyReLU(S W1 + b1 + (E ∘ S) W2 + b2)
//
// Departures, as in the released program: Lap is (A + I) with rows that sum to 1, not the
// symmetric L of eq. 8, so that a node itself is also in the product with W2; there are
// biases; the rows of e_u* have length 1 in every layer, while a layer hands on rows that
// are not normalised; node dropout drops entries of Lap, once a step for all layers; and the
// penalty is on the final vectors. The program takes LeakyReLU of each of the two terms of
// a layer; here LeakyReLU is that of their sum, as eq. 4 and 7 print.
package ngcf

import (
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Cite names the publication.
const Cite = "Wang et al., Neural Graph Collaborative Filtering, SIGIR 2019, arXiv 1905.08108"

// slope is the slope of LeakyReLU below 0.
const slope = 0.2

// shortest is the length below which a row is divided by this number instead of its length.
const shortest = 1e-12

// Config holds the shape of the model.
type Config struct {
	Dim            int     // d, the width of the tables and of every layer, at least 1
	Layers         int     // at least 1
	MessageDropout float64 // probability of dropping a value that a layer puts out, in [0,1)
	NodeDropout    float64 // probability of dropping an entry of Lap, in [0,1)
}

// Model is NGCF over a graph.
type Model struct {
	User *autograd.Param // e_u^(0) (users, d)
	Item *autograd.Param // e_i^(0) (items, d)
	Sum  []*nn.Linear    // W1, b1 of every layer (d, d)
	Bi   []*nn.Linear    // W2, b2 of every layer (d, d)

	c    Config
	seed rng.Seed
	lap  *laplacian
	net  *network
}

// New returns a model whose parameters init fills by name. The seed decides what is dropped. It fails on a setting of
// Config out of its range.
func New(g *graph.Bipartite, c Config, seed rng.Seed, init nn.Init) (*Model, error) {
	for _, p := range []float64{c.MessageDropout, c.NodeDropout} {
		if !(p >= 0 && p < 1) {
			return nil, fmt.Errorf("ngcf: dropout of %v, want one in [0,1)", p)
		}
	}
	if c.Dim < 1 || c.Layers < 1 {
		return nil, fmt.Errorf("ngcf: %d layers of width %d, want at least 1 of each", c.Layers, c.Dim)
	}
	lap, err := newLaplacian(g)
	if err != nil {
		return nil, err
	}
	m := &Model{
		User: nn.NewTableParam("user", g.Users, c.Dim, init),
		Item: nn.NewTableParam("item", g.Items, c.Dim, init),
		c:    c, seed: seed, lap: lap,
	}
	for l := range c.Layers {
		m.Sum = append(m.Sum, nn.NewLinear(fmt.Sprintf("sum%d", l+1), c.Dim, c.Dim, true, init))
		m.Bi = append(m.Bi, nn.NewLinear(fmt.Sprintf("bi%d", l+1), c.Dim, c.Dim, true, init))
	}
	m.net = newNetwork(m)
	return m, nil
}

// Params returns the parameters in a fixed order, the tables first.
func (m *Model) Params() []*autograd.Param {
	p := []*autograd.Param{m.User, m.Item}
	for l := range m.Sum {
		p = append(p, nn.Params(m.Sum[l], m.Bi[l])...)
	}
	return p
}

// Encode implements bpr.Encoder: it returns and penalises the final vectors, (layers+1) d
// wide. Their backward must run before the next call of a method. It fails on a user or an
// item outside the graph.
func (m *Model) Encode(t *autograd.Tape, step int, users, items []int32) (bpr.Encoded, error) {
	for side, batch := range [2][]int32{users, items} {
		for _, v := range batch {
			if v < 0 || int(v) >= m.params(side).Rows {
				return bpr.Encoded{}, fmt.Errorf("ngcf: %s %d is outside 0..%d", [2]string{"user", "item"}[side], v,
					m.params(side).Rows-1)
			}
		}
	}
	raw := m.net.rows(t, step, users, items) // (len(users)+len(items), (layers+1) d)
	u, p := m.vectors(raw.SliceRows(0, len(users))), m.vectors(raw.SliceRows(len(users), raw.Rows()))
	return bpr.Encoded{Users: u, Items: p, Penalised: []*autograd.Node{u, p}}, nil
}

// vectors returns the final vectors of raw rows: the row of the table, then the rows of the layers, each divided by its
// length.
func (m *Model) vectors(raw *autograd.Node) *autograd.Node {
	d := m.c.Dim
	var rest []*autograd.Node
	for l := 1; l <= m.c.Layers; l++ {
		rest = append(rest, raw.SliceCols(l*d, (l+1)*d).NormalizeRows(1, shortest))
	}
	return raw.SliceCols(0, d).ConcatCols(rest...)
}

// All returns the final vectors of all users (users, (layers+1) d) and items
// (items, (layers+1) d), without dropout, valid until the next call of a method.
func (m *Model) All() (users, items tensor.Matrix) {
	z := m.net.all()
	return z[0], z[1]
}

// laplacian holds Lap, (A + I) of a bipartite graph with rows that sum to 1, in its blocks,
// users then items, with the entries that a step keeps.
type laplacian struct {
	to   [2]*tensor.CSR    // rows of a side, columns of the other one
	back [2]*tensor.CSR    // their transposes
	own  [2]tensor.Matrix  // the diagonal (nodes, 1)
	at   [2]tensor.Pattern // where the entries of to[side] are, and of back[1-side]

	across [2][]int32        // index in the other direction's order of every entry of to[side]
	whole  [2][]tensor.Float // 1/(degree+1) of every node
	full   bool              // nothing is dropped
	kept   []uint64
}

func newLaplacian(g *graph.Bipartite) (*laplacian, error) {
	l := &laplacian{}
	ptr, idx := [2][]int64{g.UserPtr, g.ItemPtr}, [2][]int32{g.UserItem, g.ItemUser}
	nodes := [2]int{g.Users, g.Items}
	for side := range 2 {
		other := 1 - side
		at, err := tensor.NewPattern(nodes[other], ptr[side], idx[side])
		if err != nil {
			return nil, fmt.Errorf("ngcf: %w", err)
		}
		l.at[side] = at
		values := func() []tensor.Float { return make([]tensor.Float, len(idx[side])) }
		l.to[side] = &tensor.CSR{Rows: nodes[side], Cols: nodes[other], Ptr: ptr[side], Idx: idx[side], Val: values()}
		l.back[side] = &tensor.CSR{Rows: nodes[other], Cols: nodes[side], Ptr: ptr[other], Idx: idx[other],
			Val: values()}
		l.own[side] = tensor.New(nodes[side], 1)
		l.whole[side] = make([]tensor.Float, nodes[side])
		l.across[side] = make([]int32, len(idx[side]))
		next := slices.Clone(ptr[other])
		for v := range nodes[side] {
			l.whole[side][v] = tensor.Float(1 / float64(ptr[side][v+1]-ptr[side][v]+1))
			for e := ptr[side][v]; e < ptr[side][v+1]; e++ {
				k := &next[idx[side][e]]
				l.across[side][e] = int32(*k)
				*k++
			}
		}
	}
	return l, nil
}

// mul computes rows of Lap times the rows of the other side.
func (l *laplacian) mul(side, lo, hi int, x, dst tensor.Matrix) {
	l.at[side].MulRows(lo, hi, l.to[side].Val, x, dst)
}

// mulBack computes rows of the transpose of Lap times the rows of the other side.
func (l *laplacian) mulBack(side, lo, hi int, x, dst tensor.Matrix) {
	l.at[side].MulRows(lo, hi, l.back[1-side].Val, x, dst)
}

// drop fills in the entries of a step. In training each is dropped with probability p and the others are divided by
// 1-p; in evaluation all stay unchanged.
func (l *laplacian) drop(training bool, p float64, stream rng.Stream) {
	if !training {
		p = 0
	}
	if p == 0 && l.full {
		return
	}
	l.full = p == 0
	keep := tensor.Float(1 / (1 - p))
	for side := range 2 {
		to, back, whole, edges := l.to[side], l.back[side], l.whole[side], len(l.to[side].Val)
		kept := l.draw(stream.Sub(uint64(side), 0), edges, p)
		// Multiplies by 0 or 1 instead of branching, since no branch predictor could guess.
		tensor.Parallel(to.Rows, dropGrain, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				w, first := keep*whole[v], uint(to.Ptr[v])
				for k := range to.Val[first:to.Ptr[v+1]] {
					to.Val[first+uint(k)] = w * bit(kept, first+uint(k))
				}
			}
		})
		across := l.across[1-side]
		tensor.Parallel(edges, edgesPerNode*dropGrain, func(_, lo, hi int) {
			for f := lo; f < hi; f++ {
				back.Val[f] = keep * whole[back.Idx[f]] * bit(kept, uint(across[f]))
			}
		})
		kept = l.draw(stream.Sub(uint64(side), 1), to.Rows, p)
		for v := range to.Rows {
			l.own[side].Data[v] = keep * whole[v] * bit(kept, uint(v))
		}
	}
}

// bit returns bit i of words as 0 or 1.
func bit(words []uint64, i uint) tensor.Float {
	return tensor.Float(int64(words[i/64] >> (i % 64) & 1))
}

// A core processes dropGrain nodes at a time, or as many entries as about that many nodes have.
const (
	dropGrain    = 1024
	edgesPerNode = 16
)

// draw returns a bit for each of n values, 0 for the dropped ones.
func (l *laplacian) draw(stream rng.Stream, n int, p float64) []uint64 {
	words := (n + 63) / 64
	l.kept = slices.Grow(l.kept[:0], words)[:words]
	stream.KeepBits(l.kept, p)
	return l.kept
}
