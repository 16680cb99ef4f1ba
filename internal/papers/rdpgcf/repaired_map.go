package rdpgcf

import (
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// pairMap is the trained part of the repaired method: a score s_ui from the cached rows of a user and an item.
type pairMap interface {
	size() int
	weights() []tensor.Float // (size), changed in place by training
	use(w []tensor.Float)    // keeps its weights there from now on
	// margin returns s_up - s_un, and writes the derivatives with respect to the weights into dst (size).
	margin(dst []tensor.Float, c *cachedRows, u, p, n int32) float64
	// vectors returns rows whose inner products are the scores.
	vectors(c *cachedRows) (users, items tensor.Matrix)
}

func newPairMap(r RepairedConfig, layers, dim int, s rng.Stream) pairMap {
	if r.Map == MapLinear {
		return newLinearMap(layers, dim, r.Dim, s)
	}
	return newLayerPairs(layers)
}

// layerPairs scores with a weight for every pair of layers:
//
//	s_ui = sum over l, m of w_lm x_u[l].x_i[m]
//
// It begins as the score of LightGCN, all weights 1/(1+L)².
type layerPairs struct {
	n int            // L+1
	w []tensor.Float // (L+1, L+1), of the user's layer and the item's
}

func newLayerPairs(layers int) *layerPairs {
	n := layers + 1
	p := &layerPairs{n: n, w: make([]tensor.Float, n*n)}
	for i := range p.w {
		p.w[i] = tensor.Float(1 / float64(n*n))
	}
	return p
}

func (p *layerPairs) size() int               { return len(p.w) }
func (p *layerPairs) weights() []tensor.Float { return p.w }
func (p *layerPairs) use(w []tensor.Float)    { p.w = w }

func (p *layerPairs) margin(dst []tensor.Float, c *cachedRows, u, pos, neg int32) float64 {
	sum := 0.0
	for m := range p.n {
		a, b := c.item(m, pos), c.item(m, neg)
		for l := range p.n {
			x := c.user(l, u)
			d := tensor.Dot(x, a) - tensor.Dot(x, b)
			dst[l*p.n+m] = d
			sum += float64(p.w[l*p.n+m]) * float64(d)
		}
	}
	return sum
}

// vectors implements pairMap. For every layer m the user's vector has the sum over l of w_lm x_u[l], and the item's has
// x_i[m].
func (p *layerPairs) vectors(c *cachedRows) (users, items tensor.Matrix) {
	d := c.dim()
	users, items = tensor.NewTable(c.users, p.n*d), tensor.NewTable(c.items(), p.n*d)
	tensor.Parallel(c.users, 256, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			for m := range p.n {
				y := tensor.Row(users, u)[m*d : (m+1)*d]
				for l := range p.n {
					tensor.Axpy(p.w[l*p.n+m], c.user(l, int32(u)), y)
				}
			}
		}
	})
	tensor.Parallel(c.items(), 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for m := range p.n {
				copy(tensor.Row(items, i)[m*d:], c.item(m, int32(i)))
			}
		}
	})
	return users, items
}

// linearMap maps the concatenated layers of a node to h values, users and items each by a matrix of their own:
//
//	s_ui = (f_u U).(f_i V),  f = (x[0], ..., x[L])
//
// Both begin as the same random projection, which keeps inner products.
type linearMap struct {
	in, out int
	w       []tensor.Float // U (in, out), then V (in, out)
}

func newLinearMap(layers, dim, out int, s rng.Stream) *linearMap {
	m := &linearMap{in: (layers + 1) * dim, out: out}
	m.w = make([]tensor.Float, 2*m.in*out)
	z := make([]float64, m.in*out)
	s.Normals64(z)
	for k, v := range z {
		v /= math.Sqrt(float64(out)) * float64(layers+1)
		m.w[k], m.w[m.in*out+k] = tensor.Float(v), tensor.Float(v)
	}
	return m
}

func (m *linearMap) size() int               { return len(m.w) }
func (m *linearMap) weights() []tensor.Float { return m.w }
func (m *linearMap) use(w []tensor.Float)    { m.w = w }

// features writes f of a node into dst (in).
func features(dst []tensor.Float, c *cachedRows, row func(l int, v int32) []tensor.Float, v int32) {
	d := c.dim()
	for l := range c.layers() + 1 {
		copy(dst[l*d:], row(l, v))
	}
}

