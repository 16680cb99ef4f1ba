package accountant_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair is two laws of one output on neighbouring data, as masses of small cells or
// of the outcomes themselves: the definition, with nothing in closed form.
type pair struct{ p, q []float64 }

func (a pair) turned() pair { return pair{a.q, a.p} }

// delta is the sum of what p has above e^epsilon q, for n independent outputs.
func (a pair) delta(epsilon float64, n int) float64 {
	factor, sum := math.Exp(epsilon), 0.0
	switch n {
	case 1:
		for i, p := range a.p {
			sum += math.Max(0, p-factor*a.q[i])
		}
	case 2:
		for i, p := range a.p {
			if p == 0 {
				continue
			}
			q := factor * a.q[i]
			for j, p2 := range a.p {
				if d := p*p2 - q*a.q[j]; d > 0 {
					sum += d
				}
			}
		}
	default:
		panic("one or two outputs")
	}
	return sum
}

// worst is the larger of both directions.
func (a pair) worst(epsilon float64, n int) float64 {
	return math.Max(a.delta(epsilon, n), a.turned().delta(epsilon, n))
}

// cells cuts two densities into cells of equal width, by the midpoints; rate mixes
// the first with the second, as Poisson sampling does.
func cells(p, q func(x float64) float64, lo, hi float64, n int, rate float64) pair {
	a, h := pair{make([]float64, n), make([]float64, n)}, (hi-lo)/float64(n)
	for i := range n {
		x := lo + (float64(i)+0.5)*h
		a.p[i], a.q[i] = (rate*p(x)+(1-rate)*q(x))*h, q(x)*h
	}
	return a
}

func normalPair(sigma, distance, rate float64) pair {
	density := func(at float64) func(float64) float64 {
		return func(x float64) float64 {
			return math.Exp(-(x-at)*(x-at)/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi))
		}
	}
	return cells(density(distance), density(0), -9*sigma, distance+9*sigma, 1200, rate)
}

func laplacePair(scale, distance, rate float64) pair {
	density := func(at float64) func(float64) float64 {
		return func(x float64) float64 { return math.Exp(-math.Abs(x-at)/scale) / (2 * scale) }
	}
	return cells(density(distance), density(0), -17*scale, distance+17*scale, 1200, rate)
}

// lattice is a weight on the integers and the same moved, summed until nothing is
// left.
func lattice(weight func(k int) float64, shift, most int) pair {
	var a pair
	total := 0.0
	for k := -most; k <= most+shift; k++ {
		a.p, a.q = append(a.p, weight(k-shift)), append(a.q, weight(k))
		total += weight(k)
	}
	for i := range a.p {
		a.p[i] /= total
		a.q[i] /= total
	}
	return a
}

func responsePair(epsilon float64, k int) pair {
	a := pair{make([]float64, k), make([]float64, k)}
	total := math.Exp(epsilon) + float64(k-1)
	for i := range k {
		a.p[i], a.q[i] = 1/total, 1/total
	}
	a.p[0], a.q[1] = math.Exp(epsilon)/total, math.Exp(epsilon)/total
	return a
}

// release is a mechanism whose noise can be chosen and its pair of laws.
type release struct {
	name     string
	relation privacy.Neighbouring
	event    func(noise float64) privacy.Event
	law      func(noise float64) pair
	noise    float64 // a usual one
	methods  []accountant.Method
}

const (
	analytic, contour, bracket, renyi = accountant.Analytic, accountant.Contour, accountant.PLD, accountant.RDP
)

var unitOf = privacy.Record

func gaussian(sigma float64) privacy.Gaussian {
	return privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: unitOf, Neighbouring: privacy.AddRemove}
}

