package tensor

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"privrec/internal/tensor/kernel"
)

// rounded returns the two-byte copy of x and its values.
func rounded(x Matrix) (Bfloat16, Matrix) {
	b, values := NewBfloat16(x.Rows, x.Cols), New(x.Rows, x.Cols)
	half := x.Rows / 2
	b.Round(half, RowsView(x, half, x.Rows))
	b.Round(0, RowsView(x, 0, half))
	for i := range x.Rows {
		copy(Row(values, i), rowOf(b, i))
	}
	return b, values
}

// rowOf returns the values of row i.
func rowOf(b Bfloat16, i int) []Float {
	x := make([]Float, b.Cols)
	for k := range x {
		x[k] = kernel.FromBfloat16(b.words[i*b.stride+kernel.Bfloat16Word(k)])
	}
	return x
}

// A product of a two-byte copy is that of its values, bit by bit, and near that of the table.
func TestGatherBfloat16(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 7))
		const rows, cols = 40, 23
		ptr, idx := make([]int64, 1), []int32(nil)
		for range rows {
			for range r.IntN(9) {
				idx = append(idx, int32(r.IntN(cols)))
			}
			ptr = append(ptr, int64(len(idx)))
		}
		p, err := NewPattern(cols, ptr, idx)
		if err != nil {
			t.Fatal(err)
		}
		left, right := randomMatrix(r, 1, rows, rows).Data, randomMatrix(r, 1, cols, cols).Data
		to := make([]int32, rows)
		for i, k := range r.Perm(rows) {
			to[i] = int32(k)
		}
		for _, d := range []int{1, 5, 16, 33, 64, 150} {
			x := randomMatrix(r, cols, d, d+3)
			b, values := rounded(x)
			for i := range cols {
				for k, v := range Row(values, i) {
					if exact := Row(x, i)[k]; v-exact > max(exact, -exact)/256 || exact-v > max(exact, -exact)/256 {
						t.Fatalf("width %d, (%d, %d): %g for %g", d, i, k, v, exact)
					}
				}
			}
			got, want := New(rows, d), New(rows, d)
			p.GatherBfloat16(0, rows, left, right, b, got)
			p.Gather(0, rows, left, right, values, want)
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("width %d: not the product of the values", d)
			}
			p.GatherBfloat16To(7, 30, left, right, b, got, to[:23])
			p.GatherTo(7, 30, left, right, values, want, to[:23])
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("width %d: not the product of the values at other places", d)
			}
			b.Free()
		}
	})
}

// A big copy, which lies outside the heap, can be written to its end.
func TestBigBfloat16(t *testing.T) {
	b := NewBfloat16(20000, 65)
	defer b.Free()
	x := New(2, 65)
	for k := range x.Data {
		x.Data[k] = Float(k)
	}
	b.Round(19998, x)
	if y := rowOf(b, 19999); !slices.Equal(Row(x, 1), y) {
		t.Errorf("the last row is %g", y)
	}
	if y := rowOf(b, 0); Sum(y) != 0 {
		t.Errorf("the first row is %g", y)
	}
	b.Zero(19998, 19999)
	if y, z := rowOf(b, 19998), rowOf(b, 19999); Sum(y) != 0 || !slices.Equal(Row(x, 1), z) {
		t.Errorf("a cleared row is %g, the next %g", y, z)
	}
}

func TestBfloat16Shapes(t *testing.T) {
	p, err := NewPattern(3, []int64{0, 1, 2}, []int32{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	ones, b := []Float{1, 1, 1}, NewBfloat16(3, 4)
	for name, f := range map[string]func(){
		"rows":     func() { p.GatherBfloat16(1, 3, ones[:2], ones, b, New(2, 4)) },
		"x":        func() { p.GatherBfloat16(0, 2, ones[:2], ones, NewBfloat16(2, 4), New(2, 4)) },
		"dst":      func() { p.GatherBfloat16(0, 2, ones[:2], ones, b, New(1, 4)) },
		"places":   func() { p.GatherBfloat16To(0, 2, ones[:2], ones, b, New(3, 4), []int32{0}) },
		"negative": func() { NewBfloat16(-1, 4) },
		"round":    func() { b.Round(2, New(2, 4)) },
		"widths":   func() { b.Round(0, New(2, 5)) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "tensor: ") {
					t.Errorf("%s: %q", name, s)
				}
			}()
			f()
		}()
	}
	empty, err := NewPattern(0, []int64{0, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst := From(2, 2, []Float{1, 2, 3, 4})
	empty.GatherBfloat16(0, 2, ones[:2], nil, NewBfloat16(0, 2), dst)
	if Sum(dst.Data) != 0 {
		t.Errorf("rows without columns give %v", dst.Data)
	}
	b.Round(0, New(0, 4))
	NewBfloat16(3, 0).Round(0, New(3, 0))
}
