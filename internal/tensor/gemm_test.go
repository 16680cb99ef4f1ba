package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// product is one case of Gemm.
type product struct {
	tA, tB      bool
	m, n, k     int
	alpha, beta Float
	pad         int // extra stride
}

func (p product) String() string {
	return fmt.Sprintf("%d x %d x %d tA=%t tB=%t alpha=%g beta=%g pad=%d", p.m, p.n, p.k, p.tA, p.tB, p.alpha, p.beta, p.pad)
}

// operands returns random a, b and c; c is NaN where beta is 0.
func (p product) operands(r *rand.Rand) (a, b, c Matrix) {
	a = randomMatrix(r, p.m, p.k, p.k+p.pad)
	if p.tA {
		a = randomMatrix(r, p.k, p.m, p.m+p.pad)
	}
	b = randomMatrix(r, p.k, p.n, p.n+p.pad)
	if p.tB {
		b = randomMatrix(r, p.n, p.k, p.k+p.pad)
	}
	c = randomMatrix(r, p.m, p.n, p.n+p.pad)
	if p.beta == 0 {
		for i := range c.Data {
			c.Data[i] = Float(math.NaN())
		}
	}
	return a, b, c
}

// verify compares got with the product in float64. The bound is the usual one
// for a dot product of length k, |error| <= (k+8) eps sum|a b|, with room for
// blocked sums needing less.
func (p product) verify(t *testing.T, a, b, old, got Matrix) {
	t.Helper()
	eps := 1.2e-7
	if Float(1)+Float(1e-12) != 1 {
		eps = 2.3e-16
	}
	x, y := rowsOf(a, p.tA), rowsOf(b, !p.tB)
	for i := range p.m {
		for j := range p.n {
			var s, mag float64
			for l, v := range x[i] {
				s += v * y[j][l]
				mag += math.Abs(v * y[j][l])
			}
			s *= float64(p.alpha)
			mag *= math.Abs(float64(p.alpha))
			if p.beta != 0 {
				o := float64(p.beta) * float64(old.Data[i*old.Stride+j])
				s += o
				mag += math.Abs(o)
			}
			g := float64(got.Data[i*got.Stride+j])
			if !(math.Abs(g-s) <= eps*(math.Sqrt(float64(p.k))*2+8)*mag) {
				t.Fatalf("%v: (%d, %d) = %g, want %g", p, i, j, g, s)
			}
		}
	}
	if len(got.Data) == 0 {
		return
	}
	for i := range got.Rows - 1 {
		for j := got.Cols; j < got.Stride; j++ {
			if v := got.Data[i*got.Stride+j]; v == v {
				t.Fatalf("%v: wrote %g past row %d", p, v, i)
			}
		}
	}
}

// rowsOf returns the rows of m, or of its transpose, in float64.
func rowsOf(m Matrix, transpose bool) [][]float64 {
	rows, cols := m.Rows, m.Cols
	if transpose {
		rows, cols = cols, rows
	}
	all := make([][]float64, rows)
	for i := range all {
		all[i] = make([]float64, cols)
		for j := range cols {
			if transpose {
				all[i][j] = float64(m.Data[j*m.Stride+i])
			} else {
				all[i][j] = float64(m.Data[i*m.Stride+j])
			}
		}
	}
	return all
}

func (p product) check(t *testing.T, r *rand.Rand) {
	t.Helper()
	a, b, c := p.operands(r)
	got := clone(c)
	Gemm(p.tA, p.tB, p.alpha, a, b, p.beta, got)
	p.verify(t, a, b, c, got)
}

// TestGemmTails covers every strip height and every panel tail in all four forms.
func TestGemmTails(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for f := range 4 {
			for m := 1; m <= 30; m++ {
				product{f&1 != 0, f&2 != 0, m, 1 + m*7%35, 1 + m*5%23, 1, 0, 0}.check(t, r)
			}
			for n := 1; n <= 70; n++ {
				product{f&1 != 0, f&2 != 0, 1 + n*3%17, n, 1 + n%19, 1, Float(n % 2), n % 3}.check(t, r)
			}
			for k := 1; k <= 40; k++ {
				product{f&1 != 0, f&2 != 0, 15, 33, k, 1, 1, 1}.check(t, r)
			}
		}
	})
}

// TestGemmForms covers sizes that take every split: none, rows, columns, inner
// dimension, several blocks of each; and general alpha, beta and strides.
func TestGemmForms(t *testing.T) {
	sizes := [][3]int{{1, 1, 1}, {1, 300, 40}, {300, 1, 40}, {64, 60, 60}, {100, 281, 100}, {320, 60, 70},
		{60, 50, 1500}, {33, 65, 2049}, {170, 60, 600}, {5, 1100, 130}, {600, 5, 130}, {260, 20, 1024}}
	factors := []product{{alpha: 1}, {alpha: -0.5, beta: 1, pad: 3}, {alpha: 2, beta: 0.25, pad: 1}}
	if testing.Short() { // the threads are the same
		factors = factors[2:]
	}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, s := range sizes {
			for f := range 4 {
				for _, p := range factors {
					product{f&1 != 0, f&2 != 0, s[0], s[1], s[2], p.alpha, p.beta, p.pad}.check(t, r)
				}
			}
		}
	})
}

