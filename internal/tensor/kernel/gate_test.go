package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestGates: the kernels of gates have the bits of one operation after the other, and write no further than they should.
func TestGates(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 6))
		for _, n := range lengths() {
			in := make([][]Float, 5)
			for k := range in {
				in[k], _ = fenced(r, n)
			}
			out, whole := make([][]Float, 3), make([][]Float, 3)
			for k := range out {
				out[k], whole[k] = fenced(r, n)
			}
			dy, dh, h, z, c := in[0], in[1], in[2], in[3], in[4]
			same := func(what string, got []Float, want func(i int) Float) {
				t.Helper()
				for i, v := range got {
					if bits(v) != bits(want(i)) {
						t.Fatalf("%s, length %d, element %d: %v, want %v", what, n, i, v, want(i))
					}
				}
			}
			Blend(h, c, z, out[0])
			same("blend", out[0], func(i int) Float {
				y := Float(h[i] - c[i])
				y *= z[i]
				return y + c[i]
			})
			KeepBack(dy, dh, h, z, c, out[0], out[1], out[2])
			same("dz", out[0], func(i int) Float {
				d := Float(h[i] - c[i])
				d *= Float(dh[i] + dy[i])
				d *= z[i]
				return d * Float(1-z[i])
			})
			same("dc", out[1], func(i int) Float {
				d := 1 - Float(c[i]*c[i])
				return d * Float(Float(1-z[i])*Float(dh[i]+dy[i]))
			})
			same("back", out[2], func(i int) Float { return Float(dh[i]+dy[i]) * z[i] })
			old := append([]Float(nil), out[2]...)
			ResetBack(dy, h, z, out[0], out[2])
			same("dr", out[0], func(i int) Float {
				d := Float(dy[i] * h[i])
				d *= z[i]
				return d * Float(1-z[i])
			})
			same("back of the reset", out[2], func(i int) Float { return old[i] + Float(dy[i]*z[i]) })
			for _, w := range whole {
				checkFence(t, n, w)
			}
		}
	})
}
