package protect

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"privrec/internal/dataset/slate"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// chiSquare fails where counts are not of the law: false alarm 1e-9.
func chiSquare(t *testing.T, what string, counts map[string]int, law map[string]float64) {
	t.Helper()
	n, sum := 0, 0.0
	for k, c := range counts {
		if law[k] == 0 {
			t.Errorf("%s: %d times %q, which cannot be", what, c, k)
		}
		n += c
	}
	for k, p := range law {
		want := p * float64(n)
		if want < 5 {
			t.Fatalf("%s: %g of %q expected: too few for chi-square", what, want, k)
		}
		sum += (float64(counts[k]) - want) * (float64(counts[k]) - want) / want
	}
	if p := (distuv.ChiSquared{K: float64(len(law) - 1)}).Survival(sum); p < 1e-9 {
		t.Errorf("%s: chi-square %.1f, p %g; counts %v", what, sum, p, counts)
	}
}

func key(items ...int32) string {
	s := ""
	for _, i := range items {
		s += string(rune('a' + i))
	}
	return s
}

// pairsLaw is the law of two draws without replacement by weight, of which none of taken.
func pairsLaw(weights []float64, taken ...int32) map[string]float64 {
	law := map[string]float64{}
	total := 0.0
	for i, w := range weights {
		if !slices.Contains(taken, int32(i)) {
			total += w
		}
	}
	for i, w := range weights {
		for j, v := range weights {
			if i != j && w > 0 && v > 0 && !slices.Contains(taken, int32(i)) && !slices.Contains(taken, int32(j)) {
				law[key(int32(i), int32(j))] = w / total * v / (total - w)
			}
		}
	}
	return law
}

// Two items drawn for a slate follow the law of draws without replacement among what the
// slate has not: of every sampler, by rejection and where the items left are listed.
func TestSamplersFollowTheLaw(t *testing.T) {
	const n = 20_000
	table := func(counts ...uint64) urn {
		a, err := newAlias(counts)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		name    string
		urn     urn
		weights []float64
	}{
		{"uniform", evenly{0, 1, 2, 3, 4, 5, 6, 7}, []float64{1, 1, 1, 1, 1, 1, 1, 1}},
		{"uniform, of a range", span(8), []float64{1, 1, 1, 1, 1, 1, 1, 1}},
		{"popularity", table(4, 1, 5, 9, 2, 6, 0, 3), []float64{4, 1, 5, 9, 2, 6, 0, 3}},
		{"popularity, hardly anything but the slate", table(4, 1_000_000_000, 5, 9, 2, 6, 0, 3), []float64{4, 1_000_000_000, 5, 9, 2, 6, 0, 3}},
		{"in-batch", others{[]int32{0, 2, 2, 1, 3, 4, 4, 4, 5, 7, 7, 2}, [2]int{0, 0}}, []float64{1, 1, 3, 1, 3, 1, 0, 2}},
		{"in-batch, the victim's left out", others{[]int32{0, 2, 2, 1, 3, 4, 4, 4, 5, 7, 7, 2}, [2]int{4, 7}}, []float64{1, 1, 3, 0, 1, 1, 0, 2}},
	} {
		counts := map[string]int{}
		x := distinct{marks: make([]uint32, 8)}
		s := rng.Seed(2).Stream("law " + c.name)
		for i := range uint64(n) {
			r := s.Sub(i)
			x.start([]int32{1, 6})
			a, okA := x.draw(c.urn, dice{&r})
			b, okB := x.draw(c.urn, dice{&r})
			if !okA || !okB {
				t.Fatalf("%s: no item left", c.name)
			}
			counts[key(a, b)]++
		}
		chiSquare(t, c.name, counts, pairsLaw(c.weights, 1, 6))
	}
}

