package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// maps are the element-wise kernels: z = f(x, y) with what they should give.
var maps = []struct {
	name string
	run  func(x, y, z []Float) // z starts as a copy of y
	want func(x, y float64) float64
}{
	{"axpy", func(x, _, z []Float) { Axpy(-1.5, x, z) }, func(x, y float64) float64 { return y - 1.5*x }},
	{"scaleAdd", func(x, _, z []Float) { ScaleAdd(2, x, 0.25, z) }, func(x, y float64) float64 { return 2*x + 0.25*y }},
	{"scaleTo", func(x, _, z []Float) { ScaleTo(-3, x, z) }, func(x, _ float64) float64 { return -3 * x }},
	{"add", func(x, _, z []Float) { Add(x, z) }, func(x, y float64) float64 { return x + y }},
	{"sumTo", func(x, y, z []Float) { SumTo(x, y, z) }, func(x, y float64) float64 { return x + y }},
	{"shift", func(x, _, z []Float) { Shift(1.5, x, z) }, func(x, _ float64) float64 { return x - 1.5 }},
	{"normBack", func(x, _, z []Float) { NormBack(0.5, 0.25, -2, x, z) }, func(x, y float64) float64 { return 0.5 * (y - 0.25 + 2*x) }},
	{"mul", func(x, y, z []Float) { Mul(x, y, z) }, func(x, y float64) float64 { return x * y }},
}

func TestMaps(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, m := range maps {
			for _, n := range lengths() {
				x, xw := fenced(r, n)
				y, _ := fenced(r, n)
				z, zw := fenced(r, n)
				copy(z, y)
				m.run(x, y, z)
				for i := range z {
					want := m.want(float64(x[i]), float64(y[i]))
					if tol := 4 * unit() * (math.Abs(float64(x[i])) + math.Abs(float64(y[i])) + 1); !near(z[i], want, tol) {
						t.Fatalf("%s, length %d, element %d: %g, want %g", m.name, n, i, z[i], want)
					}
				}
				checkFence(t, n, zw)
				checkFence(t, n, xw)
			}
		}
	})
}

func TestReductions(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for _, n := range lengths() {
			x, _ := fenced(r, n)
			y, _ := fenced(r, n)
			var dot, mag, sum, sq float64
			top := math.Inf(-1)
			for i := range x {
				a, b := float64(x[i]), float64(y[i])
				dot += a * b
				mag += math.Abs(a * b)
				sum += a
				sq += a * a
				top = max(top, a)
			}
			if got := Dot(x, y); !near(got, dot, unit()*(4+float64(n)/4)*mag) {
				t.Fatalf("dot of %d: %g, want %g", n, got, dot)
			}
			if got := Sum(x); math.Abs(got-sum) > 1e-12*float64(n+1) {
				t.Fatalf("sum of %d: %g, want %g", n, got, sum)
			}
			if got := SumSq(x); math.Abs(got-sq) > 1e-12*(sq+1) {
				t.Fatalf("sum of squares of %d: %g, want %g", n, got, sq)
			}
			if got := Max(x); float64(got) != top {
				t.Fatalf("max of %d: %g, want %g", n, got, top)
			}
			if !Finite(x) {
				t.Fatalf("%d finite values found not to be", n)
			}
		}
	})
}

// Gate passes x where y is above 0, to the bit, over x and over y too; Positive passes NaN and
// makes -0 a 0. Odd values stand at every place of a vector.
func TestGateAndPositive(t *testing.T) {
	inf, nan, minus := Float(math.Inf(1)), Float(math.NaN()), Float(math.Copysign(0, -1))
	eachLevel(t, func(t *testing.T) {
		ys := []Float{1, -1, 0, minus, 1e-30, inf, -inf, nan, 3}
		xs := []Float{-2, 5, 6, 7, nan, -inf, 8, 9, minus}
		for _, n := range lengths() {
			x, y := make([]Float, n), make([]Float, n)
			for i := range x {
				x[i], y[i] = xs[i%len(xs)], ys[i%len(ys)]
			}
			for name, z := range map[string][]Float{"apart": make([]Float, n), "over x": slices.Clone(x), "over y": slices.Clone(y)} {
				from, by := x, y
				if name == "over x" {
					from = z
				} else if name == "over y" {
					by = z
				}
				Gate(from, by, z)
				for i, v := range z {
					want := Float(0)
					if y[i] > 0 {
						want = x[i]
					}
					if bits(v) != bits(want) {
						t.Fatalf("gate %s, length %d: %v where y is %v and x %v", name, n, v, y[i], x[i])
					}
				}
			}
			z := make([]Float, n)
			Positive(y, z)
			for i, v := range z {
				if want := max(y[i], 0); bits(v) != bits(want) && !(v != v && want != want) {
					t.Fatalf("length %d: max(%v, 0) is %v", n, y[i], v)
				}
			}
		}
	})
}

