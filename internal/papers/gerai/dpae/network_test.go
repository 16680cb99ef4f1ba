package dpae

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// drawn is a small graph, some of whose users have no item, and a network on it.
func drawn(rt *rapid.T) (*pass, []int32) {
	users, items, d := rapid.IntRange(1, 6).Draw(rt, "users"), rapid.IntRange(1, 7).Draw(rt, "items"), rapid.IntRange(1, 4).Draw(rt, "d")
	var edges []graph.Edge
	for u := range users {
		for i := range items {
			if rapid.IntRange(0, 2).Draw(rt, "edge") == 0 {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		rt.Fatal(err)
	}
	net := newNetwork(items, ModelConfig{Dim: d, Bias: rapid.Float64Range(-2, 2).Draw(rt, "bias")}, rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("init"))
	var batch []int32
	for u := range users {
		if rapid.Bool().Draw(rt, "in the batch") {
			batch = append(batch, int32(u))
		}
	}
	p := &pass{net: net, graph: g, weight: tensor.Float(rapid.SampledFrom([]float64{1, 2.5}).Draw(rt, "weight")), clip: rapid.SampledFrom([]float64{0.3, 1, 1e6}).Draw(rt, "clip")}
	return p, batch
}

// loss is that of one user at given parameters, from its formula.
func loss(p *pass, values []float64, user int) float64 {
	items, d := p.net.w1.Rows, p.net.w1.Cols
	w1, w2, b1, b2 := values[:items*d], values[items*d:2*items*d], values[2*items*d:2*items*d+d], values[2*items*d+d:]
	has := make([]bool, items)
	h := append([]float64{}, b1...)
	for _, i := range p.graph.ItemsOf(user) {
		has[i] = true
		for k := range d {
			h[k] += w1[int(i)*d+k]
		}
	}
	total := 0.0
	for i := range items {
		s := b2[i]
		for k := range d {
			s += w2[i*d+k] * modeltest.Sigmoid(h[k])
		}
		if has[i] {
			total += float64(p.weight) * math.Log1p(math.Exp(-s))
		} else {
			total += math.Log1p(math.Exp(s))
		}
	}
	return total
}

// gradient is that of one user, by central differences of the loss.
func gradient(p *pass, user int) []float64 {
	values := make([]float64, len(p.net.values))
	for j, v := range p.net.values {
		values[j] = float64(v)
	}
	g := make([]float64, len(values))
	const step = 1e-5
	for j, v := range values {
		values[j] = v + step
		up := loss(p, values, user)
		values[j] = v - step
		g[j] = (up - loss(p, values, user)) / (2 * step)
		values[j] = v
	}
	return g
}

// The sum of a batch is that of every user's gradient of the formula, each clipped by itself; and
// the lengths are those of the clipped gradients.
func TestSumEqualsClippedGradients(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, batch := drawn(rt)
		dst := over(make([]tensor.Float, len(p.net.values)), p.net.w1.Rows, p.net.w1.Cols)
		dst.values[0] = 7 // what was there before does not stay
		norms := p.sum(batch, dst)
		if len(norms) != len(batch) {
			rt.Fatalf("%d lengths for %d users", len(norms), len(batch))
		}
		want := make([]float64, len(p.net.values))
		for k, u := range batch {
			g := gradient(p, int(u))
			norm := math.Sqrt(modeltest.Dot(g, g))
			by := min(1, p.clip/norm)
			for j, v := range g {
				want[j] += by * v
			}
			if math.Abs(norms[k]-min(norm, p.clip)) > 1e-4*(1+norm) {
				rt.Fatalf("user %d: length %g, of the gradient %g", u, norms[k], min(norm, p.clip))
			}
			if norms[k] > p.clip {
				rt.Fatalf("user %d: length %g above the bound %g", u, norms[k], p.clip)
			}
		}
		for j, v := range want {
			if math.Abs(float64(dst.values[j])-v) > 2e-4 {
				rt.Fatalf("value %d: %g, by users %g", j, dst.values[j], v)
			}
		}
	})
}

// One user more or less moves the sum by at most the clipping norm, whichever user it is: the
// sensitivity that the event states.
func TestSensitivity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, _ := drawn(rt)
		p.clip = 0.5
		all := modeltest.Everyone(p.graph.Users)
		whole := over(make([]tensor.Float, len(p.net.values)), p.net.w1.Rows, p.net.w1.Cols)
		less := over(make([]tensor.Float, len(p.net.values)), p.net.w1.Rows, p.net.w1.Cols)
		p.sum(all, whole)
		for u := range all {
			rest := append(append([]int32{}, all[:u]...), all[u+1:]...)
			p.sum(rest, less)
			sq := 0.0
			for j, v := range whole.values {
				d := float64(v) - float64(less.values[j])
				sq += d * d
			}
			if math.Sqrt(sq) > p.clip*(1+1e-5) {
				rt.Fatalf("without user %d the sum moves by %g, want at most %g", u, math.Sqrt(sq), p.clip)
			}
		}
	})
}

// A user whose gradient is not finite counts as 0, and no other user's changes.
func TestNotFiniteCountsAsZero(t *testing.T) {
	g, err := graph.NewBipartite(3, 3, []graph.Edge{{User: 0, Item: 0}, {User: 1, Item: 1}, {User: 2, Item: 2}})
	if err != nil {
		t.Fatal(err)
	}
	net := newNetwork(3, ModelConfig{Dim: 2}, rng.Seed(1).Stream("init"))
	tensor.Row(net.w1, 1)[0] = tensor.Float(math.NaN()) // only user 1 has item 1
	p := &pass{net: net, graph: g, weight: 1, clip: 0.5}
	whole := over(make([]tensor.Float, len(net.values)), net.w1.Rows, net.w1.Cols)
	less := over(make([]tensor.Float, len(net.values)), net.w1.Rows, net.w1.Cols)
	if norms := p.sum([]int32{0, 1, 2}, whole); norms[1] != 0 || norms[0] == 0 {
		t.Errorf("lengths %v", norms)
	}
	p.sum([]int32{0, 2}, less)
	for j, v := range whole.values {
		if math.Abs(float64(v-less.values[j])) > 1e-6 || v != v {
			t.Errorf("value %d is %v, without the user %v", j, v, less.values[j])
		}
	}
}

// The vectors that are ranked have the outputs as inner products.
func TestVectorsGiveTheOutputs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, _ := drawn(rt)
		users, items := p.net.vectors(p.graph)
		defer tensor.Free(users)
		defer tensor.Free(items)
		hidden := tensor.New(p.graph.Users, p.net.w1.Cols)
		p.net.encode(p.graph, modeltest.Everyone(p.graph.Users), hidden)
		for u := range p.graph.Users {
			for i := range p.graph.Items {
				want := float64(p.net.b2[i]) + float64(tensor.Dot(tensor.Row(hidden, u), tensor.Row(p.net.w2, i)))
				if got := float64(tensor.Dot(tensor.Row(users, u), tensor.Row(items, i))); math.Abs(got-want) > 1e-5 {
					rt.Fatalf("user %d, item %d: %g, want %g", u, i, got, want)
				}
			}
		}
	})
}
