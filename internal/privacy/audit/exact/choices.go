package exact

import (
	"errors"
	"fmt"
	"math/big"
)

// Choices makes the random choices of a mechanism in one run, and is valid only during that run.
type Choices struct {
	path   []step
	depth  int // number of choices made in this run
	limits Limits
	nodes  int
	refuse bool // the last choice will be made again
	ones   []*big.Rat
}

// node is a choice reached by a run, after the choices before it.
type node struct {
	weights []*big.Rat
	alike   bool       // all weights are 1, from Below
	total   *big.Rat   // sum of the weights of outcomes that are not refused
	odds    []*big.Rat // weights by total, when all outcomes are known
}

// step is a node on the path of the current run, with the outcome that the run takes there.
type step struct {
	at      *node
	outcome int
}

// Limits bounds the work of an enumeration. More work is an error.
type Limits struct {
	Nodes int // choices in all; 0 is 1 << 22
	Depth int // choices in one run; 0 is 10,000
}

func (l Limits) filled() Limits {
	if l.Nodes == 0 {
		l.Nodes = 1 << 22
	}
	if l.Depth == 0 {
		l.Depth = 10_000
	}
	return l
}

// stop ends a run that cannot go on. It never leaves the package.
type stop struct{ err error }

func fail(format string, args ...any) { panic(stop{fmt.Errorf("exact: "+format, args...)}) }

// Choose returns i with probability proportional to weights[i]. Weights are not negative and not
// all zero. An outcome with weight zero never comes up. After the same input and the same outcomes,
// the weights must always be the same.
func (c *Choices) Choose(weights ...*big.Rat) int { return c.choose(weights, false) }

func (c *Choices) choose(weights []*big.Rat, alike bool) int {
	if c.refuse {
		c.refuse = false
		c.skip(weights, alike)
	} else if c.depth == len(c.path) {
		c.grow(weights, alike)
	} else {
		c.path[c.depth].at.same(weights, alike)
	}
	outcome := c.path[c.depth].outcome
	c.depth++
	return outcome
}

// Below returns an integer from 0 to n-1, each with the same probability.
func (c *Choices) Below(n int) int {
	if n < 1 {
		fail("an integer below %d", n)
	}
	for len(c.ones) < n {
		c.ones = append(c.ones, big.NewRat(1, 1))
	}
	return c.choose(c.ones[:n], true)
}

// Again rejects the outcome of the last choice: the mechanism will make that choice again, with the same weights, until
// it accepts one. The law is then that of the accepted outcomes: the loop has no end, but its result has probabilities
// in closed form.
func (c *Choices) Again() {
	if c.depth == 0 || c.refuse {
		fail("again without a choice before it")
	}
	c.depth--
	if c.depth+1 != len(c.path) {
		fail("an outcome that was accepted before is now refused: the mechanism is not a function of its input and " +
			"its choices")
	}
	c.refuse = true
}

// grow adds a new choice to the path.
func (c *Choices) grow(weights []*big.Rat, alike bool) {
	if c.nodes++; c.nodes > c.limits.Nodes {
		fail("more than %d choices", c.limits.Nodes)
	}
	if c.depth >= c.limits.Depth {
		fail("more than %d choices in one run", c.limits.Depth)
	}
	n := &node{weights: append([]*big.Rat{}, weights...), alike: alike, total: new(big.Rat)}
	for i, w := range weights {
		if w == nil || w.Sign() < 0 {
			fail("weight %d is %v, want at least 0", i, w)
		}
		n.weights[i] = new(big.Rat).Set(w)
		n.total.Add(n.total, w)
	}
	if n.total.Sign() == 0 {
		fail("a choice among %d outcomes without weight", len(weights))
	}
	c.path = append(c.path, step{n, n.next(0)})
}

// skip rejects the outcome of the last choice and takes the next one.
func (c *Choices) skip(weights []*big.Rat, alike bool) {
	s := &c.path[c.depth]
	s.at.same(weights, alike)
	s.at.total.Sub(s.at.total, s.at.weights[s.outcome])
	if s.outcome = s.at.next(s.outcome + 1); s.outcome < 0 && s.at.total.Sign() == 0 {
		fail("all outcomes of a choice are refused: the mechanism does not end")
	} else if s.outcome < 0 {
		panic(exhausted)
	}
}

// exhausted ends a run at a choice whose remaining outcomes are all rejected.
var exhausted = stop{errors.New("exhausted")}

func (n *node) same(weights []*big.Rat, alike bool) {
	same := len(weights) == len(n.weights)
	if same && alike && n.alike {
		return
	}
	for i := 0; same && i < len(weights); i++ {
		same = weights[i] != nil && weights[i].Cmp(n.weights[i]) == 0
	}
	if !same {
		fail("other weights after the same choices: the mechanism is not a function of its input and its choices")
	}
}

// next returns the first outcome from i on that has a weight above 0, or -1.
func (n *node) next(i int) int {
	for ; i < len(n.weights); i++ {
		if n.weights[i].Sign() > 0 {
			return i
		}
	}
	return -1
}

// advance moves the path to the next run. ok is false after the last run.
func (c *Choices) advance() (ok bool) {
	for len(c.path) > 0 {
		s := &c.path[len(c.path)-1]
		if next := s.at.next(s.outcome + 1); s.outcome >= 0 && next >= 0 {
			s.outcome = next
			return true
		}
		c.path = c.path[:len(c.path)-1]
	}
	return false
}
