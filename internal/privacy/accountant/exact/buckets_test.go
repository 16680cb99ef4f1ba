package exact_test

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// buckets is a privacy loss on a mesh, every loss rounded up, or every loss rounded
// down: a bound from above, or from below, of every hockey stick of every
// composition, by nothing but differences of distribution functions and plain
// convolution.
type buckets struct {
	h     float64
	first int // loss of the first bucket, in units of h
	p     []float64
	lost  float64 // mass cut off, which counts as an infinite loss from above
}

// side is a distribution function of the output under P, and where the loss of P
// over Q, which rises with the output, exceeds a value.
type side struct {
	below func(x float64) float64 // P(output <= x)
	above func(x float64) float64 // P(output > x), for tails
	where func(loss float64) float64
}

func (s side) bucket(h, from, to float64, up bool) buckets {
	b := buckets{h: h, first: int(math.Floor(from / h))}
	last := int(math.Ceil(to / h))
	edge := s.where(float64(b.first) * h)
	b.lost = s.below(edge) + s.above(s.where(float64(last)*h))
	for i := b.first; i < last; i++ {
		next := s.where(float64(i+1) * h)
		mass := s.below(next) - s.below(edge)
		if edge > 0 {
			mass = s.above(edge) - s.above(next)
		}
		b.p = append(b.p, math.Max(0, mass))
		edge = next
	}
	if up {
		b.first++
	}
	return b
}

// plus convolves, and cuts small ends off.
func (b buckets) plus(c buckets) buckets {
	out := buckets{h: b.h, first: b.first + c.first, p: make([]float64, len(b.p)+len(c.p)-1), lost: b.lost + c.lost}
	for i, x := range b.p {
		if x == 0 {
			continue
		}
		for j, y := range c.p {
			out.p[i+j] += x * y
		}
	}
	for cut := 1e-14; len(out.p) > 1 && out.p[0] < cut; {
		cut, out.lost = cut-out.p[0], out.lost+out.p[0]
		out.p, out.first = out.p[1:], out.first+1
	}
	for cut := 1e-14; len(out.p) > 1 && out.p[len(out.p)-1] < cut; {
		cut, out.lost = cut-out.p[len(out.p)-1], out.lost+out.p[len(out.p)-1]
		out.p = out.p[:len(out.p)-1]
	}
	return out
}

func (b buckets) times(n int) buckets {
	if n == 1 {
		return b
	}
	half := b.times(n / 2)
	if half = half.plus(half); n%2 == 1 {
		half = half.plus(b)
	}
	return half
}

func (b buckets) delta(eps float64) (sum float64) {
	for i, p := range b.p {
		if l := float64(b.first+i) * b.h; l > eps {
			sum -= p * math.Expm1(eps-l)
		}
	}
	return sum
}

