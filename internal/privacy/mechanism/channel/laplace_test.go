package channel

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

var spread = Laplace{Purpose: "degrees", Scale: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}

// The law of the research sampler: chi-square over 40 cells of equal probability,
// false alarm 1e-9, in both types.
func TestLaplaceLaw(t *testing.T) {
	t.Run("float32", testLaplaceLaw[float32])
	t.Run("float64", testLaplaceLaw[float64])
}

func testLaplaceLaw[T mechanism.Float](t *testing.T) {
	const n, cells = 200_000, 40
	law := func(draw func(s rng.Stream, dst []T, scale T)) []int {
		x := make([]T, n)
		draw(rng.Seed(3).Stream("laplace"), x, 2)
		counts := make([]int, cells)
		for _, v := range x {
			u := 0.5 * math.Exp(-math.Abs(float64(v))/2)
			if v > 0 {
				u = 1 - u
			}
			counts[min(cells-1, int(u*cells))]++
		}
		return counts
	}
	even := func(int) float64 { return 1.0 / cells }
	mechanismtest.CheckCounts(t, "laplace", law(addLaplace[T]), even)
	if mechanismtest.CheckCounts(mechanismtest.Quiet{TB: t}, "", law(func(s rng.Stream, dst []T, scale T) { addLaplace(s, dst, scale*1.03) }), even) {
		t.Error("a scale 3% too large passed")
	}
	if mechanismtest.CheckCounts(mechanismtest.Quiet{TB: t}, "", law(func(s rng.Stream, dst []T, _ T) { addNormals(s, dst, 2*math.Sqrt2) }), even) {
		t.Error("a normal of the same variance passed")
	}
}

// The noise of a row of any length is that of one word after the other, to the bit, in both types.
func TestLaplaceOfWords(t *testing.T) {
	t.Run("float32", testLaplaceOfWords[float32])
	t.Run("float64", testLaplaceOfWords[float64])
}

func testLaplaceOfWords[T mechanism.Float](t *testing.T) {
	for n := range 140 {
		for _, before := range []int{0, 1, 4} {
			s := rng.Seed(8).Stream("laplace", uint64(n))
			for range before {
				s.Uint64()
			}
			got, want := make([]T, n), make([]T, n)
			for i := range got {
				got[i] = T(i) / 3
			}
			copy(want, got)
			addLaplace(s, got, 0.7)
			for i, x := range want {
				w := s.Uint64()
				e := -math.Log((float64(w>>1) + 0.5) * 0x1p-63)
				if w&1 == 1 {
					e = -e
				}
				if want[i] = x + 0.7*T(e); math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
					t.Fatalf("%d values after %d words: value %d is %v, want %v", n, before, i, got[i], want[i])
				}
			}
		}
	}
	for w, want := range map[uint64]float64{math.MaxUint64: 0, math.MaxUint64 - 1: math.Copysign(0, -1)} {
		if got := laplaceOf(w); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("noise of word %x is %v, want %v", w, got, want)
		}
	}
}

func TestOpenLaplaceRefuses(t *testing.T) {
	for name, change := range map[string]func(m *Laplace) *privacy.Ledger{
		"no purpose":  func(m *Laplace) *privacy.Ledger { m.Purpose = ""; return mechanismtest.Ledger(t) },
		"scale":       func(m *Laplace) *privacy.Ledger { m.Scale = 0; return mechanismtest.Ledger(t) },
		"nan":         func(m *Laplace) *privacy.Ledger { m.Scale = math.NaN(); return mechanismtest.Ledger(t) },
		"tiny":        func(m *Laplace) *privacy.Ledger { m.Scale = 1e-60; return mechanismtest.Ledger(t) },
		"sensitivity": func(m *Laplace) *privacy.Ledger { m.Sensitivity = -1; return mechanismtest.Ledger(t) },
		"unit":        func(m *Laplace) *privacy.Ledger { m.Unit = "x"; return mechanismtest.Ledger(t) },
		"share":       func(m *Laplace) *privacy.Ledger { m.Share = 2; return mechanismtest.Ledger(t) },
		"no ledger":   func(*Laplace) *privacy.Ledger { return nil },
		"secure":      func(*Laplace) *privacy.Ledger { return mechanismtest.SecureLedger(t) },
	} {
		m := spread
		l := change(&m)
		if _, err := OpenLaplace[float32](m, l, rng.Stream{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A scale never falls short of sensitivity/epsilon.
func TestLaplaceScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps, sens := rapid.Float64Range(1e-9, 1e9).Draw(t, "eps"), rapid.Float64Range(1e-9, 1e9).Draw(t, "sens")
		b, err := LaplaceScale(eps, sens)
		if err != nil || math.FMA(b, eps, -sens) < 0 || b > sens/eps*(1+1e-15) {
			t.Fatalf("%v %v: %v, %v", eps, sens, b, err)
		}
	})
	for _, bad := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}, {1e-300, 1e300}} {
		if b, err := LaplaceScale(bad[0], bad[1]); err == nil {
			t.Errorf("%v: scale %v", bad, b)
		}
	}
}
