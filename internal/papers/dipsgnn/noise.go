package dipsgnn

import (
	"fmt"

	"privrec/internal/privacy/mechanism/channel"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/tensor"
)

// aggregationNoise is the noise on what a step aggregates: independent normals on every
// coordinate of every row of both directions. They are fresh for every sample, step and pass,
// in training and, where asked, in evaluation. Source: equation (7).
//
// Noise is keyed by pass, step, sample and node within the sample, so that it does not depend
// on which samples are batched together.
type aggregationNoise struct {
	to     [2]*channel.Channel[tensor.Float] // by Direction
	period func(pass nextitem.Pass) error    // told before the releases of a pass

	pass    uint64
	samples []int32
	graph   *graph.Packed
	err     error
}

// rowsAtOnce is how many rows of noise one parallel unit draws.
const rowsAtOnce = 32

func (a *aggregationNoise) begin(pass nextitem.Pass, samples []int32, g *graph.Packed) Perturb {
	a.pass, a.samples, a.graph, a.err = uint64(pass), samples, g, a.period(pass)
	return a.perturb
}

func (a *aggregationNoise) end() error { return a.err }

// perturb releases one direction of one step.
func (a *aggregationNoise) perturb(y *autograd.Node, step int, dir Direction) *autograd.Node {
	return y.AddNoise("gaussian", func(data []tensor.Float, rows, cols int) {
		if a.err == nil {
			a.err = a.release(a.to[dir], data, rows, cols, uint64(step))
		}
	})
}

func (a *aggregationNoise) release(c *channel.Channel[tensor.Float], data []tensor.Float, rows, cols int, step uint64) error {
	r, err := c.Start(a.samples, rows, cols, a.pass, step)
	if err != nil {
		return fmt.Errorf("noise of step %d: %w", step+1, err)
	}
	g := a.graph
	tensor.Parallel(rows, rowsAtOnce, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			sample := g.SampleOf[i]
			r.RowAt(i, data[i*cols:(i+1)*cols], int(sample), uint64(int32(i)-g.NodeOff[sample]))
		}
	})
	if err := r.Finish(); err != nil {
		return fmt.Errorf("noise of step %d: %w", step+1, err)
	}
	return nil
}
