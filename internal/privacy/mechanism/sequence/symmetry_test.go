package sequence

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism/mechanismtest"
)

var variants = []Variant{SDPPaper, SDPFixed, RR}

// rowLaw is the law of the shipped sampler for one row at e^eps = x.
func rowLaw(t testing.TB, v Variant, items int, x *big.Rat, in law.Row) law.Law[law.Row] {
	t.Helper()
	m := Mechanism{Variant: v, Epsilon: 1, Items: items, Length: len(in)}
	mech := sequenceMechanism(m, false, x)
	l, err := law.Enumerate(func(c *law.Choices) law.Row { return mech(in, c) }, law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// mapped is the law of what f makes of an output.
func mapped(l law.Law[law.Row], f func(law.Row) law.Row) law.Law[law.Row] {
	out := law.Law[law.Row]{}
	for row, p := range l {
		y := f(row)
		if out[y] == nil {
			out[y] = new(big.Rat)
		}
		out[y].Add(out[y], p)
	}
	return out
}

// Items have no order: renaming them in the row renames them in the law, exactly.
// Columns have one, except for RR: there a permutation of the cells goes through too.
func TestSequencesDoNotKnowNames(t *testing.T) {
	x := big.NewRat(5, 2)
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(variants).Draw(t, "variant")
		items := rapid.IntRange(1, 4).Draw(t, "items")
		perm := rapid.Permutation(mechanismtest.UpTo(items)).Draw(t, "names")
		rename := func(row law.Row) law.Row {
			b := []byte(row)
			for i, id := range b {
				if id > 0 {
					b[i] = byte(perm[id-1] + 1)
				}
			}
			return law.Row(b)
		}
		in := drawRow(t, items, rapid.IntRange(1, 3).Draw(t, "length"))
		want := mapped(rowLaw(outer, v, items, x, in), rename)
		if d := mechanismtest.Difference(rowLaw(outer, v, items, x, rename(in)), want); d != "" {
			t.Fatalf("%s of %v and of %v: %s", v, in, rename(in), d)
		}
		order := rapid.Permutation(mechanismtest.UpTo(len(in))).Draw(t, "columns")
		shuffle := func(row law.Row) law.Row {
			b := make([]byte, len(row))
			for i, j := range order {
				b[i] = row[j]
			}
			return law.Row(b)
		}
		if v == RR {
			if d := mechanismtest.Difference(rowLaw(outer, v, items, x, shuffle(in)),
				mapped(rowLaw(outer, v, items, x, in), shuffle)); d != "" {
				t.Fatalf("rr of %v and of %v: %s", in, shuffle(in), d)
			}
		}
	})
	swap := func(row law.Row) law.Row { return law.Row([]byte{row[1], row[0]}) }
	swapped := mapped(rowLaw(t, SDPPaper, 2, x, mechanismtest.RowOf(0, 1)), swap)
	if d := mechanismtest.Difference(rowLaw(t, SDPPaper, 2, x, mechanismtest.RowOf(1, 0)), swapped); d == "" {
		t.Error("the paper's mechanism does not see the order of the cells")
	}
}

// drawRow draws a row of distinct items and zeros.
func drawRow(t *rapid.T, items, length int) law.Row {
	perm := rapid.Permutation(mechanismtest.UpTo(items)).Draw(t, "ids")
	ids := make([]int, length)
	for i := range ids {
		if i < items && rapid.Bool().Draw(t, "item") {
			ids[i] = perm[i] + 1
		}
	}
	return mechanismtest.RowOf(ids...)
}

// The law of the first cell is randomised response; a full row comes out as it went
// in if every cell keeps what it has, with the product of the keep probabilities;
// and with RR the whole law is the product over the cells.
func TestFirstCellsAndWholeRows(t *testing.T) {
	x := big.NewRat(7, 3)
	for _, v := range variants {
		for _, in := range []law.Row{mechanismtest.RowOf(1, 2), mechanismtest.RowOf(0, 2),
			mechanismtest.RowOf(3, 1, 2)} {
			const items = 4
			m := Mechanism{Variant: v, Epsilon: mechanismtest.Log(x), Items: items, Length: len(in)}
			l := rowLaw(t, v, items, x, in)
			first := mapped(l, func(row law.Row) law.Row { return row[:1] })
			// The tokens of SDPFixed come out as one 0: of Length of them one keeps its place.
			n := big.NewRat(int64(m.others(0)), 1)
			total := new(big.Rat).Add(x, n)
			for id := range items + 1 {
				want := new(big.Rat).Inv(total)
				switch zeros := int64(len(in)); {
				case v == SDPFixed && id == 0 && in[0] == 0:
					want.Mul(want, new(big.Rat).Add(x, big.NewRat(zeros-1, 1)))
				case v == SDPFixed && id == 0:
					want.Mul(want, big.NewRat(zeros, 1))
				case byte(id) == in[0]:
					want.Mul(want, x)
				}
				if got := first[mechanismtest.RowOf(id)]; got == nil || got.Cmp(want) != 0 {
					t.Errorf("%s of %v: the first cell is %d with %v, want %s", v, in, id, got, want)
				}
			}
			if in[0] == 0 {
				continue
			}
			kept, whole := 1.0, new(big.Rat).SetInt64(1)
			for c := range in {
				k := c
				if v == RR {
					k = 0
				}
				kept *= m.Keep(k)
				whole.Mul(whole, new(big.Rat).Quo(x, new(big.Rat).Add(x, new(big.Rat).SetInt(new(big.Int).SetUint64(m.others(k))))))
			}
			if l[in].Cmp(whole) != 0 || math.Abs(mechanismtest.Float64(l[in])/kept-1) > 1e-13 {
				t.Errorf("%s: %v stays with %s, want %s (%g)", v, in, l[in], whole, kept)
			}
			if v != RR {
				continue
			}
			for out, p := range l {
				product := big.NewRat(1, 1)
				for c := range in {
					q := new(big.Rat).Inv(total)
					if out[c] == in[c] {
						q.Mul(q, x)
					}
					product.Mul(product, q)
				}
				if p.Cmp(product) != 0 {
					t.Errorf("rr of %v: %v has %s, want %s", in, out, p, product)
				}
			}
		}
	}
}

