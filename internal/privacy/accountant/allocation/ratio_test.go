package allocation

import (
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/numeric"
	"privrec/internal/rng"
)

// deltas returns delta at an epsilon by a law, where the unit is removed and where it is added.
func (l Law) deltas(epsilon float64) (removed, added float64) {
	e := math.Exp(epsilon)
	for i, r := range l.Ratio {
		removed += l.Mass[i] * math.Max(0, r-e)
		added += l.Mass[i] * math.Max(0, 1-e*r)
	}
	return removed, added
}

// call returns E[(X - k)+] of one summand, in closed form.
func call(mu, k float64) float64 {
	if k <= 0 {
		return 1 - k
	}
	d := -math.Log(k)/mu + mu/2
	return numeric.Upper(-d) - k*numeric.Upper(mu-d)
}

// exactly integrates over all summands but one, which has a closed form.
func exactly(mu float64, t int, epsilon float64) (removed, added float64) {
	const n, reach = 400, 9.0
	k, back := float64(t)*math.Exp(epsilon), float64(t)*math.Exp(-epsilon)
	var walk func(left int, sum, weight float64)
	walk = func(left int, sum, weight float64) {
		if left == 1 {
			removed += weight * call(mu, k-sum)
			if back > sum { // a put is a call less its forward
				added += weight * (call(mu, back-sum) - 1 + back - sum)
			}
			return
		}
		for i := range n {
			z := -reach + 2*reach*(float64(i)+0.5)/n
			walk(left-1, sum+math.Exp(mu*z-mu*mu/2), weight*math.Exp(numeric.LogPhi(z))*2*reach/n)
		}
	}
	walk(t, 0, 1)
	return removed / float64(t), added / back
}

// TestBoundsHoldTheTruth compares delta of two and of three steps with an integral.
func TestBoundsHoldTheTruth(t *testing.T) {
	for _, mu := range []float64{0.2, 0.7, 1, 2, 3} {
		for _, steps := range []int{2, 3} {
			if steps == 3 && mu != 0.7 && mu != 2 { // it takes long
				continue
			}
			above, below, err := Bounds(mu, int64(steps))
			if err != nil {
				t.Fatal(err)
			}
			for _, epsilon := range []float64{0, 0.05, 0.3, 1, 2.5} {
				lowR, lowA := below.deltas(epsilon)
				highR, highA := above.deltas(epsilon)
				r, a := exactly(mu, steps, epsilon)
				for _, c := range []struct {
					way             string
					low, want, high float64
				}{{"removed", lowR, r, highR}, {"added", lowA, a, highA}} {
					if c.want < 1e-9 { // the integral is no closer
						continue
					}
					if !(c.low <= c.want*(1+1e-6)+1e-12 && c.want <= c.high*(1+1e-6)+1e-12) ||
						c.high > c.low*1.02+1e-9 {
						t.Errorf("mu %v, %d steps, epsilon %v, %s: %v to %v, the integral is %v", mu, steps, epsilon,
							c.way, c.low, c.high, c.want)
					}
				}
			}
		}
	}
}

