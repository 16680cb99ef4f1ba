package pld

import (
	"math"
	"slices"
)

// masses holds a discretised loss under P: mass w[i] at offset + (first+i)*h, and inf at infinity.
type masses struct {
	offset, h float64
	first     int
	w         []float64
	inf       float64
	solved    int // visits of cells in solving for the shares
}

func (m *masses) loss(i int) float64 { return m.offset + float64(m.first+i)*m.h }

// total returns the whole mass.
func (m *masses) total() float64 {
	s := compensated{s: m.inf} // few cells hold most of it
	for _, v := range m.w {
		s.add(v)
	}
	return s.sum()
}

// tiny is a mass whose square, or whose product with a likelihood ratio, may underflow. Nothing is divided by less.
const tiny = 1e-280

// frame returns empty masses for the nodes of the cells and of the pins, in steps of every nodes,
// and the index of a node.
func (c *cells) frame(every int) (*masses, func(node int) int) {
	from, to := math.MaxInt, math.MinInt
	if len(c.p) > 0 {
		from, to = c.first, c.first+len(c.p)
	}
	for _, a := range c.pins {
		from, to = min(from, a.node), max(to, a.node)
	}
	div := func(k int) int { return int(math.Floor(float64(k) / float64(every))) }
	m := &masses{offset: c.offset, h: c.h * float64(every), first: div(from)}
	m.w = make([]float64, div(to)-m.first+1)
	return m, func(node int) int { return div(node) - m.first }
}

// upper returns masses where that of each cell moved to its two ends so that P and Q masses are kept. It adds to the
// upper end what rounding may have hidden. The total mass stays: if an end needs more than its cell's mass, it takes it
// from further below.
func (c *cells) upper() *masses {
	m, at := c.frame(1)
	m.inf = c.infP + c.cutP + c.pTop*(1+c.rho)
	n := len(c.p)
	width := -math.Expm1(-c.h)
	debt := 0.0
	ratios := c.ratios()
	start := 0
	if n > 0 {
		start = at(c.first)
	}
	for i := n - 1; i >= 0; i-- {
		l := c.loss(c.first + i)
		p, q, ratio := c.p[i], c.q[i], ratios[i]
		up := p // this much of the mass goes to the upper end
		if q > tiny && ratio < 1/tiny && ratio > tiny {
			up = min(max((p-q*ratio)/width, 0), p)
			up = min(p, up+(c.rho*(c.pTail[i]+c.qTail[i]*ratio)+16*unit*p*(1+math.Abs(l)))/width)
		}
		// A cell pays what those above it owe, first with what stays at its lower end: that only
		// moves mass up.
		stay := p - up
		pay := min(stay, debt)
		stay, debt = stay-pay, debt-pay
		pay = min(up, debt)
		up, debt = up-pay, debt-pay
		// The error of the distribution function at the lower edge.
		extra := c.rho * c.pTail[i]
		own := min(extra, stay)
		stay, debt = stay-own, debt+extra-own
		m.w[start+i+1] += up + extra
		m.w[start+i] += stay
	}
	if n > 0 {
		m.w[start] += max(0, c.pBottom-debt)
	}
	for _, a := range c.pins {
		m.w[at(a.node)] += a.p
	}
	return m
}

// merged holds two cells around an even node. All of their mass goes to that node, except for what must be rounded down
// to the node before.
type merged struct {
	p     float64
	up    bool    // its likelihood ratio is above the node's: it takes from below; else from above
	need  float64 // share of the neighbour that it takes for all of itself; 0: the neighbour has too little
	keep  float64 // share of p that stays at the node if nothing is taken
	guard float64 // what errors of the distribution function may have moved up
	// What rounding down wastes if nothing is taken, p minus its node's ratio times q: of what
	// stays, and of what goes to the node before.
	waste, wasteDown float64
	lacks            float64 // its node's ratio times q, minus p, if that is positive
}

