package edges

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// graphs draws a matrix of up to 7 x 7 cells.
func graphs(t *rapid.T, name string, rows, cols int) Adjacency {
	b := newBuilder(rows, cols, 0)
	for c := range int64(rows * cols) {
		if rapid.IntRange(0, 2).Draw(t, name) == 0 {
			b.add(c)
		}
	}
	return b.finish()
}

func sameGraph(a, b Adjacency) bool {
	return a.Rows == b.Rows && a.Cols == b.Cols && slices.Equal(a.Ptr, b.Ptr) && slices.Equal(a.Idx, b.Idx)
}

// Transposing twice is nothing, exchanges degrees, keeps what two matrices share;
// degrees add up to the ones; a matrix shares all with itself.
func TestAdjacencyIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(0, 7).Draw(t, "rows"), rapid.IntRange(0, 7).Draw(t, "cols")
		a, b := graphs(t, "a", rows, cols), graphs(t, "b", rows, cols)
		tr := a.Transpose()
		if !sameGraph(tr.Transpose(), a) || tr.Validate() != nil {
			t.Fatalf("%v transposed twice", a)
		}
		r, c := a.Degrees()
		r2, c2 := tr.Degrees()
		if !slices.Equal(r, c2) || !slices.Equal(c, r2) {
			t.Fatalf("degrees %v %v, transposed %v %v", r, c, r2, c2)
		}
		sum := int64(0)
		for i, d := range r {
			sum += int64(d)
			if int(d) != len(a.Row(i)) {
				t.Fatalf("row %d has degree %d and %d ones", i, d, len(a.Row(i)))
			}
		}
		if sum != a.Edges() || a.Cells() != int64(rows)*int64(cols) || inCommon(a, a) != a.Edges() {
			t.Fatalf("%d ones by degrees, %d edges", sum, a.Edges())
		}
		if x, y := inCommon(a, b), inCommon(a.Transpose(), b.Transpose()); x != y || x != inCommon(b, a) {
			t.Fatalf("%d in common, transposed %d", x, y)
		}
	})
}

// Randomised response twice is randomised response with the probabilities put
// together, and its expectation and share of true edges those of the formula:
// by the laws of outputs over all graphs of four cells.
func TestEdgeRandTwiceIsEdgeRand(t *testing.T) {
	for _, c := range [][2]float64{{0.5, 0.5}, {1, 3}, {2, 0.1}, {6, 6}} {
		p, q := EdgeRand{Epsilon: c[0]}.Flip(), EdgeRand{Epsilon: c[1]}.Flip()
		r := p*(1-q) + q*(1-p)
		eps := math.Log((1 - r) / r)
		if !(eps < min(c[0], c[1])) {
			t.Errorf("epsilons %v: %g together, post-processing can only lose", c, eps)
		}
		smallGraphs(func(a, _ Adjacency) {
			one, twice := flipLaw(a, r, r), make([]float64, 16)
			for mid, m := range flipLaw(a, p, p) {
				b := newBuilder(2, 2, 0)
				for cell := range int64(4) {
					if mid>>cell&1 == 1 {
						b.add(cell)
					}
				}
				for y, m2 := range flipLaw(b.finish(), q, q) {
					twice[y] += m * m2
				}
			}
			ones, common := 0.0, 0.0
			for y := range one {
				if math.Abs(one[y]-twice[y]) > 1e-15 {
					t.Fatalf("epsilons %v: output %d has %g and %g", c, y, one[y], twice[y])
				}
				for cell := range 4 {
					if y>>cell&1 == 1 {
						ones += one[y]
						if cellsOf(a)>>cell&1 == 1 {
							common += one[y]
						}
					}
				}
			}
			gotOnes, gotShare := flips{drop: r, add: r}.expected(4, a.Edges())
			if math.Abs(gotOnes-ones) > 1e-14 || math.Abs(gotShare-common/ones) > 1e-14 {
				t.Fatalf("epsilons %v: %g ones and a share of %g, want %g and %g", c, gotOnes, gotShare, ones, common/ones)
			}
		})
	}
}

// The ends of the range: with all the budget the graph comes out as it is, with none
// half of all cells, and matrices without a one, a zero or a cell are no exception.
func TestPerturbedGraphsOfLimits(t *testing.T) {
	s := rng.Seed(2).Stream("limits")
	a := scattered(&s, 60, 40, 0.2)
	same, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: MaxEdgeEpsilon, Unit: privacy.Edge}, mechanismtest.Ledger(t), s, a)
	if err != nil || !sameGraph(same, a) {
		t.Errorf("at the largest epsilon %d of %d edges are left (%v)", inCommon(same, a), a.Edges(), err)
	}
	top, err := PerturbLapGraph(LapGraph{Purpose: "g", Epsilon: 1e4, Unit: privacy.Edge}, mechanismtest.Ledger(t), s, a)
	if err != nil || !sameGraph(top, a) {
		t.Errorf("with hardly any noise %d of %d edges are among the top (%v)", inCommon(top, a), a.Edges(), err)
	}
	blind, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 1e-9, Unit: privacy.Edge}, mechanismtest.Ledger(t), s, a)
	if err != nil {
		t.Fatal(err)
	}
	// Half of all cells, of the ones as of the zeros: within 6.11 standard errors.
	for name, c := range map[string][2]float64{"ones": {float64(inCommon(a, blind)), float64(a.Edges())}, "cells": {float64(blind.Edges()), 2400}} {
		if z := (c[0] - c[1]/2) / math.Sqrt(c[1]/4); math.Abs(z) > mechanismtest.Sigmas {
			t.Errorf("without a budget %g of %g %s are set", c[0], c[1], name)
		}
	}
	empty, full := matrix("000", "000"), matrix("111", "111")
	for _, m := range []Adjacency{empty, full, {Ptr: []int64{0}}, {Rows: 2, Ptr: []int64{0, 0, 0}}} {
		l := mechanismtest.Ledger(t)
		out, err := PerturbEdgeRand(EdgeRand{Purpose: "g", Epsilon: 1, Unit: privacy.Edge}, l, s, m)
		if err != nil || out.Validate() != nil || out.Rows != m.Rows || out.Cols != m.Cols || mechanismtest.CountOf(l) != min(1, m.Cells()) {
			t.Errorf("%d x %d: %v, %d releases (%v)", m.Rows, m.Cols, out, mechanismtest.CountOf(l), err)
		}
		l = mechanismtest.Ledger(t)
		out, err = PerturbLapGraph(LapGraph{Purpose: "g", Epsilon: 1, Unit: privacy.Edge}, l, s, m)
		if err != nil || out.Validate() != nil || out.Rows != m.Rows || mechanismtest.CountOf(l) != 2*min(1, m.Cells()) {
			t.Errorf("%d x %d: %v, %d releases (%v)", m.Rows, m.Cols, out, mechanismtest.CountOf(l), err)
		}
	}
}
