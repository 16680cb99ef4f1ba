package nn_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// drawn is a random problem: any degrees, also no edges at all, any batch, also none.
func drawn(rt *rapid.T) *setup {
	users, items := rapid.IntRange(1, 6).Draw(rt, "users"), rapid.IntRange(1, 6).Draw(rt, "items")
	cells := rapid.SliceOfDistinct(rapid.IntRange(0, users*items-1), func(c int) int { return c }).Draw(rt, "cells")
	var edges []graph.Edge
	for _, c := range cells {
		edges = append(edges, graph.Edge{User: int32(c / items), Item: int32(c % items)})
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		rt.Fatal(err)
	}
	norm, err := graph.ParseNormalizer(rapid.SampledFrom([]string{"sym", "sym-clamp:2", "right-clamp:3", "sum"}).Draw(rt, "norm"))
	if err != nil {
		rt.Fatal(err)
	}
	layers := rapid.IntRange(1, 4).Draw(rt, "layers")
	return &setup{
		p: &nn.Propagation{
			Graph: g, Norm: norm, Layers: layers, Weights: rapid.SliceOfN(rapid.Float64Range(-1, 1), layers+1, layers+1).Draw(rt, "weights"),
			NormalizeRows: rapid.Bool().Draw(rt, "normalize"), Frontier: rapid.Bool().Draw(rt, "frontier"),
		},
		users: nn.NewParam("users", users, testCols, nn.Normal(3, 0.5)), items: nn.NewParam("items", items, testCols, nn.Normal(3, 0.5)),
		batchU: rapid.SliceOfN(rapid.Int32Range(0, int32(users-1)), 0, 5).Draw(rt, "batch users"),
		batchI: rapid.SliceOfN(rapid.Int32Range(0, int32(items-1)), 0, 5).Draw(rt, "batch items"),
	}
}

func TestPropagationOfAnyGraph(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn(rt)
		want := dense(s.p, s.users.Value, s.items.Value, nil)
		tape := autograd.NewTape()
		tape.GuardNaN = true
		zu, zi, err := s.p.Rows(tape, s.users, s.items, s.batchU, s.batchI)
		if err != nil {
			rt.Fatal(err)
		}
		scale := 1.0
		for _, row := range want {
			for _, v := range row {
				scale = max(scale, math.Abs(v))
			}
		}
		check := func(m tensor.Matrix, nodes []int32, base int) {
			if m.Rows != len(nodes) {
				rt.Fatalf("%d rows for %v", m.Rows, nodes)
			}
			for k, v := range nodes {
				for c, got := range tensor.Row(m, k) {
					if math.Abs(float64(got)-want[base+int(v)][c]) > 1e-5*scale {
						rt.Fatalf("node %d: %v, want %v", base+int(v), tensor.Row(m, k), want[base+int(v)])
					}
				}
			}
		}
		check(zu.V, s.batchU, 0)
		check(zi.V, s.batchI, s.p.Graph.Users)
		tape.Backward(zu.SumSq().Add(zi.SumSq()))
		// The gradient of a sum of squares in the direction of the tables themselves
		// is twice the sum, where Z is linear in them, and 0 where only their
		// direction counts.
		along, squares := 0.0, float64(tensor.SumSq(zu.V.Data)+tensor.SumSq(zi.V.Data))
		for _, p := range []*autograd.Param{s.users, s.items} {
			g, ok := tape.Grads().Dense(p)
			if !ok {
				rt.Fatalf("%s has no gradient", p.Name)
			}
			for i, v := range g.Data {
				along += float64(v) * float64(p.Value.Data[i])
			}
		}
		expect := 2 * squares
		if s.p.NormalizeRows {
			expect = 0
		}
		if math.Abs(along-expect) > 1e-4*(1+squares) {
			rt.Fatalf("gradient along the tables %g, want %g", along, expect)
		}
	})
}

// Numbers of nodes are names: renumbered users and items get the same rows.
func TestPropagationIsEquivariant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn(rt)
		g := s.p.Graph
		names := func(n int, label string) []int32 {
			list := make([]int32, n)
			for k := range list {
				list[k] = int32(k)
			}
			return rapid.Permutation(list).Draw(rt, label)
		}
		toU, toI := names(g.Users, "new users"), names(g.Items, "new items")
		var edges []graph.Edge
		for e := range g.Edges() {
			x := g.Edge(e)
			edges = append(edges, graph.Edge{User: toU[x.User], Item: toI[x.Item]})
		}
		h, err := graph.NewBipartite(g.Users, g.Items, edges)
		if err != nil {
			rt.Fatal(err)
		}
		moved := func(p *autograd.Param, to []int32) tensor.Matrix {
			m := tensor.New(p.Value.Rows, p.Value.Cols)
			for k, v := range to {
				copy(tensor.Row(m, int(v)), tensor.Row(p.Value, k))
			}
			return m
		}
		all := func(p *nn.Propagation, users, items tensor.Matrix) (zu, zi tensor.Matrix) {
			zu, zi = tensor.New(users.Rows, users.Cols), tensor.New(items.Rows, items.Cols)
			if err := p.All(users, items, zu, zi); err != nil {
				rt.Fatal(err)
			}
			return zu, zi
		}
		au, ai := all(s.p, s.users.Value, s.items.Value)
		bu, bi := all(&nn.Propagation{Graph: h, Norm: s.p.Norm, Layers: s.p.Layers, Weights: s.p.Weights, NormalizeRows: s.p.NormalizeRows},
			moved(s.users, toU), moved(s.items, toI))
		same := func(a, b tensor.Matrix, to []int32) {
			for k, v := range to {
				for c, x := range tensor.Row(a, k) {
					if y := tensor.Row(b, int(v))[c]; math.Abs(float64(x-y)) > 1e-5*(1+math.Abs(float64(x))) {
						rt.Fatalf("node %d: %g, renumbered %g", k, x, y)
					}
				}
			}
		}
		same(au, bu, toU)
		same(ai, bi, toI)
	})
}
