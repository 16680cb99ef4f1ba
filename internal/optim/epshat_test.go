package optim

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// With EpsHat a step is w -= rate sqrt(1-b2^t)/(1-b1^t) m/(sqrt(v)+eps), densely and
// lazily; eps is large here, so that the two places to add it differ.
func TestEpsHat(t *testing.T) {
	const rate, eps = 0.1, 0.3
	grads := []float64{0.5, -0.2, 0.9}
	for _, hat := range []bool{false, true} {
		w, m, v := 1.0, 0.0, 0.0
		for k, g := range grads {
			step := float64(k + 1)
			m, v = 0.9*m+0.1*g, 0.999*v+0.001*g*g
			b1, b2 := 1-math.Pow(0.9, step), math.Sqrt(1-math.Pow(0.999, step))
			if hat {
				w -= rate * b2 / b1 * m / (math.Sqrt(v) + eps)
			} else {
				w -= rate * (m / b1) / (math.Sqrt(v)/b2 + eps)
			}
		}
		for name, o := range map[string]Optimizer{
			"dense": &Adam{Beta1: 0.9, Beta2: 0.999, Eps: eps, EpsHat: hat},
			"lazy":  &AdamLazy{Beta1: 0.9, Beta2: 0.999, Eps: eps, EpsHat: hat},
		} {
			p := autograd.NewParam("w", 1, 1)
			p.Value.Data[0] = 1
			tape := autograd.NewTape()
			for _, g := range grads {
				tape.Reset()
				tape.Backward(tape.Use(p).Scale(g).SumAll())
				if err := o.Step([]*autograd.Param{p}, tape.Grads(), rate); err != nil {
					t.Fatal(err)
				}
			}
			if got := p.Value.Data[0]; math.Abs(float64(got-tensor.Float(w))) > 1e-6 {
				t.Errorf("%s, EpsHat %v: %v, want %v", name, hat, got, w)
			}
		}
	}
}