// TestOneStepIsAGaussian demands the curve of one normal release.
func TestOneStepIsAGaussian(t *testing.T) {
	for _, mu := range []float64{0.1, 1, 4} {
		above, below, err := Bounds(mu, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{0, 0.1, 0.5, 2} {
			want := call(mu, math.Exp(epsilon))
			low, _ := below.deltas(epsilon)
			high, _ := above.deltas(epsilon)
			if want > 1e-12 && (!(low <= want*(1+1e-9) && want <= high*(1+1e-9)) || high > low*1.02+1e-9) {
				t.Errorf("mu %v, epsilon %v: %v to %v, want %v", mu, epsilon, low, high, want)
			}
		}
	}
}

// TestBoundsHoldSamples draws epochs and compares delta. Each of 20 comparisons has a false alarm of 1e-9 at most by
// its own deviation (six of them), if its mean is normal.
func TestBoundsHoldSamples(t *testing.T) {
	const draws = 10_000
	for i, c := range []struct {
		mu    float64
		steps int
	}{{1 / 1.1, 235}, {2, 40}, {0.4, 300}, {1.4, 100}, {3, 12}} {
		above, below, err := Bounds(c.mu, int64(c.steps))
		if err != nil {
			t.Fatal(err)
		}
		s := rng.Seed(41).Stream("allocation", uint64(i))
		for _, epsilon := range []float64{0.02, 0.3} {
			var sum, square [2]float64
			e := math.Exp(epsilon)
			for range draws {
				r := 0.0
				for range c.steps {
					r += math.Exp(c.mu*s.NormFloat64() - c.mu*c.mu/2)
				}
				r /= float64(c.steps)
				// The first by the ratio without the unit, where it has a finite variance, as the second.
				for k, v := range [2]float64{math.Max(0, 1-r/e), math.Max(0, 1-e*r)} {
					sum[k] += v / draws
					square[k] += v * v / draws
				}
			}
			for k, sign := range []float64{-1, 1} { // E[(R - e)+] = 1 - e + e E[(1 - R/e)+]
				sd := 6 * math.Sqrt((square[k]-sum[k]*sum[k])/draws)
				low, high := below.deltasAt(sign*epsilon), above.deltasAt(sign*epsilon)
				if high < 1e-3 { // too few samples are there
					continue
				}
				if sum[k]+sd < low || sum[k]-sd > high {
					t.Errorf("%+v, at %v: %v to %v, samples say %v within %v", c, sign*epsilon, low, high, sum[k], sd)
				}
			}
		}
	}
}

// deltasAt returns E[(1 - e^epsilon R)+].
func (l Law) deltasAt(epsilon float64) float64 {
	_, added := l.deltas(epsilon)
	return added
}

// TestAddKeepsTheOrder demands of the sum of two random laws, cut at new nodes, that E[(S - c)+] is above or below that
// of all pairs, for every c, and that masses, means and what is missing are kept.
func TestAddKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) sum {
			s := sum{count: float64(rapid.IntRange(1, 40).Draw(t, name+" count")), nodes: 600}
			at := math.Exp(rapid.Float64Range(-6, 1).Draw(t, name+" from"))
			for range rapid.IntRange(1, 30).Draw(t, name+" points") {
				at *= 1 + math.Exp(rapid.Float64Range(-8, 1).Draw(t, name+" step"))
				s.at = append(s.at, at)
				s.w = append(s.w, math.Exp(rapid.Float64Range(-70, 0).Draw(t, name+" weight")))
			}
			return s
		}
		a := draw("a")
		b, same := a, rapid.Bool().Draw(t, "same")
		if !same {
			b = draw("b")
		}
		above, below := add(a, b, same, true), add(a, b, same, false)
		mass := func(s sum, f func(x float64) float64) (m float64) {
			for i, x := range s.at {
				m += s.w[i] * f(x)
			}
			return m
		}
		pairs := func(f func(x float64) float64) float64 {
			return mass(a, func(x float64) float64 { return mass(b, func(y float64) float64 { return f(x + y) }) })
		}
		one := func(float64) float64 { return 1 }
		all := pairs(one)
		for _, s := range []sum{above, below} {
			if got := mass(s, one) + s.without; math.Abs(got-all) > 2e-6*all {
				t.Fatalf("the mass is %v with what is missing, want %v", got, all)
			}
		}
		for range 20 {
			c := above.at[0] + (above.at[len(above.at)-1]-above.at[0])*rapid.Float64Range(0, 1).Draw(t, "c")
			f := func(x float64) float64 { return math.Max(0, x-c) }
			lost := above.with*above.count + 1e-12*all*c // and where points lie is rounded
			if low, want, high := mass(below, f), pairs(f), mass(above, f)+lost; !(low <= want*(1+1e-9)+1e-12*all*c &&
				want <= high*(1+1e-9)) {
				t.Fatalf("E[(S-%v)+] is %v, bounds %v to %v", c, want, low, high)
			}
		}
	})
}

// TestRoundingIsBounded computes sums of two laws with exact numbers: masses are off by no more than is stated.
func TestRoundingIsBounded(t *testing.T) {
	s := rng.Seed(3).Stream("rounding")
	for range 20 {
		a := sum{count: 1, nodes: 600}
		at := 0.1
		for range 60 {
			at *= 1 + s.Float64()
			a.at, a.w = append(a.at, at), append(a.w, math.Exp(-50*s.Float64()))
		}
		out := add(a, a, true, true)
		total, got := new(big.Float).SetPrec(400), new(big.Float).SetPrec(400)
		for _, x := range a.w {
			for _, y := range a.w {
				total.Add(total, new(big.Float).SetPrec(400).Mul(big.NewFloat(x), big.NewFloat(y)))
			}
		}
		for _, w := range append(out.w, out.without) {
			got.Add(got, big.NewFloat(w))
		}
		off, _ := new(big.Float).Quo(new(big.Float).Sub(got, total), total).Float64()
		if math.Abs(off) > out.rounding+2e-6*out.without {
			t.Errorf("the mass is off by %v, stated is %v", off, out.rounding)
		}
	}
}