// lower returns masses where pairs of cells are merged into the even nodes between them. A merged cell has the
// likelihood ratio p/q. If that is above the node's, a share of the cell below is mixed in; if it is below, a share of
// the cell above. Then it is rounded down. The shares solve one linear system of three diagonals. If a neighbour has
// too little, a ratio above the node's is rounded down as it is. If the ratio is below the node's, part of the lower
// half goes to the node before, so much that the rest has the node's ratio.
func (c *cells) lower() *masses {
	m, at := c.frame(2)
	m.inf = c.infP
	n := len(c.p) / 2
	ms := make([]merged, n)
	c = c.folded()
	halves(n, func(from, to int) {
		for j := from; j < to; j++ {
			ms[j] = c.merge(j)
		}
	})
	took, solutions := shares(ms)
	m.solved = solutions * len(ms)
	waste := make([]float64, len(m.w))
	start := 0
	if n > 0 {
		start = at(c.first + 1)
	}
	for j, x := range ms {
		left := 1 - given(ms, took, j)
		i := start + j
		stay := left * x.p
		switch {
		case took[j] > 0 && x.up:
			stay += took[j] * ms[j-1].p
		case took[j] > 0:
			stay += took[j] * ms[j+1].p
		default:
			stay *= x.keep
			m.w[i-1] += left*x.p - stay
			waste[i] += left * x.waste
			waste[i-1] += left * x.wasteDown
		}
		m.w[i] += stay
	}
	m.recover(waste)
	if n > 0 {
		m.w[at(c.first+2*n-1)] += c.pTop * (1 - c.rho)
	}
	for j, x := range ms {
		i := start + j
		g := min(x.guard, m.w[i])
		m.w[i] -= g
		m.w[i-1] += g
	}
	for _, a := range c.pins {
		m.w[at(a.node)] += a.p
	}
	return m
}

// mostFolds is the largest number of cells that are joined at an edge.
const mostFolds = 64

// folded returns the cells with steep edges joined. There the outer neighbours of cells have too little mass to be
// mixed in, so they are joined with their heavier inner neighbours, and with as many cells as balance the node. Edges
// are where losses begin, as at log(1-q) of a sample, where they end, and where the mesh is as wide as the loss of a
// step.
func (c *cells) folded() *cells {
	n := len(c.p) / 2
	out := *c
	out.ratio = c.ratios()
	out.p, out.q = slices.Clone(c.p), slices.Clone(c.q)
	move := func(from, to int, share float64) { // moves a share of a half of a cell
		p, q := share*out.p[from], share*out.q[from]
		out.p[to] += p
		out.q[to] += q
		out.p[from] -= p
		out.q[from] -= q
	}
	fold := func(from, to, half int, lacks float64) { // moves as much as is lacking
		ratio := math.Exp(c.loss(c.first + 1 + 2*to))
		has := math.Abs(out.p[2*from] + out.p[2*from+1] - ratio*(out.q[2*from]+out.q[2*from+1]))
		share := 1.0
		if lacks < has {
			share = min(1, lacks/has*(1+1e-9))
		}
		move(2*from, 2*to+half, share)
		move(2*from+1, 2*to+half, share)
	}
	mass := func(j int) float64 { return out.p[2*j] + out.p[2*j+1] }
	for j := 0; j+1 < n; j++ { // the lower edge
		x := out.merge(j)
		for k := j + 1; !x.up && x.p > 0 && x.need == 0 && k < n && k < j+mostFolds && mass(k) > 0; k++ {
			fold(k, j, 1, x.lacks)
			x = out.merge(j)
		}
		if x.p > 0 {
			if !x.up || x.need > 0 {
				break
			}
			ratio := math.Exp(c.loss(c.first + 1 + 2*j))
			if lacks := out.p[2*j+1] - ratio*out.q[2*j+1]; lacks > 0 {
				move(2*j+1, 2*j+2, min(1, x.waste/lacks)*(1-1e-9))
			}
			if mass(j+1) == 0 {
				break
			}
		}
	}
	for j := n - 1; j > 0; j-- { // the upper edge
		x := out.merge(j)
		for k := j - 1; x.up && x.p > 0 && x.need == 0 && k >= 0 && k > j-mostFolds && mass(k) > 0; k-- {
			fold(k, j, 0, x.waste)
			x = out.merge(j)
		}
		if x.p > 0 {
			if x.up || x.need > 0 {
				break
			}
			ratio := math.Exp(c.loss(c.first + 1 + 2*j))
			if has := ratio*out.q[2*j] - out.p[2*j]; has > 0 {
				move(2*j, 2*j-1, min(1, (x.lacks/has)*(1+1e-9)))
			}
			if mass(j-1) == 0 {
				break
			}
		}
	}
	return &out
}

