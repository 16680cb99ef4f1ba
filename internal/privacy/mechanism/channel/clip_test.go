package channel

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// hardVectors are vectors at the ends of the type's range, of one size and of
// many, of norm just below, at and above 1, and where nearest rounding goes up.
func hardVectors[T mechanism.Float](smallest, largest, below1 T) map[string][]T {
	same := func(n int, x T) []T { return slices.Repeat([]T{x}, n) }
	unit := func(n int) []T { return same(n, T(1/math.Sqrt(float64(n)))) }
	third := make([]T, 500)
	for i := range third {
		third[i] = T(1) / T(3+2*i)
	}
	return map[string][]T{
		"one": {1}, "above one": {1, smallest}, "below one": {below1}, "three four": {3, 4}, "minus": {-3, -4, 0, 12},
		"largest": same(5, largest), "largest and smallest": {largest, smallest, -largest, 1},
		"smallest": same(3, smallest), "subnormal": same(1000, smallest*7), "many subnormal": {smallest, 3 * smallest, -5 * smallest},
		"unit 2": unit(2), "unit 3": unit(3), "unit 7": unit(7), "unit 100": unit(100), "unit 1001": unit(1001), "unit 65537": unit(65537),
		"thirds": third, "wide": {1, 1e-10, 1e-20, 1e-30, 1e10, 1e20, -1e30},
	}
}

func TestClipNeverExceeds(t *testing.T) {
	t.Run("float32", func(t *testing.T) {
		testClip(t, hardVectors[float32](math.SmallestNonzeroFloat32, math.MaxFloat32, math.Nextafter32(1, 0)), 0x1p-126)
	})
	t.Run("float64", func(t *testing.T) {
		testClip(t, hardVectors(math.SmallestNonzeroFloat64, math.MaxFloat64, math.Nextafter(1, 0)), 0x1p-1022)
	})
}

func testClip[T mechanism.Float](t *testing.T, hard map[string][]T, normal float64) {
	for name, v := range hard {
		for _, c := range []float64{1, 5, math.Nextafter(5, 0), 0.1, 1.0 / 3, 1e-30, 1e30, 1e-150, 1e-44, 5e-324, 1e-310, 1e-308, 1e300, math.MaxFloat64} {
			if len(v) > 2000 && c != 1 && c != 0.1 {
				continue // exact sums are slow
			}
			checkClip(t, fmt.Sprintf("%s at %g", name, c), v, c, normal)
		}
	}
	s := rng.Seed(3).Stream("clip")
	for i := range 2000 {
		v := make([]T, 1+s.IntN(40))
		spread, centre := float64(s.IntN(3)*s.IntN(60)), float64(s.IntN(200)-100)
		for k := range v {
			v[k] = T(s.NormFloat64() * math.Exp2(centre+spread*(s.Float64()-0.5)))
			if math.IsInf(float64(v[k]), 0) {
				v[k] = 1
			}
		}
		n := normAbove(v)
		c := math.Ldexp(n.v, n.e) // at the norm, next to it, and elsewhere
		switch i % 4 {
		case 1:
			c *= 1 - 0x1p-40
		case 2:
			c = math.Nextafter(c/(1+slack(len(v))), 0)
		case 3:
			c *= s.Float64()
		}
		if c > 0 {
			checkClip(t, fmt.Sprintf("random %d at %g", i, c), v, c, normal)
		}
	}
}

