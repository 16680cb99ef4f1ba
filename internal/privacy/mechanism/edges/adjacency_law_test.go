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

// What a bound keeps of a row is a part of it of the right size, and depends on that
// row alone: adding or removing an edge changes one row (one column for columns) of
// the output, and a bound beyond all degrees changes nothing.
func TestBoundsAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols, most := rapid.IntRange(1, 7).Draw(t, "rows"), rapid.IntRange(1, 7).Draw(t, "cols"), rapid.IntRange(1, 8).Draw(t, "most")
		s := rng.Seed(rapid.Uint64().Draw(t, "seed")).Stream("bound")
		a := graphs(t, "a", rows, cols)
		byRow, err := BoundRows(a, most, s)
		byCol, err2 := BoundColumns(a, most, s)
		if err != nil || err2 != nil || byRow.Validate() != nil || byCol.Validate() != nil {
			t.Fatal(err, err2)
		}
		if inCommon(a, byRow) != byRow.Edges() || inCommon(a, byCol) != byCol.Edges() {
			t.Fatal("a bound added an edge")
		}
		d, e := a.Degrees()
		rowsKept, _ := byRow.Degrees()
		_, colsKept := byCol.Degrees()
		for i, n := range rowsKept {
			if int(n) != min(most, int(d[i])) {
				t.Fatalf("row %d keeps %d of %d, bound %d", i, n, d[i], most)
			}
		}
		for j, n := range colsKept {
			if int(n) != min(most, int(e[j])) {
				t.Fatalf("column %d keeps %d of %d, bound %d", j, n, e[j], most)
			}
		}
		if most >= max(rows, cols) && (!sameGraph(byRow, a) || !sameGraph(byCol, a)) {
			t.Fatal("a bound that nothing exceeds changed something")
		}
		if a.Edges() == 0 {
			return
		}
		w := ones{a: a, next: int64(rapid.IntRange(0, int(a.Edges())-1).Draw(t, "edge"))}
		cell := w.cell()
		less := without(a, cell)
		other, err := BoundRows(less, most, s)
		others, err2 := BoundColumns(less, most, s)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i := range rows {
			if i != int(cell)/cols && !slices.Equal(other.Row(i), byRow.Row(i)) {
				t.Fatalf("an edge of row %d changes row %d", int(cell)/cols, i)
			}
		}
		x, y := others.Transpose(), byCol.Transpose()
		for j := range cols {
			if j != int(cell)%cols && !slices.Equal(x.Row(j), y.Row(j)) {
				t.Fatalf("an edge of column %d changes column %d", int(cell)%cols, j)
			}
		}
	})
}

// Bounding both is not stable, as the doc says: somewhere one edge less moves edges
// in other rows and columns too.
func TestBoundingBothIsNotStable(t *testing.T) {
	s := rng.Seed(3).Stream("both")
	both := func(a Adjacency) Adjacency {
		return mechanismtest.Must(BoundColumns(mechanismtest.Must(BoundRows(a, 1, s.Sub(0))), 1, s.Sub(1)))
	}
	for range 400 {
		a := scattered(&s, 4, 4, 0.6)
		for w := (&ones{a: a}); w.cell() != math.MaxInt64; w.next++ {
			cell := w.cell()
			x, y := both(a), both(without(a, cell))
			for i := range a.Rows {
				if i != int(cell)/4 && !slices.Equal(x.Row(i), y.Row(i)) {
					return // found one: an edge of another row came or went
				}
			}
		}
	}
	t.Error("no edge in 400 graphs changed another row: the warning is not needed")
}

// Every subset of the right size is kept as often as any other: chi-square over the
// 10 pairs of 5, false alarm 1e-9; keeping the first ones would not pass.
func TestBoundsKeepEveryPairAlike(t *testing.T) {
	a := matrix("11111")
	counts := make([]int, 32)
	for i := range uint64(6000) {
		b := mechanismtest.Must(BoundRows(a, 2, rng.Seed(8).Stream("pairs", i)))
		counts[1<<b.Idx[0]|1<<b.Idx[1]]++
	}
	pairs := func(i int) float64 {
		if n := i&1 + i>>1&1 + i>>2&1 + i>>3&1 + i>>4&1; n == 2 {
			return 0.1
		}
		return 0
	}
	mechanismtest.CheckCounts(t, "pairs", counts, pairs)
	first := make([]int, 32)
	first[3] = 6000
	if mechanismtest.CheckCounts(mechanismtest.Quiet{TB: t}, "first", first, pairs) {
		t.Error("always the first two passed")
	}
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
	near, err := PerturbGaussianEdgeRand(GaussianEdgeRand{Purpose: "g", Sigma: 0.01, Unit: privacy.Edge}, mechanismtest.Ledger(t), s, a)
	if err != nil || !sameGraph(near, a) {
		t.Errorf("with hardly any noise %d of %d edges are left (%v)", inCommon(near, a), a.Edges(), err)
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