// TestGemmRandom takes sizes, forms, factors and strides at random.
func TestGemmRandom(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		size := func() int { return 1 + r.IntN(1<<(1+r.IntN(8))) }
		for range 200 {
			product{r.IntN(2) == 0, r.IntN(2) == 0, size(), size(), size(),
				Float(r.NormFloat64()), Float(r.IntN(3)) / 2, r.IntN(20)}.check(t, r)
		}
	})
}

// TestGemmRows shows that a row of the product does not depend on the others, as
// long as the inner dimension is not cut: scores are the same in any batch.
func TestGemmRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		a, b := randomMatrix(r, 120, 90, 90), randomMatrix(r, 700, 90, 90)
		all, one := New(120, 700), New(1, 700)
		Gemm(false, true, 1, a, b, 0, all)
		for _, i := range []int{0, 13, 14, 60, 119} {
			Gemm(false, true, 1, RowsView(a, i, i+1), b, 0, one)
			if !sameBits(one.Data, Row(all, i)) {
				t.Fatalf("row %d alone has other bits", i)
			}
		}
	})
}

func TestGemmZeroSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for f := range 4 {
		for _, s := range [][3]int{{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {0, 0, 0}, {0, 0, 5}} {
			for _, beta := range []Float{0, 1, 3} {
				product{f&1 != 0, f&2 != 0, s[0], s[1], s[2], 1, beta, 0}.check(t, r)
			}
		}
		product{f&1 != 0, f&2 != 0, 7, 9, 5, 0, 0, 2}.check(t, r)
	}
}

// TestGemmNaN shows that a NaN is not hidden behind a zero.
func TestGemmNaN(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		a, b, c := New(3, 2), New(2, 40), New(3, 40)
		b.Data[5] = Float(math.NaN())
		Gemm(false, false, 1, a, b, 0, c)
		if v := c.Data[40+5]; v == v {
			t.Fatalf("0 x NaN = %g, want NaN", v)
		}
	})
}

// TestGemmWorkers demands the same bytes for any number of workers, from inside
// a parallel body too.
func TestGemmWorkers(t *testing.T) {
	sizes := [][3]int{{320, 60, 70}, {50, 1410, 60}, {60, 50, 1700}, {256, 100, 128}}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, s := range sizes {
			for f := range 4 {
				p := product{f&1 != 0, f&2 != 0, s[0], s[1], s[2], 1.5, 1, 0}
				a, b, c := p.operands(r)
				var want Matrix
				for _, w := range []int{1, 2, 5, 16} {
					got := clone(c)
					withWorkers(w, func() { Gemm(p.tA, p.tB, p.alpha, a, b, p.beta, got) })
					if w == 1 {
						want = got
					} else if !sameBits(got.Data, want.Data) {
						t.Fatalf("%v: %d workers give other bits than 1", p, w)
					}
				}
				nested := []Matrix{clone(c), clone(c), clone(c)}
				withWorkers(3, func() {
					Parallel(3, 1, func(i, _, _ int) { Gemm(p.tA, p.tB, p.alpha, a, b, p.beta, nested[i]) })
				})
				for i, got := range nested {
					if !sameBits(got.Data, want.Data) {
						t.Fatalf("%v: nested call %d gives other bits", p, i)
					}
				}
			}
		}
	})
}

func TestGemmShapesPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"inner": func() { Gemm(false, false, 1, New(2, 3), New(4, 5), 0, New(2, 5)) },
		"outer": func() { Gemm(false, true, 1, New(2, 3), New(4, 3), 0, New(2, 5)) },
		"data": func() {
			Gemm(false, false, 1, Matrix{Rows: 2, Cols: 3, Stride: 3, Data: make([]Float, 5)}, New(3, 5), 0, New(2, 5))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Fatal("no panic")
				}
			}()
			f()
		})
	}
}

// TestGemmAllocs demands a steady state without garbage.
func TestGemmAllocs(t *testing.T) {
	a, b, c := New(320, 150), New(100, 150), New(320, 100)
	g, x, w := New(3200, 60), New(3200, 50), New(60, 50)
	for _, n := range []int{1, 2} {
		withWorkers(n, func() {
			got := testing.AllocsPerRun(20, func() {
				Gemm(false, true, 1, a, b, 0, c)
				Gemm(true, false, 1, g, x, 0, w)
			})
			if got != 0 {
				t.Errorf("%d workers: %g allocations a call, want 0", n, got)
			}
		})
	}
}