// Rational has the bits of its formula, over x too, and takes NaN and -0 for 0.
func TestRational(t *testing.T) {
	odd := []Float{0, Float(math.Copysign(0, -1)), Float(math.NaN()), Float(math.Inf(-1)), -2, 1, 1e-30, 1e30}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 8))
		for _, n := range lengths() {
			x, _ := fenced(r, n)
			y, whole := fenced(r, n)
			for i := 0; i < n; i += 3 {
				x[i] = odd[i/3%len(odd)]
			}
			over := slices.Clone(x)
			Rational(x, y)
			Rational(over, over)
			checkFence(t, n, whole)
			for i, v := range x {
				want := Float(0)
				if v > 0 {
					want = v * (1 / (1 + v))
				}
				if bits(y[i]) != bits(want) || bits(over[i]) != bits(want) {
					t.Fatalf("length %d: of %v it is %v and, over x, %v, want %v", n, v, y[i], over[i], want)
				}
			}
		}
	})
}

// ratioDot is RatioDotRows of one row.
func ratioDot(x, y, w []Float) Float {
	if len(x) == 0 {
		return 0
	}
	var out [1]Float
	RatioDotRows(x, &y[0], len(y), []int32{0}, w, out[:])
	return out[0]
}

// ratioBack is RatioBackRows of one row.
func ratioBack(g Float, x, y, dx, dy, dw []Float) {
	if len(x) > 0 {
		RatioBackRows([]Float{g}, x, &y[0], len(y), dx, &dy[0], len(dy), dw, []int32{0})
	}
}

// edges are the two forms of the hidden layer of an edge: of x and y, and of exp(-x) and exp(-y).
var edges = []struct {
	name string
	in   func(x Float) Float
	dot  func(x, y, w []Float) Float
	back func(g Float, x, y, dx, dy, dw []Float)
}{
	{"sigmoid", func(x Float) Float { return x }, SigmoidDot, SigmoidBack},
	{"ratio", func(x Float) Float { return Float(math.Exp(-float64(x))) }, ratioDot, ratioBack},
}

// Both forms against their formula, for sums that reach both tails.
func TestEdges(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for _, n := range lengths() {
			for _, e := range edges {
				x, xw := fenced(r, n)
				y, _ := fenced(r, n)
				w, _ := fenced(r, n)
				dx, dxw := fenced(r, n)
				dy, dyw := fenced(r, n)
				dw, dww := fenced(r, n)
				dot, size := 0.0, 0.0
				const g = -1.25
				var want [3][]float64
				for i := range x {
					x[i] *= Float(1 + i%9)
					s := 1 / (1 + math.Exp(-float64(x[i]+y[i])))
					dot += float64(w[i]) * s
					size += math.Abs(float64(w[i]))
					d := g * s * (1 - s)
					want[0], want[1], want[2] = append(want[0], float64(dx[i])+d), append(want[1], float64(dy[i])+d), append(want[2], float64(dw[i])+g*s)
					x[i], y[i] = e.in(x[i]), e.in(y[i])
				}
				if got := e.dot(x, y, w); !near(got, dot, unit()*(8+float64(n)/4)*size) {
					t.Fatalf("%s, dot of %d: %g, want %g", e.name, n, got, dot)
				}
				e.back(g, x, y, dx, dy, dw)
				for k, got := range [][]Float{dx, dy, dw} {
					for i, v := range got {
						if !near(v, want[k][i], 16*unit()*(math.Abs(want[k][i])+2)) {
							t.Fatalf("%s, operand %d, length %d, element %d: %g, want %g", e.name, k, n, i, v, want[k][i])
						}
					}
				}
				for _, all := range [][]Float{xw, dxw, dyw, dww} {
					checkFence(t, n, all)
				}
			}
		}
	})
}

