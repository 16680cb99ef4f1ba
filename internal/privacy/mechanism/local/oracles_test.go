package local

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/privacy/reference"
	"privrec/internal/rng"
)

var allOracles = []OracleKind{GRR, SUE, OUE, OLH}

// The samplers of unary encoding with their choices enumerated: e^eps over all
// outputs and all pairs of categories, no more, and support with probabilities P
// and Q. SUE keeps a bit with the square root of e^eps to 1.
func TestUnaryOraclesAreExact(t *testing.T) {
	const k = 3
	x := big.NewRat(16, 1)
	for kind, bit := range map[OracleKind]*big.Rat{SUE: big.NewRat(4, 1), OUE: x} {
		m := Oracle{Kind: kind, Epsilon: mechanismtest.Log(x), Categories: k}
		u := m.unary()
		mech := func(in int, c *law.Choices) uint64 {
			d := mechanism.Draws{Forced: &unaryChoices{choices.Enumerated{C: c, X: bit}, &u.one, kind == OUE}}
			var out [1]uint64
			u.vector(&d, k, in, out[:])
			return out[0]
		}
		found, err := law.Verify(mech, []law.Class[int]{{Name: "any", Pairs: law.Pairs(mechanismtest.UpTo(k)), Claim: x}}, law.Limits{})
		if err != nil || !found[0].Tight() {
			t.Errorf("%s: %v (%v)", kind, found, err)
		}
		l, err := law.Enumerate(func(c *law.Choices) uint64 { return mech(1, c) }, law.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for category, want := range map[int]float64{1: m.P(), 0: m.Q(), 2: m.Q()} {
			p := new(big.Rat)
			for out, q := range l {
				if out>>category&1 == 1 {
					p.Add(p, q)
				}
			}
			if got, _ := p.Float64(); math.Abs(got-want) > 1e-15 {
				t.Errorf("%s: category %d is supported with %g, want %g", kind, category, got, want)
			}
		}
		// And with the thresholds themselves: never above.
		for _, eps := range []float64{1e-12, 1, 45, 90} {
			u := Oracle{Kind: kind, Epsilon: eps}.unary()
			e, _ := mechanism.ExpBelow(eps).Rat(nil)
			found, err := law.Verify(func(in int, c *law.Choices) uint64 {
				d := mechanism.Draws{Forced: choices.Enumerated{C: c, X: nil}}
				var out [1]uint64
				u.vector(&d, k, in, out[:])
				return out[0]
			}, []law.Class[int]{{Name: "any", Pairs: law.Pairs(mechanismtest.UpTo(k)), Claim: mechanismtest.Above(mechanismtest.Above(e))}}, law.Limits{})
			if err != nil || !found[0].Holds() {
				t.Errorf("%s, eps %g: %v (%v)", kind, eps, found, err)
			}
		}
	}
}

// unaryChoices gives the ones of OUE their even odds.
type unaryChoices struct {
	choices.Enumerated
	one  *mechanism.Odds
	even bool
}

func (u *unaryChoices) Keep(o *mechanism.Odds) bool {
	if u.even && o == u.one {
		return u.C.Below(2) == 0
	}
	return u.Enumerated.Keep(o)
}

// OLH given its hash function is randomised response of the hash, through the
// same code; hash functions behave as a pairwise independent family.
func TestHashing(t *testing.T) {
	x := big.NewRat(3, 1)
	m := Oracle{Kind: OLH, Epsilon: mechanismtest.Log(x), Categories: 6}
	if m.Hashes() != 4 {
		t.Fatalf("%d hashes", m.Hashes())
	}
	d := mechanism.Keyed(rng.Seed(9).Stream("hash")).Draws()
	mech := respondMechanism(m.response(m.Hashes()), x)
	worst := new(big.Rat)
	for range 20 {
		h := drawHash(&d)
		found, err := law.Verify(func(in int, c *law.Choices) int {
			return mech(int(h.of(uint64(in), m.Hashes())), c)
		}, []law.Class[int]{{Name: "any", Pairs: law.Pairs(mechanismtest.UpTo(6)), Claim: x}}, law.Limits{})
		if err != nil || !found[0].Holds() {
			t.Errorf("hash %v: %v (%v)", h, found, err)
		}
		if found[0].Worst.Cmp(worst) > 0 {
			worst = found[0].Worst
		}
	}
	if worst.Cmp(x) != 0 {
		t.Errorf("worst ratio %s, want %s", worst, x)
	}
	// Against big integers, at the edges too.
	for _, h := range []hash{{0, 0}, {mersenne61 - 1, mersenne61 - 1}, {1, mersenne61 - 1}, drawHash(&d)} {
		for _, v := range []uint64{0, 1, 2, maxCategories - 1} {
			want := new(big.Int).Mul(new(big.Int).SetUint64(h.a), new(big.Int).SetUint64(v))
			want.Mod(want.Mod(want.Add(want, new(big.Int).SetUint64(h.b)), big.NewInt(mersenne61)), big.NewInt(97))
			if got := h.of(v, 97); got != want.Uint64() {
				t.Errorf("%v of %d is %d, want %v", h, v, got, want)
			}
		}
	}
	const n, g = 100_000, 4
	var pairs [g][g]float64
	for range n {
		h := drawHash(&d)
		pairs[h.of(3, g)][h.of(1_000_003, g)]++
	}
	for i := range g {
		for j := range g {
			if z := (pairs[i][j] - n/16.) / math.Sqrt(n*15/256.); math.Abs(z) > mechanismtest.Sigmas {
				t.Errorf("hashes %d and %d: %g of %d", i, j, pairs[i][j], n)
			}
		}
	}
}

// Shares are estimated within 6.11 standard errors of the published variance, a
// false alarm of 1e-9 each; reports are recorded before they are made.
func TestOracleFrequencies(t *testing.T) {
	const n, k = 30_000, 70 // above a word of bits
	values := make([]int32, n)
	shares := make([]float64, k)
	for i := range values {
		v := (i % 10) * (i % 7)
		values[i] = int32(v)
		shares[v] += 1. / n
	}
	for _, kind := range allOracles {
		for _, eps := range []float64{1, 4} {
			m := Oracle{Purpose: "shares", Kind: kind, Epsilon: eps, Categories: k, Unit: privacy.User}
			for name, bits := range map[string]mechanism.Bits{"keyed": mechanism.Keyed(rng.Seed(2).Stream("oracle")), "secret": mechanism.Secret()} {
				l := mechanismtest.LedgerFor(t, bits.Noise())
				r, err := Report(m, l, bits, values)
				if err != nil {
					t.Fatal(err)
				}
				f, err := r.Frequencies()
				if err != nil || r.Len() != n {
					t.Fatal(err)
				}
				for v, share := range shares {
					if z := (f[v] - share) / math.Sqrt(m.FrequencyVariance(n, share)); math.Abs(z) > mechanismtest.Sigmas {
						t.Errorf("%s, %s, eps %g: share %d estimated %g, is %g (%.1f standard errors)", kind, name, eps, v, f[v], share, z)
					}
				}
				if e := l.Entries(); len(e) != 1 || e[0].Event != m.Event() || e[0].Count != 1 {
					t.Errorf("%s: ledger %v", kind, e)
				}
			}
			a, err := Report(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(2).Stream("oracle")), values[:100])
			b, err2 := Report(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(2).Stream("oracle")), values[:50])
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if w := a.words * 50; kind == SUE && !slices.Equal(a.bits[:w], b.bits) || kind == GRR && !slices.Equal(a.values[:50], b.values) {
				t.Errorf("%s: reports depend on others", kind)
			}
		}
	}
}

