package exact_test

import (
	"encoding/json"
	"iter"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy/audit/exact"
)

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

// sdp is the mechanism of the PriCDSR paper (figure 2, equation 1) over m items,
// written from the print, with weights and not with the samplers of a mechanism. A
// variant changes what is done about zeros:
//
//	"paper"   nothing: zero is never forbidden, never exchanged
//	"named"   zeros get names by a random permutation and are items
//	"column"  zeros get the name of their column
//	"rank"    zeros get names in the order in which they stand
//	"few"     so do they, and there are no more names than zeros
//	"first", "last" a drawn zero is exchanged with the first or last later one
//	"still"   no exchange: a drawn item that stands later stays there
//	"forget"  the drawn ids are not remembered
func sdp(m int, x *big.Rat, variant string) exact.Mechanism[exact.Row, exact.Row] {
	one, none := rat(1, 1), new(big.Rat)
	return func(in exact.Row, c *exact.Choices) exact.Row {
		row := make([]int, len(in))
		ids := m + 1
		for i := range row {
			row[i] = int(in[i])
		}
		named := variant == "named" || variant == "column" || variant == "rank" || variant == "few"
		if named {
			ids += len(row)
			if variant == "few" {
				ids = m + 1 + strings.Count(string(in), "\x00")
			}
			names := make([]int, len(row))
			for i := range names {
				names[i] = m + 1 + i
			}
			for i, at := 0, 0; i < len(row); i++ {
				if row[i] != 0 {
					continue
				}
				k := i
				if variant == "rank" || variant == "few" {
					k = at
				} else if variant == "named" {
					k = c.Below(len(names))
				}
				row[i] = names[k]
				if at++; variant == "named" {
					names = slices.Delete(names, k, k+1)
				}
			}
		}
		written := make([]bool, ids)
		for l := range row {
			weights := make([]*big.Rat, ids)
			for id := range weights {
				switch {
				case named && id == 0, written[id]:
					weights[id] = none
				default:
					weights[id] = one
				}
			}
			weights[row[l]] = x
			drawn := c.Choose(weights...)
			if drawn != row[l] {
				later := slices.Index(row[l+1:], drawn)
				if variant == "last" && drawn == 0 {
					for k, id := range row[l+1:] {
						if id == 0 {
							later = k
						}
					}
				}
				zeros := drawn != 0 || variant == "first" || variant == "last"
				if later >= 0 && zeros && variant != "still" {
					row[l+1+later] = row[l]
				}
				row[l] = drawn
			}
			if drawn != 0 && variant != "forget" {
				written[drawn] = true
			}
		}
		out := make([]int, len(row))
		for i, id := range row {
			if id <= m {
				out[i] = id
			}
		}
		return exact.RowOf(out...)
	}
}

// The laws that fractions in another language gave.
func TestLawsOfThePaperAreTheGoldens(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../../../testdata/goldens/pricdsr_mechanism_laws.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Mechanism string
			M, L      int
			X         int64
			Row       []int
			Law       map[string]string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) != 32 {
		t.Fatalf("%d laws, %v", len(file.Cases), err)
	}
	variants := map[string]string{"paper": "paper", "corrected": "named"}
	other := map[string]string{"paper": "named", "corrected": "paper"}
	for _, c := range file.Cases {
		law := func(variant string) map[string]string {
			l, err := exact.Enumerate(func(s *exact.Choices) exact.Row { return sdp(c.M, rat(c.X, 1), variant)(exact.RowOf(c.Row...), s) }, exact.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]string{}
			for out, p := range l {
				texts[out.String()] = p.RatString()
			}
			return texts
		}
		if got := law(variants[c.Mechanism]); !same(got, c.Law) {
			t.Errorf("%s %v over %d items: %v, want %v", c.Mechanism, c.Row, c.M, got, c.Law)
		}
		if slices.Contains(c.Row, 0) && same(law(other[c.Mechanism]), c.Law) {
			t.Errorf("%v over %d items: the laws do not tell the two mechanisms apart", c.Row, c.M)
		}
	}
}

