package graph

import "math"

// Sensitivity of one propagation V_U = A~ X_P, V_P = A~' X_U over edges, for
// any X with rows of norm at most 1 that does not depend on the edge.
//
// Removing the edge (x, y), of degrees a and b before, changes V_U in row x, by
// l(a) r(b) x_y and, because a falls, by l(a-1) - l(a) on every other neighbour;
// and, because b falls, in the row of every other neighbour i of y, by
// l(d_i) (r(b-1) - r(b)) x_y. The worst X has all other neighbours of x opposite
// to x_y, so that with dl(a) = l(a-1) - l(a), dr(b) likewise, exactly
//
//	|dV_U|^2 = (l(a) r(b) + dl(a) S)^2 + dr(b)^2 Q
//	S = sum of r(b_j) over j in N(x)-y,  Q = sum of l(d_i)^2 over i in N(y)-x
//
// and the same for V_P with users and items exchanged. dl(1) counts as 0, since
// then S is empty; so does dr(1).

// Shift bounds how far the removal of one edge moves the aggregates of the users and those of the items, in l2 norms,
// over all rows that may be propagated.
type Shift struct{ Users, Items float64 }

// Joint returns the l2 norm of both shifts together, the sensitivity of a release of both.
func (s Shift) Joint() float64 { return math.Hypot(s.Users, s.Items) }

// Shifts returns the shift of every edge of g, in the order of Edge.
func (n Normalizer) Shifts(g *Bipartite) []Shift {
	left, right := n.Factors(g)
	sums := [2][]float64{make([]float64, g.Nodes()), make([]float64, g.Nodes())} // of r, and of l², over neighbours
	for u := range g.Users {
		for _, i := range g.ItemsOf(u) {
			v := g.Users + int(i)
			sums[0][u] += right[v]
			sums[0][v] += right[u]
			sums[1][u] += left[v] * left[v]
			sums[1][v] += left[u] * left[u]
		}
	}
	shifts := make([]Shift, 0, g.Edges())
	view := func(x, y int) float64 { // of the side that x is on
		a, b := g.degree(x), g.degree(y)
		s, q := max(0, sums[0][x]-right[y]), max(0, sums[1][y]-left[x]*left[x])
		return n.view(a, b, s, q)
	}
	for u := range g.Users {
		for _, i := range g.ItemsOf(u) {
			v := g.Users + int(i)
			shifts = append(shifts, Shift{Users: view(u, v), Items: view(v, u)})
		}
	}
	return shifts
}

// view returns |dV| of one side for an edge of degrees a (of that side) and b.
func (n Normalizer) view(a, b int, s, q float64) float64 {
	dl, dr := 0.0, 0.0
	if a > 1 {
		dl = math.Abs(n.left(a-1) - n.left(a))
	}
	if b > 1 {
		dr = math.Abs(n.right(b-1) - n.right(b))
	}
	return math.Hypot(n.left(a)*n.right(b)+dl*s, dr*math.Sqrt(q))
}

// Sensitivity returns the largest shift that the removal or addition of one
// edge can cause in any graph: of one view (users or items), and of both views
// jointly. Some graph attains each of them:
//
//	sym            1, √2 (an isolated edge)
//	sym-clamp:k    1/√(k(k+1)) + 1 - √(k/(k+1)); the joint one at a = b = k+1
//	right-clamp:k  1/√k, √(2/k)
//	sum            1, √2
func (n Normalizer) Sensitivity() (view, joint float64) {
	switch n.rule {
	case plainSum:
		return 1, math.Sqrt2
	case rightMin:
		k := float64(n.clamp)
		return 1 / math.Sqrt(k), math.Sqrt(2 / k)
	}
	// No neighbour weighs more than at the clamp, so S <= (a-1)/√k and
	// Q <= (b-1)/k. Up to degree k nothing depends on a or b, beyond k+1 every
	// term falls with both: the maximum is at k or k+1.
	k := max(n.clamp, 1)
	bound := func(a, b int) float64 {
		return n.view(a, b, float64(a-1)/math.Sqrt(float64(k)), float64(b-1)/float64(k))
	}
	for a := k; a <= k+1; a++ {
		for b := k; b <= k+1; b++ {
			f := Shift{bound(a, b), bound(b, a)}
			view, joint = max(view, f.Users), max(joint, f.Joint())
		}
	}
	return view, joint
}
