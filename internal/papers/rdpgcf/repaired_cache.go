package rdpgcf

import (
	"fmt"

	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// cachedRows are the rows X[0..L] of all nodes after one noisy propagation.
type cachedRows struct {
	users int
	layer []tensor.Matrix // (users+items, d) each, users first
}

// user and item are the row of a node at a layer.
func (c *cachedRows) user(l int, u int32) []tensor.Float { return tensor.Row(c.layer[l], int(u)) }
func (c *cachedRows) item(l int, i int32) []tensor.Float {
	return tensor.Row(c.layer[l], c.users+int(i))
}

func (c *cachedRows) layers() int { return len(c.layer) - 1 }
func (c *cachedRows) dim() int    { return c.layer[0].Cols }
func (c *cachedRows) items() int  { return c.layer[0].Rows - c.users }

// cacheRows draws rows in directions that depend only on stream. It propagates them once,
// normalised and with noise.
func cacheRows(g *graph.Bipartite, norm graph.Normalizer, layers, dim int, noise nn.LayerNoise, stream rng.Stream) (*cachedRows, error) {
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
	p := &nn.Propagation{Graph: g, Norm: norm, Layers: layers, Weights: nn.EvenWeights(layers), NormalizeRows: true, Noise: noise}
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

// close gives the memory back.
func (c *cachedRows) close() {
	for _, x := range c.layer {
		tensor.Free(x)
	}
	c.layer = nil
}
