package pld

import (
	"context"
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/pld/fft"
	"privrec/internal/privacy/accountant/terms"
)

// An exchange on a sample composes with what is about one unit more: unsampled terms
// have one law under both, and of sampled ones each keeps its own, between two of the
// cheaper and two of the dearer.
func TestExchangesBesideOthers(t *testing.T) {
	upper := func(ts ...terms.Term) float64 {
		b, err := Bracket(context.Background(), ts, 1e-5, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b.Upper
	}
	one := func(q float64, r privacy.Neighbouring) terms.Term {
		x := gaussianTerm(q, 1, 1, r, 50)
		x.Leaf = privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: user, Neighbouring: privacy.AddRemove}
		return x
	}
	const add, swap = privacy.AddRemove, privacy.Replace
	if mixed, want := upper(one(0.1, swap), one(1, add)), upper(one(0.1, swap), one(1, swap)); mixed != want {
		t.Errorf("beside an unsampled term %v, want %v", mixed, want)
	}
	low, mixed, high := upper(one(0.1, swap), one(0.1, swap)), upper(one(0.1, add), one(0.1, swap)), upper(one(0.1, add), one(0.1, add))
	if low > high {
		low, high = high, low
	}
	if !(low*1.01 < mixed && mixed*1.01 < high) {
		t.Errorf("%v, want between %v and %v", mixed, low, high)
	}
}

