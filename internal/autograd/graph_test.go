package autograd_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"privrec/internal/autograd/gradcheck"
)

// TestRandomGraphs checks gradients through random graphs in which values are shared, ignored and
// combined with themselves: what tables of single operations cannot reach.
func TestRandomGraphs(t *testing.T) {
	const n = 3
	steps := []func(t tape, r *rand.Rand, a, b node) node{
		func(t tape, r *rand.Rand, a, b node) node { return a.Add(b) },
		func(t tape, r *rand.Rand, a, b node) node { return a.Sub(b) },
		func(t tape, r *rand.Rand, a, b node) node { return a.Mul(b) },
		func(t tape, r *rand.Rand, a, b node) node { return a.MatMul(b) },
		func(t tape, r *rand.Rand, a, b node) node { return a.MatMulT(b).Tanh() },
		func(t tape, r *rand.Rand, a, b node) node { return a.Linear(b, b.SliceRows(1, 2)).Sigmoid() },
		func(t tape, r *rand.Rand, a, b node) node { return a.MulCol(b.SliceCols(0, 1)) },
		func(t tape, r *rand.Rand, a, b node) node { return a.AddRow(b.SegmentMean([]int32{0, n})) },
		func(t tape, r *rand.Rand, a, b node) node { return a.Softmax().Add(b.Scale(0.5)) },
		func(t tape, r *rand.Rand, a, b node) node { return a.ConcatCols(b, a).SliceCols(2, 2+n).Tanh() },
		func(t tape, r *rand.Rand, a, b node) node {
			return a.Gather([]int32{int32(r.IntN(n)), int32(r.IntN(n)), int32(r.IntN(n))}).Sub(b)
		},
		func(t tape, r *rand.Rand, a, b node) node {
			return t.EdgeSum(a, []int32{0, 2, 2}, []int32{1, 1, 0}, nil, n).Add(b)
		},
		func(t tape, r *rand.Rand, a, b node) node { return a.Tanh().AddNoise("noise", plusOne).Mul(b) },
		func(t tape, r *rand.Rand, a, b node) node {
			return t.GRUGates(a.ConcatCols(b, a), b.ConcatCols(b, a), b, r.IntN(2) == 0)
		},
	}
	for seed := range uint64(150) {
		params := parms{param(fmt.Sprint("a", seed), n, n), param(fmt.Sprint("b", seed), n, n), param(fmt.Sprint("c", seed), n+2, n)}
		err := gradcheck.Check(params, func(tp tape) node {
			r := rand.New(rand.NewPCG(seed, 9))
			tp.GuardNaN = true
			values := []node{tp.Use(params[0]).Tanh(), tp.Use(params[1]), tp.Rows(params[2], []int32{4, 1, 4})}
			for range 8 {
				f := steps[r.IntN(len(steps))]
				values = append(values, f(tp, r, values[r.IntN(len(values))], values[r.IntN(len(values))]).Tanh())
			}
			return weigh(values[len(values)-1]).Add(values[len(values)-2].SumSq())
		})
		if err != nil {
			t.Errorf("graph %d: %v", seed, err)
		}
	}
}