func releases() []release {
	add := privacy.AddRemove
	laplace := func(b float64) privacy.Event {
		return privacy.Laplace{Scale: b, Sensitivity: 1, Unit: unitOf, Neighbouring: add}
	}
	sampled := func(e privacy.Event, rate float64) privacy.Event {
		return privacy.Sampled{Event: e, Rate: rate, Method: privacy.Poisson}
	}
	three := []accountant.Method{contour, bracket, renyi}
	return []release{
		{"gaussian", add, func(s float64) privacy.Event { return gaussian(s) }, func(s float64) pair { return normalPair(s, 1, 1) }, 0.9, accountant.Methods()},
		{"clipped under replace", privacy.Replace, func(s float64) privacy.Event {
			return privacy.Gaussian{Sigma: s, Sensitivity: 2, Unit: unitOf, Neighbouring: privacy.Replace}
		}, func(s float64) pair { return normalPair(s, 2, 1) }, 1.8, accountant.Methods()},
		{"sampled gaussian", add, func(s float64) privacy.Event { return sampled(gaussian(s), 0.2) }, func(s float64) pair { return normalPair(s, 1, 0.2) }, 0.8, three},
		{"laplace", add, laplace, func(b float64) pair { return laplacePair(b, 1, 1) }, 1, three},
		{"sampled laplace", add, func(b float64) privacy.Event { return sampled(laplace(b), 0.3) }, func(b float64) pair { return laplacePair(b, 1, 0.3) }, 0.5, three},
		{"discrete gaussian", add, func(s float64) privacy.Event {
			return privacy.DiscreteGaussian{Sigma: s, Sensitivity: 2, Dimension: 1, Unit: unitOf, Neighbouring: add}
		}, func(s float64) pair {
			return lattice(func(k int) float64 { return math.Exp(-float64(k*k) / (2 * s * s)) }, 2, 80)
		}, 1.7, three},
		{"discrete laplace", add, func(b float64) privacy.Event {
			return privacy.DiscreteLaplace{Scale: b, Sensitivity: 3, Unit: unitOf, Neighbouring: add}
		}, func(b float64) pair {
			return lattice(func(k int) float64 { return math.Exp(-math.Abs(float64(k)) / b) }, 3, 150)
		}, 2.5, three},
		{"response of 2", privacy.Replace, func(noise float64) privacy.Event {
			return privacy.RandomizedResponse{Epsilon: 1 / noise, Categories: 2, Unit: unitOf}
		}, func(noise float64) pair { return responsePair(1/noise, 2) }, 1, three},
		{"response of 7", privacy.Replace, func(noise float64) privacy.Event {
			return privacy.RandomizedResponse{Epsilon: 1 / noise, Categories: 7, Unit: unitOf}
		}, func(noise float64) pair { return responsePair(1/noise, 7) }, 0.5, three},
		{"local", privacy.Replace, func(noise float64) privacy.Event { return privacy.PureLDP{Epsilon: 1 / noise, Unit: unitOf} },
			func(noise float64) pair { return responsePair(1/noise, 2) }, 0.7, three},
	}
}

func charged(t testing.TB, m accountant.Method, relation privacy.Neighbouring, n int64, events ...privacy.Event) *accountant.Account {
	t.Helper()
	a := must(accountant.New(m, unitOf, relation))
	for _, e := range events {
		check(t, a.Charge(e, n))
	}
	return a
}

// judge compares a method's delta with the sum over the laws: exact methods must
// meet it, bounds must be above it. off is what the sum itself may be off by.
func judge(m accountant.Method, delta, want, off float64) bool {
	switch m {
	case analytic, contour:
		return math.Abs(delta-want) <= off+2e-5*want
	case bracket:
		return delta >= want-off && delta <= want*1.001+off+1e-9
	}
	return delta >= want-off && delta <= 1
}

// Every mechanism under every method against its definition: one release and two,
// at losses from 0 to where nothing is left. Midpoints of cells are off by less
// than 1.2e-4 at the kink and where Laplace's density bends; sums over outcomes are
// exact.
func TestEveryMechanismAgainstItsLaws(t *testing.T) {
	for _, r := range releases() {
		t.Run(r.name, func(t *testing.T) {
			law, off := r.law(r.noise), 1e-10
			if len(law.p) == 1200 {
				off = 1.2e-4
			}
			for _, n := range []int{1, 2} {
				for _, epsilon := range []float64{0.6, 0, 0.1, 1.1, 2.3}[:max(5-3*(n-1)*(len(law.p)/1200), 2)] {
					want := law.worst(epsilon, n)
					for _, m := range r.methods {
						got := must(charged(t, m, r.relation, int64(n), r.event(r.noise)).DeltaAt(epsilon))
						if !judge(m, got.Delta, want, off) {
							t.Errorf("%d releases at epsilon %v by %s (%s): delta %v, by the laws %v", n, epsilon, m, got.Method, got.Delta, want)
						}
					}
				}
			}
		})
	}
}