func same(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// worst is the largest ratio of each class; nil for an unbounded one, absent for one
// without pairs.
func worst(t *testing.T, m, length int, x *big.Rat, variant string) map[exact.SequenceClass]*big.Rat {
	t.Helper()
	var classes []exact.Class[exact.Row]
	for _, c := range exact.SequenceClasses() {
		classes = append(classes, exact.Class[exact.Row]{Name: string(c), Pairs: exact.SequencePairs(c, m, length), Claim: x})
	}
	found, err := exact.Verify(sdp(m, x, variant), classes, exact.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", variant, err)
	}
	list := map[exact.SequenceClass]*big.Rat{}
	for _, f := range found {
		if f.Pairs > 0 {
			list[exact.SequenceClass(f.Class)] = f.Worst
		}
	}
	return list
}

// Theorem 1 of the paper class by class: value changes and clear swaps meet x, the
// three classes with zeros in the way meet x²; with named zeros all meet x.
func TestRatiosOfTheSevenClasses(t *testing.T) {
	single := map[exact.SequenceClass]bool{exact.ItemItem: true, exact.ZeroItem: true, exact.SwapFull: true, exact.SwapClear: true}
	seen := map[exact.SequenceClass]bool{}
	for _, c := range []struct {
		m, length int
		x         *big.Rat
		named     bool
	}{{1, 2, rat(3, 1), true}, {2, 2, rat(3, 1), true}, {3, 2, rat(5, 2), true}, {2, 3, rat(3, 1), true}, {3, 3, rat(2, 1), true}, {4, 3, rat(3, 1), false}, {2, 4, rat(7, 3), false}, {3, 4, rat(3, 1), false}} {
		square := exact.Power(c.x, 2)
		for class, got := range worst(t, c.m, c.length, c.x, "paper") {
			want := square
			if single[class] {
				want = c.x
			}
			if seen[class] = true; got == nil || got.Cmp(want) != 0 {
				t.Errorf("%d items, length %d, %s: %v, want %v", c.m, c.length, class, got, want)
			}
		}
		if !c.named {
			continue
		}
		for class, got := range worst(t, c.m, c.length, c.x, "named") {
			if got == nil || got.Cmp(c.x) != 0 {
				t.Errorf("zeros with names, %d items, length %d, %s: %v, want %v", c.m, c.length, class, got, c.x)
			}
		}
	}
	if len(seen) != len(exact.SequenceClasses()) {
		t.Errorf("classes seen: %v", seen)
	}
}

// Mechanisms that look right and are not: each exceeds x in a class that the sound
// one keeps, and only those that can write an id twice are unbounded or leave it.
func TestWrongMechanismsAreFound(t *testing.T) {
	x := rat(3, 1)
	for variant, c := range map[string]struct {
		m, length int
		class     exact.SequenceClass
		above     int // powers of x that the worst ratio exceeds
	}{
		"few":   {2, 3, exact.ZeroItem, 1},
		"first": {2, 4, exact.ZeroItem, 2},
		"last":  {2, 4, exact.ZeroItem, 2},
		"still": {3, 3, exact.SwapFull, 1},
	} {
		got, ok := worst(t, c.m, c.length, x, variant)[c.class]
		if !ok || got != nil && got.Cmp(exact.Power(x, c.above)) <= 0 {
			t.Errorf("%s: %s has worst ratio %v, want above x^%d", variant, c.class, got, c.above)
		}
	}
}

// The names of zeros are not in the output, and the mechanism treats all names alike:
// any naming without repetition has one and the same law, random or not. A mechanism
// that forgets what it wrote has another one.
func TestNamesDoNotMatter(t *testing.T) {
	x := rat(5, 2)
	for _, size := range [][2]int{{1, 2}, {2, 3}, {3, 3}} {
		m, forgotten := size[0], 0
		for in := range exact.Rows(m, size[1]) {
			law := func(variant string) exact.Law[exact.Row] {
				l, err := exact.Enumerate(func(c *exact.Choices) exact.Row { return sdp(m, x, variant)(in, c) }, exact.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				return l
			}
			random := law("named")
			for _, variant := range []string{"column", "rank"} {
				if d := law(variant).Difference(random); d != "" {
					t.Errorf("%v, names by %s: %s", in, variant, d)
				}
			}
			if law("forget").Difference(law("paper")) != "" {
				forgotten++
			}
			if strings.Contains(string(in), "\x00") && law("paper").Difference(random) == "" {
				t.Errorf("%v: zeros with names and without have one law", in)
			}
		}
		if forgotten == 0 {
			t.Errorf("%v: the laws do not show a mechanism that forgets", size)
		}
	}
}

// Each pair of swapped items alone: x² where the criterion of the specification says
// that a zero can come to stand in front of both, x elsewhere.
func TestCriterionPairByPair(t *testing.T) {
	const m, length = 3, 4
	x := rat(3, 1)
	counts := map[bool]int{}
	for _, class := range exact.SequenceClasses() {
		for a, b := range exact.SequencePairs(class, m, length) {
			i := 0
			for a[i] == b[i] {
				i++
			}
			j := length - 1
			for a[j] == b[j] {
				j--
			}
			if i == j || a[i] == 0 || a[j] == 0 {
				continue // a value, or a zero
			}
			front := zeroInFront(a, i, j)
			if front != (class == exact.SwapFront || class == exact.SwapAfter) {
				t.Errorf("%v and %v are %q", a, b, class)
			}
			found, err := exact.Verify(sdp(m, x, "paper"), []exact.Class[exact.Row]{{Name: "one pair", Pairs: exact.Pairs([]exact.Row{a, b}), Claim: x}}, exact.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			want := x
			if front {
				want = exact.Power(x, 2)
			}
			if counts[front]++; found[0].Worst.Cmp(want) != 0 {
				t.Errorf("%v against %v: %v, want %v", a, b, found[0].Worst, want)
			}
		}
	}
	if counts[true] == 0 || counts[false] == 0 {
		t.Errorf("pairs by criterion: %v", counts)
	}
}

// zeroInFront: some zero outside the pair has at most as many members of the pair
// before it as other items after it.
func zeroInFront(a exact.Row, i, j int) bool {
	for z := range len(a) {
		members, others := 0, 0
		for c := range len(a) {
			if c < z && (c == i || c == j) {
				members++
			}
			if c > z && a[c] != 0 && c != i && c != j {
				others++
			}
		}
		if a[z] == 0 && members <= others {
			return true
		}
	}
	return false
}

// The counterexamples as printed, with their probabilities at x = 3.
func TestCounterexamples(t *testing.T) {
	for _, c := range []struct {
		m       int
		a, b, o exact.Row
		p, q    *big.Rat // of the output; nil: only their ratio, 9
	}{
		{1, exact.RowOf(0, 1), exact.RowOf(1, 0), exact.RowOf(0, 1), rat(9, 16), rat(1, 16)},
		{2, exact.RowOf(0, 1, 2), exact.RowOf(0, 2, 1), exact.RowOf(1, 0, 2), rat(9, 80), rat(1, 80)},
		{3, exact.RowOf(1, 0, 2, 3), exact.RowOf(2, 0, 1, 3), exact.RowOf(3, 2, 0, 1), nil, nil},
	} {
		at := func(in exact.Row) *big.Rat {
			law, err := exact.Enumerate(func(s *exact.Choices) exact.Row { return sdp(c.m, rat(3, 1), "paper")(in, s) }, exact.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return law[c.o]
		}
		p, q := at(c.a), at(c.b)
		if ratio := new(big.Rat).Quo(p, q); c.p != nil && (p.Cmp(c.p) != 0 || q.Cmp(c.q) != 0) || ratio.Cmp(rat(9, 1)) != 0 && ratio.Cmp(rat(1, 9)) != 0 {
			t.Errorf("%v from %v and %v: %v and %v", c.o, c.a, c.b, p, q)
		}
	}
}

// What one epsilon does not cover: a removed interaction shifts j cells and costs x^j,
// two unlike rows x^L; and candidates taken from the data are private for no epsilon.
func TestBeyondOneCell(t *testing.T) {
	x := rat(3, 1)
	for _, c := range []struct {
		m, power int
		a, b     exact.Row
	}{
		{3, 2, exact.RowOf(1, 2, 3), exact.RowOf(0, 1, 3)}, {3, 3, exact.RowOf(1, 2, 3), exact.RowOf(0, 1, 2)},
		{4, 2, exact.RowOf(1, 2), exact.RowOf(3, 4)}, {6, 3, exact.RowOf(1, 2, 3), exact.RowOf(4, 5, 6)},
	} {
		found, err := exact.Verify(sdp(c.m, x, "paper"), []exact.Class[exact.Row]{{Name: "rows", Pairs: exact.Pairs([]exact.Row{c.a, c.b}), Claim: exact.Power(x, c.power)}}, exact.Limits{})
		if err != nil || !found[0].Tight() {
			t.Errorf("%v, want x^%d, %v", found, c.power, err)
		}
	}
	public := sdp(4, x, "named")
	fromData := func(in exact.Row, c *exact.Choices) exact.Row { // items 1 and 2 are in other rows
		seen := 2
		for _, id := range []byte(in) {
			seen = max(seen, int(id))
		}
		return sdp(seen, x, "named")(in, c)
	}
	pair := func() iter.Seq2[exact.Row, exact.Row] {
		return exact.Pairs([]exact.Row{exact.RowOf(0, 3), exact.RowOf(0, 1)})
	}
	for name, m := range map[string]exact.Mechanism[exact.Row, exact.Row]{"public": public, "from the data": fromData} {
		found, err := exact.Verify(m, []exact.Class[exact.Row]{{Name: name, Pairs: pair(), Claim: x}}, exact.Limits{})
		if err != nil || found[0].Holds() != (name == "public") || (found[0].Worst == nil) != (name != "public") {
			t.Errorf("%v, %v", found, err)
		}
	}
}

// Without privacy loss the input does not matter, and the output is a uniform draw
// step by step; with any odds the row stays as it is with the product of the steps.
func TestEndsOfThePrivacyParameter(t *testing.T) {
	const m, length = 3, 3
	law := func(in exact.Row, x *big.Rat) exact.Law[exact.Row] {
		l, err := exact.Enumerate(func(c *exact.Choices) exact.Row { return sdp(m, x, "paper")(in, c) }, exact.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := law(exact.RowOf(0, 0, 0), rat(1, 1))
	for in := range exact.Rows(m, length) {
		if d := law(in, rat(1, 1)).Difference(first); d != "" {
			t.Errorf("without odds, %v: %s", in, d)
		}
		x := exact.Power(rat(10, 1), 30)
		keep, items := rat(1, 1), int64(0)
		for _, id := range []byte(in) {
			keep.Mul(keep, new(big.Rat).Quo(x, new(big.Rat).Add(x, rat(m-items, 1))))
			if id != 0 {
				items++
			}
		}
		if got := law(in, x)[in]; got.Cmp(keep) != 0 {
			t.Errorf("%v stays with %v, want %v", in, got, keep)
		}
	}
}
