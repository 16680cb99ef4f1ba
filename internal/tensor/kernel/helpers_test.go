package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// single says whether Float is float32.
var single = func() bool { f := Float(1); return f+1e-12 == 1 }()

// unit is the relative spacing of Float.
func unit() float64 {
	if single {
		return 0x1p-23
	}
	return 0x1p-52
}

// eachLevel runs f on every level up to the one in use.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for l, top := Off, Current(); l <= top; l++ {
		t.Run(l.String(), func(t *testing.T) {
			defer Use(l)()
			f(t)
		})
	}
}

// lengths covers every tail of every unrolling.
func lengths() []int {
	var all []int
	for n := range 150 {
		all = append(all, n)
	}
	return append(all, 255, 256, 257, 1000, 4099)
}

// fenced returns n random values between NaN fences, which a kernel must neither
// read into its result nor overwrite.
func fenced(r *rand.Rand, n int) (x, whole []Float) {
	const fence = 33
	whole = make([]Float, n+2*fence)
	for i := range whole {
		whole[i] = Float(math.NaN())
	}
	x = whole[fence : fence+n]
	for i := range x {
		x[i] = Float(r.NormFloat64())
	}
	return x, whole
}

func checkFence(t *testing.T, n int, whole []Float) {
	t.Helper()
	for i, v := range whole {
		if fence := (len(whole) - n) / 2; (i < fence || i >= fence+n) && v == v {
			t.Fatalf("length %d: wrote %g outside, at %d", n, v, i-fence)
		}
	}
}

// near reports |got - want| <= tol, or both NaN, or the same infinity.
func near(got Float, want, tol float64) bool {
	g := float64(got)
	return g == want || math.Abs(g-want) <= tol || g != g && want != want
}
