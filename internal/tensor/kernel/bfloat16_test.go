package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// words returns zeroed rows for x, ld words apart, between fences that no kernel may change.
func words(rows, cols int) (y, whole []uint16, ld int) {
	const fence = 64
	ld = (cols + Bfloat16Group - 1) / Bfloat16Group * Bfloat16Group
	whole = slices.Repeat([]uint16{0x7fc0}, rows*ld+2*fence)
	y = whole[fence : fence+rows*ld]
	clear(y)
	return y, whole, ld
}

func checkWords(t *testing.T, n int, whole []uint16) {
	t.Helper()
	for i, w := range whole {
		if fence := (len(whole) - n) / 2; (i < fence || i >= fence+n) && w != 0x7fc0 {
			t.Fatalf("wrote %#x outside, at %d of %d", w, i-fence, n)
		}
	}
}

// awkward are values around every case of a rounding.
func awkward() []Float {
	var all []Float
	for _, b := range []uint32{
		0, 1, 0x7fff, 0x8000, 0x8001, 0x18000, 0x17fff, 0x3f800000, 0x3f808000, 0x3f807fff, 0x3f808001, 0x3f818000, 0x3f817fff,
		0x3f818001, 0x3fffffff, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f80ffff, 0x7fc00000, 0x7fffffff,
	} {
		all = append(all, Float(math.Float32frombits(b)), Float(math.Float32frombits(b|1<<31)))
	}
	return all
}

// A value is the nearest, of two the even one.
func TestBfloat16Nearest(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	all := awkward()
	for range 10000 {
		all = append(all, Float(math.Float32frombits(r.Uint32())))
	}
	for _, x := range all {
		w := Bfloat16(x)
		got := float64(FromBfloat16(w))
		if x != x {
			if got == got {
				t.Errorf("NaN gives %g", got)
			}
			continue
		}
		if math.IsInf(float64(x), 0) {
			if got != float64(x) {
				t.Errorf("%g gives %g", x, got)
			}
			continue
		}
		// The neighbours in size; past the largest value it is as if the scale went on.
		value := func(mag uint32) float64 {
			if mag == 0x7f80 {
				return 0x1p128
			}
			return float64(math.Float32frombits(mag << 16))
		}
		size, down := math.Abs(float64(x)), math.Float32bits(float32(x))>>16&0x7fff
		below, above := size-value(down), value(down+1)-size
		want := down
		if above < below || above == below && down&1 == 1 {
			want++
		}
		if uint32(w&0x7fff) != want || math.Signbit(got) != math.Signbit(float64(x)) {
			t.Errorf("%g gives %#x, want %#x", x, w, want)
		}
	}
}

// Every level rounds as plain Go does, for any width, and leaves other words alone.
func TestRoundRows(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 8))
		special := awkward()
		for _, d := range lengths()[:140] {
			const rows = 5
			ldx := d + 3
			x, _ := fenced(r, rows*ldx)
			for i := range x {
				if r.IntN(3) == 0 {
					x[i] = special[r.IntN(len(special))]
				}
			}
			y, whole, ldy := words(rows, d)
			want, _, _ := words(rows, d)
			if d > 0 {
				RoundRows(rows, &x[0], ldx, d, &y[0], ldy)
				roundRowsPlain(rows, &x[0], ldx, d, &want[0], ldy)
			}
			if !slices.Equal(y, want) {
				t.Fatalf("width %d: %#x, want %#x", d, y, want)
			}
			checkWords(t, len(y), whole)
		}
	})
}

// A sum has the bits that the kernel of float32 rows gives at the same level for the same
// values, to rows in order and to others.
func TestGatherBfloat16(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 9))
		for _, d := range lengths()[1:140] {
			const cols = 7
			ldx, ldy := d+3, d+2
			x, _ := fenced(r, cols*ldx)
			pairs, _, ld := words(cols, d)
			RoundRows(cols, &x[0], ldx, d, &pairs[0], ld)
			for i := range cols {
				for k := range d {
					x[i*ldx+k] = FromBfloat16(pairs[i*ld+Bfloat16Word(k)])
				}
			}
			right, _ := fenced(r, cols)
			ptr := []int64{0, 0, 1, 1, 15, 17, 17}
			idx := make([]int32, 17)
			for e := range idx {
				idx[e] = int32(r.IntN(cols))
			}
			for _, span := range [][2]int{{0, 6}, {1, 2}, {2, 3}, {3, 5}, {4, 4}} {
				lo, hi := span[0], span[1]
				left, _ := fenced(r, hi-lo)
				for _, to := range [][]int32{nil, {5, 0, 3, 1, 2, 4}} {
					got, whole := fenced(r, 6*ldy)
					want := slices.Clone(got)
					if hi > lo {
						GatherBfloat16(ptr[lo:hi+1], idx, left, &right[0], &pairs[0], ld, &got[0], ldy, d, to)
						GatherRows(ptr[lo:hi+1], idx, left, &right[0], &x[0], ldx, &want[0], ldy, d, to)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("width %d, rows %d to %d: %g, want %g", d, lo, hi, got, want)
					}
					checkFence(t, len(got), whole)
				}
			}
		}
	})
}