// What cannot be bracketed is an error that says why.
func TestRefuses(t *testing.T) {
	ok := gaussianTerm(0.1, 1, 1, privacy.AddRemove, 10)
	with := func(f func(*terms.Term)) []terms.Term {
		x := ok
		f(&x)
		return []terms.Term{x}
	}
	laplace := laplaceTerm(0.1, 1, 1)
	laplace.Relation = privacy.Replace
	for _, c := range []struct {
		name    string
		ts      []terms.Term
		o       Options
		covered bool
		want    string
	}{
		{"none", nil, Options{}, true, "no terms"},
		{"no event", with(func(x *terms.Term) { x.Leaf = nil }), Options{}, true, "no event"},
		{"bad event", with(func(x *terms.Term) { x.Leaf = privacy.PureLDP{Epsilon: -1, Unit: user} }), Options{}, true, "epsilon"},
		{"count", with(func(x *terms.Term) { x.Count = 0 }), Options{}, true, "count is 0"},
		{"huge count", with(func(x *terms.Term) { x.Count = 1e10 }), Options{}, false, "count is"},
		{"counts overflow", append(with(func(x *terms.Term) { x.Count = math.MaxInt64 }), ok), Options{}, true, "overflow"},
		{"rate", with(func(x *terms.Term) { x.Rate = math.NaN() }), Options{}, true, "rate is NaN"},
		{"tiny rate", with(func(x *terms.Term) { x.Rate = 1e-13 }), Options{}, false, "sampling rate"},
		{"relation", with(func(x *terms.Term) { x.Relation = "x" }), Options{}, true, "relation"},
		{"relations", []terms.Term{ok, gaussianTerm(0.1, 1, 1, privacy.ZeroOut, 1)}, Options{}, true, "earlier term's"},
		{"without replacement", with(func(x *terms.Term) { x.Method = privacy.WithoutReplacement }), Options{}, false, "without-replacement"},
		{"replaced laplace", []terms.Term{laplace}, Options{}, false, "laplace sampled"},
		{"sampled response", []terms.Term{{Leaf: privacy.PureLDP{Epsilon: 1, Unit: user}, Rate: 0.1, Method: privacy.Poisson, Relation: privacy.Replace, Count: 1}}, Options{}, false, "pure-ldp sampled"},
		{"exponential", with(func(x *terms.Term) {
			x.Leaf = privacy.Exponential{Epsilon: 1, Unit: user, Neighbouring: privacy.AddRemove}
		}), Options{}, false, "exponential"},
		{"dimension", with(func(x *terms.Term) {
			x.Leaf = privacy.DiscreteGaussian{Sigma: 1, Sensitivity: 2, Dimension: 2, Unit: user, Neighbouring: privacy.AddRemove}
		}), Options{}, false, "2 dimensions"},
		{"little noise", with(func(x *terms.Term) {
			x.Leaf = privacy.Gaussian{Sigma: 1e-9, Sensitivity: 1, Unit: user, Neighbouring: privacy.AddRemove}
		}), Options{}, false, "sensitivity over sigma"},
		{"little replaced noise", []terms.Term{gaussianTerm(0.1, 1e-3, 1, privacy.Replace, 1)}, Options{}, false, "twice sigma"},
		{"unsampled", []terms.Term{gaussianTerm(1, 1e-9, 1, privacy.AddRemove, 1)}, Options{}, false, "sensitivity over sigma"},
		{"large response", []terms.Term{{Leaf: privacy.PureLDP{Epsilon: 1000, Unit: user}, Rate: 1, Relation: privacy.Replace, Count: 1}}, Options{}, false, "epsilon is 1000"},
		{"odd bins", []terms.Term{ok}, Options{Bins: 1000}, true, "power of two"},
		{"bins", []terms.Term{ok}, Options{Bins: 1 << 9}, true, "power of two"},
	} {
		_, err := Bracket(context.Background(), c.ts, 1e-5, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNotCovered) == c.covered {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, d := range []float64{0, 1, -1, 2, math.NaN()} {
		if b, err := Bracket(context.Background(), []terms.Term{ok}, d, Options{}); err == nil {
			t.Errorf("delta %v gives %v", d, b)
		}
	}
	for _, e := range []float64{-1, math.Inf(1), math.NaN()} {
		if b, err := DeltaBracket(context.Background(), []terms.Term{ok}, e, Options{}); err == nil {
			t.Errorf("epsilon %v gives %v", e, b)
		}
	}
	for name, f := range map[string]func() (pair, error){
		"laplace":            func() (pair, error) { return laplacePair(1e4) },
		"discrete gaussian":  func() (pair, error) { return discreteGaussian(1, 0.5) },
		"wide gaussian":      func() (pair, error) { return discreteGaussian(1e6, 1) },
		"discrete laplace":   func() (pair, error) { return discreteLaplace(1, 0.5) },
		"sharp laplace":      func() (pair, error) { return discreteLaplace(0.001, 1) },
		"sharp gaussian":     func() (pair, error) { return discreteGaussian(0.01, 1) },
		"tiny replaced":      func() (pair, error) { return replacedGaussian(0.1, math.NaN()) },
		"nan gaussian ratio": func() (pair, error) { return gaussian(math.NaN()) },
	} {
		if _, err := f(); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Infinite losses heavier than delta.
	x, err := response(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	x.infP, x.infQ = 1e-3, 1e-3
	for i := range x.atoms {
		x.atoms[i].p *= 1 - 1e-3
		x.atoms[i].q *= 1 - 1e-3
	}
	if bs, err := brackets(context.Background(), []term{{x, 10}}, query{delta: 1e-3, solve: true}, Options{}, false); !errors.Is(err, ErrInfinite) {
		t.Errorf("%v, %v", bs, err)
	}
}

func laplacePair(e float64) (pair, error) { return laplace(e) }

// pairs are one of each kind.
func pairs(t *testing.T) map[string]pair {
	t.Helper()
	must := func(x pair, err error) pair {
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	return map[string]pair{
		"gaussian": must(gaussian(0.8)), "sampled gaussian": must(gaussian(1)).sampled(0.02), "rare": must(gaussian(1.5)).sampled(1e-5),
		"loud": must(gaussian(6)).sampled(0.3), "replaced": must(replacedGaussian(0.05, 0.9)), "laplace": must(laplace(0.7)),
		"sampled laplace": must(laplace(1)).sampled(0.02), "response": must(response(0.3, 2)), "4-ary response": must(response(1, 4)),
		"discrete gaussian": must(discreteGaussian(3, 2)), "sampled discrete gaussian": must(discreteGaussian(2, 1)).sampled(0.1),
		"discrete laplace": must(discreteLaplace(4, 3)), "sampled discrete laplace": must(discreteLaplace(4, 3)).sampled(0.2),
	}
}

// exactDelta is the hockey stick of one pair by its tails and atoms.
func exactDelta(x pair, eps float64) float64 {
	d := 0.0
	if x.tails != nil {
		e := x.tails(min(max(eps, x.lo), x.hi))
		d = e.pAbove - math.Exp(eps)*e.qAbove
	}
	for _, a := range x.atoms {
		if a.loss > eps {
			d += a.p - math.Exp(eps)*a.q
		}
	}
	return d
}

func hockeyStick(m *masses, eps float64) float64 {
	d := m.inf
	for i, w := range m.w {
		if l := m.loss(i); l > eps {
			d += w * -math.Expm1(eps-l)
		}
	}
	return d
}

// One step: the discretised laws bound the exact one from both sides at every
// epsilon, positive and negative, in both directions, on wide and fine meshes;
// no mass is created however fine the mesh; and both close in as h².
func TestRoundingBounds(t *testing.T) {
	for name, x := range pairs(t) {
		lo, hi := x.cut(1e-18, false)
		var gaps []float64
		for _, parts := range []float64{200, 800, 3200} {
			h := (hi - lo) / parts
			if x.spacing > 0 {
				h = x.spacing / (2 * math.Ceil(x.spacing/(2*h)))
			}
			c := x.discretise(context.Background(), h, lo, hi)
			worst := 0.0
			for direction, c := range []*cells{c, c.swap()} {
				up, low := c.upper(), c.lower()
				if total := up.total(); math.Abs(total-1) > 1e-14 {
					t.Errorf("%s: the upper masses sum to 1%+g", name, total-1)
				}
				if total := low.total(); total > 1+1e-14 {
					t.Errorf("%s: the lower masses sum to 1%+g", name, total-1)
				}
				for i := range 400 {
					eps := lo + (hi-lo)*(float64(i)+0.37)/400
					want := exactDelta(x, eps)
					if direction == 1 {
						// delta of the exchanged pair at e: 1 - exp(e) + exp(e) delta(-e)
						want, eps = 1-math.Exp(-eps)+math.Exp(-eps)*want, -eps
						if math.Abs(eps) > 30 {
							continue
						}
					}
					tol := 1e-13 * (1 + math.Exp(eps))
					u, l := hockeyStick(up, eps), hockeyStick(low, eps)
					if u < want-tol || l > want+tol {
						t.Fatalf("%s, direction %d, h %g, eps %g: %g <= %g <= %g", name, direction, h, eps, l, want, u)
					}
					if eps > 0 {
						worst = max(worst, u-l)
					}
				}
			}
			gaps = append(gaps, worst)
		}
		if !(gaps[2] < gaps[0]/10 || gaps[2] < 1e-12) && x.tails != nil {
			t.Errorf("%s: gaps %v do not close as h²", name, gaps)
		}
	}
}

// The reference's mass error at h = 3e-6: ours stays at rounding, and the bracket
// at fine meshes does not rise.
func TestNoMassAtFineMeshes(t *testing.T) {
	x, err := gaussian(1 / 1.1)
	if err != nil {
		t.Fatal(err)
	}
	x = x.sampled(256.0 / 60000)
	lo, hi := x.cut(1e-18, false)
	for _, h := range []float64{1e-5, 3e-6, 1e-6} {
		c := x.discretise(context.Background(), h, lo, hi)
		for _, c := range []*cells{c, c.swap()} {
			if off := 234000 * math.Abs(c.upper().total()-1); off > 1e-9 {
				t.Errorf("mesh %g: the masses of 234000 steps are off by %g", h, off)
			}
		}
	}
	last := math.Inf(1)
	for _, bins := range []int{1 << 14, 1 << 16, 1 << 18} {
		b, err := Bracket(context.Background(), sampledGaussian(256.0/60000, 4, 234_000), 1e-5, Options{Bins: bins})
		if err != nil {
			t.Fatal(err)
		}
		if b.Upper > last || b.Lower > 2.103019547572249 || b.Upper < 2.103019547572249 {
			t.Errorf("%d bins: %v to %v, before %v", bins, b.Lower, b.Upper, last)
		}
		last = b.Upper
	}
}

// The FFT's error is within its bound, entry by entry, against direct sums; with
// concentrated and with spread masses.
func TestFFTError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1 << 10, 1 << 15, 1 << 19} {
		x := make([]float64, n)
		size := 0.0
		for i := range 200 {
			x[(i*i*7)%n] += r.Float64()
		}
		for _, v := range x {
			size += v
		}
		z := make([]complex128, n/2+1)
		fft.New(n).Forward(z, x)
		worst := 0.0
		for range 50 {
			k := r.IntN(n/2 + 1)
			var sum complex128
			for i, v := range x {
				if v != 0 {
					s, c := math.Sincos(-2 * math.Pi * float64(i*k%n) / float64(n))
					sum += complex(v*c, v*s)
				}
			}
			worst = max(worst, cmplx.Abs(sum-z[k])/size)
		}
		if worst > fftError(n) {
			t.Errorf("n %d: error %g, bound %g", n, worst, fftError(n))
		}
	}
}

// Self-checks notice what they are for.
func TestChecks(t *testing.T) {
	good := func() *tilted {
		return &tilted{h: 1, mass: []float64{0.5, 0.5}, tilt: 1, sum: 1, sumFuzz: 1e-9, fuzz: 1e-12}
	}
	if err := good().check(1e-9); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*tilted){
		"negative": func(x *tilted) { x.mass[0], x.mass[1] = -1e-6, 1+1e-6 },
		"nan":      func(x *tilted) { x.mass[0] = math.NaN() },
		"sum":      func(x *tilted) { x.mass[0] = 0.6 },
		"mass":     func(x *tilted) { x.created = 1e-8 },
	} {
		x := good()
		spoil(x)
		if err := x.check(1e-9); !errors.Is(err, ErrCheck) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A small delta at many steps: an untilted transform's noise of 1e-11 would
// drown it.
func TestSmallDelta(t *testing.T) {
	ts := sampledGaussian(256.0/60000, 4, 234_000)
	b, err := Bracket(context.Background(), ts, 1e-20, Options{Bins: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	if b.Upper-b.Lower > 0.01 || b.Lower < 4 {
		t.Errorf("%+v", b)
	}
	d, err := DeltaBracket(context.Background(), ts, b.Upper, Options{Bins: 1 << 16})
	if err != nil || d.Upper > 1.2e-20 || d.Lower < 0.8e-20 {
		t.Errorf("%+v, %v", d, err)
	}
}

// Laplace atoms: the largest loss is epsilon's limit, and delta is nothing there.
func TestBounded(t *testing.T) {
	ts := []terms.Term{laplaceTerm(1, 2, 5)}
	b, err := Bracket(context.Background(), ts, 1e-12, Options{})
	if err != nil || b.Upper > 2.5*(1+1e-14) || b.Lower < 2.49 {
		t.Errorf("%+v, %v", b, err)
	}
	d, err := DeltaBracket(context.Background(), ts, 2.6, Options{})
	if err != nil || d.Lower != 0 || d.Upper != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	large, err := Bracket(context.Background(), ts, 0.99, Options{})
	if err != nil || large.Upper != 0 || large.Lower != 0 {
		t.Errorf("%+v, %v", large, err)
	}
}
