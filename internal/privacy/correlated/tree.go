package correlated

import (
	"math"
	"math/bits"
)

// Tree returns the binary tree of partial sums of n steps. Level h has a node for each whole stretch of 2^h steps,
// beginning after a multiple of 2^h of them, and C has a row for each node: 1 in its steps, 0 elsewhere. A node is
// released with noise of its own at its last step (Dwork, Naor, Pitassi, Rothblum, "Differential privacy under
// continual observation", STOC 2010; Chan, Shi, Song, "Private and continual release of statistics", ICALP 2010).
//
// For a unit that takes part once the sensitivity is the root of the number of levels. A unit that takes part more
// often is in a node of level h at most ceil(2^h/Apart) times, and in all k nodes of it at most ceil(k 2^h/Apart)
// times. The sensitivity is the root of the sum of the squares of these counts, with full nodes first. It is exact if
// Times is 1 or Apart a power of 2, where the earliest steps reach it at all levels at once. Elsewhere it is a bound.
//
// Errors has the best linear estimate of every sum from the nodes that are released by then, and PlainErrors the sum of
// the fewest nodes.
func Tree(n int) (Strategy, error) {
	if err := checkSteps(n); err != nil {
		return Strategy{}, err
	}
	return Strategy{steps: n, tree: true}, nil
}

// nodes returns the sensitivity of a tree, where Apart is at most the number of steps.
func (s Strategy) nodes(p Participation) float64 {
	sum := 0
	for length := 1; length <= s.steps; length *= 2 {
		all := s.steps / length
		most := min((length-1)/p.Apart+1, p.Times) // in one node
		left := min((all*length-1)/p.Apart+1, p.Times)
		for range all {
			times := min(most, left)
			if times == 0 {
				break
			}
			sum += times * times
			left -= times
		}
	}
	return math.Sqrt(float64(sum))
}

// fromBelow returns the variance of the best estimate of a node of a level from itself and all nodes below it, for z of
// variance 1. Two nodes of the level below add up to a second measurement of it, so that the inverse is 1 + 1/(2 v)
// with their variance v (Honaker, "Efficient use of differentially private binary trees", TPDP 2015). The stretches of
// a sum share no released node, so the sum of their estimates is the best of it.
func fromBelow(level int) float64 {
	steps := math.Ldexp(1, level)
	return steps / (2*steps - 1)
}

// PlainErrors returns the errors of a tree whose sums are those of the fewest nodes, one for each 1 of the number of
// the step in binary. For other strategies it returns Errors.
func (s Strategy) PlainErrors() (Errors, error) {
	if !s.tree {
		return s.Errors()
	}
	return s.sumsOfNodes(func(int) float64 { return 1 }), nil
}

// sumsOfNodes returns the errors of sums of the fewest nodes with the variance that a node of a level has.
func (s Strategy) sumsOfNodes(variance func(level int) float64) Errors {
	total, last := 0.0, 0.0
	for t := 1; t <= s.steps; t++ {
		last = 0
		for rest := uint(t); rest > 0; rest &= rest - 1 {
			last += variance(bits.TrailingZeros(rest))
		}
		total += last
	}
	return Errors{math.Sqrt(total / float64(s.steps)), math.Sqrt(last)}
}
