package dipsgnn

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/tensor"
)

// EdgeRand returns the setting of Table 2's baseline with noise on the graph instead of the aggregated messages (after
// Wu, Long, Zhang, Li, "LinkTeller", IEEE S&P 2022, whose EdgeRand flips bits; for counts the paper takes Gaussian
// noise and says no more). Every entry of a session's matrix of counts, n x n for n items, gets noise once, before
// training:
//
//	A~_out = A_out + N(0, sigma_A²),  A~_in = A~_out',  sigma_A = 1/mu with theorem 4.2's mu for eps2
//
// All epochs, both directions, every propagation step and the backward pass read the released matrix: what follows a
// release is post-processing. A prefix is a release of its own. One noisy graph of a user's whole history would cost
// less, but it has the edge to every label.
func EdgeRand() Config {
	c := Default()
	c.Profile = "edgerand"
	c.Model.Normalise = NormaliseNone
	c.Privacy.Transitions.NoiseOn = NoiseOnEdges
	return c
}

// graphNoise holds the released graphs of the prefixes of some sequences. Each prefix is released once, and its noise
// is drawn again wherever it is read: on MovieLens-1M the graphs have some 400 million entries.
type graphNoise struct {
	channel *channel.Channel[tensor.Float]
	first   []int32 // id of the prefix of length 1 of every sequence; that of length l is l-1 more
}

// graphCols is the length of a row of noise. The entries of a matrix fill rows; the end of the last row is unused.
const graphCols = 64

// noiseRows returns the number of rows that the n x n entries of a matrix fill.
func noiseRows(n int) int { return (n*n + graphCols - 1) / graphCols }

// graphsAtOnce is the number of prefixes in one call of the mechanism.
const graphsAtOnce = 256

// newGraphNoise releases the graphs of samples of the sequences. It records their events in a ledger, with the number
// of prefixes that the worst edge is in as the bound for one unit.
func newGraphNoise(purpose string, sigma float64, sequences [][]int32, samples dataset.Samples,
	p *protection) (*graphNoise, error) {
	g := &graphNoise{first: make([]int32, len(sequences))}
	at := int32(0)
	for u, s := range sequences {
		g.first[u], at = at, at+int32(len(s))
	}
	counts, err := CountPrefixes(samples.User, samples.Length)
	if err != nil {
		return nil, err
	}
	law := channel.Gaussian{Purpose: purpose, Sigma: sigma, Sensitivity: 1, Unit: privacy.Edge,
		Neighbouring: privacy.AddRemove, Share: share}
	if err := p.once.Bound(purpose, max(1, counts.Edge)); err != nil {
		return nil, err
	}
	noise, err := p.stream(purpose)
	if err != nil {
		return nil, err
	}
	if g.channel, err = channel.Open[tensor.Float](law, p.once, noise); err != nil {
		return nil, err
	}
	distinct := distincts(sequences)
	for from := 0; from < samples.Len(); from += graphsAtOnce {
		to := min(samples.Len(), from+graphsAtOnce)
		if err := g.release(samples.User[from:to], samples.Length[from:to], distinct); err != nil {
			return nil, err
		}
	}
	if samples.Len() > 0 {
		if err := g.channel.Check(); err != nil {
			return nil, err
		}
	}
	return g, p.once.Flush("before training")
}

// release releases the graphs of some prefixes.
func (g *graphNoise) release(user, length []int32, distinct [][]int32) error {
	parts := g.ids(user, length)
	var of []int // part of every row
	var key []uint64
	for k, u := range user {
		for r := range noiseRows(int(distinct[u][length[k]-1])) {
			of, key = append(of, k), append(key, uint64(r))
		}
	}
	r, err := g.channel.Start(parts, len(of), graphCols, 0)
	if err != nil {
		return fmt.Errorf("release of session graphs: %w", err)
	}
	tensor.Parallel(len(of), rowsAtOnce, func(_, lo, hi int) {
		var row [graphCols]tensor.Float
		for i := lo; i < hi; i++ {
			row = [graphCols]tensor.Float{}
			r.RowAt(i, row[:], of[i], key[i])
		}
	})
	return r.Finish()
}

// ids returns the numbers of prefixes.
func (g *graphNoise) ids(user, length []int32) []int32 {
	out := make([]int32, len(user))
	for i, u := range user {
		out[i] = g.first[u] + length[i] - 1
	}
	return out
}

