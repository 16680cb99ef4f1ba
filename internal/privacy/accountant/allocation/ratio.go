package allocation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"privrec/internal/privacy/numeric"
)

// Law is a bound of the law of the likelihood ratio R, as points in ascending order.
type Law struct {
	Ratio []float64 // values of R
	Mass  []float64 // their masses without the unit; with it they are Mass times Ratio
	// The most mass that lies at no point, because it left the range: with the unit, and without it.
	MissingWith, MissingWithout float64
	// Rounding is the largest relative error of a mass.
	Rounding float64
}

// Steps between which Bounds is defined, and the smallest and largest mu.
const (
	MostSteps = 1 << 24
	leastMu   = 1e-6
	mostMu    = 12
)

// nodesFor returns the number of nodes of the laws behind t steps. More nodes make bounds narrower, by their square,
// and take longer, by their square too. Errors of many doublings add up.
func nodesFor(t int64) int {
	if t > 1<<11 {
		return 1000
	}
	return 600
}

// reach is the number of standard deviations beyond which a summand counts as missing, with a probability of 1e-23.
const reach = 10

// Bounds returns two laws for t steps and a sensitivity of mu standard deviations: above, which is above the true one
// in the convex order, and below. It fails for values outside its range. The laws are shared: callers must not change
// them.
func Bounds(mu float64, t int64) (above, below Law, err error) {
	if !(mu >= leastMu && mu <= mostMu) {
		return above, below, fmt.Errorf("random allocation: sensitivity over sigma is %v, want from %v to %v", mu,
			leastMu, float64(mostMu))
	}
	if t < 1 || t > MostSteps {
		return above, below, fmt.Errorf("random allocation: steps is %d, want from 1 to %d", t, MostSteps)
	}
	b := known.of(setting{mu, t})
	b.once.Do(func() {
		var side sync.WaitGroup
		side.Go(func() { b.above = power(summand(mu, nodesFor(t), true), t, true).mean() })
		b.below = power(summand(mu, nodesFor(t), false), t, false).mean()
		side.Wait()
	})
	return b.above, b.below, nil
}

// Block is a number of groups of steps with as many steps each.
type Block struct{ Count, Steps int64 }

// Blocks deals steps to so many groups, of which the sizes differ by one at most. times is at least 1 and at most
// steps.
func Blocks(times, steps int64) []Block {
	size, more := steps/times, steps%times
	if more == 0 {
		return []Block{{times, size}}
	}
	return []Block{{times - more, size}, {more, size + 1}}
}

// known keeps the last laws: an account prices an event several times.
var known cache

type setting struct {
	mu    float64
	steps int64
}

// bounds holds the laws of one setting, computed once.
type bounds struct {
	once         sync.Once
	above, below Law
}

// cache keeps the laws of the last mostKnown settings.
type cache struct {
	mu    sync.Mutex
	laws  map[setting]*bounds
	order []setting // the oldest first
}

const mostKnown = 64

func (c *cache) of(s setting) *bounds {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.laws[s]; b != nil {
		return b
	}
	if len(c.order) == mostKnown {
		delete(c.laws, c.order[0])
		c.order = c.order[1:]
	}
	if c.laws == nil {
		c.laws = map[setting]*bounds{}
	}
	c.order = append(c.order, s)
	b := &bounds{}
	c.laws[s] = b
	return b
}

// sum is the law of a sum of count summands.
type sum struct {
	count float64
	nodes int       // of sums that are made of it
	at, w []float64 // values in ascending order, and their masses
	// The most missing mass: where no summand is moved, and where one is.
	without, with float64
	rounding      float64 // largest relative error of a mass
}

