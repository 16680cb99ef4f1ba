package terms

import (
	"math"
	"testing"

	"privrec/internal/privacy"
)

// normalDelta returns delta at eps of normal noise of a deviation on a move, in closed form.
func normalDelta(move, sigma, eps float64) float64 {
	mu := move / sigma
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu)
}

// sampledDelta returns delta at eps of normal noise on a sample of rate q, for a unit less (remove)
// or more. A mixture of P and Q is compared with Q: (1-q) Q + q P - e^eps Q = q (P - c Q), and
// the other way Q - e^eps ((1-q) Q + q P) = (1 - e^eps (1-q)) (Q - c' P).
func sampledDelta(move, sigma, q, eps float64, remove bool) float64 {
	if remove {
		return q * normalDelta(move, sigma, math.Log1p(math.Expm1(eps)/q))
	}
	keeps := 1 - math.Exp(eps)*(1-q)
	if keeps <= 0 {
		return 0
	}
	return keeps * normalDelta(move, sigma, eps+math.Log(q/keeps))
}

// The discrete law is summed over the plane, point by point. It is never less private than the
// normal one that continuous puts in its place, and hardly more: its deltas lie above those of
// a normal law whose variance is as much larger.
func TestContinuousIsWorse(t *testing.T) {
	const sigma = 64.0
	reach := int(8 * sigma)
	weight := make([]float64, 2*reach+400)
	at := func(k int) float64 { return weight[k+len(weight)/2] }
	for i := range weight {
		x := float64(i - len(weight)/2)
		weight[i] = math.Exp(-x * x / (2 * sigma * sigma))
	}
	total := 0.0
	for _, w := range weight {
		total += w
	}
	for _, v := range [][2]int{{3, 4}, {50, 0}, {40, 30}, {90, 120}} {
		move := math.Hypot(float64(v[0]), float64(v[1]))
		e := privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: move, Dimension: 2, Unit: privacy.User, Neighbouring: privacy.AddRemove}
		n, ok := continuous(e)
		if !ok {
			t.Fatal("not replaced")
		}
		worse := n.(privacy.Gaussian).Sigma
		better := math.Sqrt(2*sigma*sigma - worse*worse)
		for _, q := range []float64{1, 0.5, 0.01} {
			for _, eps := range []float64{0.001, 0.02, 0.1, 0.5} {
				var got [2]float64
				for x := -reach; x <= reach; x++ {
					for y := -reach; y <= reach; y++ {
						without := at(x) * at(y) / (total * total)
						with := at(x-v[0]) * at(y-v[1]) / (total * total)
						mixed := (1-q)*without + q*with
						got[0] += math.Max(0, mixed-math.Exp(eps)*without)
						got[1] += math.Max(0, without-math.Exp(eps)*mixed)
					}
				}
				for i, remove := range []bool{true, false} {
					high, low := sampledDelta(move, worse, q, eps, remove), sampledDelta(move, better, q, eps, remove)
					if got[i] > high+1e-12 || got[i] < low-1e-12 {
						t.Errorf("move %v, rate %v, epsilon %v, remove %v: delta %.10g, want within [%.10g, %.10g]", v, q, eps, remove, got[i], low, high)
					}
				}
			}
		}
	}
}

// At whole orders the divergence of a sampled discrete release in many dimensions is known by a
// finite sum (its moments are those of the normal law), and that of its replacement is above it.
func TestContinuousAtWholeOrders(t *testing.T) {
	for _, sigma := range []float64{64, 1000, 0x1p26} {
		for _, z := range []float64{0.6, 2, 20} {
			for _, q := range []float64{1, 0.3, 0.001} {
				n, _ := continuous(privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: sigma / z, Dimension: 99, Unit: privacy.User, Neighbouring: privacy.AddRemove})
				worse := n.(privacy.Gaussian).Sigma / n.(privacy.Gaussian).Sensitivity
				for _, order := range []int{2, 3, 7} {
					moment := func(z float64) float64 {
						sum, binomial := 0.0, 1.0
						for k := 0; k <= order; k++ {
							sum += binomial * math.Pow(1-q, float64(order-k)) * math.Pow(q, float64(k)) * math.Exp(float64(k*k-k)/(2*z*z))
							binomial *= float64(order-k) / float64(k+1)
						}
						return sum
					}
					steps := math.Sqrt(privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: sigma / z, Dimension: 99}.Squared())
					if got, bound := moment(sigma/steps), moment(worse); got > bound*(1+1e-14) || bound > got*1.2 {
						t.Errorf("sigma %v, multiplier %v, rate %v, order %d: %v, bound %v", sigma, z, q, order, got, bound)
					}
				}
			}
		}
	}
}

// Only what has no price of its own is replaced: on samples, in several dimensions, with enough
// steps to a sigma, and not under Replace. A rate of 1 is a sample of all.
func TestWhatIsReplaced(t *testing.T) {
	grid := func(sigma float64, dimension int64, r privacy.Neighbouring) privacy.Event {
		return privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: 40, Dimension: dimension, Unit: privacy.User, Neighbouring: r}
	}
	for _, c := range []struct {
		e        privacy.Event
		rate     float64
		relation privacy.Neighbouring
		replaced bool
	}{
		{grid(100, 3, privacy.AddRemove), 0.2, privacy.AddRemove, true},
		{grid(100, 3, privacy.AddRemove), 1, privacy.AddRemove, true},
		{grid(100, 3, privacy.ZeroOut), 0.2, privacy.ZeroOut, true},
		{grid(100, 3, privacy.AddRemove), 0, privacy.AddRemove, false}, // not sampled
		{grid(63, 3, privacy.AddRemove), 0.2, privacy.AddRemove, false},
		{grid(100, 1, privacy.AddRemove), 0.2, privacy.AddRemove, false},
		{grid(100, 3, privacy.Replace), 0.2, privacy.Replace, false},
	} {
		e := c.e
		if c.rate > 0 {
			e = privacy.Sampled{Event: e, Rate: c.rate, Method: privacy.Poisson}
		}
		l, err := Flatten(e, 5, privacy.User, c.relation)
		if err != nil || len(l.Terms) != 1 || l.Terms[0].Count != 5 {
			t.Fatalf("%+v: %+v, %v", c.e, l, err)
		}
		g, normal := l.Terms[0].Leaf.(privacy.Gaussian)
		if normal != c.replaced || normal && (g.Sigma >= 100 || g.Sigma < 99.9 || g.Sensitivity != 40) {
			t.Errorf("%+v at rate %v: %+v", c.e, c.rate, l.Terms[0])
		}
	}
}