// The exact sampler of OUE and the floating-point one of feature vectors send
// the same law: support counts within 6.11 standard errors.
func TestOUEAgreesWithUnaryEncoding(t *testing.T) {
	const n, k = 40_000, 3
	m := Oracle{Purpose: "o", Kind: OUE, Epsilon: 2, Categories: k, Unit: privacy.Feature}
	r, err := Report(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(2).Stream("exact")), make([]int, n))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]float64, n*k)
	for i := range n {
		data[i*k] = 1
	}
	if err := PerturbUnary(UnaryEncoding{Purpose: "o", Epsilon: 2, Unit: privacy.Feature}, mechanismtest.Ledger(t), rng.Seed(2).Stream("float"), data, k); err != nil {
		t.Fatal(err)
	}
	for v, c := range r.Counts() {
		other, p := 0.0, m.Q()
		if v == 0 {
			p = m.P()
		}
		for i := range n {
			other += data[i*k+v]
		}
		if z := (float64(c) - other) / math.Sqrt(2*n*p*(1-p)); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("category %d: %d and %g", v, c, other)
		}
	}
}

// Estimators see the faults of a sampler in their own check.
func TestOracleSelfCheck(t *testing.T) {
	for _, kind := range []OracleKind{SUE, OUE} {
		m := Oracle{Kind: kind, Epsilon: 2, Categories: 8}
		u, wrong := m.unary(), Oracle{Kind: kind, Epsilon: 2.2, Categories: 8}.unary()
		d := mechanism.Keyed(rng.Seed(2).Stream("check")).Draws()
		u.zero = wrong.zero
		for i := range uint64(20_000) {
			d.Row(i)
			u.vector(&d, 8, 3, make([]uint64, 1))
		}
		var failed *mechanism.CheckError
		if err := mechanism.CheckAll("o", 1, &u.ones, &u.zeros); !errors.As(err, &failed) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Numbers at the ends of the range stay finite, and better protocols have
// smaller variance.
func TestOracleNumbers(t *testing.T) {
	for _, eps := range []float64{1e-9, 0.1, 1, 10, 50, 700, 2000} {
		for _, kind := range allOracles {
			m := Oracle{Kind: kind, Epsilon: eps, Categories: 1000}
			p, q, v := m.P(), m.Q(), m.FrequencyVariance(1e4, 0.01)
			if !(p > 0 && p <= 1 && q >= 0 && q < p) || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%s, eps %g: p %g, q %g, variance %g", kind, eps, p, q, v)
			}
			if g := m.Gap(); math.Abs(g-(p-q)) > 1e-15+1e-6*g && eps > 1e-3 {
				t.Errorf("%s, eps %g: p - q is %g, not %g", kind, eps, p-q, g)
			}
			if kind == OLH && (m.Hashes() < 2 || m.Hashes() > maxHashes) {
				t.Errorf("eps %g: %d hashes", eps, m.Hashes())
			}
		}
		if d, h := reference.DuchiVariance(eps, 1), reference.HybridVariance(eps, 1); d < 0 || h < 0 ||
			math.IsNaN(d+h) {
			t.Errorf("eps %g: variances %g and %g", eps, d, h)
		}
	}
	sue, oue := Oracle{Kind: SUE, Epsilon: 1}, Oracle{Kind: OUE, Epsilon: 1}
	if !(oue.FrequencyVariance(1, 0) < sue.FrequencyVariance(1, 0)) {
		t.Error("optimised unary encoding is not the better one")
	}
	if reference.HybridShare(0.6) != 0 || reference.HybridShare(0.62) == 0 ||
		reference.HybridVariance(0.6, 0.5) != reference.DuchiVariance(0.6, 0.5) {
		t.Error("the hybrid mechanism starts at another epsilon")
	}
	if b := reference.DuchiBound(math.Ln2); math.Abs(b-3) > 1e-15*3 {
		t.Errorf("bound %g, want 3", b)
	}
}

func TestReportsRefuse(t *testing.T) {
	good := Oracle{Purpose: "o", Kind: OLH, Epsilon: 1, Categories: 3, Unit: privacy.User}
	with := func(change func(m *Oracle)) Oracle { m := good; change(&m); return m }
	bits := mechanism.Keyed(rng.Seed(2).Stream("o"))
	for name, c := range map[string]struct {
		m      Oracle
		values []int
		want   string
	}{
		"no purpose":      {with(func(m *Oracle) { m.Purpose = "" }), []int{0}, "purpose"},
		"no kind":         {with(func(m *Oracle) { m.Kind = "" }), []int{0}, "oracle"},
		"no epsilon":      {with(func(m *Oracle) { m.Epsilon = 0 }), []int{0}, "epsilon"},
		"grr, no epsilon": {with(func(m *Oracle) { m.Epsilon = math.NaN(); m.Kind = GRR }), []int{0}, "epsilon"},
		"one category":    {with(func(m *Oracle) { m.Categories = 1 }), []int{0}, "categories"},
		"too many":        {with(func(m *Oracle) { m.Categories = 1 << 40 }), []int{0}, "categories"},
		"no unit":         {with(func(m *Oracle) { m.Unit = "" }), []int{0}, "unit"},
		"beyond":          {good, []int{3}, "value 0 is 3"},
	} {
		l := mechanismtest.Ledger(t)
		if _, err := Report(c.m, l, bits, c.values); err == nil || !strings.Contains(err.Error(), c.want) || len(l.Entries()) != 0 {
			t.Errorf("%s: %v, want it to name %q", name, err, c.want)
		}
	}
	l := mechanismtest.Ledger(t)
	r, err := Report(good, l, bits, []int{})
	if err != nil || len(l.Entries()) != 0 {
		t.Errorf("no values: %v", err)
	}
	if _, err := r.Frequencies(); err == nil {
		t.Error("an estimate from nothing")
	}
	l.Close()
	if _, err := Report(good, l, bits, []int{1}); err == nil {
		t.Error("a closed ledger was no obstacle")
	}
	if _, err := Report(good, mechanismtest.Ledger(t), mechanism.Bits{}, []int{1}); err == nil {
		t.Error("no bits were no obstacle")
	}
}

// The variance of the estimates over many runs is the published one: a standard
// error of 7 % of it, so 43 % for a false alarm of 1e-9. A root or a square out of
// place is far beyond that.
func TestOracleVariance(t *testing.T) {
	const runs, n, k = 400, 200, 4
	values := make([]int, n) // a quarter are 1, none is 3
	for i := range values {
		values[i] = []int{0, 1, 2, 0}[i%4]
	}
	for _, kind := range allOracles {
		m := Oracle{Purpose: "o", Kind: kind, Epsilon: 1.5, Categories: k, Unit: privacy.User}
		var sum, sq [k]float64
		for run := range uint64(runs) {
			r, err := Report(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(7).Stream("runs", run)), values)
			if err != nil {
				t.Fatal(err)
			}
			f, err := r.Frequencies()
			if err != nil {
				t.Fatal(err)
			}
			total := 0.0
			for v := range f {
				sum[v] += f[v]
				sq[v] += f[v] * f[v]
				total += f[v]
			}
			if kind == GRR && math.Abs(total-1) > 1e-12 {
				t.Fatalf("shares sum to %g", total)
			}
		}
		for v, share := range []float64{0.5, 0.25, 0.25, 0} {
			want := m.FrequencyVariance(n, share)
			got := (sq[v] - sum[v]*sum[v]/runs) / (runs - 1)
			if math.Abs(got/want-1) > 0.43 {
				t.Errorf("%s: variance of share %g is %g, want %g", kind, share, got, want)
			}
			if z := (sum[v]/runs - share) / math.Sqrt(want/runs); math.Abs(z) > mechanismtest.Sigmas {
				t.Errorf("%s: share %g is estimated %g", kind, share, sum[v]/runs)
			}
		}
	}
}
