package channel

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
)

// Any bits as a vector and as a bound: the exact norm is never above the bound, or
// the vector is refused and left alone.
func FuzzClip(f *testing.F) {
	for _, v := range [][]float64{{1}, {3, 4}, {math.MaxFloat64, -math.MaxFloat64}, {5e-324, 1}, {math.NaN()}, {math.Inf(1), 0}} {
		b := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 8 || len(b) > 800 {
			return
		}
		c := math.Float64frombits(binary.LittleEndian.Uint64(b))
		var v []float64
		var w []float32
		for b = b[8:]; len(b) >= 8; b = b[8:] {
			u := binary.LittleEndian.Uint64(b)
			v = append(v, math.Float64frombits(u))
			w = append(w, math.Float32frombits(uint32(u)), math.Float32frombits(uint32(u>>32)))
		}
		fuzzClip(t, v, c)
		fuzzClip(t, w, c)
	})
}

func fuzzClip[T mechanism.Float](t *testing.T, v []T, c float64) {
	before := slices.Clone(v)
	finite := true
	for _, x := range v {
		finite = finite && !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
	}
	clipped, err := Clip(v, c)
	if good := finite && c > 0 && !math.IsInf(c, 1); (err == nil) != good {
		t.Fatalf("%v at %v: %v", before, c, err)
	}
	if err != nil || !clipped {
		for i := range v {
			if v[i] != before[i] && before[i] == before[i] {
				t.Fatalf("%v became %v", before, v)
			}
		}
		if err != nil {
			return
		}
	}
	limit := new(big.Float).SetPrec(200).SetFloat64(c)
	if mechanismtest.SquareNorm(v).Cmp(limit.Mul(limit, limit)) > 0 {
		t.Fatalf("%v at %v: %v is too long", before, c, v)
	}
}