// project writes f W into dst (out), for half 0 (U) or 1 (V) of the weights.
func (m *linearMap) project(dst, f []tensor.Float, half int) {
	clear(dst)
	w := m.w[half*m.in*m.out:]
	for k, x := range f {
		tensor.Axpy(x, w[k*m.out:(k+1)*m.out], dst)
	}
}

func (m *linearMap) margin(dst []tensor.Float, c *cachedRows, u, pos, neg int32) float64 {
	work := make([]tensor.Float, 3*m.in+2*m.out)
	fu, fi, other := work[:m.in], work[m.in:2*m.in], work[2*m.in:3*m.in]
	zu, zi := work[3*m.in:3*m.in+m.out], work[3*m.in+m.out:]
	features(fu, c, c.user, u)
	features(fi, c, c.item, pos)
	features(other, c, c.item, neg)
	tensor.Axpy(-1, other, fi)
	m.project(zu, fu, 0)
	m.project(zi, fi, 1)
	for k := range m.in {
		tensor.ScaleTo(fu[k], dst[k*m.out:(k+1)*m.out], zi)
		tensor.ScaleTo(fi[k], dst[(m.in+k)*m.out:(m.in+k+1)*m.out], zu)
	}
	return float64(tensor.Dot(zu, zi))
}

func (m *linearMap) vectors(c *cachedRows) (users, items tensor.Matrix) {
	users, items = tensor.NewTable(c.users, m.out), tensor.NewTable(c.items(), m.out)
	for half, side := range []struct {
		table tensor.Matrix
		row   func(l int, v int32) []tensor.Float
	}{{users, c.user}, {items, c.item}} {
		tensor.Parallel(side.table.Rows, 256, func(_, lo, hi int) {
			f := make([]tensor.Float, m.in)
			for v := lo; v < hi; v++ {
				features(f, c, side.row, int32(v))
				m.project(tensor.Row(side.table, v), f, half)
			}
		})
	}
	return users, items
}

// cachedRows holds the rows X[0..L] of all nodes after one noisy propagation.
type cachedRows struct {
	users int
	layer []tensor.Matrix // (users+items, d) each, users first
}

// user and item return the row of a node at a layer.
func (c *cachedRows) user(l int, u int32) []tensor.Float { return tensor.Row(c.layer[l], int(u)) }
func (c *cachedRows) item(l int, i int32) []tensor.Float {
	return tensor.Row(c.layer[l], c.users+int(i))
}

func (c *cachedRows) layers() int { return len(c.layer) - 1 }
func (c *cachedRows) dim() int    { return c.layer[0].Cols }
func (c *cachedRows) items() int  { return c.layer[0].Rows - c.users }

// cacheRows draws rows in directions that depend only on stream, and propagates them once, normalised and with noise.
func cacheRows(g *graph.Bipartite, norm graph.Normalizer, layers, dim int, noise nn.LayerNoise,
	stream rng.Stream) (*cachedRows, error) {
	draw := func(side uint64, rows int) tensor.Matrix {
		x := tensor.NewTable(rows, dim)
		tensor.Parallel(rows, 256, func(_, lo, hi int) {
			z := make([]float64, dim)
			for v := lo; v < hi; v++ {
				s := stream.Sub(side, uint64(v))
				s.Normals64(z)
				for k, y := range z {
					tensor.Row(x, v)[k] = tensor.Float(y)
				}
			}
		})
		return x
	}
	users, items := draw(0, g.Users), draw(1, g.Items)
	defer tensor.Free(users)
	defer tensor.Free(items)
	p := &nn.Propagation{Graph: g, Norm: norm, Layers: layers, Weights: nn.EvenWeights(layers), NormalizeRows: true,
		Noise: noise}
	defer p.Close()
	c := &cachedRows{users: g.Users}
	err := p.Each(users, items, func(_ int, x tensor.Matrix) error {
		keep := tensor.NewTable(x.Rows, x.Cols)
		for v := range x.Rows {
			copy(tensor.Row(keep, v), tensor.Row(x, v))
		}
		c.layer = append(c.layer, keep)
		return nil
	})
	if err != nil {
		c.close()
		return nil, fmt.Errorf("propagate once: %w", err)
	}
	return c, nil
}

// close frees the memory.
func (c *cachedRows) close() {
	for _, x := range c.layer {
		tensor.Free(x)
	}
	c.layer = nil
}