// What a wrong accountant would have said is told from the truth by the same
// comparison: noise of variance for deviation, a distance forgotten or doubled, one
// direction dropped, a release not counted, sampling that is not there.
func TestWrongAccountsAreJudgedWrong(t *testing.T) {
	const epsilon, sigma, rate = 0.6, 0.8, 0.2
	truth := normalPair(sigma, 1, rate)
	for name, wrong := range map[string]float64{
		"sigma² for sigma":  normalPair(1/(sigma*sigma), 1, rate).worst(epsilon, 2),
		"twice the noise":   normalPair(2*sigma, 1, rate).worst(epsilon, 2),
		"add alone":         truth.turned().delta(epsilon, 2),
		"one of two":        truth.worst(epsilon, 1),
		"half the rate":     normalPair(sigma, 1, rate/2).worst(epsilon, 2),
		"half the distance": normalPair(sigma, 0.5, rate).worst(epsilon, 2),
	} {
		for _, m := range []accountant.Method{contour, bracket, renyi} {
			if judge(m, wrong, truth.worst(epsilon, 2), 1.2e-4) {
				t.Errorf("%s: delta %v instead of %v passes as %s", name, wrong, truth.worst(epsilon, 2), m)
			}
		}
	}
	if right := must(charged(t, contour, privacy.AddRemove, 2, releases()[2].event(sigma)).DeltaAt(epsilon)); !judge(contour, right.Delta, truth.worst(epsilon, 2), 1.2e-4) {
		t.Errorf("the right delta %v is judged wrong", right.Delta)
	}
}

// A choice by the exponential mechanism is at most as bad as any two-outcome pair
// whose log-ratios lie in an interval of its length: all of them are below its
// bound, for one choice and two, and the worst comes close.
func TestChoicesAgainstTheirWorstPairs(t *testing.T) {
	for _, length := range []float64{0.3, 1, 3} {
		choice := privacy.Exponential{Epsilon: length, Unit: unitOf, Neighbouring: privacy.AddRemove}
		for _, n := range []int{1, 2} {
			a := charged(t, renyi, privacy.AddRemove, int64(n), choice)
			for _, epsilon := range []float64{0, 0.1, 0.5, 0.9 * length} {
				bound, worst := must(a.DeltaAt(epsilon)).Delta, 0.0
				for i := 1; i < 40; i++ {
					up := length * float64(i) / 40 // the larger ratio is e^up, the smaller e^(up-length)
					q := -math.Expm1(up-length) / (math.Exp(up) - math.Exp(up-length))
					p := q * math.Exp(up)
					worst = math.Max(worst, pair{[]float64{p, 1 - p}, []float64{q, 1 - q}}.worst(epsilon, n))
				}
				if !(worst <= bound) {
					t.Errorf("length %v, %d choices at epsilon %v: delta %v, above the bound %v", length, n, epsilon, worst, bound)
				}
			}
			if r := must(a.Spent(1e-12)); r.Epsilon > float64(n)*length*(1+1e-9) {
				t.Errorf("length %v, %d choices: epsilon %v, by adding up %v", length, n, r.Epsilon, float64(n)*length)
			}
		}
	}
}

// The Gaussian curve and its inverses against 300-digit arithmetic, from nearly no
// loss to one of thousands, to 13 digits of delta itself; what is rounded up is not
// below, what is rounded down not above.
func TestGaussianCurveTo300Digits(t *testing.T) {
	var rows []struct{ Fn, Mu, X, Value string }
	check(t, json.Unmarshal(must(os.ReadFile("testdata/gaussian.json")), &rows))
	number := func(s string) float64 { return must(strconv.ParseFloat(s, 64)) }
	seen := map[string]int{}
	for _, r := range rows {
		mu, x, want := number(r.Mu), number(r.X), number(r.Value)
		seen[r.Fn]++
		var got, within float64
		side := 0.0 // of the truth that the result must be on
		switch r.Fn {
		case "LogDelta":
			// An error of the logarithm is a relative one of delta.
			if got, within = accountant.LogDelta(mu, x), 1e-13+2e-15*math.Abs(want); want > -700 {
				a := charged(t, analytic, privacy.AddRemove, 1, gaussian(1/mu))
				if d := must(a.DeltaAt(x)).Delta; 1/(1/mu) == mu && math.Log(d) < want-1e-15*math.Abs(want) {
					t.Errorf("delta(%s, %s) is rounded down to %v", r.Mu, r.X, d)
				}
			}
		case "Exact":
			got, within, side = must(accountant.Exact(mu, x)), 1e-12*want, 1
		case "MuFor":
			got, within, side = must(accountant.MuFor(mu, x)), 1e-12*want, -1
		case "ClosedMu":
			got, within = accountant.ClosedMu(mu, x), 4e-16*want
		default:
			t.Fatalf("no function %s", r.Fn)
		}
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s(%s, %s) = %.17g, want %s, off by %.2g", r.Fn, r.Mu, r.X, got, r.Value, got-want)
		}
		if side != 0 && side*(got-want) < -1e-13*math.Abs(want) {
			t.Errorf("%s(%s, %s) = %.17g is on the wrong side of %s", r.Fn, r.Mu, r.X, got, r.Value)
		}
	}
	if seen["LogDelta"] < 50 || seen["Exact"] < 30 || seen["MuFor"] < 30 || seen["ClosedMu"] < 25 {
		t.Errorf("rows %v", seen)
	}
}
