package tensor

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestPatternRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		cols int
		ptr  []int64
		idx  []int32
		want string
	}{
		"no offsets":     {3, nil, nil, "0 offsets"},
		"first not zero": {3, []int64{1, 2}, []int32{0, 1}, "rise from 0"},
		"too short":      {3, []int64{0, 1}, []int32{0, 1}, "2 entries"},
		"too long":       {3, []int64{0, 3}, []int32{0, 1}, "2 entries"},
		"falling":        {3, []int64{0, 2, 1, 2}, []int32{0, 1}, "fall at row 2"},
		"negative":       {3, []int64{0, 2}, []int32{0, -1}, "column -1 of 3"},
		"outside":        {3, []int64{0, 2}, []int32{3, 1}, "entry 0 is in column 3 of 3"},
		"negative cols":  {-1, []int64{0}, nil, "-1 columns"},
	} {
		if p, err := NewPattern(c.cols, c.ptr, c.idx); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", name, p, err, c.want)
		}
	}
}

func TestPatternGather(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 6))
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
		if p.Rows() != rows || p.Cols() != cols || !slices.Equal(p.Row(3), idx[ptr[3]:ptr[4]]) {
			t.Errorf("%d x %d, row 3 %v", p.Rows(), p.Cols(), p.Row(3))
		}
		left, right := randomMatrix(r, 1, rows, rows).Data, randomMatrix(r, 1, cols, cols).Data
		for _, d := range []int{1, 5, 16, 64, 150} {
			x := randomMatrix(r, cols, d, d+3)
			for _, span := range [][2]int{{0, rows}, {7, 9}, {rows, rows}, {0, 0}} {
				lo, hi := span[0], span[1]
				dst := randomMatrix(r, hi-lo, d, d+1)
				p.Gather(lo, hi, left, right, x, dst)
				far, to := New(rows, d), make([]int32, hi-lo)
				for i := range to {
					to[i] = int32(rows - 1 - i)
				}
				p.GatherTo(lo, hi, left, right, x, far, to)
				ahead := New(far.Rows, far.Cols) // with places of rows that come later
				p.GatherTo(lo, hi, left, right, x, ahead, append(slices.Clone(to), 0, int32(rows)-1, 0))
				if !slices.Equal(ahead.Data, far.Data) {
					t.Fatalf("width %d, rows %d to %d: places of later rows change the result", d, lo, hi)
				}
				for i := range to {
					if !slices.Equal(Row(far, rows-1-i), Row(dst, i)) {
						t.Fatalf("width %d, row %d differs at another place", d, lo+i)
					}
				}
				for i := range rows - len(to) {
					if Sum(Row(far, i)) != 0 {
						t.Fatalf("width %d: row %d, not named, was written", d, i)
					}
				}
				for i := lo; i < hi; i++ {
					for k, got := range Row(dst, i-lo) {
						want := 0.0
						for _, j := range p.Row(i) {
							want += float64(right[j]) * float64(Row(x, int(j))[k])
						}
						if want *= float64(left[i]); math.Abs(float64(got)-want) > 1e-4 {
							t.Fatalf("width %d, (%d, %d): %g, want %g", d, i, k, got, want)
						}
					}
				}
			}
		}
	})
}

func TestPatternGatherShapes(t *testing.T) {
	p, err := NewPattern(3, []int64{0, 1, 2}, []int32{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	ones := []Float{1, 1, 1}
	for name, f := range map[string]func(){
		"rows":   func() { p.Gather(1, 3, ones[:2], ones, New(3, 4), New(2, 4)) },
		"left":   func() { p.Gather(0, 2, ones, ones, New(3, 4), New(2, 4)) },
		"right":  func() { p.Gather(0, 2, ones[:2], ones[:2], New(3, 4), New(2, 4)) },
		"x":      func() { p.Gather(0, 2, ones[:2], ones, New(2, 4), New(2, 4)) },
		"dst":    func() { p.Gather(0, 2, ones[:2], ones, New(3, 4), New(1, 4)) },
		"widths": func() { p.Gather(0, 2, ones[:2], ones, New(3, 4), New(2, 5)) },
		"places": func() { p.GatherTo(0, 2, ones[:2], ones, New(3, 4), New(2, 4), []int32{0}) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "gather: rows") {
					t.Errorf("%s: %q", name, s)
				}
			}()
			f()
		}()
	}
	func() {
		defer func() {
			if s, _ := recover().(string); s != "tensor: gather: into row 2 of 2" {
				t.Errorf("a place outside: %q", s)
			}
		}()
		p.GatherTo(0, 2, ones[:2], ones, New(3, 4), New(2, 4), []int32{0, 2})
	}()
	empty, err := NewPattern(0, []int64{0, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst := From(2, 2, []Float{1, 2, 3, 4})
	empty.Gather(0, 2, ones[:2], nil, New(0, 2), dst)
	if Sum(dst.Data) != 0 {
		t.Errorf("rows without columns give %v", dst.Data)
	}
	dst = From(2, 2, []Float{1, 2, 3, 4})
	empty.GatherTo(0, 1, ones[:2], nil, New(0, 2), dst, []int32{1})
	if !slices.Equal(dst.Data, []Float{1, 2, 0, 0}) {
		t.Errorf("a row without columns at place 1 gives %v", dst.Data)
	}
	if new(Pattern).Rows() != 0 {
		t.Error("the zero pattern has rows")
	}
}

// Fetch changes nothing, for rows of any width and stride, and refuses rows outside.
func TestFetch(t *testing.T) {
	for _, cols := range []int{0, 1, 15, 16, 17, 64, 100} {
		m := New(9, cols+3)
		for i := range m.Data {
			m.Data[i] = Float(i)
		}
		Fetch(ColsView(m, 0, cols), nil)
		Fetch(ColsView(m, 0, cols), []int32{8, 0, 8, 3})
		for i, v := range m.Data {
			if v != Float(i) {
				t.Fatalf("%d columns: element %d is %g", cols, i, v)
			}
		}
		for _, r := range []int32{-1, 9} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%d columns: row %d of 9 passes", cols, r)
					}
				}()
				Fetch(ColsView(m, 0, cols), []int32{2, r})
			}()
		}
	}
}
