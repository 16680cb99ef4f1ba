package kernel

import (
	"math/rand/v2"
	"testing"
)

// Every width, rows with and without entries, the last entries of idx included:
// what is fetched ahead must stay within it.
func TestGatherRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 5))
		for _, d := range lengths()[:140] {
			const cols = 7
			ldx, ldy := d+3, d+2
			x, _ := fenced(r, cols*ldx)
			right, _ := fenced(r, cols)
			ptr := []int64{0, 0, 1, 1, 15, 17, 17}
			idx := make([]int32, 17)
			for e := range idx {
				idx[e] = int32(r.IntN(cols))
			}
			for _, span := range [][2]int{{0, 6}, {1, 2}, {2, 3}, {3, 5}, {4, 4}} {
				lo, hi := span[0], span[1]
				left, _ := fenced(r, hi-lo)
				y, whole := fenced(r, (hi-lo)*ldy)
				before := append([]Float(nil), y...)
				if hi > lo {
					GatherRows(ptr[lo:hi+1], idx, left, &right[0], &x[0], ldx, &y[0], ldy, d, nil)
				}
				for i := range hi - lo {
					for k := range ldy {
						got, want := y[i*ldy+k], float64(before[i*ldy+k])
						if k < d {
							want = 0
							for _, j := range idx[ptr[lo+i]:ptr[lo+i+1]] {
								want += float64(right[j]) * float64(x[int(j)*ldx+k])
							}
							want *= float64(left[i])
						}
						if !near(got, want, 400*unit()) {
							t.Fatalf("width %d, rows %d to %d, (%d, %d): %g, want %g", d, lo, hi, i, k, got, want)
						}
					}
				}
				checkFence(t, len(y), whole)
			}
		}
	})
}

// A row does not depend on the rows it is computed with.
func TestGatherRowsAlone(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 6))
		const cols, d, n = 50, 64, 20
		x, _ := fenced(r, cols*d)
		right, _ := fenced(r, cols)
		left, _ := fenced(r, n)
		ptr := make([]int64, n+1)
		var idx []int32
		for i := range n {
			for range r.IntN(40) {
				idx = append(idx, int32(r.IntN(cols)))
			}
			ptr[i+1] = int64(len(idx))
		}
		all, one := make([]Float, n*d), make([]Float, d)
		GatherRows(ptr, idx, left, &right[0], &x[0], d, &all[0], d, d, nil)
		for i := range n {
			GatherRows(ptr[i:i+2], idx, left[i:i+1], &right[0], &x[0], d, &one[0], d, d, nil)
			for k, v := range one {
				if all[i*d+k] != v {
					t.Fatalf("(%d, %d): %g alone, %g with others", i, k, v, all[i*d+k])
				}
			}
		}
	})
}

// Every width, from zero and from what rows hold, rows with and without entries.
func TestSpMMRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for _, d := range lengths()[:140] {
			const cols = 7
			ldx, ldy := d+3, d+2
			x, _ := fenced(r, cols*ldx)
			ptr := []int64{0, 0, 1, 1, 15, 17, 17}
			idx := make([]int32, 17)
			val, _ := fenced(r, len(idx))
			for e := range idx {
				idx[e] = int32(r.IntN(cols))
			}
			for _, span := range [][2]int{{0, 6}, {1, 2}, {2, 3}, {3, 5}, {4, 4}} {
				for _, add := range []bool{false, true} {
					lo, hi := span[0], span[1]
					y, whole := fenced(r, (hi-lo)*ldy+1)
					before := append([]Float(nil), y...)
					SpMMRows(ptr[lo:hi+1], idx, val, &x[0], ldx, &y[0], ldy, d, add)
					for i := range hi - lo {
						for k := range ldy {
							got, want := y[i*ldy+k], float64(before[i*ldy+k])
							if k < d {
								if !add {
									want = 0
								}
								for e := ptr[lo+i]; e < ptr[lo+i+1]; e++ {
									want += float64(val[e]) * float64(x[int(idx[e])*ldx+k])
								}
							}
							if !near(got, want, 400*unit()) {
								t.Fatalf("width %d, rows %d to %d, add %t, (%d, %d): %g, want %g", d, lo, hi, add, i, k, got, want)
							}
						}
					}
					checkFence(t, len(y), whole)
				}
			}
		}
		SpMMRows([]int64{0}, nil, nil, nil, 0, nil, 0, 4, false)
	})
}
