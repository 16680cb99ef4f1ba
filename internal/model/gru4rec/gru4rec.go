// Package gru4rec is GRU4Rec: Hidasi, Karatzoglou, Baltrunas, Tikk,
// "Session-based Recommendations with Recurrent Neural Networks", ICLR 2016,
// arXiv 1511.06939. A gated recurrent unit reads the items of a session in order; x is
// the item at hand, h the state before it and h' the state after it (section 3 there):
//
//	h' = (1-z) ∘ h + z ∘ c           eq. 2
//	z = sigmoid(Wz x + Uz h)         eq. 3
//	c = tanh(W x + U (r ∘ h))        eq. 4
//	r = sigmoid(Wr x + Ur h)         eq. 5
//
// The score of item i is the inner product of the last state and the row of i.
//
// Departures: items enter as rows of a table and not as one-hot vectors; the
// scores use that same table, the "constrained embedding" of Hidasi and
// Karatzoglou, "Recurrent Neural Networks with Top-k Gains for Session-based
// Recommendations", CIKM 2018; the cell has biases; there is no dropout. The
// loss belongs to the program that trains the model.
package gru4rec

import (
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
)

// Cite names the publication.
const Cite = "Hidasi et al., Session-based Recommendations with Recurrent Neural Networks, ICLR 2016, arXiv 1511.06939"

// Config sets the shape of the network.
type Config struct {
	Dim int `yaml:"dim" limit:"1..4096"` // d, width of the vectors of items and of the state

	// width of the states; this key and those below are for protocol leave-one-out only
	Hidden  int     `yaml:"hidden,omitempty"`
	Layers  int     `yaml:"layers,omitempty"`  // number of layers of GRU units
	Dropout float64 `yaml:"dropout,omitempty"` // share of the values of input items set to 0 in training
	Length  int     `yaml:"length,omitempty"`  // number of latest items of a sequence that the network reads
}

// Default returns the width 100, that of the models with which it is compared.
func Default() Config { return Config{Dim: 100} }

// Width returns d.
func (c Config) Width() int { return c.Dim }

// Model is GRU4Rec over items 1..items.
type Model struct {
	Item *autograd.Param // E (items+1, d), row 0 unused
	GRU  *nn.GRUCell     // input d, state d

	walk walk
}

// New returns a model over items 1..items whose parameters init fills by name.
func New(items int, c Config, init nn.Init) *Model {
	return &Model{
		Item: nn.NewTableParam("item", items+1, c.Dim, init),
		GRU:  nn.NewGRUCell("gru", c.Dim, c.Dim, nn.ResetBefore, nn.GateUpdate, init),
	}
}

// Items returns the table of items (items+1, d).
func (m *Model) Items() *autograd.Param { return m.Item }

// Params returns the parameters in a fixed order, the item table first.
func (m *Model) Params() []*autograd.Param {
	return append([]*autograd.Param{m.Item}, m.GRU.Params()...)
}

// Forward returns one vector for each session (B, d), the state after its last item. Its inner products with the rows
// of Item are the scores.
func (m *Model) Forward(t *autograd.Tape, g *graph.Packed) *autograd.Node {
	w := &m.walk
	w.lay(g)
	x := m.GRU.Input(t, t.Rows(m.Item, w.item)) // (positions, 3d), position by position
	return m.GRU.States(t, x, w.start).Gather(w.last)
}

// walk lays out a batch of sessions for reading all of them at once, a position
// at a time. Sessions stand in descending length, so that the sessions with a
// further position are the first ones.
type walk struct {
	order []int32 // sessions of the batch by descending length
	last  []int32 // of each session of the batch: its last position, as an index into item
	item  []int32 // items at position 0 of all sessions, then at position 1, ...
	start []int   // position p holds item[start[p]:start[p+1]]
}

// lay fills w. The items of a session are the source of its first edge and the
// targets of all its edges; a session without edges is its last node.
func (w *walk) lay(g *graph.Packed) {
	length := func(s int32) int { return int(g.EdgeOff[s+1]-g.EdgeOff[s]) + 1 }
	w.order, w.item, w.start = w.order[:0], w.item[:0], append(w.start[:0], 0)
	for s := range int32(g.Len()) {
		w.order = append(w.order, s)
	}
	slices.SortStableFunc(w.order, func(a, b int32) int { return length(b) - length(a) })
	w.last = slices.Grow(w.last[:0], g.Len())[:g.Len()]
	for p := 0; ; p++ {
		for _, s := range w.order {
			if length(s) <= p {
				break
			}
			w.last[s] = int32(len(w.item))
			node := g.Last[s]
			if first := g.EdgeOff[s]; p > 0 {
				node = g.Dst[first+int32(p)-1]
			} else if length(s) > 1 {
				node = g.Src[first]
			}
			w.item = append(w.item, g.Node[node])
		}
		if len(w.item) == w.start[p] {
			return
		}
		w.start = append(w.start, len(w.item))
	}
}
