package exposure

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// segmentMax returns the maximum of every column within rows off[k] to off[k+1], and 0 for no rows. Of equal elements
// the first gets the gradient.
func segmentMax(x *autograd.Node, off []int32) *autograd.Node {
	t, n, d := x.Tape(), len(off)-1, x.Cols()
	y := t.Fused("segmentMax", n, d, x)
	for k := range n {
		top := tensor.Row(y.V, k)
		if off[k] == off[k+1] {
			clear(top)
			continue
		}
		copy(top, tensor.Row(x.V, int(off[k])))
		for i := int(off[k]) + 1; i < int(off[k+1]); i++ {
			for j, v := range tensor.Row(x.V, i) {
				top[j] = max(top[j], v)
			}
		}
	}
	return t.Custom("segmentMax", y, func() {
		g := x.AddGrad()
		for k := range n {
			top, dy := tensor.Row(y.V, k), tensor.Row(y.G, k)
			for j, v := range top {
				for i := int(off[k]); i < int(off[k+1]); i++ {
					if x.V.Data[i*x.V.Stride+j] == v {
						g.Data[i*g.Stride+j] += dy[j]
						break
					}
				}
			}
		}
	})
}

// stackRows returns nodes of equal width stacked one above the other.
func stackRows(t *autograd.Tape, parts []*autograd.Node) *autograd.Node {
	rows, d := 0, parts[0].Cols()
	for _, p := range parts {
		rows += p.Rows()
	}
	y := t.Fused("stackRows", rows, d, parts...)
	at := 0
	for _, p := range parts {
		for i := range p.Rows() {
			copy(tensor.Row(y.V, at+i), tensor.Row(p.V, i))
		}
		at += p.Rows()
	}
	return t.Custom("stackRows", y, func() {
		at := 0
		for _, p := range parts {
			n := p.Rows()
			if p.Needs() {
				g := t.Buffer(n, d)
				for i := range n {
					copy(tensor.Row(g, i), tensor.Row(y.G, at+i))
				}
				p.GiveGrad(g)
			}
			at += n
		}
	})
}