// mean returns the law of the sum over the number of its summands. It takes rounding off the whole mass and off the
// mean, which are 1 but for what is missing.
func (s sum) mean() Law {
	l := Law{Ratio: make([]float64, len(s.at)), Mass: make([]float64, len(s.at)), MissingWith: s.with,
		MissingWithout: s.without, Rounding: 3 * s.rounding}
	mass, mean := 0.0, 0.0
	for i, x := range s.at {
		mass += s.w[i]
		mean += s.w[i] * x
	}
	mean /= mass
	for i, x := range s.at {
		l.Ratio[i], l.Mass[i] = x/mean, s.w[i]/mass
	}
	return l
}

// power returns a bound of the law of t summands, from above or below, by the digits of t.
func power(first sum, t int64, above bool) sum {
	var out sum
	for square := first; ; square = add(square, square, true, above) {
		if t&1 == 1 {
			if out.count == 0 {
				out = square
			} else {
				out = add(out, square, false, above)
			}
		}
		if t >>= 1; t == 0 {
			return out
		}
	}
}

// unit is half the distance between 1 and the next float64.
const unit = 0x1p-53

// summand returns a bound of one summand. The nodes are evenly apart in z. The mass between two nodes and its mean are
// integrals of smooth functions over an interval that is so narrow that a rule of order 16 is right to the last digits.
func summand(mu float64, nodes int, above bool) sum {
	// Gauss-Legendre nodes and weights of order 8 on [-1, 1], positive half.
	at := [4]float64{0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363}
	weight := [4]float64{0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763}
	half := (2*reach + mu) / float64(nodes) / 2
	node := func(k int) float64 { return math.Exp(mu*(-reach+2*half*float64(k)) - mu*mu/2) }
	g := make([]float64, nodes+1)
	mass, moment := make([]float64, nodes), make([]float64, nodes)
	g[0] = node(0)
	for k := range nodes {
		g[k+1] = node(k + 1)
		mid := -reach + half*float64(2*k+1)
		for i, x := range at {
			for _, d := range [2]float64{-x * half, x * half} {
				w := weight[i] * half * math.Exp(numeric.LogPhi(mid+d))
				mass[k] += w
				moment[k] += w * g[k] * math.Expm1(mu*(half+d))
			}
		}
	}
	tail := 2 * numeric.Upper(reach)
	return sum{count: 1, nodes: nodes, without: tail, with: tail, rounding: 256 * unit}.cut(g, mass, moment, above)
}

// cut returns the sum with the points of its cells. A cell has a mass, and a moment: the mass times the distance from
// its lower node.
func (s sum) cut(g, mass, moment []float64, above bool) sum {
	if above {
		s.at, s.w = g, make([]float64, len(g))
		for k, m := range mass {
			up := min(m, max(moment[k], 0)/(g[k+1]-g[k]))
			s.w[k+1] += up
			s.w[k] += m - up
		}
		return s
	}
	for k, m := range mass {
		if m > 0 {
			s.at = append(s.at, g[k]+max(moment[k], 0)/m)
			s.w = append(s.w, m)
		}
	}
	return s
}

// add returns a bound of the sum of two independent sums, on new nodes. same says that they have one law.
func add(a, b sum, same, above bool) sum {
	count := a.count + b.count
	g := grid(a, b, count)
	out := sum{count: count, nodes: a.nodes,
		without: a.without + b.without,
		with:    (a.count*(a.with+b.without) + b.count*(b.with+a.without)) / count}
	cells := len(g) - 1
	mass, moment := make([]float64, cells), make([]float64, cells)
	lost := make([]float64, cells) // what additions to mass lost (Neumaier 1974)
	most := 1                      // summands that were added up without that
	lostBelow, lostAbove, lostMean := 0.0, 0.0, 0.0
	start, weights := 0, slices.Clone(b.w)
	for i, x := range a.at {
		bAt, bW, p := b.at, weights, a.w[i]
		if same { // the pairs (i, j) and (j, i) at once, and half of (i, i) twice
			bAt, bW, p = bAt[i:], weights[i:], 2*p
			bW[0] /= 2
		}
		for start < cells && x+bAt[0] >= g[start+1] {
			start++
		}
		k, j := start, 0
		for ; j < len(bAt) && x+bAt[j] < g[0]; j++ {
			lostBelow += p * bW[j]
		}
		for k < cells && j < len(bAt) {
			low, high := g[k]-x, g[k+1]-x
			m, d, from := 0.0, 0.0, j
			for ; j < len(bAt) && bAt[j] < high; j++ {
				m += bW[j]
				d += bW[j] * (bAt[j] - low)
			}
			most = max(most, j-from)
			m *= p
			total := mass[k] + m
			lost[k] += min(mass[k], m) - (total - max(mass[k], m))
			mass[k] = total
			moment[k] += p * d
			k++
		}
		for ; j < len(bAt); j++ {
			lostAbove += p * bW[j]
			lostMean += p * bW[j] * (x + bAt[j])
		}
	}
	out.without += (lostBelow + lostAbove) * (1 + 1e-6)
	out.with += (lostBelow*g[0] + lostMean) / count * (1 + 1e-6)
	for k, v := range lost {
		mass[k] += v
	}
	out.rounding = a.rounding + b.rounding + float64(most+16)*unit
	return out.cut(g, mass, moment, above)
}

