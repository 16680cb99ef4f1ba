package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestAdam(t *testing.T) {
	c := NewAdamCoef(1e-2, 0.9, 0.999, 1e-8, 0.1, 3)
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, n := range lengths() {
			w, ww := fenced(r, n)
			g, _ := fenced(r, n)
			m, mw := fenced(r, n)
			v, vw := fenced(r, n)
			for i := range v {
				v[i] *= v[i]
				if i%5 == 4 { // decayed long ago, and no gradient since
					m[i], v[i], g[i], w[i] = 1e-31, 1e-38, 0, 0
				}
			}
			type state struct{ w, m, v float64 }
			want := make([]state, n)
			for i := range want {
				d := float64(g[i]) + float64(c.L2)*float64(w[i])
				m := float64(c.Beta1)*float64(m[i]) + float64(c.OneMinusBeta1)*d
				v := float64(c.Beta2)*float64(v[i]) + float64(c.OneMinusBeta2)*d*d
				if i%5 == 4 {
					m, v = 0, 0
				}
				want[i] = state{float64(w[i]) - float64(c.Step)*m/(math.Sqrt(v)*float64(c.RootScale)+float64(c.Eps)), m, v}
			}
			Adam(w, g, m, v, &c)
			for i, s := range want {
				tol := 8 * unit()
				if !near(w[i], s.w, tol*(math.Abs(s.w)+1)) || !near(m[i], s.m, tol*(math.Abs(s.m)+1)) || !near(v[i], s.v, tol*(s.v+1)) {
					t.Fatalf("length %d, element %d: %g %g %g, want %g", n, i, w[i], m[i], v[i], s)
				}
				if i%5 == 4 && (m[i] != 0 || v[i] != 0) {
					t.Fatalf("length %d, element %d: moments %g, %g not flushed", n, i, m[i], v[i])
				}
			}
			for _, whole := range [][]Float{ww, mw, vw} {
				checkFence(t, n, whole)
			}
		}
	})
}

// TestAdamIdle: some steps at once are as many steps without a gradient, to the bit, also where weights rest and
// moments are flushed. Slack makes weights rest only where no later update moves them, as here, where the rate is
// the same and the bias is corrected alike.
func TestAdamIdle(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 1; n <= 150; n++ {
			size := 1 + n%37
			c := make([]AdamCoef, n)
			for k := range c {
				c[k] = NewAdamCoef(1e-2, 0.9, 0.999, 1e-8, 0, 1000+k)
			}
			for _, slack := range []Float{1.7, Float(math.Inf(1))} {
				m, v, w, zero := make([]Float, size), make([]Float, size), make([]Float, size), make([]Float, size)
				for i := range m {
					m[i] = Float(math.Sin(float64(n+7*i)) * math.Pow(10, float64(-(n+i)%31)))
					v[i] = Float(math.Pow(10, float64(-(n+3*i)%38)))
					w[i] = Float(math.Cos(float64(n + 5*i)))
				}
				wantW, wantM, wantV := slices.Clone(w), slices.Clone(m), slices.Clone(v)
				for k := range c {
					Adam(wantW, zero, wantM, wantV, &c[k])
				}
				AdamIdle(w, m, v, c, slack)
				if !slices.Equal(w, wantW) || !slices.Equal(m, wantM) || !slices.Equal(v, wantV) {
					t.Fatalf("%d steps, slack %v: %v, %v, %v, one by one %v, %v, %v", n, slack, w, m, v, wantW, wantM, wantV)
				}
			}
		}
	})
}

// TestAdamIdleRests: a weight that a step does not move is left alone, its moments are not.
func TestAdamIdleRests(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 1; n <= 40; n++ {
			w, m, v := make([]Float, n), make([]Float, n), make([]Float, n)
			for i := range w {
				w[i], m[i], v[i] = 1, 1e-20, 1
			}
			still := NewAdamCoef(1e-2, 0.9, 0.999, 1e-8, 0, 1000)
			leap := still
			leap.Step = 1e20
			AdamIdle(w, m, v, []AdamCoef{still, leap, leap}, 1)
			for i := range w {
				if want := still.Beta1 * (still.Beta1 * (still.Beta1 * 1e-20)); w[i] != 1 || m[i] != want {
					t.Fatalf("length %d, element %d: weight %v and moment %v, want 1 and %v", n, i, w[i], m[i], want)
				}
			}
		}
	})
}

// TestAdamBias checks the factors against the definition of the algorithm.
func TestAdamBias(t *testing.T) {
	c := NewAdamCoef(0.001, 0.9, 0.999, 1e-8, 0, 2)
	if want := 0.001 / (1 - 0.81); !near(c.Step, want, 1e-6*want) {
		t.Errorf("step %g, want %g", c.Step, want)
	}
	if want := 1 / math.Sqrt(1-0.999*0.999); !near(c.RootScale, want, 1e-6*want) {
		t.Errorf("root scale %g, want %g", c.RootScale, want)
	}
}
