package local

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"privrec/internal/privacy"
	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/rng"
)

// reportLaw is the law of what one report of a category counts for, a bit a
// category, of the shipped sampler at e^eps = x, a square.
func reportLaw(t testing.TB, m Oracle, x *big.Rat, in int) law.Law[uint64] {
	t.Helper()
	root := new(big.Rat).SetFrac(new(big.Int).Sqrt(x.Num()), new(big.Int).Sqrt(x.Denom()))
	l, err := law.Enumerate(func(c *law.Choices) uint64 {
		switch m.Kind {
		case GRR:
			return 1 << respondMechanism(m.response(m.Categories), x)(in, c)
		default:
			u := m.unary()
			f := &unaryChoices{choices.Enumerated{C: c, X: x}, &u.one, m.Kind == OUE}
			if m.Kind == SUE {
				f.X = root
			}
			d := mechanism.Draws{Forced: f}
			var out [1]uint64
			u.vector(&d, m.Categories, in, out[:])
			return out[0]
		}
	}, law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The estimator is unbiased, and its variance the stated one, exactly: expectations
// over the whole law of the sampler, for every category and every input, in
// rationals. Reports are independent, so one is enough.
func TestEstimatesAreExactlyUnbiased(t *testing.T) {
	x := big.NewRat(9, 4)
	for _, kind := range []OracleKind{GRR, SUE, OUE} {
		for _, k := range []int{2, 3, 5} {
			m := Oracle{Purpose: "o", Kind: kind, Epsilon: mechanismtest.Log(x), Categories: k, Unit: privacy.User}
			p, q := new(big.Rat), new(big.Rat) // of the report of category 0
			for out, mass := range reportLaw(t, m, x, 0) {
				if out&1 == 1 {
					p.Add(p, mass)
				}
				if out&2 == 2 {
					q.Add(q, mass)
				}
			}
			gap := new(big.Rat).Sub(p, q)
			for in := range k {
				l := reportLaw(t, m, x, in)
				if mechanismtest.Total(l).Cmp(big.NewRat(1, 1)) != 0 {
					t.Fatalf("%s: mass %s", kind, mechanismtest.Total(l))
				}
				for v := range k {
					mean, square := new(big.Rat), new(big.Rat)
					for out, mass := range l {
						e := new(big.Rat).Neg(q) // (c - Q)/(P - Q)
						if out>>v&1 == 1 {
							e.Add(e, big.NewRat(1, 1))
						}
						e.Quo(e, gap)
						mean.Add(mean, new(big.Rat).Mul(mass, e))
						square.Add(square, new(big.Rat).Mul(mass, e.Mul(e, e)))
					}
					want := big.NewRat(0, 1)
					if v == in {
						want.SetInt64(1)
					}
					if mean.Cmp(want) != 0 {
						t.Errorf("%s, %d categories: category %d of a report of %d has mean %s", kind, k, v, in, mean)
					}
					variance, _ := square.Sub(square, mean.Mul(mean, mean)).Float64()
					share, _ := want.Float64()
					if got := m.FrequencyVariance(1, share); math.Abs(got/variance-1) > 1e-12 {
						t.Errorf("%s, %d categories: variance %g, want %g", kind, k, got, variance)
					}
				}
			}
			for name, pair := range map[string][2]float64{"P": {m.P(), mechanismtest.Float64(p)}, "Q": {m.Q(), mechanismtest.Float64(q)}, "gap": {m.Gap(), mechanismtest.Float64(gap)}, "lost": {m.lost(), 1 - mechanismtest.Float64(p)}} {
				if math.Abs(pair[0]-pair[1]) > 1e-15 {
					t.Errorf("%s, %d categories: %s is %.17g, want %.17g", kind, k, name, pair[0], pair[1])
				}
			}
		}
	}
}

// Estimates are what the formula makes of the counts, for reports made by hand of
// every kind; the mistakes of the literature (the noise not subtracted, P and Q
// exchanged, the gap left out) give another answer.
func TestFrequenciesFromCounts(t *testing.T) {
	const k = 70 // above a word of bits
	for _, kind := range allOracles {
		m := Oracle{Purpose: "o", Kind: kind, Epsilon: 1.5, Categories: k, Unit: privacy.User}
		r := &Reports{m: m, n: 4}
		switch kind {
		case GRR:
			r.values = []int64{0, 69, 69, 3}
		case OLH: // the identity hash is one of the family
			r.values, r.hashes = []int64{0, 1, 2, 0}, slices.Repeat([]hash{{1, 0}}, 4)
		default:
			r.words = 2
			r.bits = []uint64{1, 0, 1 << 3, 1 << 5, 9, 1 << 5, 0, 0}
		}
		counts, want := r.Counts(), make([]int64, k)
		switch kind {
		case GRR:
			want[0], want[69], want[3] = 1, 2, 1
		case OLH:
			for v := range want {
				for _, h := range r.values {
					if int64(v%m.Hashes()) == h {
						want[v]++
					}
				}
			}
		default:
			want[0], want[3], want[69] = 2, 2, 2
		}
		if !slices.Equal(counts, want) || r.Len() != 4 || len(counts) != k {
			t.Errorf("%s: counts %v, want %v", kind, counts, want)
		}
		f, err := r.Frequencies()
		if err != nil {
			t.Fatal(err)
		}
		p, q := m.P(), m.Q()
		differ := 0
		for v, got := range f {
			share := float64(want[v]) / 4
			if right := (share - q) / (p - q); math.Abs(got-right) > 1e-12 {
				t.Errorf("%s: category %d is estimated %v, want %v", kind, v, got, right)
			}
			if got != share && math.Abs(got-(share-p)/(q-p)) > 1e-9 && math.Abs(got-(share-q)) > 1e-9 {
				differ++
			}
		}
		if differ < k/2 {
			t.Errorf("%s: mistakes would show in %d of %d estimates", kind, differ, k)
		}
	}
}

// Renaming categories renames estimates, two sets of reports together have the
// counts of both, and a report does not depend on the type of its value.
func TestReportsAreSymmetric(t *testing.T) {
	const n, k = 500, 9
	values, shifted := make([]int32, n), make([]int32, n)
	wide, plain := make([]int64, n), make([]int, n)
	s := rng.Seed(4).Stream("values")
	for i := range values {
		values[i] = int32(s.IntN(k))
		shifted[i] = (values[i] + 1) % k
		wide[i], plain[i] = int64(values[i]), int(values[i])
	}
	for _, kind := range allOracles {
		m := Oracle{Purpose: "o", Kind: kind, Epsilon: 2, Categories: k, Unit: privacy.User}
		counts := func(r *Reports, err error) []int64 {
			if err != nil {
				t.Fatal(kind, err)
			}
			return r.Counts()
		}
		bits := func() mechanism.Bits { return mechanism.Keyed(rng.Seed(5).Stream("report")) }
		a := counts(Report(m, mechanismtest.Ledger(t), bits(), values))
		if b := counts(Report(m, mechanismtest.Ledger(t), bits(), wide)); !slices.Equal(a, b) {
			t.Errorf("%s: int64 gives %v, int32 %v", kind, b, a)
		}
		if b := counts(Report(m, mechanismtest.Ledger(t), bits(), plain)); !slices.Equal(a, b) {
			t.Errorf("%s: int gives %v, int32 %v", kind, b, a)
		}
		old := runtime.GOMAXPROCS(1)
		b := counts(Report(m, mechanismtest.Ledger(t), bits(), values))
		runtime.GOMAXPROCS(old)
		if !slices.Equal(a, b) {
			t.Errorf("%s: other counts on one processor", kind)
		}
		c := counts(Report(m, mechanismtest.Ledger(t), bits(), shifted))
		if slices.Equal(a, c) {
			t.Errorf("%s: the values make no difference", kind)
		}
		// A total that is known: every GRR report supports one category; the mean number
		// of the others is P + (k-1) Q, within 6.11 deviations of at most k/2 each.
		total := int64(0)
		for _, v := range a {
			total += v
		}
		mean := m.P() + (k-1)*m.Q()
		if kind == GRR && total != n || math.Abs(float64(total)-n*mean) > mechanismtest.Sigmas*k/2*math.Sqrt(n) {
			t.Errorf("%s: %d supports of %d reports, want about %g", kind, total, n, n*mean)
		}
	}
}

// Which protocol is best for how many categories: GRR up to 3 e^eps + 2 of them and
// OUE above (Wang et al., section 5), OLH as good as OUE to a percent or so and
// never worse than SUE.
func TestBestOracle(t *testing.T) {
	for _, eps := range []float64{0.5, 1, 2, 4} {
		v := func(kind OracleKind, k int) float64 {
			return Oracle{Kind: kind, Epsilon: eps, Categories: k}.FrequencyVariance(1, 0)
		}
		edge := 3*math.Exp(eps) + 2
		for k := 2; k < 400; k++ {
			if grr := v(GRR, k) < v(OUE, k); grr != (float64(k) < edge) {
				t.Errorf("eps %g, %d categories: GRR is better: %v, the edge is at %g", eps, k, grr, edge)
			}
		}
		if a := v(OLH, 100) / v(OUE, 100); math.Abs(a-1) > 0.05 {
			t.Errorf("eps %g: OLH has %g times the variance of OUE", eps, a)
		}
		if !(v(OUE, 9) < v(SUE, 9)) || v(OUE, 9) != v(OUE, 9000) {
			t.Errorf("eps %g: OUE %g, SUE %g", eps, v(OUE, 9), v(SUE, 9))
		}
		if h, want := (Oracle{Kind: OLH, Epsilon: eps}).Hashes(), math.Exp(eps)+1; math.Abs(float64(h)-want) > 0.5 {
			t.Errorf("eps %g: %d hashes, want %g", eps, h, want)
		}
		// n reports at once have 1/n of the variance of one; 4 OUE e^eps/(e^eps-1)².
		m := Oracle{Kind: OUE, Epsilon: eps, Categories: 9}
		closed := 4 * math.Exp(eps) / (math.Expm1(eps) * math.Expm1(eps))
		if a, b := m.FrequencyVariance(250, 0.3), m.FrequencyVariance(1, 0.3)/250; math.Abs(a/b-1) > 1e-14 || math.Abs(v(OUE, 9)/closed-1) > 1e-12 {
			t.Errorf("eps %g: variances %g and %g, at 0 %g, want %g", eps, a, b, v(OUE, 9), closed)
		}
		u := UnaryEncoding{Epsilon: eps}
		if a, b := u.FrequencyVariance(77, 0.4), m.FrequencyVariance(77, 0.4); math.Abs(a/b-1) > 1e-12 {
			t.Errorf("eps %g: unary encoding states %g, OUE %g", eps, a, b)
		}
	}
}

// Unary encoding's probabilities are a law over all outputs, a product over the
// bits, and the frequency variance is the second moment of that law.
func TestUnaryProbabilityIsALaw(t *testing.T) {
	const width = 4
	for _, eps := range []float64{0.2, 1, 5} {
		m := UnaryEncoding{Epsilon: eps}
		for in := -1; in < width; in++ {
			x := make([]bool, width)
			if in >= 0 {
				x[in] = true
			}
			total := 0.0
			var supports [width]float64
			for out := range 1 << width {
				y := make([]bool, width)
				for i := range y {
					y[i] = out>>i&1 == 1
				}
				p := m.Probability(y, x)
				total += p
				for i := range y {
					if y[i] {
						supports[i] += p
					}
				}
			}
			if math.Abs(total-1) > 1e-14 {
				t.Errorf("eps %g: mass %.17g", eps, total)
			}
			for i, got := range supports {
				want := m.Q()
				if i == in {
					want = m.P()
				}
				if math.Abs(got-want) > 1e-14 {
					t.Errorf("eps %g, input %d: bit %d is sent with %g, want %g", eps, in, i, got, want)
				}
				mean := (got - m.Q()) / (m.P() - m.Q())
				if v := got * (1 - got) / (m.P() - m.Q()) / (m.P() - m.Q()); math.Abs(v/m.FrequencyVariance(1, math.Round(mean))-1) > 1e-12 {
					t.Errorf("eps %g: variance %g, want %g", eps, m.FrequencyVariance(1, math.Round(mean)), v)
				}
			}
		}
		if m.Probability(nil, nil) != 1 {
			t.Error("nothing has another probability than 1")
		}
	}
}