// An urn without items that the slate has not is found out, not waited for.
func TestAnUrnRunsOut(t *testing.T) {
	a, err := newAlias([]uint64{0, 3, 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	none, err := newAlias([]uint64{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []urn{evenly{1, 2}, a, others{[]int32{1, 1, 2, 0}, [2]int{3, 4}}, evenly{}, none, others{[]int32{1}, [2]int{0, 1}}} {
		x := distinct{marks: make([]uint32, 3)}
		s := rng.Seed(1).Stream("out")
		x.start([]int32{2})
		if item, ok := x.draw(u, dice{&s}); ok != !u.empty() || ok && item != 1 {
			t.Errorf("%v: drew %d (%v)", u, item, ok)
		}
		if item, ok := x.draw(u, dice{&s}); ok {
			t.Errorf("%v: drew %d where nothing is left", u, item)
		}
	}
	if _, err := newAlias([]uint64{math.MaxUint64, 1}); err == nil {
		t.Error("counts beyond 2^64 were taken")
	}
	if _, err := newAlias([]uint64{math.MaxUint64 / 2, 1, 1}); err == nil {
		t.Error("counts that no 64 bits draw exactly were taken")
	}
}

// The alias table's columns add up to exactly the counts.
func TestAliasIsExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		counts := rapid.SliceOfN(rapid.Uint64Range(0, 1<<rapid.IntRange(1, 50).Draw(r, "bits")), 1, 200).Draw(r, "counts")
		a, err := newAlias(counts)
		if err != nil {
			r.Fatal(err)
		}
		n := uint64(len(a.items))
		got := make([][2]uint64, len(counts)) // high, low
		add := func(item int32, w uint64) {
			lo, carry := bits.Add64(got[item][1], w, 0)
			got[item] = [2]uint64{got[item][0] + carry, lo}
		}
		for i := range a.items {
			if a.upTo[i] > a.total {
				r.Fatalf("column %d: %d of %d", i, a.upTo[i], a.total)
			}
			add(a.items[i], a.upTo[i])
			add(a.items[a.other[i]], a.total-a.upTo[i])
		}
		for item, c := range counts {
			hi, lo := bits.Mul64(c, n)
			if got[item] != [2]uint64{hi, lo} {
				r.Fatalf("item %d of count %d has %v of %d columns", item, c, got[item], n)
			}
		}
	})
}

// slateOf is a chooser's slate in the plane: vectors at these angles in degrees, NaN for
// none, as items 0, 1, 2, ...
func slateOf(angles ...float64) (vectors [][]tensor.Float, items []int32) {
	for i, a := range angles {
		v := []tensor.Float{tensor.Float(2 * math.Cos(a*math.Pi/180)), tensor.Float(2 * math.Sin(a*math.Pi/180))}
		if math.IsNaN(a) {
			v = nil
		}
		vectors, items = append(vectors, v), append(items, int32(i))
	}
	return vectors, items
}

// dissimilar takes the positions farthest from the reference, similar the nearest, ties
// by position; an item without vector is at a right angle to everything.
func TestDirection(t *testing.T) {
	nan := math.NaN()
	vectors, items := slateOf(10, 90, 170, nan, 40, 100)
	east := []float64{3, 0}
	for _, c := range []struct {
		how       string
		count     int
		reference []float64
		want      []int32
	}{
		{SelectDissimilar, 1, east, []int32{2}}, {SelectDissimilar, 2, east, []int32{2, 5}}, {SelectDissimilar, 4, east, []int32{1, 2, 3, 5}},
		{SelectSimilar, 1, east, []int32{0}}, {SelectSimilar, 2, east, []int32{0, 4}}, {SelectSimilar, 3, []float64{0, -1}, []int32{0, 2, 3}},
		{SelectDissimilar, 3, []float64{0, 0}, []int32{0, 1, 2}}, {SelectSimilar, 6, east, []int32{0, 1, 2, 3, 4, 5}},
	} {
		o := &Options{Method: Method{Select: c.how, Tau: DefaultTau}, Vectors: vectors}
		got := newChooser(o, len(items), c.count).choose(dice{}, items, c.reference)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %d of %v: %v, want %v", c.how, c.count, c.reference, got, c.want)
		}
	}
	// The reference is the mean of the past behaviour, or of the slate.
	set := &slate.Set{Vocab: 10, Users: []string{"a"}, Logged: [][]int32{{8, 9}}, Train: &slate.Pairs{}, Valid: &slate.Pairs{}}
	set.Test = &slate.Pairs{T: 3, L: 2, Users: []int32{0}, Slates: []int32{4, 5, 6}, Behaviours: []int32{7, slate.OOV}, Complete: []bool{false}}
	all, _ := slateOf(nan, nan, nan, nan, 0, 10, 90, 95, 0, 0)
	for reference, want := range map[string]int{ReferencePast: 0, ReferenceSlate: 2} { // farthest from item 7; from the middle of the three
		out, r, err := Slates(context.Background(), set.Test, Options{Method: Method{Select: SelectDissimilar, Reference: reference, Ratio: 0.3}, Pool: pool(t, set), Vectors: all})
		if err != nil || r.Blind != 0 || r.Replaced != 1 || out.Slates[want] == set.Test.Slates[want] {
			t.Errorf("%s: %v, %+v (%v)", reference, out.Slates, r, err)
		}
	}
	set.Test.Behaviours[0] = slate.OOV
	if _, r, err := Slates(context.Background(), set.Test, Options{Method: Method{Select: SelectDissimilar, Ratio: 0.3}, Pool: pool(t, set), Vectors: all}); err != nil || r.Blind != 1 {
		t.Errorf("a user without a past: %+v (%v)", r, err)
	}
}