// apartBy is the number of cells in which two rows differ.
func apartBy(a, b law.Row) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// Groups and post-processing: rows that differ in k cells are within x^k; what is
// left after columns are cut away, sorted or counted shows no more than the whole,
// and what is done to both of a pair alike brings nothing new.
func TestSequenceGroupsAndPostProcessing(t *testing.T) {
	const items, length = 3, 3
	x := big.NewRat(2, 1)
	after := map[string]func(law.Row) law.Row{
		"first column dropped": func(r law.Row) law.Row { return r[1:] },
		"last column dropped":  func(r law.Row) law.Row { return r[:length-1] },
		"a set": func(r law.Row) law.Row { // the items without their order
			b := []byte{0, 0, 0, 0}
			for _, id := range []byte(r) {
				b[id]++
			}
			return law.Row(b)
		},
		"zeros counted": func(r law.Row) law.Row {
			n := byte(0)
			for _, id := range []byte(r) {
				if id == 0 {
					n++
				}
			}
			return law.Row([]byte{n})
		},
		"constant": func(law.Row) law.Row { return "" },
	}
	for _, v := range []Variant{SDPFixed, RR} {
		laws := map[law.Row]law.Law[law.Row]{}
		for row := range law.Rows(items, length) {
			laws[row] = rowLaw(t, v, items, x, row)
		}
		reached := map[int]bool{}
		for a, p := range laws {
			for b, q := range laws {
				k := apartBy(a, b)
				if k == 0 {
					continue
				}
				worst, _ := p.Worst(q)
				if worst.Cmp(law.Power(x, k)) > 0 {
					t.Fatalf("%s: %v and %v, %d cells apart, show with %s", v, a, b, k, worst)
				}
				if worst.Cmp(law.Power(x, k)) == 0 {
					reached[k] = true
				}
				if k > 1 {
					continue // the many: enough above
				}
				for name, f := range after {
					less, _ := mapped(p, f).Worst(mapped(q, f))
					if less.Cmp(worst) > 0 || name == "constant" && less.Cmp(big.NewRat(1, 1)) != 0 {
						t.Fatalf("%s, %s: %v and %v show with %s, %s before", v, name, a, b, less, worst)
					}
				}
			}
		}
		if !reached[1] {
			t.Errorf("%s: one cell's ratio is not reached", v)
		}
	}
}

// More budget keeps more and tells more, through the whole law: the chance of the
// row itself grows, that of any one other falls in the end, and at x = 1 the row
// makes no difference.
func TestSequenceLawsInTheBudget(t *testing.T) {
	for _, v := range variants {
		in, far := mechanismtest.RowOf(1, 0, 2), mechanismtest.RowOf(3, 3, 3)
		if v != RR {
			far = mechanismtest.RowOf(2, 3, 0)
		}
		last, lastFar := new(big.Rat), big.NewRat(1, 1)
		for i, x := range []int64{1, 2, 4, 16, 256, 1 << 20} {
			l := rowLaw(t, v, 3, big.NewRat(x, 1), in)
			if i > 0 && (l[in].Cmp(last) <= 0 || i > 2 && l[far].Cmp(lastFar) >= 0) {
				t.Errorf("%s, x %d: the row has %s, %v has %s", v, x, l[in], far, l[far])
			}
			last, lastFar = l[in], l[far]
			if x == 1<<20 && mechanismtest.Float64(l[in]) < 1-1e-4 {
				t.Errorf("%s: at x = 2^20 the row stays with %g", v, mechanismtest.Float64(l[in]))
			}
		}
	}
	// Two laws with budgets e and f in a row, RR over items and 0, are one of budget
	// RR twice is RR: kept by both, or sent back by the second.
	m := func(eps float64) Mechanism { return Mechanism{Variant: RR, Epsilon: eps, Items: 9, Length: 1} }
	for _, pair := range [][2]float64{{1, 1}, {0.2, 3}, {5, 8}} {
		k, l := m(pair[0]).Keep(0), m(pair[1]).Keep(0)
		both := k*l + (1-k)*(1-l)/9
		eps := math.Log(both / ((1 - both) / 9))
		if got := m(eps).Keep(0); math.Abs(got-both) > 1e-14 || eps >= min(pair[0], pair[1]) {
			t.Errorf("%v in a row keep %g, budget %g keeps %g", pair, both, eps, got)
		}
	}
}
