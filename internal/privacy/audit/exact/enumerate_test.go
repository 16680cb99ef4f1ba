package exact_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/audit/exact"
)

// tree is a program as data: a choice with a branch for each outcome, of which some
// are refused and made again, or an output.
type tree struct {
	weights  []*big.Rat
	branches []*tree // nil: refused
	out      int
}

func (n *tree) run(c *exact.Choices) int {
	for n.branches != nil {
		next := n.branches[c.Choose(n.weights...)]
		if next == nil {
			c.Again()
			continue
		}
		n = next
	}
	return n.out
}

// spread adds the probability p, divided among the outputs below, to a law. A branch
// that ends in refusals only must not be there.
func (n *tree) spread(p *big.Rat, law exact.Law[int]) (nodes, depth int) {
	if n.branches == nil {
		if law[n.out] == nil {
			law[n.out] = new(big.Rat)
		}
		law[n.out].Add(law[n.out], p)
		return 0, 0
	}
	total := new(big.Rat)
	for i, b := range n.branches {
		if b != nil {
			total.Add(total, n.weights[i])
		}
	}
	nodes = 1
	for i, b := range n.branches {
		if b != nil && n.weights[i].Sign() > 0 {
			k, d := b.spread(mul(p, quo(n.weights[i], total)), law)
			nodes, depth = nodes+k, max(depth, d)
		}
	}
	return nodes, depth + 1
}

func drawTree(t *rapid.T, depth int) *tree {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "end") == 0 {
		return &tree{out: rapid.IntRange(0, 3).Draw(t, "output")}
	}
	n := &tree{}
	for i := range rapid.IntRange(1, 4).Draw(t, "outcomes") {
		w, b := rat(rapid.Int64Range(0, 6).Draw(t, "weight"), rapid.Int64Range(1, 5).Draw(t, "of")), (*tree)(nil)
		if i == 0 {
			w = rat(1, 3) // one outcome at least is possible and accepted
		}
		if i == 0 || rapid.IntRange(0, 4).Draw(t, "refused") > 0 {
			b = drawTree(t, depth-1)
		}
		n.weights, n.branches = append(n.weights, w), append(n.branches, b)
	}
	order := rapid.Permutation(integers(len(n.weights))).Draw(t, "order")
	weights, branches := make([]*big.Rat, len(order)), make([]*tree, len(order))
	for i, at := range order {
		weights[i], branches[i] = n.weights[at], n.branches[at]
	}
	n.weights, n.branches = weights, branches
	return n
}

func integers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Programs of any shape, refusals anywhere: the law is the one found by recursion, the
// limits are those of the tree to the unit, and several enumerations at once are as
// one.
func TestAnyProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program := drawTree(t, 4)
		want := exact.Law[int]{}
		nodes, depth := program.spread(rat(1, 1), want)
		var laws [3]exact.Law[int]
		var all sync.WaitGroup
		for i := range laws {
			all.Go(func() {
				laws[i], _ = exact.Enumerate(program.run, exact.Limits{Nodes: max(1, nodes), Depth: max(1, depth)})
			})
		}
		all.Wait()
		for _, got := range laws {
			if d := got.Difference(want); d != "" || got == nil || got.Total().Cmp(rat(1, 1)) != 0 {
				t.Fatalf("%s, mass %v", d, got.Total())
			}
		}
		if nodes > 1 {
			if _, err := exact.Enumerate(program.run, exact.Limits{Nodes: nodes - 1}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d choices", nodes-1)) {
				t.Fatalf("%d choices with a limit one below: %v", nodes, err)
			}
		}
		if depth > 1 {
			if _, err := exact.Enumerate(program.run, exact.Limits{Depth: depth - 1}); err == nil || !strings.Contains(err.Error(), "in one run") {
				t.Fatalf("%d choices deep with a limit one below: %v", depth, err)
			}
		}
	})
}

// The weights belong to the caller, who may write over them after the choice, and the
// law's numbers are the law's.
func TestWeightsAreCopied(t *testing.T) {
	program := func(c *exact.Choices) int {
		w := []*big.Rat{rat(1, 1), rat(2, 1)}
		out := c.Choose(w...)
		w[0].SetInt64(100)
		w[1] = nil
		return out
	}
	law, err := exact.Enumerate(program, exact.Limits{})
	if err != nil || law[0].Cmp(rat(1, 3)) != 0 || law[1].Cmp(rat(2, 3)) != 0 {
		t.Errorf("%v, %v", law, err)
	}
	law[0].SetInt64(7)
	if again, err := exact.Enumerate(program, exact.Limits{}); err != nil || again[0].Cmp(rat(1, 3)) != 0 {
		t.Errorf("%v, %v", again, err)
	}
}