// merge returns the merger of cells 2j and 2j+1 that these and the two beside them allow.
func (c *cells) merge(j int) merged {
	l := c.loss(c.first + 1 + 2*j)
	ratio := 0.0
	if c.ratio != nil {
		ratio = c.ratio[2*j+1]
	} else {
		ratio = math.Exp(l)
	}
	p0, p1, q0, q1 := c.p[2*j], c.p[2*j+1], c.q[2*j], c.q[2*j+1]
	p, q := p0+p1, q0+q1
	pTail, qTail := max(c.pTail[2*j], c.pTail[2*j+1]), max(c.qTail[2*j], c.qTail[2*j+1])
	x := merged{p: p, guard: c.rho * pTail}
	if !(q > tiny && ratio < 1/tiny && ratio > tiny) {
		return x
	}
	slack := c.rho*(pTail+ratio*qTail) + 16*unit*(p+ratio*q)*(1+math.Abs(l))
	excess := p - ratio*q - slack
	if x.up = excess > 0; x.up {
		x.keep, x.waste = 1, excess
		if j > 0 {
			x.need = share(excess, ratio*(c.q[2*j-2]+c.q[2*j-1])-(c.p[2*j-2]+c.p[2*j-1])+slack)
		}
		return x
	}
	if 2*j+3 < len(c.p) {
		x.need = share(-excess, c.p[2*j+2]+c.p[2*j+3]-ratio*(c.q[2*j+2]+c.q[2*j+3])-slack)
	}
	// The upper half and a share t of the lower have the node's ratio or more.
	has, lacks := p1-ratio*q1-slack, ratio*q0-p0+slack
	before := ratio * math.Exp(-2*c.h)
	x.lacks = -excess
	if has > 0 && lacks > 0 {
		t := min(1, has/lacks)
		x.keep = (p1 + t*p0) / p * (1 - 4*unit)
		x.wasteDown = (1 - t) * max(0, p0-before*q0-slack)
	} else {
		x.wasteDown = max(0, p-before*q-slack)
	}
	return x
}

// recover mixes the mass that rounding down would waste at a node with mass of a node below: a mass y there lacks y
// (exp(distance) - 1), and moves up.
func (m *masses) recover(waste []float64) {
	const farthest = 1 << 12
	for i := len(waste) - 1; i > 0; i-- {
		if waste[i] <= 0 {
			continue
		}
		// The distances grow, so that long tails, where all would fail, cost few tries.
		for d := 1; d <= min(i, farthest); d += 1 + d/4 {
			k := i - d
			y := waste[i] / math.Expm1(float64(i-k)*m.h) * (1 - 1e-12)
			if y < m.w[k]/4 {
				m.w[k] -= y
				m.w[i] += y
				break
			}
		}
	}
}

// share returns excess/has if that is far enough below one for the neighbour to keep something, else 0.
func share(excess, has float64) float64 {
	if has > 0 && excess < 0.9*has {
		return excess / has
	}
	return 0
}

// given returns the share of cell j that its neighbours take.
func given(ms []merged, took []float64, j int) float64 {
	s := 0.0
	if j > 0 && !ms[j-1].up {
		s += took[j-1]
	}
	if j+1 < len(ms) && ms[j+1].up {
		s += took[j+1]
	}
	return s
}

// shares returns the share that each cell takes from its neighbour: need times the rest of itself, after its own
// neighbours took theirs. If more than all of a cell would be taken, the takers go without, and the rest is solved
// again.
func shares(ms []merged) (took []float64, solutions int) {
	for {
		solutions++
		took, again := solve(ms), false
		for j := range ms {
			if took[j] >= 0 && given(ms, took, j) <= 1 {
				continue
			}
			again = true
			ms[j].need = 0
			if j > 0 && !ms[j-1].up {
				ms[j-1].need = 0
			}
			if j+1 < len(ms) && ms[j+1].up {
				ms[j+1].need = 0
			}
		}
		if !again {
			return took, solutions
		}
	}
}

// solve returns one solution of the linear system of shares.
func solve(ms []merged) []float64 {
	n := len(ms)
	x, ahead := make([]float64, n), make([]float64, n)
	for j, c := range ms {
		low, high := 0.0, 0.0 // coefficients of x[j-1] and x[j+1]
		if j > 0 && !ms[j-1].up {
			low = c.need
		}
		if j+1 < n && ms[j+1].up {
			high = c.need
		}
		d, r := 1.0, c.need
		if j > 0 {
			d -= low * ahead[j-1]
			r -= low * x[j-1]
		}
		ahead[j], x[j] = high/d, r/d
	}
	for j := n - 2; j >= 0; j-- {
		x[j] -= ahead[j] * x[j+1]
	}
	return x
}