func normalBelow(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// root is where a rising function is zero.
func root(f func(x float64) float64) float64 {
	lo, hi := -60., 60.
	for range 80 {
		if mid := (lo + hi) / 2; f(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// sampledSide is a Gaussian moved by m on a sample of rate q, in one direction or
// under replace, where a record's exchange moves from -m to m.
func sampledSide(q, m float64, d exact.Direction, replace bool) side {
	mixed := func(by float64) func(x float64) float64 {
		return func(x float64) float64 { return (1-q)*normalBelow(x) + q*normalBelow(x-by) }
	}
	loss := func(x float64) float64 { return math.Log(1 - q + q*math.Exp(m*x-m*m/2)) }
	switch {
	case replace:
		below := mixed(m)
		return side{below, func(x float64) float64 { return (1-q)*normalBelow(-x) + q*normalBelow(m-x) },
			func(l float64) float64 { return root(func(x float64) float64 { return loss(x) - loss(-x) - l }) }}
	case d == exact.Remove:
		below := mixed(m)
		return side{below, func(x float64) float64 { return (1-q)*normalBelow(-x) + q*normalBelow(m-x) },
			func(l float64) float64 { return root(func(x float64) float64 { return loss(x) - l }) }}
	}
	// The loss of Q over P falls with the output: it is read from the right.
	return side{normalBelow, func(x float64) float64 { return normalBelow(-x) },
		func(l float64) float64 { return root(func(x float64) float64 { return -loss(-x) - l }) }}
}

// Compositions of sampled Gaussians lie between the two meshes, whatever the
// direction and the relation; the meshes are close enough to tell them from others.
func TestBetweenMeshes(t *testing.T) {
	const h = 5e-3
	for _, c := range []struct {
		q, m    float64
		n       int
		replace bool
	}{
		{0.05, 0.5, 40, false}, {0.3, 0.4, 16, false}, {0.9, 0.3, 12, false}, {0.05, 1.2, 60, false}, {0.1, 0.5, 25, true}, {0.6, 0.2, 20, true},
	} {
		for _, d := range []exact.Direction{exact.Remove, exact.Add} {
			s := sampledSide(c.q, c.m, d, c.replace)
			up := s.bucket(h, -4, 4, true).times(c.n)
			down := s.bucket(h, -4, 4, false).times(c.n)
			relation, move := privacy.AddRemove, c.m
			if c.replace {
				relation, move = privacy.Replace, 2*c.m
			}
			at := func(q, move float64, n int, d exact.Direction, eps float64) (exact.Value, bool) {
				term := sampled(gauss(1, move, relation), q, int64(n))
				term.Relation = relation
				v, err := exact.DeltaIn(context.Background(), d, list(term), eps)
				return v, err == nil
			}
			seen := 0
			for _, eps := range []float64{0.1, 0.5, 1, 1.6} {
				high, low := up.delta(eps)+up.lost, down.delta(eps)-down.lost
				v, ok := at(c.q, move, c.n, d, eps)
				if !ok {
					continue
				}
				seen++
				if v.Delta < low || v.Delta-v.Error > high {
					t.Errorf("%+v %s at %g: %+v, meshes [%g, %g]", c, d, eps, v, low, high)
				}
				outside := func(name string, q, move float64, n int, d exact.Direction) {
					if w, ok := at(q, move, n, d, eps); ok && v.Delta > 1e-6 && w.Delta > low && w.Delta < high {
						t.Errorf("%+v %s at %g: %s is within the meshes too", c, d, eps, name)
					}
				}
				if !c.replace && math.Abs(eps-1) < 0.6 {
					outside("twice the move", c.q, 2*move, c.n, d)
					outside("half the rate", c.q/2, move, c.n, d)
					outside("the move squared", c.q, move*move, c.n, d)
					outside("half as many", c.q, move, c.n/2, d)
				}
			}
			if seen < 2 {
				t.Errorf("%+v %s: %d epsilons are covered", c, d, seen)
			}
		}
	}
}

// A coarse mesh rounded up overstates what many quiet releases cost, by several
// times, and one rounded down understates it as much; finer ones come down on what
// is returned here.
func TestCoarseMeshesErr(t *testing.T) {
	s := sampledSide(0.01, 0.5, exact.Remove, false)
	const n, eps = 256, 0.2
	v, err := exact.DeltaIn(context.Background(), exact.Remove, list(sampled(gauss(1, 0.5, privacy.AddRemove), 0.01, n)), eps)
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	for _, h := range []float64{1e-2, 3e-3, 1e-3} {
		b := s.bucket(h, -0.5, 1.5, true).times(n)
		got := b.delta(eps) + b.lost
		if got < v.Delta || got > last {
			t.Errorf("mesh %g: %g, before %g, exact %g", h, got, last, v.Delta)
		}
		if h == 1e-2 && got < 10*v.Delta {
			t.Errorf("mesh %g: only %g, exact %g", h, got, v.Delta)
		}
		last = got
	}
	if low := s.bucket(1e-2, -0.5, 1.5, false).times(n); low.delta(eps) > v.Delta/10 {
		t.Errorf("rounded down: %g, exact %g", low.delta(eps), v.Delta)
	}
}

// Laplace noise beside Gaussians, unlike parts: the atoms at both ends of a loss are
// what cell-centred meshes lose.
func TestBetweenMeshesWithAtoms(t *testing.T) {
	const h, e, mu = 1e-3, 0.7, 0.8
	laplaceBelow := func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / 2
		}
		return 1 - math.Exp(-x)/2
	}
	// The noise is x around e; its loss is 2x-e between 0 and e, and constant beyond.
	noisy := side{
		func(x float64) float64 { return laplaceBelow(x - e) },
		func(x float64) float64 { return 1 - laplaceBelow(x-e) },
		func(l float64) float64 {
			switch {
			case l < -e:
				return -60
			case l >= e:
				return 60
			}
			return (l + e) / 2
		},
	}
	normal := side{
		func(x float64) float64 { return normalBelow(x - mu) },
		func(x float64) float64 { return normalBelow(mu - x) },
		func(l float64) float64 { return l/mu + mu/2 },
	}
	ts := []terms.Term{plain(laplace(1, e), 5), gaussians(1/mu, 1)}
	bound := func(up bool) buckets {
		return noisy.bucket(h, -e-h, e+h, up).times(5).plus(normal.bucket(h, -6, 7, up))
	}
	high, low := bound(true), bound(false)
	for _, eps := range []float64{0, 0.3, 1, 2.5} {
		v, err := exact.Delta(context.Background(), ts, eps)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := low.delta(eps)-low.lost, high.delta(eps)+high.lost; v.Delta < a || v.Delta-v.Error > b || b > 1.05*v.Delta {
			t.Errorf("at %g: %+v, meshes [%g, %g]", eps, v, a, b)
		}
	}
}