// Positions drawn at random or by weight follow their law: chi-square over the sets of
// two of five, false alarm 1e-9. With a small tau the draw is the deterministic choice.
func TestPositionsFollowTheLaw(t *testing.T) {
	const n = 60_000
	vectors, items := slateOf(60, 84, 90, math.NaN(), 96)
	east := []float64{1, 0}
	for _, how := range Selections() {
		weights := []float64{1, 1, 1, 1, 1}
		for i, v := range vectors {
			cos := 0.0
			if v != nil {
				cos = float64(v[0]) / 2
			}
			switch how {
			case SelectSimilar:
				weights[i] = math.Exp(cos / 0.3)
			case SelectDissimilar:
				weights[i] = math.Exp(-cos / 0.3)
			}
		}
		law := map[string]float64{}
		for k, p := range pairsLaw(weights) {
			if k[0] > k[1] {
				k = string([]byte{k[1], k[0]})
			}
			law[k] += p
		}
		counts := map[string]int{}
		c := newChooser(&Options{Method: Method{Select: how, Weighted: true, Tau: 0.3}, Vectors: vectors}, 5, 2)
		s := rng.Seed(4).Stream("positions " + how)
		for i := range uint64(n) {
			r := s.Sub(i)
			at := c.choose(dice{&r}, items, east)
			counts[key(at...)]++
		}
		chiSquare(t, how, counts, law)
	}
	sharp := newChooser(&Options{Method: Method{Select: SelectDissimilar, Weighted: true, Tau: 1e-5}, Vectors: vectors}, 5, 2)
	s := rng.Seed(4).Stream("sharp")
	for range 100 {
		if at := sharp.choose(dice{&s}, items, east); at[1] != 4 || at[0] != 2 && at[0] != 3 {
			t.Fatalf("positions %v at a tau of 1e-5", at)
		}
	}
}

// Randomised response over the catalogue: each position is kept with the probability
// that the report says, else any other token comes alike (chi-square, false alarm 1e-9);
// unknown items are one of them. One event of one position is in the ledger.
func TestRandomisedSlates(t *testing.T) {
	const vocab, n = 10, 30_000 // 6 items and the unknown one
	set := logged(5, vocab, 2, 1, 1)
	p := &slate.Pairs{T: 2, L: 0, Users: make([]int32, n), Complete: make([]bool, n)}
	for range n {
		p.Slates = append(p.Slates, 6, slate.OOV)
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Method: Method{Replace: ReplaceRR, Epsilon: 1.5}, Pool: pool(t, set), Ledger: l, Seed: 3, Part: "test"}
	out, r, err := Slates(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	keep := math.Exp(1.5) / (math.Exp(1.5) + 6)
	if math.Abs(r.Keep-keep) > 1e-15 || r.Catalogue != 7 || r.Epsilon != 1.5 || r.SlateEpsilon != 3 || r.Count != 2 {
		t.Errorf("report %+v, want to keep %g", r, keep)
	}
	counts, law := map[string]int{}, map[string]float64{}
	prob := func(x, y int32) float64 {
		if x == y {
			return keep
		}
		return (1 - keep) / 6
	}
	alphabet := []int32{slate.OOV, 4, 5, 6, 7, 8, 9}
	for _, x := range alphabet {
		for _, y := range alphabet {
			law[key(x, y)] = prob(6, x) * prob(slate.OOV, y)
		}
	}
	changed := int64(0)
	for i := range n {
		s := out.Slate(i)
		counts[key(s...)]++
		if s[0] != 6 {
			changed++
		}
		if s[1] != slate.OOV {
			changed++
		}
	}
	chiSquare(t, "rr", counts, law)
	if r.Replaced != changed {
		t.Errorf("%d positions replaced, the report says %d", changed, r.Replaced)
	}
	e := l.Entries()
	if len(e) != 1 || e[0].Event != (privacy.RandomizedResponse{Epsilon: 1.5, Categories: 7, Unit: privacy.Position}) || e[0].Count != 1 || e[0].Purpose != "slate positions, test" {
		t.Errorf("ledger %v", e)
	}
	if again, _, err := Slates(context.Background(), p, o); err != nil || !slices.Equal(again.Slates, out.Slates) {
		t.Errorf("other slates of the same seed (%v)", err)
	}
	secure, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	o.Ledger = secure
	if _, _, err := Slates(context.Background(), p, o); err == nil {
		t.Error(errors.New("seeded noise went into a ledger that is marked secure"))
	}
}