// TestMeansAreKept demands a mean of R of 1, and little that is missing, for few and many steps and all noise.
func TestMeansAreKept(t *testing.T) {
	for _, mu := range []float64{1e-6, 0.01, 0.3, 1, 5, 12} {
		for _, steps := range []int64{1, 2, 7, 64, 1000, 99_999} {
			above, below, err := Bounds(mu, steps)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []Law{above, below} {
				mass, mean := 0.0, 0.0
				for i, r := range l.Ratio {
					if !(r > 0) || i > 0 && r < l.Ratio[i-1] || !(l.Mass[i] >= 0) {
						t.Fatalf("mu %v, %d steps: ratio %v, mass %v", mu, steps, r, l.Mass[i])
					}
					mass += l.Mass[i]
					mean += l.Mass[i] * r
				}
				if math.Abs(mass-1) > 1e-9 || math.Abs(mean-1) > 1e-9 || l.MissingWith > 1e-16 ||
					l.MissingWithout > 1e-16 || l.Rounding > 1e-6 {
					t.Errorf("mu %v, %d steps: mass %v, mean %v, missing %v and %v, rounding %v", mu, steps, mass, mean,
						l.MissingWith, l.MissingWithout, l.Rounding)
				}
			}
		}
	}
}

// TestBoundsAreShared asks for more settings than are kept, from several goroutines: equal settings have equal laws.
func TestBoundsAreShared(t *testing.T) {
	first, _, err := Bounds(0.5, 3)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for i := range mostKnown + 5 {
				if _, _, err := Bounds(1+float64(i)/100, 2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	again, _, err := Bounds(0.5, 3)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("another law: %v", err)
	}
	if len(known.laws) > mostKnown || len(known.order) != len(known.laws) {
		t.Errorf("%d laws in %d places", len(known.laws), len(known.order))
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		mu    float64
		steps int64
		want  string
	}{{0, 3, "sensitivity over sigma"}, {13, 3, "sensitivity over sigma"}, {math.NaN(), 3, "sensitivity over sigma"},
		{1, 0, "steps is 0"}, {1, MostSteps + 1, "steps is"}} {
		if _, _, err := Bounds(c.mu, c.steps); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %d: %v", c.mu, c.steps, err)
		}
	}
}

// TestBlocks deals the steps of an epoch to blocks in every order, and takes one step of each: all choices of steps are
// equally probable, as without blocks.
func TestBlocks(t *testing.T) {
	for steps := int64(1); steps <= 6; steps++ {
		for times := int64(1); times <= steps; times++ {
			var sizes []int64
			for _, b := range Blocks(times, steps) {
				for range b.Count {
					sizes = append(sizes, b.Steps)
				}
			}
			share := map[int]float64{}
			var take func(order []int, sizes []int64, chosen int, weight float64)
			take = func(order []int, sizes []int64, chosen int, weight float64) {
				if len(sizes) == 0 {
					if len(order) > 0 {
						t.Fatalf("%d steps of %d are in no block", len(order), steps)
					}
					share[chosen] += weight
					return
				}
				for _, i := range order[:sizes[0]] {
					take(order[sizes[0]:], sizes[1:], chosen|1<<i, weight/float64(sizes[0]))
				}
			}
			orders := 0
			var permute func(order, left []int)
			permute = func(order, left []int) {
				if len(left) == 0 {
					orders++
					take(order, sizes, 0, 1)
				}
				for i, x := range left {
					permute(append(order, x), slices.Concat(left[:i], left[i+1:]))
				}
			}
			var all []int
			for i := range int(steps) {
				all = append(all, i)
			}
			permute(nil, all)
			choices := 1.0
			for i := range times {
				choices *= float64(steps-i) / float64(i+1)
			}
			if math.Abs(float64(len(share))-choices) > 1e-9 {
				t.Errorf("%d of %d steps: %d choices, want %v", times, steps, len(share), choices)
			}
			for c, w := range share {
				if math.Abs(w/float64(orders)*choices-1) > 1e-9 {
					t.Errorf("%d of %d steps: the choice %b has a share of %v, want %v", times, steps, c,
						w/float64(orders), 1/choices)
				}
			}
		}
	}
}
