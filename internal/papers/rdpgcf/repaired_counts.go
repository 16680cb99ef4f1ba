package rdpgcf

import (
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// releaseCounts releases every item's number of users with normal noise, once. It returns ln(1 + the number, at least
// 0), with mean 0 and variance 1 over the items. Computations from the noisy numbers cost nothing more. An edge moves
// one number by one.
func releaseCounts(g *graph.Bipartite, sigma float64, l *privacy.Ledger, s rng.Stream) ([]tensor.Float, error) {
	c, err := channel.Open[float64](channel.Gaussian{Purpose: purposeCounts, Sigma: sigma, Sensitivity: 1,
		Unit: privacy.Edge, Neighbouring: privacy.AddRemove, Share: 0.2}, l, s)
	if err != nil {
		return nil, err
	}
	return noisyCounts(g, c)
}

// noisyCounts releases counts by a channel and returns them as a bias.
func noisyCounts(g *graph.Bipartite, c *channel.Channel[float64]) ([]tensor.Float, error) {
	x := make([]float64, g.Items)
	for i := range x {
		x[i] = float64(g.ItemDegree(i))
	}
	if err := c.Perturb(x, 1, 1); err != nil {
		return nil, fmt.Errorf("release counts: %w", err)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	var sum, square float64
	for i, v := range x {
		x[i] = math.Log1p(math.Max(0, v))
		sum += x[i]
		square += x[i] * x[i]
	}
	n := float64(len(x))
	mean := sum / n
	std := math.Sqrt(math.Max(0, square/n-mean*mean))
	bias := make([]tensor.Float, len(x))
	for i, v := range x {
		if std > 0 {
			bias[i] = tensor.Float((v - mean) / std)
		}
	}
	return bias, nil
}

// biased adds an item's bias, times a trained weight, to a map's score.
type biased struct {
	pairMap
	bias []tensor.Float // (items)
	w    []tensor.Float // those of the map, then that of the bias
}

func newBiased(m pairMap, bias []tensor.Float) *biased {
	b := &biased{pairMap: m, bias: bias, w: append(m.weights(), 0)}
	m.use(b.w[:m.size()])
	return b
}

func (b *biased) size() int               { return len(b.w) }
func (b *biased) weights() []tensor.Float { return b.w }
func (b *biased) use(w []tensor.Float) {
	b.w = w
	b.pairMap.use(w[:len(w)-1])
}

func (b *biased) margin(dst []tensor.Float, c *cachedRows, u, p, n int32) float64 {
	last := len(b.w) - 1
	sum := b.pairMap.margin(dst[:last], c, u, p, n)
	dst[last] = b.bias[p] - b.bias[n]
	return sum + float64(b.w[last])*float64(dst[last])
}

// vectors implements pairMap. Vectors have one value more: 1 for users, the weighted bias for
// items.
func (b *biased) vectors(c *cachedRows) (users, items tensor.Matrix) {
	u, i := b.pairMap.vectors(c)
	defer tensor.Free(u)
	defer tensor.Free(i)
	weight := b.w[len(b.w)-1]
	widen := func(x tensor.Matrix, last func(v int) tensor.Float) tensor.Matrix {
		y := tensor.NewTable(x.Rows, x.Cols+1)
		for v := range x.Rows {
			row := tensor.Row(y, v)
			copy(row, tensor.Row(x, v))
			row[x.Cols] = last(v)
		}
		return y
	}
	return widen(u, func(int) tensor.Float { return 1 }),
		widen(i, func(v int) tensor.Float { return weight * b.bias[v] })
}

// apart divides the edges of a graph. Every edge is a label with probability share. The choice depends only on its user
// and item, so one edge more or less changes one part alone. With a share of 0 both parts are the graph.
func apart(g *graph.Bipartite, share float64, s rng.Stream) (rows, labels *graph.Bipartite, err error) {
	if share == 0 {
		return g, g, nil
	}
	var edges [2][]graph.Edge
	for u := range g.Users {
		for _, i := range g.ItemsOf(u) {
			draw := s.Sub(uint64(u), uint64(i))
			part := 0
			if draw.Float64() < share {
				part = 1
			}
			edges[part] = append(edges[part], graph.Edge{User: int32(u), Item: i})
		}
	}
	if len(edges[0]) == 0 || len(edges[1]) == 0 {
		return nil, nil, fmt.Errorf("privacy.repaired.label_share: of %d edges %d are labels: take another share",
			g.Edges(), len(edges[1]))
	}
	if rows, err = graph.NewBipartite(g.Users, g.Items, edges[0]); err != nil {
		return nil, nil, err
	}
	labels, err = graph.NewBipartite(g.Users, g.Items, edges[1])
	return rows, labels, err
}
