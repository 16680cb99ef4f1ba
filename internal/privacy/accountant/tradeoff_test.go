package accountant

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
)

// curveOf returns the trade-off curve of n releases of an event.
func curveOf(t testing.TB, m Method, e privacy.Event, n int64) *TradeOff {
	t.Helper()
	s := privacy.Subjects(e)[0]
	if s.Neighbouring == "" {
		s.Neighbouring = privacy.AddRemove
	}
	a, err := New(m, s.Unit, s.Neighbouring)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Charge(e, n); err != nil {
		t.Fatal(err)
	}
	f, err := a.TradeOff()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func batches(rate, noise float64) privacy.Event {
	g := privacy.Gaussian{Sigma: noise, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	if rate == 1 {
		return g
	}
	return privacy.Sampled{Event: g, Rate: rate, Method: privacy.Poisson}
}

// lawPair is a law of finitely many outputs on two neighbouring data sets.
type lawPair struct{ p, q []float64 }

// times returns the law of two independent releases.
func (a lawPair) times(b lawPair) (c lawPair) {
	for i := range a.p {
		for j := range b.p {
			c.p, c.q = append(c.p, a.p[i]*b.p[j]), append(c.q, a.q[i]*b.q[j])
		}
	}
	return c
}

// tpr returns the power of the Neyman-Pearson test at a false positive rate, by sorting all outputs.
func (a lawPair) tpr(fpr float64) float64 {
	order := make([]int, len(a.p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { // by the likelihood ratio, the largest first
		switch x, y := a.p[i]*a.q[j], a.p[j]*a.q[i]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	power := 0.0
	for _, i := range order {
		if a.q[i] >= fpr {
			return math.Min(1, power+a.p[i]*fpr/a.q[i])
		}
		fpr -= a.q[i]
		power += a.p[i]
	}
	return math.Min(1, power)
}

// The curve is never more private than what all outputs of a discrete mechanism show, and little
// less.
func TestTradeOffAgainstEnumeration(t *testing.T) {
	response := func(eps float64, k int) (a lawPair) {
		total := math.Exp(eps) + float64(k) - 1
		for i := range k {
			p, q := 1/total, 1/total
			if i == 0 {
				p *= math.Exp(eps)
			}
			if i == 1 {
				q *= math.Exp(eps)
			}
			a.p, a.q = append(a.p, p), append(a.q, q)
		}
		return a
	}
	normal := func(sigma float64, d int) (a lawPair) {
		total := 0.0
		for k := -24; k <= 24; k++ { // beyond: less than 1e-15

			total += math.Exp(-float64(k*k) / (2 * sigma * sigma))
		}
		for k := -24; k <= 24+d; k++ {
			a.p = append(a.p, math.Exp(-float64((k-d)*(k-d))/(2*sigma*sigma))/total)
			a.q = append(a.q, math.Exp(-float64(k*k)/(2*sigma*sigma))/total)
		}
		return a
	}
	// The number of ones among n answers of binary randomised response: a binomial law each.
	binomial := func(eps float64, n int) (a lawPair) {
		keep := 1 / (1 + math.Exp(-eps))
		choose := 1.0
		for k := 0; k <= n; k++ {
			a.p = append(a.p, choose*math.Pow(keep, float64(k))*math.Pow(1-keep, float64(n-k)))
			a.q = append(a.q, choose*math.Pow(1-keep, float64(k))*math.Pow(keep, float64(n-k)))
			choose *= float64(n-k) / float64(k+1)
		}
		return a
	}
	rr := func(eps float64, k int64) privacy.Event {
		return privacy.RandomizedResponse{Epsilon: eps, Categories: k, Unit: privacy.Record}
	}
	discrete := func(sigma float64, d int) privacy.Event {
		return privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: float64(d), Dimension: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
	}
	three := response(0.7, 3)
	for name, c := range map[string]struct {
		e     privacy.Event
		n     int64
		truth lawPair
	}{
		"one response":               {rr(1, 2), 1, response(1, 2)},
		"one of five":                {rr(2, 5), 1, response(2, 5)},
		"a binomial of 20":           {rr(0.3, 2), 20, binomial(0.3, 20)},
		"a binomial of 7":            {rr(1.3, 2), 7, binomial(1.3, 7)},
		"four of three":              {rr(0.7, 3), 4, three.times(three).times(three.times(three))},
		"a discrete normal":          {discrete(1.5, 1), 1, normal(1.5, 1)},
		"a discrete normal by three": {discrete(2.5, 3), 1, normal(2.5, 3)},
		"two discrete normals":       {discrete(2, 1), 2, normal(2, 1).times(normal(2, 1))},
	} {
		f := curveOf(t, PLD, c.e, c.n)
		for _, fpr := range []float64{1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 0.8} {
			got, want := f.TPR(fpr), c.truth.tpr(fpr)
			if got < want-1e-13 || got > want+2e-4 {
				t.Errorf("%s: at %v an attacker finds %v, bounded by %v", name, fpr, want, got)
			}
		}
		advantage := 0.0
		for i, p := range c.truth.p {
			advantage += math.Max(0, p-c.truth.q[i])
		}
		if got := f.Advantage(); got < advantage-1e-13 || got > advantage+1e-4 {
			t.Errorf("%s: an advantage of %v, bounded by %v", name, advantage, got)
		}
		for _, prior := range []float64{0.01, 0.3, 0.5, 0.9} {
			right := 0.0
			for i, p := range c.truth.p {
				right += math.Max(prior*p, (1-prior)*c.truth.q[i])
			}
			if got := f.Right(prior); got < right-1e-13 || got > right+1e-3 {
				t.Errorf("%s, prior %v: right with probability %v, bounded by %v", name, prior, right, got)
			}
		}
	}
}

// What every trade-off curve is, for any release and method: at least guessing, rising, concave, at
// most what delta at each epsilon allows, and larger for more releases.
func TestTradeOffProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := rapid.Float64Range(0.6, 8).Draw(t, "noise")
		var e privacy.Event
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			e = batches(1, noise)
		case 1:
			e = batches(rapid.Float64Range(1e-3, 0.9).Draw(t, "rate"), noise)
		case 2:
			e = privacy.Laplace{Scale: noise, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
		case 3:
			e = privacy.RandomizedResponse{Epsilon: 1 / noise, Categories: rapid.Int64Range(2, 9).Draw(t, "categories"), Unit: privacy.Record}
		case 4:
			e = privacy.Sampled{Event: privacy.Gaussian{Sigma: noise, Sensitivity: 2, Norm: 1, Unit: privacy.Record, Neighbouring: privacy.Replace},
				Rate: rapid.Float64Range(1e-3, 0.9).Draw(t, "rate"), Method: privacy.WithoutReplacement}
		}
		n := rapid.Int64Range(1, 50).Draw(t, "releases")
		s := privacy.Subjects(e)[0]
		method := rapid.SampledFrom([]Method{Contour, PLD, RDP}).Draw(t, "method")
		curve := func(n int64) (*Account, *TradeOff) {
			a, err := New(method, s.Unit, s.Neighbouring)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Charge(e, n); err != nil {
				t.Fatal(err)
			}
			f, err := a.TradeOff()
			if err != nil {
				t.Fatal(err)
			}
			return a, f
		}
		a, f := curve(n)
		_, more := curve(n + 1)
		var fprs []float64
		for i := range 41 {
			fprs = append(fprs, float64(i)/40)
		}
		last, slope := -1.0, math.Inf(1)
		for i, fpr := range fprs {
			v := f.TPR(fpr)
			if v < fpr || v > 1 || v < last {
				t.Fatalf("TPR is %v at %v, after %v", v, fpr, last)
			}
			if v-fpr > f.Advantage()*(1+1e-9)+1e-12 {
				t.Fatalf("%v at %v is an advantage of %v, above %v", v, fpr, v-fpr, f.Advantage())
			}
			if w := more.TPR(fpr); w < v-2e-4 {
				t.Fatalf("one release more finds %v at %v, not %v", w, fpr, v)
			}
			if i > 0 {
				if rise := (v - last) * 40; rise > slope+1e-9 {
					t.Fatalf("not concave at %v: the slope rises from %v to %v", fpr, slope, rise)
				} else {
					slope = rise
				}
			}
			last = v
		}
		if f.Right(0.5) < 0.5 || math.Abs(f.Right(0.5)-(1+f.Advantage())/2) > 1e-9 {
			t.Fatalf("right with probability %v at an advantage of %v", f.Right(0.5), f.Advantage())
		}
		if p := f.Posterior(0.1, 0.01); p < 0.1-1e-12 || p > 1 {
			t.Fatalf("a posterior of %v from 0.1", p)
		}
		eps := rapid.Float64Range(0, 3).Draw(t, "epsilon")
		d, err := a.DeltaAt(eps)
		if err != nil {
			t.Fatal(err)
		}
		for _, fpr := range fprs { // the curve is about as tight as any one point of it
			if line := math.Exp(eps)*fpr + d.Delta; f.TPR(fpr) > line+5e-3 {
				t.Fatalf("%v at %v, above %v by delta %v at epsilon %v", f.TPR(fpr), fpr, line, d.Delta, eps)
			}
		}
	})
}

// The exact curve of a Poisson sample: one release has a closed form, and a Gaussian the known
// f-DP curve.
func TestTradeOffClosed(t *testing.T) {
	g := curveOf(t, Contour, batches(1, 1), 1)
	if got, want := g.TPR(0.05), 0.25951; math.Abs(got-want) > 1e-5 { // Phi(-1.644854 + 1)
		t.Errorf("%v, want %v", got, want)
	}
	certified := curveOf(t, PLD, privacy.Composed{Events: []privacy.Event{batches(1, 1), batches(0.999999, 1e6)}}, 1)
	if certified.Method != string(PLD) || certified.TPR(0.05) < g.TPR(0.05)-1e-12 || certified.TPR(0.05) > g.TPR(0.05)+1e-4 {
		t.Errorf("%s: %v and %v", certified.Method, certified.TPR(0.05), g.TPR(0.05))
	}
	open := curveOf(t, Contour, privacy.Unprotected{What: "labels", Why: "shown", Unit: privacy.Record}, 1)
	if open.TPR(0) != 1 || open.Advantage() != 1 || open.Posterior(0.1, 0.01) < 0.9 || open.Right(0.3) != 1 {
		t.Errorf("%+v", open)
	}
	a, err := New(Contour, privacy.Record, privacy.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	none, err := a.TradeOff()
	if err != nil || none.TPR(0.3) != 0.3 || none.Advantage() != 0 || math.Abs(none.Right(0.3)-0.7) > 1e-12 {
		t.Errorf("%+v, %v", none, err)
	}
	if !math.IsNaN(none.TPR(-1)) {
		t.Error("a rate below 0 has an answer")
	}
}

// Blocks of points that cannot hold the least bound are left out, and nothing else: the rates are
// those of a search of all points, to the last bit.
func TestTradeOffSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &TradeOff{}
		n := rapid.IntRange(1, 5*blockPoints).Draw(t, "points")
		eps := rapid.SliceOfN(rapid.Float64Range(0, 50), n, n).Draw(t, "epsilons")
		delta := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "deltas")
		slices.Sort(eps)
		if rapid.Bool().Draw(t, "falling") {
			slices.Sort(delta)
			slices.Reverse(delta)
		}
		c.of(eps, delta)
		for _, fpr := range append(rapid.SliceOfN(rapid.Float64Range(0, 1), 8, 8).Draw(t, "rates"), 0, 1e-4, 0.5) {
			want := 1.0
			for i, e := range eps {
				d := delta[i]
				want = math.Min(want, math.Min((math.Exp(e)*fpr+d)*up, 1-math.Exp(-e)*(1-d-fpr)/up+1e-15))
			}
			if want = math.Max(want, fpr); c.TPR(fpr) != want {
				t.Fatalf("at %v: %v, want %v", fpr, c.TPR(fpr), want)
			}
		}
	})
}
