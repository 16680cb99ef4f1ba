package pld

import "math"

// masses is a discretised loss under P: mass w[i] at offset + (first+i)*h, and
// inf at infinity.
type masses struct {
	offset, h float64
	first     int
	w         []float64
	inf       float64
}

func (m *masses) loss(i int) float64 { return m.offset + float64(m.first+i)*m.h }

// total is the whole mass.
func (m *masses) total() float64 {
	s := m.inf
	for _, v := range m.w {
		s += v
	}
	return s
}

// tiny is a mass whose square, or whose product with a likelihood ratio, may
// underflow: nothing is divided there.
const tiny = 1e-280

// frame returns empty masses that hold the nodes of the cells and of the pins,
// in steps of every-th nodes, and the index of node k.
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

// upper gives the mass of each cell to its two ends such that P and Q masses
// stay, and errs upwards by what rounding may have hidden. Mass is conserved:
// what an end needs beyond its cell's mass is taken from further below.
func (c *cells) upper() *masses {
	m, at := c.frame(1)
	m.inf = c.infP + c.cutP + c.pTop*(1+c.rho)
	n := len(c.p)
	width := -math.Expm1(-c.h)
	debt := 0.0
	for i := n - 1; i >= 0; i-- {
		l := c.loss(c.first + i)
		p, q, ratio := c.p[i], c.q[i], math.Exp(l)
		up := p // of the mass, this much to the upper end
		if q > tiny && ratio < 1/tiny {
			up = min(max((p-q*ratio)/width, 0), p)
			up += (c.rho*(c.pTail[i]+c.qTail[i]*ratio)+16*unit*p*(1+math.Abs(l)))/width + c.rho*c.pTail[i]
		}
		j := at(c.first + i)
		m.w[j+1] += up
		if up > p {
			debt += up - p
			continue
		}
		pay := min(p-up, debt)
		debt -= pay
		m.w[j] += p - up - pay
	}
	if n > 0 {
		m.w[at(c.first)] += max(0, c.pBottom-debt)
	}
	for _, a := range c.pins {
		m.w[at(a.node)] += a.p
	}
	return m
}

// lower merges pairs of cells into the even nodes between them. A merged cell's
// likelihood ratio is p/q; where it is above the node's, a share of the cell
// below is mixed in, where it is below a share of the cell above, and then it is
// rounded down. The shares solve one linear system of three diagonals.
func (c *cells) lower() *masses {
	m, at := c.frame(2)
	m.inf = c.infP
	n := len(c.p) / 2
	p, need, up := make([]float64, n), make([]float64, n), make([]bool, n) // need: share of the neighbour for a whole cell
	down := make([]bool, n)                                                // rounded down to the next node
	guard := make([]float64, n)
	for j := range n {
		l := c.loss(c.first + 1 + 2*j)
		ratio := math.Exp(l)
		pj, qj := c.p[2*j]+c.p[2*j+1], c.q[2*j]+c.q[2*j+1]
		pTail, qTail := max(c.pTail[2*j], c.pTail[2*j+1]), max(c.qTail[2*j], c.qTail[2*j+1])
		p[j], guard[j] = pj, c.rho*pTail
		if !(qj > tiny && ratio < 1/tiny && ratio > tiny) {
			down[j] = true
			continue
		}
		slack := c.rho*(pTail+ratio*qTail) + 16*unit*(pj+ratio*qj)*(1+math.Abs(l))
		excess := pj - ratio*qj - slack
		if up[j] = excess > 0; up[j] {
			if j > 0 {
				has := ratio*(c.q[2*j-2]+c.q[2*j-1]) - (c.p[2*j-2] + c.p[2*j-1]) + slack
				need[j] = share(excess, has)
			}
			continue // with no share it stays above its node, and is rounded down to it
		}
		if j+1 < n {
			need[j] = share(-excess, c.p[2*j+2]+c.p[2*j+3]-ratio*(c.q[2*j+2]+c.q[2*j+3])-slack)
		}
		down[j] = need[j] == 0
	}
	took := solve(need, up)
	for j := range n {
		left := 1.0
		if j > 0 && !up[j-1] {
			left -= took[j-1]
		}
		if j+1 < n && up[j+1] {
			left -= took[j+1]
		}
		i := at(c.first + 1 + 2*j)
		if down[j] {
			i--
		}
		mass := left * p[j]
		if took[j] > 0 && up[j] {
			mass += took[j] * p[j-1]
		} else if took[j] > 0 {
			mass += took[j] * p[j+1]
		}
		if i >= 0 {
			m.w[i] += mass
		}
	}
	if n > 0 {
		m.w[at(c.first+2*n-1)] += c.pTop * (1 - c.rho)
	}
	for j := range n { // what the errors of the distribution function may have moved up goes down again
		i := at(c.first + 1 + 2*j)
		g := min(guard[j], m.w[i])
		m.w[i] -= g
		if i > 0 {
			m.w[i-1] += g
		}
	}
	for _, a := range c.pins {
		m.w[at(a.node)] += a.p
	}
	return m
}

// share is excess/has if that is a quarter at most: else a neighbour has too
// little to give.
func share(excess, has float64) float64 {
	if has > 0 && excess <= has/4 {
		return excess / has
	}
	return 0
}

// solve returns what each cell takes from its neighbour: need times what is left
// of itself, which is one less what the cells beside it take. up tells who takes
// from below, the others take from above. The matrix is diagonally dominant.
func solve(need []float64, up []bool) []float64 {
	n := len(need)
	x, ahead := make([]float64, n), make([]float64, n)
	for j := range n {
		low, high := 0.0, 0.0 // coefficients of x[j-1] and x[j+1]
		if j > 0 && !up[j-1] {
			low = need[j]
		}
		if j+1 < n && up[j+1] {
			high = need[j]
		}
		d, r := 1.0, need[j]
		if j > 0 {
			d -= low * ahead[j-1]
			r -= low * x[j-1]
		}
		ahead[j], x[j] = high/d, r/d
	}
	for j := n - 2; j >= 0; j-- {
		x[j] -= ahead[j] * x[j+1]
	}
	for j := range n {
		x[j] = max(x[j], 0)
	}
	return x
}
