package tensor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomCSR returns a matrix with empty rows and repeated entries, and its dense
// form in float64.
func randomCSR(t *testing.T, r *rand.Rand, rows, cols, n int) (*CSR, [][]float64) {
	t.Helper()
	var ri, ci []int32
	var val []Float
	dense := make([][]float64, rows)
	for i := range dense {
		dense[i] = make([]float64, cols)
	}
	for range n {
		i, j, v := r.IntN(rows), r.IntN(cols), Float(r.NormFloat64())
		ri, ci, val = append(ri, int32(i)), append(ci, int32(j)), append(val, v)
		dense[i][j] += float64(v)
	}
	m, err := FromTriplets(rows, cols, ri, ci, val)
	if err != nil {
		t.Fatal(err)
	}
	return m, dense
}

func TestMulDense(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 5))
		for _, d := range []int{0, 1, 5, 16, 33, 64, 100, 150} {
			m, dense := randomCSR(t, r, 200, 30, 400)
			x := randomMatrix(r, 30, d, d+3)
			var first Matrix
			for _, workers := range []int{1, 2, 7} {
				y := randomMatrix(r, 200, d, d+1)
				withWorkers(workers, func() { m.MulDense(y, x) })
				for i := range 200 {
					for k, got := range Row(y, i) {
						var want float64
						for j := range 30 {
							want += dense[i][j] * float64(Row(x, j)[k])
						}
						if math.Abs(float64(got)-want) > 1e-4 {
							t.Fatalf("width %d: (%d, %d) = %g, want %g", d, i, k, got, want)
						}
					}
					if workers > 1 && !sameBits(Row(y, i), Row(first, i)) {
						t.Fatalf("width %d: row %d differs with %d workers", d, i, workers)
					}
				}
				if workers == 1 {
					first = y
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	m, dense := randomCSR(t, rand.New(rand.NewPCG(2, 5)), 20, 30, 90)
	tr := m.Transpose()
	if tr.Rows != 30 || tr.Cols != 20 {
		t.Fatalf("transpose is %d x %d", tr.Rows, tr.Cols)
	}
	for j := range tr.Rows {
		last := int32(-1)
		for e := tr.Ptr[j]; e < tr.Ptr[j+1]; e++ {
			if tr.Idx[e] < last {
				t.Fatalf("row %d: columns out of order", j)
			}
			last = tr.Idx[e]
			dense[tr.Idx[e]][j] -= float64(tr.Val[e])
		}
	}
	for i := range dense {
		for j, v := range dense[i] {
			if math.Abs(v) > 1e-6 {
				t.Fatalf("entry (%d, %d) off by %g", i, j, v)
			}
		}
	}
}

func TestFromTripletsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		ri, ci []int32
		val    []Float
	}{
		"row":     {[]int32{2}, []int32{0}, []Float{1}},
		"column":  {[]int32{0}, []int32{3}, []Float{1}},
		"minus":   {[]int32{-1}, []int32{0}, []Float{1}},
		"lengths": {[]int32{0}, []int32{0, 1}, []Float{1}},
	} {
		if m, err := FromTriplets(2, 3, c.ri, c.ci, c.val); err == nil {
			t.Errorf("%s: no error, got %v", name, m)
		}
	}
}

func TestMulDenseRefusesBadParts(t *testing.T) {
	for _, c := range []CSR{
		{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Idx: []int32{2}, Val: []Float{1}},
		{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Idx: []int32{-1}, Val: []Float{1}},
		{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Idx: []int32{1}},
		{Rows: 1, Cols: 2, Ptr: []int64{0, 9}, Idx: []int32{1}, Val: []Float{1}},
		{Rows: 1, Cols: 2, Ptr: []int64{1, 0}, Idx: []int32{1}, Val: []Float{1}},
		{Rows: 1, Cols: 2, Ptr: []int64{0}, Idx: []int32{1}, Val: []Float{1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("multiplied by %+v", c)
				}
			}()
			c.MulDense(New(1, 3), New(2, 3))
		}()
	}
	new(CSR).MulDense(New(0, 3), New(0, 3))
}