func checkClip[T mechanism.Float](t *testing.T, name string, v []T, c, normal float64) {
	t.Helper()
	got := slices.Clone(v)
	clipped, err := Clip(got, c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	exact, limit := mechanismtest.SquareNorm(got), new(big.Float).SetPrec(200).SetFloat64(c)
	limit.Mul(limit, limit)
	if exact.Cmp(limit) > 0 {
		t.Fatalf("%s: squared norm %s above %s", name, exact.Text('g', 25), limit.Text('g', 25))
	}
	before := mechanismtest.SquareNorm(v)
	ratio := func(x *big.Float) float64 { // norm in units of c
		f, _ := new(big.Float).Quo(x, limit).Float64()
		return math.Sqrt(f)
	}
	if clipped != !slices.Equal(v, got) && ratio(before) > 1+0x1p-40 {
		t.Fatalf("%s: clipped is %v", name, clipped)
	}
	if before.Cmp(limit) > 0 && !clipped {
		t.Fatalf("%s: left at %g times the bound", name, ratio(before))
	}
	if !clipped && !slices.Equal(v, got) {
		t.Fatalf("%s: changed and not said", name)
	}
	// Nothing is lost that need not be: the norm stays at c where the values of that
	// size are normal numbers of the type, and directions are kept.
	ulp := 0x1p-52
	if _, single := as[float32](v); single {
		ulp = 0x1p-23
	}
	if clipped && c > normal*1e10*math.Sqrt(float64(len(v))) && ratio(exact) < 1-0x1p-40-1e-15*float64(len(v))-ulp {
		t.Fatalf("%s: clipped down to %g of the bound", name, ratio(exact))
	}
	for i := range v {
		if math.Signbit(float64(got[i])) != math.Signbit(float64(v[i])) || math.Abs(float64(got[i])) > math.Abs(float64(v[i])) {
			t.Fatalf("%s: value %d went from %g to %g", name, i, v[i], got[i])
		}
	}
	again := slices.Clone(got)
	if twice, _ := Clip(again, c); twice || !slices.Equal(again, got) {
		t.Fatalf("%s: clipped again", name)
	}
}

// A vector that is shorter stays as it is; one that is longer becomes parallel.
func TestClipKnown(t *testing.T) {
	v := []float64{3, 4}
	if clipped, err := Clip(v, 5.0001); clipped || err != nil || v[0] != 3 || v[1] != 4 {
		t.Errorf("%v %v %v", v, clipped, err)
	}
	if clipped, err := Clip(v, 2.5); !clipped || err != nil || math.Abs(v[0]-1.5) > 1e-12 || math.Abs(v[1]-2) > 1e-12 {
		t.Errorf("%v %v %v", v, clipped, err)
	}
	for _, v := range [][]float32{nil, {}, {0, 0}} {
		if clipped, err := Clip(v, 1); clipped || err != nil {
			t.Errorf("%v %v %v", v, clipped, err)
		}
	}
}

func TestClipRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range [][]float64{{1, nan}, {inf}, {5, -inf, 1}} {
		before := slices.Clone(bad)
		if clipped, err := Clip(bad, 1); err == nil || clipped || !strings.Contains(err.Error(), "cannot be clipped") || bad[0] != before[0] && !math.IsNaN(bad[0]) {
			t.Errorf("%v: %v %v", bad, clipped, err)
		}
	}
	for _, c := range []float64{0, -1, nan, inf, -inf} {
		if _, err := Clip([]float32{1}, c); err == nil || !strings.Contains(err.Error(), "clipping norm") {
			t.Errorf("norm %g: %v", c, err)
		}
	}
}

// The battery sees the fault it is for: rounding to nearest, and a bound without
// room for the error of the sum, both leave vectors that are too long.
func TestNearestRoundingWouldExceed(t *testing.T) {
	s := rng.Seed(4).Stream("clip")
	over := 0
	for range 2000 {
		v := make([]float32, 9)
		sum := 0.0
		for i := range v {
			v[i] = float32(s.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		f := float32(1 / math.Sqrt(sum))
		for i := range v {
			v[i] *= f
		}
		if mechanismtest.SquareNorm(v).Cmp(big.NewFloat(1)) > 0 {
			over++
		}
	}
	if over < 500 {
		t.Errorf("%d of 2000 naive clips exceed the bound: the test above would not see one", over)
	}
}

func BenchmarkClip(b *testing.B) {
	v := make([]float32, 1<<16)
	for i := range v {
		v[i] = float32(math.Sin(float64(i)))
	}
	b.SetBytes(int64(4 * len(v)))
	for range b.N {
		if _, err := Clip(v, 1e6); err != nil {
			b.Fatal(err)
		}
	}
}
