package bench

import (
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/tensor"
)

// layerReleases adds Gaussian noise to every row of every layer, recorded and checked as in a
// private run: one release a layer, for users and items together.
type layerReleases struct {
	channel *channel.Channel[tensor.Float]
	users   int
	step    uint64
	cols    int
	came    [2]int // rows of each side so far in the open release
	open    *channel.Release[tensor.Float]
}

// benchSigma is about the sigma that RDP-GCF's accounting needs for epsilon 5.
const benchSigma = 2.4

func newLayerReleases(g *graph.Bipartite) (*layerReleases, error) {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	_, joint := graph.Normalizer{}.Sensitivity()
	c, err := channel.Open[tensor.Float](channel.Gaussian{
		Purpose: "bench propagation", Sigma: benchSigma, Sensitivity: joint,
		Unit: privacy.Edge, Neighbouring: privacy.AddRemove,
	}, l, graphSeed.Stream("bench.noise"))
	return &layerReleases{channel: c, users: g.Users}, err
}

// next sets the step that follows.
func (r *layerReleases) next(step int) { r.step = uint64(step) }

// Begin implements nn.LayerNoise.
func (r *layerReleases) Begin(layer int, rows [2]int, cols int) (err error) {
	r.cols, r.came = cols, rows
	r.open, err = r.channel.Start([]int32{0}, rows[0]+rows[1], cols, r.step, uint64(layer))
	return err
}

// Add implements nn.LayerNoise.
func (r *layerReleases) Add(_ int, side nn.Side, first, rank int, rows []tensor.Float) error {
	if side == nn.ItemSide {
		first, rank = first+r.users, rank+r.came[nn.UserSide]
	}
	for k := 0; (k+1)*r.cols <= len(rows); k++ {
		r.open.RowAt(rank+k, rows[k*r.cols:(k+1)*r.cols], 0, uint64(first+k))
	}
	return nil
}

// End implements nn.LayerNoise.
func (r *layerReleases) End(int) error { return r.open.Finish() }