// The logarithm of Worst is a distance: 1 to itself, at least 1, at most the
// product over a law between, and the power of n independent repetitions.
func TestWorstIsADistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() exact.Law[int] {
			l, sum := exact.Law[int]{}, int64(0)
			w := rapid.SliceOfN(rapid.Int64Range(1, 50), 4, 4).Draw(t, "weights")
			for _, v := range w {
				sum += v
			}
			for i, v := range w {
				l[i] = rat(v, sum)
			}
			return l
		}
		p, q, r := draw(), draw(), draw()
		pq, at := p.Worst(q)
		qr, _ := q.Worst(r)
		pr, _ := p.Worst(r)
		self, _ := p.Worst(p)
		if self.Cmp(rat(1, 1)) != 0 || pq.Cmp(rat(1, 1)) < 0 || pr.Cmp(mul(pq, qr)) > 0 || quo(p[at], q[at]).Cmp(pq) != 0 {
			t.Fatalf("%v %v %v: %v, %v, %v", p, q, r, pq, qr, pr)
		}
		if (p.Difference(q) == "") != (pq.Cmp(rat(1, 1)) == 0) || (q.Difference(p) == "") != (p.Difference(q) == "") {
			t.Fatalf("%v and %v: ratio %v, %s", p, q, pq, p.Difference(q))
		}
	})
}

// The logarithm of a ratio of any size and of any nearness to 1: against its series at
// rational numbers, log(1+1/n) between 1/(n+1) and 1/n, and log(x^k) = k log x.
func TestEpsilonOfRatios(t *testing.T) {
	epsilon := func(r *big.Rat) float64 { return exact.Finding[int, int]{Worst: r}.Epsilon() }
	for k := 1; k <= 4000; k += 1 + k/2 {
		n := exact.Power(rat(2, 1), k)
		near := epsilon(add(rat(1, 1), new(big.Rat).Inv(n)))
		want := math.Ldexp(1, -k)
		if k < 1000 && math.Abs(near-math.Log1p(want)) > 1e-15*want {
			t.Errorf("1 + 2^-%d: %v", k, near)
		}
		if far := epsilon(mul(rat(3, 1), n)); math.Abs(far-(math.Log(3)+float64(k)*math.Ln2)) > 4e-16*far {
			t.Errorf("3 2^%d: %v", k, far)
		}
	}
	if e := epsilon(rat(1, 1)); e != 0 {
		t.Errorf("ratio 1: %v", e)
	}
	if e := epsilon(nil); !math.IsInf(e, 1) {
		t.Errorf("no ratio: %v", e)
	}
}

// A row lists what it was made of; all rows come once, in the order of their words, and
// an iteration may end anywhere.
func TestRowsAreTheWords(t *testing.T) {
	for m := range 4 {
		for length := range 5 {
			var want []exact.Row
			words := int(math.Pow(float64(m+1), float64(length)))
			for w := range words {
				ids, count := make([]int, length), map[int]int{}
				for i, rest := length-1, w; i >= 0; i, rest = i-1, rest/(m+1) {
					ids[i] = rest % (m + 1)
					count[ids[i]]++
				}
				distinct := true
				for id, k := range count {
					distinct = distinct && (id == 0 || k == 1)
				}
				if distinct {
					want = append(want, exact.RowOf(ids...))
				}
			}
			if got := slices.Collect(exact.Rows(m, length)); !slices.Equal(got, want) {
				t.Errorf("%d items, length %d: %v, want %v", m, length, got, want)
			}
			for stop := range want {
				seen := 0
				for range exact.Rows(m, length) {
					if seen++; seen > stop {
						break
					}
				}
				if seen != stop+1 {
					t.Errorf("%d items, length %d: %d rows before a stop at %d", m, length, seen, stop)
				}
			}
		}
	}
	if got := exact.RowOf(0, 255, 10).String(); got != "0,255,10" || exact.RowOf().String() != "" {
		t.Error(got)
	}
}

// Where several outputs have the worst ratio, or several are unbounded, a finding names
// the same one in every run: the first by its text.
func TestFindingsAreTheSameEveryTime(t *testing.T) {
	blind := func(in int, c *exact.Choices) int { return c.Below(40) }
	clear := func(in int, c *exact.Choices) int { return 100*in + c.Below(40) }
	for name, c := range map[string]struct {
		m    exact.Mechanism[int, int]
		want int
	}{"all outputs alike": {blind, 0}, "all outputs unbounded": {clear, 100}} {
		first := find(t, c.m, rat(1, 1), 1, 2)
		for range 30 {
			if f := find(t, c.m, rat(1, 1), 1, 2); f.Output != c.want || f.String() != first.String() {
				t.Fatalf("%s: %v, before %v", name, f, first)
			}
		}
	}
}
