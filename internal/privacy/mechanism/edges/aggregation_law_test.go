package edges

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// aggregations are the ways to weigh, with the clamps that they take.
func aggregations(t *rapid.T) Aggregation {
	m := gap
	m.Weights = rapid.SampledFrom([]Weights{SumWeights, RightWeights, BothWeights}).Draw(t, "weights")
	if m.Weights != SumWeights {
		m.Clamp = rapid.IntRange(1, 4).Draw(t, "clamp")
	}
	m.Norm = math.Exp2(float64(rapid.IntRange(-3, 3).Draw(t, "norm")))
	return m
}

// embeddings draws rows of numbers that are of very different lengths, or zero.
func embeddings(t *rapid.T, rows, cols int) []float64 {
	x := make([]float64, rows*cols)
	for j := range rows {
		length := math.Exp2(float64(rapid.IntRange(-30, 30).Draw(t, "length")))
		if rapid.IntRange(0, 5).Draw(t, "zero") == 0 {
			length = 0
		}
		for k := range cols {
			x[j*cols+k] = length * float64(rapid.IntRange(-8, 8).Draw(t, "x"))
		}
	}
	return x
}

// sumsOf aggregates in 200 digits, by the definition.
func sumsOf(m Aggregation, x []float64, cols int, a Adjacency) []float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	d, e := a.Degrees()
	out := make([]float64, a.Rows*cols)
	for i := range a.Rows {
		for k := range cols {
			sum := number(0)
			for _, j := range a.Row(i) {
				square := number(0)
				for _, v := range x[int(j)*cols : (int(j)+1)*cols] {
					square.Add(square, new(big.Float).Mul(number(v), number(v)))
				}
				if square.Sign() == 0 {
					continue
				}
				degree := number(1)
				switch m.Weights {
				case RightWeights:
					degree = number(float64(max(int(e[j]), m.Clamp)))
				case BothWeights:
					degree = number(float64(max(int(e[j]), m.Clamp)) * float64(max(int(d[i]), m.Clamp)))
				}
				term := new(big.Float).Mul(number(x[int(j)*cols+k]), number(m.Norm))
				sum.Add(sum, term.Quo(term, square.Sqrt(square.Mul(square, degree))))
			}
			out[i*cols+k], _ = sum.Float64()
		}
	}
	return out
}

// alike reports whether two lists agree to one part in 1e13 of size.
func alike(a, b []float64, size float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-13*size {
			return false
		}
	}
	return len(a) == len(b)
}

// Sums are those of the definition, for every weight, degree, clamp and length of
// embeddings; the definitions of the other weights, and the degrees of the wrong
// side, differ somewhere.
func TestSumsAreTheDefinition(t *testing.T) {
	whole := t // of all cases
	differ := map[Weights]int{}
	rapid.Check(t, func(t *rapid.T) {
		rows, items, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "items"), rapid.IntRange(1, 4).Draw(t, "cols")
		m, a, x := aggregations(t), graphs(t, "a", rows, items), embeddings(t, items, cols)
		got := exactly(whole, m, x, cols, a)
		if want := sumsOf(m, x, cols, a); !alike(got, want, 10*m.Norm) {
			t.Fatalf("%s, clamp %d: %v, want %v", m.Weights, m.Clamp, got, want)
		}
		for _, w := range []Weights{SumWeights, RightWeights, BothWeights} {
			other := m
			if other.Weights = w; w != m.Weights && !alike(got, sumsOf(other, x, cols, a), 10*m.Norm) {
				differ[w]++
			}
		}
	})
	for w, n := range differ {
		if n < 3 {
			t.Errorf("weights %s differ from the others in %d cases", w, n)
		}
	}
	if len(differ) != 3 {
		t.Errorf("mistaken weights show in %v", differ)
	}
}

// Renaming rows or columns renames sums; positive lengths make no difference, signs
// go through, the norm scales; rows of zeros and rows without a one are zero.
func TestAggregationIdentities(t *testing.T) {
	whole := t // of all cases
	rapid.Check(t, func(t *rapid.T) {
		const n, cols = 5, 2
		m, a, x := aggregations(t), graphs(t, "a", n, n), embeddings(t, n, cols)
		want := exactly(whole, m, x, cols, a)
		perm := rapid.Permutation(mechanismtest.UpTo(n)).Draw(t, "perm")
		inverse := make([]int, n)
		for i, p := range perm {
			inverse[p] = i
		}
		moved := newBuilder(n, n, 0)
		y := make([]float64, len(x))
		for i := range n {
			copy(y[perm[i]*cols:], x[i*cols:(i+1)*cols])
			for j := range n { // cell (perm[i], perm[j]) is cell (i, j)
				if slices.Contains(a.Row(inverse[i]), int32(inverse[j])) {
					moved.add(int64(i*n + j))
				}
			}
		}
		got := exactly(whole, m, y, cols, moved.finish())
		for i := range n {
			if !alike(got[perm[i]*cols:(perm[i]+1)*cols], want[i*cols:(i+1)*cols], 10*m.Norm) {
				t.Fatalf("row %d is not row %d renamed", perm[i], i)
			}
		}
		for j := range n {
			scale := math.Exp2(float64(rapid.IntRange(-20, 20).Draw(t, "scale")))
			for k := range cols {
				y[j*cols+k] = -scale * x[j*cols+k]
			}
		}
		got = exactly(whole, m, y, cols, a)
		for i := range got {
			if math.Abs(got[i]+want[i]) > 1e-12*m.Norm {
				t.Fatalf("sums of the opposed rows are %v, want minus %v", got, want)
			}
		}
		double := m
		double.Norm *= 2
		got = exactly(whole, double, x, cols, a)
		for i := range got {
			if math.Abs(got[i]-2*want[i]) > 1e-12*m.Norm {
				t.Fatalf("twice the norm gives %v, want twice %v", got, want)
			}
		}
		for i := range n {
			if len(a.Row(i)) == 0 && (want[i*cols] != 0 || want[i*cols+1] != 0) {
				t.Fatalf("row %d has no ones and the sum %v", i, want[i*cols:(i+1)*cols])
			}
		}
	})
}

