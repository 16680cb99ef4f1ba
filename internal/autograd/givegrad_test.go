package autograd_test

import (
	"errors"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// A gradient given whole adds to one that came before and to one that follows.
func TestGiveGrad(t *testing.T) {
	p := autograd.NewParam("p", 2, 3)
	given := func(times int, after, before bool) tensor.Matrix {
		tape := autograd.NewTape()
		x := tape.Use(p)
		loss := tape.Const(tensor.New(1, 1))
		if after { // its backward runs last
			loss = loss.Add(x.SumAll())
		}
		for range times {
			y := tape.Fused("give", 1, 1, x)
			clear(y.V.Data)
			loss = loss.Add(tape.Custom("give", y, func() {
				g := tape.Buffer(2, 3)
				for i := range g.Data {
					g.Data[i] = tensor.Float(10 * (i + 1))
				}
				x.GiveGrad(g)
			}))
		}
		if before {
			loss = loss.Add(x.SumAll())
		}
		tape.Backward(loss)
		g, _ := tape.Grads().Dense(p)
		return g
	}
	for times := 1; times <= 2; times++ {
		for o := range 4 {
			g := given(times, o&1 != 0, o&2 != 0)
			for i, got := range g.Data {
				if want := tensor.Float(10*(i+1)*times + o&1 + o>>1); got != want {
					t.Errorf("%d given, option %d, element %d: %g, want %g", times, o, i, got, want)
				}
			}
		}
	}
	defer func() {
		var e *autograd.Error
		if err, _ := recover().(error); !errors.As(err, &e) || !strings.Contains(err.Error(), "given a gradient of 3 x 2") {
			t.Errorf("a gradient of another shape: %v", err)
		}
	}()
	tape := autograd.NewTape()
	tape.Use(p).GiveGrad(tape.Buffer(3, 2))
}
