package rdpgcf

import (
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// secret holds the noise of a split from cryptographic bits: discrete, on exact sums.
type secret struct {
	sums   *wholeSums
	layers secure.DiscreteGaussian
	counts secure.DiscreteGaussian // without a purpose: none are released
	labels descent.DPSGD
	dim    int // values of a gradient

	events []privacy.Event // of a layer, of a step, and of the counts if there are any
}

// largestStated is the largest number of label edges for which the grid of sums of gradients does not depend on their
// number.
const largestStated = 1 << 20

// countsGrid is the grid of noisy counts, which are whole numbers. Noise on a finer grid has a tighter account. An edge
// moves one count, but countsMoved is two, since noise on a line has another account, which composes worse.
const (
	countsGrid  = 0x1p-16
	countsMoved = 2
)

// secretly returns the budget divided as by Split, for noise from cryptographic bits on the edges of g for rows, and of
// labels for labels. The noise on layers keeps its ratio to the sensitivity, which is that of sums in whole numbers. A
// release of everything at once is stated as one on a sample of all edges, since discrete noise on samples has an exact
// account.
func (c Config) secretly(g, labels *graph.Bipartite) (Split, error) {
	s, err := c.divide(c.labelEdges(labels))
	if err != nil {
		return s, err
	}
	if n := max(int64(labels.Edges()), c.labelEdges(labels)); c.Privacy.Repaired.Edges > 0 && n > largestStated {
		return s, fmt.Errorf("privacy.repaired.edges: the grid of sums of gradients depends on how many of %d edges "+
			"there are: secure noise can hide that of up to %d", n, largestStated)
	}
	norm, err := graph.ParseNormalizer(c.Model.Norm)
	if err != nil {
		return s, err
	}
	x := &secret{dim: newPairMap(c.Privacy.Repaired, c.Model.Layers, c.Model.Dim, rng.Stream{}).size(),
		events: make([]privacy.Event, 2, 3)}
	if x.sums, err = newWholeSums(g, norm, s.Sigma); err != nil {
		return s, err
	}
	s.Sigma, s.Joint = s.Sigma/s.Joint*x.sums.joint, x.sums.joint
	x.layers = secure.DiscreteGaussian{Purpose: purposeReleases, Sigma: s.Sigma, Sensitivity: s.Joint,
		Dimension: int64(g.Nodes() * c.Model.Dim),
		Bound:     x.sums.most * x.sums.step, Grid: x.sums.step, Whole: true, Unit: privacy.Edge,
		Neighbouring: privacy.AddRemove, Share: 0.4, Rate: 1}
	if x.events[0], err = x.layers.Event(); err != nil {
		return s, err
	}
	if s.Counts > 0 {
		x.dim++
		x.counts = secure.DiscreteGaussian{Purpose: purposeCounts, Sigma: s.Counts, Sensitivity: 1,
			Dimension: countsMoved,
			Bound:     math.MaxInt32, Grid: countsGrid, Whole: true, Unit: privacy.Edge,
			Neighbouring: privacy.AddRemove,
			Share:        0.2, Rate: 1}
		e, err := x.counts.Event()
		if err != nil {
			return s, err
		}
		x.events = append(x.events, e)
	}
	x.labels = descent.DPSGD{Purpose: purposeLabels, Clip: c.Privacy.Repaired.Clip, Examples: int64(labels.Edges()),
		Sampling: privacy.Poisson, Rate: s.Rate, Unit: privacy.Edge, Share: 0.4}
	s.secret = x
	return s.calibrated(c)
}

// with returns the noise with a given multiplier of that on gradients.
func (x *secret) with(multiplier float64) (*secret, error) {
	y := *x
	y.labels.NoiseMultiplier = multiplier
	step, err := descent.SecretEvent(y.labels, y.dim)
	y.events = append([]privacy.Event{x.events[0], step}, x.events[2:]...)
	return &y, err
}

// releaseRows releases the layers of a propagation of rows that depend on no edge, each once: the sums of directions,
// with noise. Later layers are computed from released ones. The ledger and its file have a layer before its noise is
// drawn.
func (x *secret) releaseRows(layers, dim int, l *privacy.Ledger, stream rng.Stream) (*cachedRows, error) {
	ch, err := secure.OpenGaussian[float64](x.layers, l)
	if err != nil {
		return nil, err
	}
	g := x.sums.g
	c := &cachedRows{users: g.Users}
	now := drawRows(g, dim, stream)
	for layer := range layers + 1 {
		rows, err := x.take(c, now, dim)
		if err != nil {
			return nil, closing(c, err, nil)
		}
		if layer == layers {
			break
		}
		now = x.sums.sum(rows, dim)
		r, err := ch.Begin(g.Nodes(), dim, uint64(layer+1))
		if err == nil {
			err = l.Show()
		}
		if err != nil {
			return nil, closing(c, err, nil)
		}
		tensor.Parallel(g.Nodes(), 16, func(_, lo, hi int) {
			for v := lo; v < hi; v++ {
				r.Row(v, now[v*dim:(v+1)*dim])
			}
		})
		if err := r.Finish(); err != nil {
			return nil, closing(c, err, nil)
		}
	}
	return c, closing(c, nil, ch)
}

// closing frees memory if there is an error, including that of the noise's check.
func closing(c *cachedRows, err error, ch *channel.Channel[float64]) error {
	if err == nil && ch != nil {
		err = ch.Check()
	}
	if err != nil {
		c.close()
		return fmt.Errorf("propagate once: %w", err)
	}
	return nil
}

// take rounds the rows of a layer to the grid and keeps them.
func (x *secret) take(c *cachedRows, now []float64, dim int) ([]int32, error) {
	n := len(now) / dim
	rows, keep := make([]int32, len(now)), tensor.NewTable(n, dim)
	c.layer = append(c.layer, keep)
	per := math.Ldexp(1, -x.sums.row)
	for v := range n {
		at := rows[v*dim : (v+1)*dim]
		if err := x.sums.place(at, now[v*dim:(v+1)*dim]); err != nil {
			return nil, err
		}
		for k, i := range at {
			tensor.Row(keep, v)[k] = tensor.Float(float64(i) * per)
		}
	}
	return rows, nil
}

// drawRows returns random directions that depend only on stream, users first.
func drawRows(g *graph.Bipartite, dim int, stream rng.Stream) []float64 {
	out := make([]float64, g.Nodes()*dim)
	for v := range g.Nodes() {
		side, at := uint64(0), v
		if v >= g.Users {
			side, at = 1, v-g.Users
		}
		s := stream.Sub(side, uint64(at))
		s.Normals64(out[v*dim : (v+1)*dim])
	}
	return out
}

// releaseCounts releases every item's number of users, once.
func (x *secret) releaseCounts(g *graph.Bipartite, l *privacy.Ledger) ([]tensor.Float, error) {
	ch, err := secure.OpenGaussian[float64](x.counts, l)
	if err != nil {
		return nil, err
	}
	return noisyCounts(g, ch)
}

// secretMeans is DP-SGD with noise from cryptographic bits. Its means divide by the expected number of edges in a batch
// of the stated number of edges, or of their real number if none is stated. With a stated number, the real one enters
// no mean. It implements descent.Run.
type secretMeans struct {
	*descent.Rows[tensor.Float]
	all []int32 // every value of a gradient
	per float64
}

// means opens the steps of a map's training.
func (x *secret) means(edges int64, l *privacy.Ledger) (descent.Run[tensor.Float], error) {
	steps, err := descent.OpenSecretRows[tensor.Float](x.labels, x.dim, 1, l)
	if err != nil {
		return nil, err
	}
	m := &secretMeans{Rows: steps, per: x.labels.Rate * float64(edges)}
	for k := range x.dim {
		m.all = append(m.all, int32(k))
	}
	return m, nil
}

// Add implements descent.Run.
func (m *secretMeans) Add(k int, gradient []tensor.Float) error {
	return m.Rows.Add(k, m.all, gradient)
}

// Finish implements descent.Run.
func (m *secretMeans) Finish(mean []tensor.Float) error {
	return m.Rows.Finish(tensor.Parallel, func(at int, sum []tensor.Float) {
		for i, x := range sum {
			mean[at+i] = tensor.Float(float64(x) / m.per)
		}
	})
}
