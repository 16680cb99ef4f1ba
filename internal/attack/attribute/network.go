package attribute

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The network of Zhang et al. (2021), section 5.1: one hidden layer of 100 units. The paper does not print rate, batch
// and epochs. The last epoch counts, since choosing the best epoch on test users would use the answers.
const (
	hidden = 100
	rate   = 1e-3
	batch  = 64
	epochs = 40
)

// network is W2 relu(W1 x + b1) + b2. The first layer is stored as a table with a row for each column of x, so that its
// cost is that of the non-zeros of x.
type network struct {
	first  *autograd.Param // (columns, hidden)
	shift  *autograd.Param // (1, hidden)
	second *nn.Linear
}

// newNetwork draws weights and biases uniformly from ±1/sqrt(inputs of the layer), PyTorch's default.
func newNetwork(columns, classes int, s rng.Stream) *network {
	streams := uint64(0)
	within := func(inputs int) nn.Init {
		a := 1 / math.Sqrt(float64(max(1, inputs)))
		return func(dst tensor.Matrix, _ string) {
			draw := s.Sub(streams)
			streams++
			for i := range dst.Rows {
				for j := range tensor.Row(dst, i) {
					dst.Data[i*dst.Stride+j] = tensor.Float(a * (2*draw.Float64() - 1))
				}
			}
		}
	}
	return &network{
		first:  nn.NewParam("first.W", columns, hidden, within(columns)),
		shift:  nn.NewParam("first.b", 1, hidden, within(columns)),
		second: nn.NewLinear("second", hidden, classes, true, within(hidden)),
	}
}

func (n *network) params() []*autograd.Param {
	return append([]*autograd.Param{n.first, n.shift}, n.second.Params()...)
}

// logits returns the outputs (len(users), classes) for some rows of x.
func (n *network) logits(t *autograd.Tape, x sparse, users []int32) *autograd.Node {
	var column, row []int32
	var value []tensor.Float
	for i, u := range users {
		idx, val := x.row(int(u))
		for k, j := range idx {
			column, row, value = append(column, j), append(row, int32(i)), append(value, tensor.Float(val[k]))
		}
	}
	h := t.EdgeSum(t.Use(n.first), column, row, value, len(users)) // (users, hidden)
	return n.second.Forward(t, h.AddRow(t.Use(n.shift)).ReLU())
}

// fitNetwork trains by softmax cross-entropy and Adam, over the users in a new random order each epoch.
func fitNetwork(ctx context.Context, t *training, s rng.Stream) (fill, error) {
	n, x := newNetwork(t.x.Cols, t.classes, s.Sub(0)), sparseOf(t.x)
	tape, adam, params := autograd.NewTape(), optim.NewAdam(0), n.params()
	target := make([]int32, 0, batch)
	for epoch := range epochs {
		draw := s.Sub(1, uint64(epoch))
		order := draw.Perm(len(t.class))
		for lo := 0; lo < len(order); lo += batch {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w", t.name, context.Cause(ctx))
			}
			users := order[lo:min(lo+batch, len(order))]
			target = target[:0]
			for _, u := range users {
				target = append(target, t.class[u])
			}
			tape.Reset()
			tape.Backward(n.logits(tape, x, users).CrossEntropy(target))
			if err := adam.Step(params, tape.Grads(), rate); err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	return n.fill, nil
}

// fill writes the softmax of the logits.
func (n *network) fill(x tensor.Matrix, p [][]float64) error {
	rows, tape := sparseOf(x), autograd.NewTape()
	users := make([]int32, 0, 256)
	for lo := 0; lo < x.Rows; lo += cap(users) {
		users = users[:0]
		for u := lo; u < min(lo+cap(users), x.Rows); u++ {
			users = append(users, int32(u))
		}
		tape.Reset()
		tape.NoGrad = true
		z := n.logits(tape, rows, users).V
		for i := range users {
			for c, v := range tensor.Row(z, i) {
				p[lo+i][c] = float64(v)
			}
			softmax(p[lo+i])
		}
	}
	return nil
}