// few is the number of points of each sum that choose the nodes.
const few = 60

// outside is about the mass that may leave the range of the nodes.
const outside = 1e-24

// grid returns the nodes of the sum of two sums in ascending order. They only affect how narrow the bounds are.
func grid(a, b sum, count float64) []float64 {
	type point struct{ at, w float64 }
	// The lower ends of groups of points choose the lowest node, the upper ends the rest.
	points := func(upper bool) (list []point) {
		ca, cb := coarse(a, upper), coarse(b, upper)
		for i, x := range ca.at {
			for j, y := range cb.at {
				list = append(list, point{x + y, ca.w[i] * cb.w[j]})
			}
		}
		slices.SortFunc(list, func(x, y point) int { return cmp.Compare(x.at, y.at) })
		return list
	}
	first, last := points(false), points(true)
	bottom, top := 0, len(last)-1
	for m := 0.0; bottom < len(first)-1; bottom++ {
		if m += first[bottom].w; m > outside {
			break
		}
	}
	for m := 0.0; top > 0; top-- {
		if m += last[top].w * max(1, last[top].at/count); m > outside {
			break
		}
	}
	lo, hi := first[bottom].at*(1-1e-9), last[top].at*(1+1e-9)
	quantile := func(q float64) float64 {
		m := 0.0
		for _, p := range last {
			if m += p.w; m >= q {
				return p.at
			}
		}
		return hi
	}
	centre, width := quantile(0.5), (quantile(0.84)-quantile(0.16))/2
	width = max(width, (hi-lo)*1e-6)
	// density is the number of nodes that the logarithm of a value has a claim to.
	density := func(x float64) float64 { return max(1, x/math.Hypot(width, x-centre)) }
	const fine = 4000
	step := math.Log(hi/lo) / fine
	claims := make([]float64, fine+1)
	for i := range fine {
		claims[i+1] = claims[i] + density(lo*math.Exp((float64(i)+0.5)*step))
	}
	out := make([]float64, 0, a.nodes+1)
	i := 0
	for k := range a.nodes {
		want := claims[fine] * float64(k) / float64(a.nodes)
		for claims[i+1] < want {
			i++
		}
		part := (want - claims[i]) / (claims[i+1] - claims[i])
		out = append(out, lo*math.Exp((float64(i)+part)*step))
	}
	return append(out, hi)
}

// coarse returns few points that stand for a sum: groups of neighbours, each at its upper or its lower end.
func coarse(s sum, upper bool) sum {
	each := (len(s.at) + few - 1) / few
	var out sum
	for i := 0; i < len(s.at); i += each {
		end := min(i+each, len(s.at))
		m := 0.0
		for _, w := range s.w[i:end] {
			m += w
		}
		at := s.at[i]
		if upper {
			at = s.at[end-1]
		}
		out.at, out.w = append(out.at, at), append(out.w, m)
	}
	return out
}
