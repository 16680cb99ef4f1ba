package tensor

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestViews(t *testing.T) {
	m := New(4, 5)
	for i := range m.Data {
		m.Data[i] = Float(i)
	}
	v := ColsView(RowsView(m, 1, 3), 2, 4)
	if v.Rows != 2 || v.Cols != 2 || v.Stride != 5 {
		t.Fatalf("view of %d x %d, stride %d", v.Rows, v.Cols, v.Stride)
	}
	for i := range 2 {
		for j, got := range Row(v, i) {
			if want := Float((i+1)*5 + j + 2); got != want {
				t.Errorf("(%d, %d) = %g, want %g", i, j, got, want)
			}
		}
	}
	Row(v, 1)[1] = -1
	if m.Data[2*5+3] != -1 {
		t.Error("view does not share data")
	}
	for _, e := range []Matrix{RowsView(m, 4, 4), ColsView(m, 5, 5), New(0, 3), New(3, 0)} {
		for i := range e.Rows {
			if len(Row(e, i)) != e.Cols {
				t.Errorf("row of an empty %d x %d matrix", e.Rows, e.Cols)
			}
		}
	}
}

func TestViewsPanic(t *testing.T) {
	m := New(2, 3)
	for name, f := range map[string]func(){
		"row":      func() { Row(m, 2) },
		"negative": func() { Row(m, -1) },
		"rows":     func() { RowsView(m, 1, 3) },
		"order":    func() { RowsView(m, 2, 1) },
		"columns":  func() { ColsView(m, 0, 4) },
		"size":     func() { New(-1, 2) },
		"from":     func() { From(2, 3, make([]Float, 5)) },
		"lengths":  func() { Axpy(1, m.Data, m.Data[:2]) },
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

func TestTable(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {3, 5}, {1000, 700}, {40000, 16}} {
		m := NewTable(size[0], size[1])
		if m.Rows != size[0] || m.Cols != size[1] || len(m.Data) != size[0]*size[1] {
			t.Fatalf("table %v: %d x %d of %d", size, m.Rows, m.Cols, len(m.Data))
		}
		for i, v := range m.Data {
			if v != 0 {
				t.Fatalf("table %v: element %d is %g", size, i, v)
			}
			m.Data[i] = 1
		}
		Free(m)
	}
	Free(Matrix{})
}

func TestFinite(t *testing.T) {
	x := make([]Float, 10000)
	if i, ok := Finite(x); !ok || i != -1 {
		t.Fatalf("zeros: %d, %t", i, ok)
	}
	for _, at := range []int{0, 1, 4095, 4096, 9999} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			x[at] = Float(v)
			if i, ok := Finite(x); ok || i != at {
				t.Fatalf("%g at %d: %d, %t", v, at, i, ok)
			}
			x[at] = 0
		}
	}
}

func TestScaleAddOverwrites(t *testing.T) {
	y := []Float{Float(math.NaN()), 1}
	ScaleAdd(2, []Float{3, 4}, 0, y)
	if y[0] != 6 || y[1] != 8 {
		t.Fatalf("got %v, want [6 8]", y)
	}
}

// TestExpSumLong compares a long sum, of several blocks, with float64.
func TestExpSumLong(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 9))
		x := make([]Float, 5000)
		var want float64
		for i := range x {
			x[i] = Float(r.NormFloat64())
			want += math.Exp(float64(x[i]) - 1)
		}
		if got := ExpSum(x, x, 1); math.Abs(got-want) > 1e-6*want {
			t.Fatalf("sum %g, want %g", got, want)
		}
	})
}

func TestNormalizeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	src := randomMatrix(r, 50, 37, 40)
	clear(Row(src, 3)) // no direction: stays zero
	for _, workers := range []int{1, 3} {
		withWorkers(workers, func() {
			dst, f := New(50, 37), make([]Float, 50)
			NormalizeRows(dst, src, 2, 1e-12, f)
			for i := range 50 {
				norm, want := math.Sqrt(SumSq(Row(dst, i))), 2.0
				if i == 3 {
					want = 0
				}
				if math.Abs(norm-want) > 1e-6 || i != 3 && math.Abs(float64(f[i])*math.Sqrt(SumSq(Row(src, i)))-2) > 1e-6 {
					t.Fatalf("row %d: norm %g, factor %g", i, norm, f[i])
				}
			}
			ClipRows(dst, src, 6, f)
			for i := range 50 {
				before, after := math.Sqrt(SumSq(Row(src, i))), math.Sqrt(SumSq(Row(dst, i)))
				if math.Abs(after-min(before, 6)) > 1e-5 || before <= 6 && !sameBits(Row(src, i), Row(dst, i)) {
					t.Fatalf("row %d: norm %g clipped to %g", i, before, after)
				}
			}
		})
	}
}

// TestVectorAllocs demands that vector functions make no garbage.
func TestVectorAllocs(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		x, y := make([]Float, 100), make([]Float, 100)
		c := NewAdamCoef(0.1, 0.9, 0.999, 1e-8, 0, 1)
		got := testing.AllocsPerRun(10, func() {
			var local [64]Float // stays on the stack
			Axpy(1, local[:], x[:64])
			Exp(y, x)
			AdamStep(x, y, x, y, c)
			_ = Dot(x, y) + Max(x) + Float(Sum(x)+SumSq(y))
			Finite(x)
		})
		if got != 0 {
			t.Errorf("%g allocations, want 0", got)
		}
	})
}
