package autograd_test

import (
	"fmt"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// The way back of a product is two products, to the bit, for any number of workers: where both are
// small enough to run at the same time, where they are too large or too small for that, and where
// both operands are the same.
func TestProductBack(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	for _, s := range [][3]int{{1, 3, 2}, {64, 60, 60}, {60, 44, 60}, {400, 60, 60}, {0, 5, 5}} {
		n, in, out := s[0], s[1], s[2]
		x, w, to := nn.NewParam("x", n, in, nn.Uniform(1, 1)), nn.NewParam("w", out, in, nn.Uniform(2, 1)), nn.NewParam("to", n, out, nn.Uniform(3, 1))
		turned, square := nn.NewParam("turned", in, out, nn.Uniform(4, 1)), nn.NewParam("square", in, in, nn.Uniform(5, 1))
		weight := nn.NewParam("weight", in, in, nn.Uniform(6, 1)) // what square's product is multiplied by
		dx, dw, dTurned, dSquare := tensor.New(n, in), tensor.New(out, in), tensor.New(in, out), tensor.New(in, in)
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			for name, c := range map[string]struct {
				loss func(tp *autograd.Tape) *autograd.Node
				want map[*autograd.Param]tensor.Matrix
			}{
				"x w'": {func(tp *autograd.Tape) *autograd.Node {
					tensor.Gemm(false, false, 1, to.Value, w.Value, 0, dx)
					tensor.Gemm(true, false, 1, to.Value, x.Value, 0, dw)
					return tp.Use(x).Linear(tp.Use(w), nil).Mul(tp.Const(to.Value)).SumAll()
				}, map[*autograd.Param]tensor.Matrix{x: dx, w: dw}},
				"x w": {func(tp *autograd.Tape) *autograd.Node {
					tensor.Gemm(false, true, 1, to.Value, turned.Value, 0, dx)
					tensor.Gemm(true, false, 1, x.Value, to.Value, 0, dTurned)
					return tp.Use(x).MatMul(tp.Use(turned)).Mul(tp.Const(to.Value)).SumAll()
				}, map[*autograd.Param]tensor.Matrix{x: dx, turned: dTurned}},
				"x x'": {func(tp *autograd.Tape) *autograd.Node {
					tensor.Gemm(false, false, 1, weight.Value, square.Value, 0, dSquare)
					tensor.Gemm(true, false, 1, weight.Value, square.Value, 1, dSquare)
					return tp.Use(square).MatMulT(tp.Use(square)).Mul(tp.Const(weight.Value)).SumAll()
				}, map[*autograd.Param]tensor.Matrix{square: dSquare}},
			} {
				t.Run(fmt.Sprintf("%s of %v, %d workers", name, s, workers), func(t *testing.T) {
					tp := autograd.NewTape()
					tp.Backward(c.loss(tp))
					for p, want := range c.want {
						if got, ok := tp.Grads().Dense(p); !ok || !slices.Equal(got.Data, want.Data) {
							t.Errorf("the gradient of %s is not that of its product", p.Name)
						}
					}
				})
			}
		}
	}
}
