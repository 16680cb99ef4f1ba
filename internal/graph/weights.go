package graph

import "privrec/internal/tensor"

// degrees holds the working memory of the weight computations: degree counters by
// node and, by source node, the list of its edges seen so far.
type degrees struct {
	in, out    []int32
	head, next []int32
}

func (d *degrees) reset(nodes, edges int) {
	d.in, d.out, d.head = zeroed(d.in, nodes), zeroed(d.out, nodes), zeroed(d.head, nodes)
	d.next = zeroed(d.next, edges)
}

func zeroed(x []int32, n int) []int32 {
	if cap(x) < n {
		return make([]int32, n)
	}
	x = x[:n]
	clear(x)
	return x
}

// CountWeights appends to in and out the degree-normalised weight of every
// edge: in[e] = 1/indegree(Dst[e]) and out[e] = 1/outdegree(Src[e]). Degrees are
// counted with multiplicity, so that each row of the in- and of the out-adjacency
// sums to one or is empty (A-PGNN's normalised counts).
func (g *Packed) CountWeights(in, out []tensor.Float) (win, wout []tensor.Float) {
	d := &g.scratch
	d.reset(g.Nodes(), len(g.Src))
	for e, s := range g.Src {
		d.out[s]++
		d.in[g.Dst[e]]++
	}
	for e, s := range g.Src {
		in = append(in, 1/tensor.Float(d.in[g.Dst[e]]))
		out = append(out, 1/tensor.Float(d.out[s]))
	}
	return in, out
}

// BinaryWeights appends the weights that CountWeights would give on the binary
// adjacency of SR-GNN: an edge that a session repeats counts once, so its repeats
// have weight zero and degrees count distinct neighbours.
func (g *Packed) BinaryWeights(in, out []tensor.Float) (win, wout []tensor.Float) {
	d := &g.scratch
	d.reset(g.Nodes(), len(g.Src))
	for e, s := range g.Src {
		repeated := false
		for k := d.head[s]; k != 0; k = d.next[k-1] {
			if g.Dst[k-1] == g.Dst[e] {
				repeated = true
				break
			}
		}
		if repeated {
			d.next[e] = -1 // marks a repeat: never linked, so the list walk cannot meet it
			continue
		}
		d.next[e], d.head[s] = d.head[s], int32(e+1)
		d.out[s]++
		d.in[g.Dst[e]]++
	}
	for e, s := range g.Src {
		if d.next[e] < 0 {
			in, out = append(in, 0), append(out, 0)
			continue
		}
		in = append(in, 1/tensor.Float(d.in[g.Dst[e]]))
		out = append(out, 1/tensor.Float(d.out[s]))
	}
	return in, out
}