// The kernels over rows give the bits of those for one row, whatever the width and the distance
// of rows, and write nothing beside them.
func TestRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 5))
		idx := []int32{2, 0, 2, 1, 2}
		for n := 1; n < 150; n++ {
			const rows = 3
			ldy, lddy := n+n%5, n+n%3
			x, xw := fenced(r, n)
			y, yw := fenced(r, rows*ldy)
			w, ww := fenced(r, n)
			g, gw := fenced(r, len(idx))
			for _, v := range [][]Float{x, y} { // exp of something
				for i := range v {
					v[i] = v[i]*v[i] + 0.25
				}
			}
			dot, dotW := fenced(r, len(idx))
			ratio, ratioW := fenced(r, len(idx))
			DotRows(x, &y[0], ldy, idx, dot)
			RatioDotRows(x, &y[0], ldy, idx, w, ratio)
			dx, dxw := fenced(r, n)
			dy, dyw := fenced(r, rows*lddy)
			dw, dww := fenced(r, n)
			wantX, wantY, wantW := slices.Clone(dx), slices.Clone(dy), slices.Clone(dw)
			RatioBackRows(g, x, &y[0], ldy, dx, &dy[0], lddy, dw, idx)
			for e, i := range idx {
				at := y[int(i)*ldy : int(i)*ldy+n]
				if want := Dot(x, at); dot[e] != want {
					t.Fatalf("width %d, row %d: dot %g, want %g", n, i, dot[e], want)
				}
				if want := ratioDot(x, at, w); ratio[e] != want {
					t.Fatalf("width %d, row %d: ratio %g, want %g", n, i, ratio[e], want)
				}
				ratioBack(g[e], x, at, wantX, wantY[int(i)*lddy:int(i)*lddy+n], wantW)
			}
			if !slices.Equal(dx, wantX) || !slices.Equal(dy, wantY) || !slices.Equal(dw, wantW) {
				t.Fatalf("width %d: the way back is not that of single rows", n)
			}
			for n, all := range map[int][][]Float{n: {xw, ww, dxw, dww}, rows * ldy: {yw}, rows * lddy: {dyw}, len(idx): {gw, dotW, ratioW}} {
				for _, w := range all {
					if len(w) == n+2*33 {
						checkFence(t, n, w)
					}
				}
			}
		}
		DotRows(nil, nil, 0, nil, nil)
		RatioDotRows(nil, nil, 0, nil, nil, nil)
		RatioBackRows(nil, nil, nil, 0, nil, nil, 0, nil, nil)
	})
}

// Gates' way back gives the bits of plain Go, whichever operand z weighs.
func TestGRUBack(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 6))
		for d := range 150 {
			for _, swap := range []bool{false, true} {
				dy, _ := fenced(r, d)
				h, _ := fenced(r, d)
				s, _ := fenced(r, 3*d)
				gh, _ := fenced(r, 3*d)
				dgi, dgiW := fenced(r, 3*d)
				dgh, dghW := fenced(r, 3*d)
				dh, dhW := fenced(r, d)
				wantI, wantG, wantH := make([]Float, 3*d), make([]Float, 3*d), make([]Float, d)
				GRUBack(swap, dy, h, s, gh, dgi, dgh, dh)
				gruBackPlain(swap, dy, h, s, gh, wantI, wantG, wantH)
				if !slices.Equal(dgi, wantI) || !slices.Equal(dgh, wantG) || !slices.Equal(dh, wantH) {
					t.Fatalf("%d gates, swap %t: not the bits of plain Go", d, swap)
				}
				checkFence(t, 3*d, dgiW)
				checkFence(t, 3*d, dghW)
				checkFence(t, d, dhW)
			}
		}
	})
}

// Rows are copied as they are, and nothing beside them.
func TestCopyRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 7))
		const rows = 5
		for w := 1; w < 150; w++ {
			for _, n := range []int{0, 1, 20} {
				ldx := w + w%3
				x, _ := fenced(r, rows*ldx)
				idx := make([]int32, n)
				for e := range idx {
					idx[e] = int32(r.IntN(rows))
				}
				dst, whole := fenced(r, n*w)
				CopyRows(dst, w, &x[0], ldx, idx)
				for e, i := range idx {
					if !slices.Equal(dst[e*w:(e+1)*w], x[int(i)*ldx:int(i)*ldx+w]) {
						t.Fatalf("width %d: row %d of %d is not row %d", w, e, n, i)
					}
				}
				checkFence(t, n*w, whole)
			}
		}
	})
}

// TestSpecialPlaces puts one odd value at every place of a slice.
func TestSpecialPlaces(t *testing.T) {
	nan, inf := Float(math.NaN()), Float(math.Inf(1))
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 16, 33, 64, 100} {
			for i := range n {
				x := make([]Float, n)
				for j := range x {
					x[j] = -Float(j) - 1
				}
				for _, odd := range []Float{nan, inf, -inf} {
					x[i] = odd
					if Finite(x) {
						t.Fatalf("%g at %d of %d not found", odd, i, n)
					}
				}
				x[i] = nan
				want := Float(-1)
				if i == 0 {
					want = -2
				}
				if n == 1 {
					want = -inf
				}
				if got := Max(x); got != want {
					t.Fatalf("max with NaN at %d of %d: %g, want %g", i, n, got, want)
				}
				x[i] = 5
				if got := Max(x); got != 5 {
					t.Fatalf("max with 5 at %d of %d: %g", i, n, got)
				}
			}
		}
	})
}