// An edge exchanged for another is two cells: it may turn a vector of a row's sum
// around, 2 C, and an undirected one does that in two rows. That is what Replace
// states, it is attained, and the bound of one edge more or less would not hold.
func TestAnExchangedEdgeMovesTwice(t *testing.T) {
	for _, undirected := range []bool{false, true} {
		m := gap
		m.Undirected = undirected
		one, err := m.Sensitivity()
		if err != nil {
			t.Fatal(err)
		}
		m.Neighbouring = privacy.Replace
		two, err := m.Sensitivity()
		if err != nil || two != 2*one {
			t.Fatalf("one edge moves %g, an exchange %g (%v)", one, two, err)
		}
		// Edge 0-1 for 0-2, vectors of 1 and 2 opposed.
		x := []float64{1, 0, 1, 0, -1, 0, 1, 0}
		before, after := matrix("0100", "0000", "0000", "0000"), matrix("0010", "0000", "0000", "0000")
		if undirected {
			before, after = matrix("0100", "1000", "0000", "0000"), matrix("0010", "0000", "1000", "0000")
		}
		moved := mechanismtest.Apart(exactly(t, m, x, 2, before), exactly(t, m, x, 2, after))
		if moved > two || moved <= one {
			t.Errorf("undirected %v: an exchange moves sums by %g, stated %g, and %g for one edge", undirected, moved, two, one)
		}
		if !undirected && moved < two*(1-1e-9) {
			t.Errorf("an exchange moves sums by %g, stated %g", moved, two)
		}
	}
	// Random exchanges never exceed it, for any weights.
	s := rng.Seed(9).Stream("exchange")
	for trial := range 150 {
		m := gap
		m.Neighbouring, m.Weights = privacy.Replace, []Weights{SumWeights, RightWeights, BothWeights}[trial%3]
		if m.Weights != SumWeights {
			m.Clamp = 1 + s.IntN(3)
		}
		a := scattered(&s, 5, 5, 0.4)
		if a.Edges() == 0 || a.Edges() == 25 {
			continue
		}
		x := make([]float64, 10)
		for i := range x {
			x[i] = s.NormFloat64()
		}
		w := ones{a: a, next: int64(s.IntN(int(a.Edges())))}
		less := without(a, w.cell())
		free := int64(s.IntN(25))
		for slices.Contains(a.Row(int(free/5)), int32(free%5)) {
			free = (free + 1) % 25
		}
		b := newBuilder(5, 5, 0)
		for cell := range int64(25) {
			if cell == free || slices.Contains(less.Row(int(cell/5)), int32(cell%5)) {
				b.add(cell)
			}
		}
		want, err := m.Sensitivity()
		if err != nil {
			t.Fatal(err)
		}
		if moved := mechanismtest.Apart(exactly(t, m, x, 2, a), exactly(t, m, x, 2, b.finish())); moved > want {
			t.Errorf("%s, clamp %d: an exchange moves sums by %g, stated %g", m.Weights, m.Clamp, moved, want)
		}
	}
}

// The two views of one step, users from items and items from users, both see an
// edge: together they move by sqrt(2) of one, and so there are two releases on
// record, one a view; counting one a layer, as the papers do, is half of them.
func TestTwoViewsAreTwoReleases(t *testing.T) {
	a := matrix("110", "011", "101", "001")
	x := []float64{1, 0, 0, 1, 1, 0}             // of the items
	y := []float64{0, 1, 1, 0, 0, 1, 1, 0}       // of the users
	one := mechanismtest.Must(gap.Sensitivity()) // of a view
	for w := (&ones{a: a}); w.next < a.Edges(); w.next++ {
		b := without(a, w.cell())
		users := mechanismtest.Apart(exactly(t, gap, x, 2, a), exactly(t, gap, x, 2, b))
		items := mechanismtest.Apart(exactly(t, gap, y, 2, a.Transpose()), exactly(t, gap, y, 2, b.Transpose()))
		if joint := math.Hypot(users, items); math.Abs(joint-math.Sqrt2*one) > 1e-9 {
			t.Errorf("edge %d moves both views by %g, want sqrt(2) times %g", w.next, joint, one)
		}
	}
	const layers, steps = 3, 4
	m := gap
	m.Sigma = 2
	g, l := openGAP[float64](t, m)
	for step := range uint64(steps) {
		for layer := range uint64(layers) {
			if err := g.Aggregate(make([]float64, 8), x, 2, a, 0, 0, step, layer); err != nil {
				t.Fatal(err)
			}
			if err := g.Aggregate(make([]float64, 6), y, 2, a.Transpose(), 1, 0, step, layer); err != nil {
				t.Fatal(err)
			}
		}
	}
	e := l.Entries()
	if len(e) != 1 || e[0].Count != 2*layers*steps || e[0].Count == layers*steps {
		t.Errorf("recorded %v, want %d releases", e, 2*layers*steps)
	}
	if got, ok := e[0].Event.(privacy.Gaussian); !ok || got.Sigma != 2 || got.Sensitivity != one || got.Unit != privacy.Edge {
		t.Errorf("event %v", e[0].Event)
	}
}