// distincts returns the number of different items of every prefix of every sequence.
func distincts(sequences [][]int32) [][]int32 {
	all := make([][]int32, len(sequences))
	for u, s := range sequences {
		seen := make(map[int32]bool, len(s))
		for _, item := range s {
			seen[item] = true
			all[u] = append(all[u], int32(len(seen)))
		}
	}
	return all
}

// matrices returns the released matrices of a batch, one after another, and where each begins.
func (g *graphNoise) matrices(t *autograd.Tape, b *graph.Packed, samples dataset.Samples, list []int32,
	adjacency bool) (*graphMatrices, error) {
	m := &graphMatrices{graph: b, at: make([]int, b.Len()+1)}
	user, length := make([]int32, b.Len()), make([]int32, b.Len())
	for k, s := range list {
		n := int(b.NodeOff[k+1] - b.NodeOff[k])
		m.at[k+1] = m.at[k] + noiseRows(n)*graphCols
		user[k], length[k] = samples.User[s], samples.Length[s]
	}
	again, err := g.channel.Again(g.ids(user, length), 0)
	if err != nil {
		return nil, err
	}
	m.data = t.BufferZero(1, m.at[b.Len()]).Data
	tensor.Parallel(b.Len(), 1, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			a, base, n := m.data[m.at[k]:m.at[k+1]], b.NodeOff[k], int(b.NodeOff[k+1]-b.NodeOff[k])
			for r := range len(a) / graphCols {
				again.RowAt(a[r*graphCols:(r+1)*graphCols], k, uint64(r))
			}
			if !adjacency {
				continue
			}
			for e := b.EdgeOff[k]; e < b.EdgeOff[k+1]; e++ {
				a[int(b.Src[e]-base)*n+int(b.Dst[e]-base)]++
			}
		}
	})
	return m, nil
}

// graphMatrices holds the released matrices of the sessions of a batch.
type graphMatrices struct {
	graph *graph.Packed
	at    []int
	data  []tensor.Float
}

// sum returns A~_out Hb or A~_in Hb, session by session. The backward pass multiplies by the transposes of the
// released matrices.
func (m *graphMatrices) sum(t *autograd.Tape, hb *autograd.Node, dir Direction) *autograd.Node {
	y := t.Fused("session graphs", hb.Rows(), hb.Cols(), hb)
	m.multiply(dir == Incoming, hb.V, y.V)
	return t.Custom("session graphs", y, func() {
		d := t.Buffer(hb.Rows(), hb.Cols())
		m.multiply(dir != Incoming, y.G, d)
		hb.GiveGrad(d)
	})
}

// multiply writes the products of the matrices, or of their transposes, with the rows of their sessions.
func (m *graphMatrices) multiply(transposed bool, x, to tensor.Matrix) {
	off := m.graph.NodeOff
	tensor.Parallel(m.graph.Len(), 1, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			from, end := int(off[k]), int(off[k+1])
			a := tensor.From(end-from, end-from, m.data[m.at[k]:])
			tensor.Gemm(transposed, false, 1, a, tensor.RowsView(x, from, end), 0, tensor.RowsView(to, from, end))
		}
	})
}

// graphs returns the released graphs of a part. All parts of the training sequences read the same release.
func (p *protection) graphs(q *nextitem.Part) (*graphNoise, error) {
	name, samples := q.Name, q.Samples
	if q == p.x.Train || q == p.x.Valid || q == p.x.Refit {
		name, samples = p.x.Train.Name, dataset.Prefixes(q.Sequences)
	}
	if g := p.released[name]; g != nil {
		return g, nil
	}
	g, err := newGraphNoise(purposeGraphs+name, p.noise.NoiseStd(), q.Sequences, samples, p)
	if err == nil {
		p.released[name] = g
	}
	return g, err
}

// releaseGraphs releases all graphs that the run reads, before training.
func (p *protection) releaseGraphs() error {
	parts := []*nextitem.Part{p.x.Train}
	if p.evaluatesNoisily() {
		parts = append(parts, p.x.Test)
	}
	for _, q := range parts {
		if _, err := p.graphs(q); err != nil {
			return err
		}
	}
	return nil
}
