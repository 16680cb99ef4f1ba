package dipsgnn

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/tensor"
)

// aggregationNoise is the noise on what a step aggregates (eq. 7): independent
// normals on every coordinate of every row of both directions, fresh for every
// sample, step and pass, in training and, where asked, in evaluation.
type aggregationNoise struct {
	to     [2]*mechanism.Channel[tensor.Float] // by Direction
	period func(pass int) error                // told before the releases of a pass

	pass, first uint64
	samples     int64
	err         error
}

// rowsAtOnce is how many rows of noise one parallel unit draws.
const rowsAtOnce = 32

func (a *aggregationNoise) begin(pass int, samples []int32, _ *graph.Packed) Perturb {
	a.pass, a.samples, a.err = uint64(pass), int64(len(samples)), a.period(pass)
	if len(samples) > 0 {
		a.first = uint64(samples[0])
	}
	return a.perturb
}

func (a *aggregationNoise) end() error { return a.err }

// perturb releases one direction of one step. Noise is keyed by pass, by the
// batch's first sample, which no other batch of the pass has, by step and by
// row.
func (a *aggregationNoise) perturb(y *autograd.Node, step int, dir Direction) *autograd.Node {
	return y.AddNoise("gaussian", func(data []tensor.Float, rows, cols int) {
		if a.err != nil {
			return
		}
		release, err := a.to[dir].Begin(rows, cols, a.pass, a.first, uint64(step))
		if err != nil {
			a.err = err
			return
		}
		tensor.Parallel(rows, rowsAtOnce, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				release.Row(i, data[i*cols:(i+1)*cols])
			}
		})
		if err := release.End(a.samples); err != nil {
			a.err = fmt.Errorf("noise of step %d: %w", step+1, err)
		}
	})
}
