package exact

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

// Laws that are known on paper.
func TestKnownLaws(t *testing.T) {
	for name, c := range map[string]struct {
		program func(c *Choices) int
		want    Law[int]
	}{
		"no choice":  {func(*Choices) int { return 7 }, Law[int]{7: rat(1, 1)}},
		"two dice":   {func(c *Choices) int { return c.Below(2) + c.Below(3) }, Law[int]{0: rat(1, 6), 1: rat(1, 3), 2: rat(1, 3), 3: rat(1, 6)}},
		"weights":    {func(c *Choices) int { return c.Choose(rat(1, 2), rat(0, 1), rat(3, 2)) }, Law[int]{0: rat(1, 4), 2: rat(3, 4)}},
		"dependent":  {func(c *Choices) int { return c.Below(1+c.Below(2)) * 5 }, Law[int]{0: rat(3, 4), 5: rat(1, 4)}},
		"rejection":  {func(c *Choices) int { return accepted(c, 6, func(i int) bool { return i != 2 && i != 5 }) }, Law[int]{0: rat(1, 4), 1: rat(1, 4), 3: rat(1, 4), 4: rat(1, 4)}},
		"first only": {func(c *Choices) int { return accepted(c, 6, func(i int) bool { return i == 0 }) }, Law[int]{0: rat(1, 1)}},
		"last only":  {func(c *Choices) int { return accepted(c, 6, func(i int) bool { return i == 5 }) }, Law[int]{5: rat(1, 1)}},
		"weighted rejection": {func(c *Choices) int {
			for {
				if i := c.Choose(rat(1, 1), rat(2, 1), rat(3, 1)); i != 1 {
					return i
				}
				c.Again()
			}
		}, Law[int]{0: rat(1, 4), 2: rat(3, 4)}},
		"rejection, then more": {func(c *Choices) int {
			a := accepted(c, 4, func(i int) bool { return i%2 == 1 })
			b := accepted(c, 4, func(i int) bool { return i != a })
			return 10*a + b
		}, Law[int]{10: rat(1, 6), 12: rat(1, 6), 13: rat(1, 6), 30: rat(1, 6), 31: rat(1, 6), 32: rat(1, 6)}},
	} {
		got, err := Enumerate(c.program, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := got.Difference(c.want); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if got.Total().Cmp(rat(1, 1)) != 0 {
			t.Errorf("%s: mass %s", name, got.Total())
		}
	}
}

func accepted(c *Choices, n int, ok func(int) bool) int {
	for {
		if i := c.Below(n); ok(i) {
			return i
		}
		c.Again()
	}
}

// Programs that cannot have a law are told so.
func TestEnumerateRefuses(t *testing.T) {
	runs := 0
	for name, c := range map[string]struct {
		program func(c *Choices) int
		limits  Limits
		want    string
	}{
		"endless":             {func(c *Choices) int { return accepted(c, 3, func(int) bool { return false }) }, Limits{}, "does not end"},
		"too deep":            {func(c *Choices) int { return endless(c) }, Limits{Depth: 9}, "more than 9 choices in one run"},
		"too deep by default": {func(c *Choices) int { return endless(c) }, Limits{}, "more than 10000 choices in one run"},
		"too many":            {func(c *Choices) int { return c.Below(9) + c.Below(9) + c.Below(9) }, Limits{Nodes: 50}, "more than 50 choices"},
		"no weight":           {func(c *Choices) int { return c.Choose(rat(0, 1)) }, Limits{}, "without weight"},
		"no outcome":          {func(c *Choices) int { return c.Choose() }, Limits{}, "without weight"},
		"negative weight":     {func(c *Choices) int { return c.Choose(rat(2, 1), rat(-1, 1)) }, Limits{}, "weight 1"},
		"nil weight":          {func(c *Choices) int { return c.Choose(rat(2, 1), nil) }, Limits{}, "weight 1"},
		"below 0":             {func(c *Choices) int { return c.Below(0) }, Limits{}, "below 0"},
		"again at once":       {func(c *Choices) int { c.Again(); return 0 }, Limits{}, "without a choice"},
		"again twice":         {func(c *Choices) int { c.Below(2); c.Again(); c.Again(); return 0 }, Limits{}, "without a choice"},
		"again and no more":   {func(c *Choices) int { c.Below(2); c.Again(); return 0 }, Limits{}, "ended after a choice it refused"},
		"again, other weights": {func(c *Choices) int {
			c.Below(2)
			c.Again()
			return c.Below(3)
		}, Limits{}, "not a function"},
		"weights of the run": {func(c *Choices) int { runs++; return c.Choose(rat(1, 1), rat(int64(runs), 1)) }, Limits{}, "not a function"},
		"choices of the run": {func(c *Choices) int {
			if runs++; runs%2 == 0 {
				return 0
			}
			return c.Below(2)
		}, Limits{}, "not a function"},
		"refused later": {refusedLater(), Limits{}, "not a function"},
	} {
		runs = 0
		if _, err := Enumerate(c.program, c.limits); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.want)
		}
	}
	defer func() {
		if recover() != "mine" {
			t.Error("the panic of a mechanism was swallowed")
		}
	}()
	Enumerate(func(*Choices) int { panic("mine") }, Limits{})
}

func endless(c *Choices) int {
	for c.Below(2) == 0 {
	}
	return 0
}

func refusedLater() func(c *Choices) int {
	runs := 0
	return func(c *Choices) int {
		i := c.Below(2)
		if runs++; runs == 2 {
			c.Again()
			i = c.Below(2)
		}
		return i + c.Below(2)
	}
}

// A walk down random weights has the law of their products; found with rapid.
func TestLawsOfRandomTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "outcomes")
		weights := make([][]*big.Rat, 3)
		for i := range weights {
			for range n {
				weights[i] = append(weights[i], rat(rapid.Int64Range(0, 5).Draw(t, "weight"), rapid.Int64Range(1, 3).Draw(t, "by")))
			}
			weights[i][0] = rat(1, 1)
		}
		refused := rapid.IntRange(1, 4).Draw(t, "refused") // of the second choice; may be none
		got, err := Enumerate(func(c *Choices) [3]int {
			var out [3]int
			out[0] = c.Choose(weights[0]...)
			for {
				if out[1] = c.Choose(weights[1]...); out[1] != refused {
					break
				}
				c.Again()
			}
			out[2] = c.Choose(weights[2]...)
			return out
		}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := Law[[3]int]{}
		for i := range n {
			for j := range n {
				for k := range n {
					p := rat(1, 1)
					for level, at := range []int{i, j, k} {
						total := new(big.Rat)
						for o, w := range weights[level] {
							if level != 1 || o != refused {
								total.Add(total, w)
							}
						}
						p.Mul(p, new(big.Rat).Quo(weights[level][at], total))
					}
					if j != refused && p.Sign() > 0 {
						want[[3]int{i, j, k}] = p
					}
				}
			}
		}
		if d := got.Difference(want); d != "" {
			t.Fatal(d)
		}
	})
}

// respond is randomized response over k values with odds x.
func respond(k int, x *big.Rat) Mechanism[int, int] {
	return func(in int, c *Choices) int {
		if c.Choose(x, rat(int64(k)-1, 1)) == 0 {
			return in
		}
		return (in + 1 + c.Below(k-1)) % k
	}
}

func TestVerify(t *testing.T) {
	x := rat(5, 2)
	inputs := []int{0, 1, 2, 3}
	for name, c := range map[string]struct {
		m                  Mechanism[int, int]
		claim              *big.Rat
		worst              *big.Rat
		holds, tight, none bool
	}{
		"right claim":     {respond(4, x), x, x, true, true, false},
		"claim too small": {respond(4, x), rat(2, 1), x, false, false, false},
		"claim too large": {respond(4, x), rat(3, 1), x, true, false, false},
		"identity":        {func(in int, c *Choices) int { return in }, x, nil, false, false, false},
		"blind":           {func(in int, c *Choices) int { return c.Below(4) }, x, rat(1, 1), true, false, false},
		"one in a hundred in the clear": {func(in int, c *Choices) int {
			if c.Below(100) == 0 {
				return 10 + in
			}
			return respond(4, x)(in, c)
		}, x, nil, false, false, false},
		"off by one in m": {func(in int, c *Choices) int { // the value 3 never comes by chance
			if in == 3 {
				return respond(4, x)(in, c)
			}
			return respond(3, x)(in, c)
		}, x, nil, false, false, false},
		"no renormalisation": {func(in int, c *Choices) int { // of the smaller choice
			return []int{respond(4, x)(in, c), respond(2, x)(in&1, c) + 4}[c.Below(2)]
		}, x, x, true, true, false},
	} {
		f, err := Verify(c.m, []Class[int]{{Name: "any", Pairs: Pairs(inputs), Claim: c.claim}}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		got := f[0]
		if (got.Worst == nil) != (c.worst == nil) || got.Worst != nil && got.Worst.Cmp(c.worst) != 0 {
			t.Errorf("%s: worst ratio %v, want %v", name, got.Worst, c.worst)
		}
		if got.Holds() != c.holds || got.Tight() != c.tight || got.Pairs != 6 {
			t.Errorf("%s: %v", name, got)
		}
		if e := got.Epsilon(); c.worst == nil && !math.IsInf(e, 1) || c.worst != nil && math.Abs(e-logRat(c.worst)) > 1e-14 {
			t.Errorf("%s: epsilon %g", name, e)
		}
		verdict := map[[2]bool]string{{true, true}: "meets", {true, false}: "is below", {false, false}: "exceeds"}[[2]bool{c.holds, c.tight}]
		if !strings.Contains(got.String(), verdict) {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, claim := range []*big.Rat{nil, rat(1, 2)} {
		if _, err := Verify(respond(3, x), []Class[int]{{Name: "any", Pairs: Pairs(inputs), Claim: claim}}, Limits{}); err == nil {
			t.Errorf("claim %v was accepted", claim)
		}
	}
	for _, bad := range []int{0, 1} { // in either place of a pair
		_, err := Verify(func(in int, c *Choices) int {
			if in == bad {
				c.Below(0)
			}
			return 0
		}, []Class[int]{{Name: "any", Pairs: Pairs([]int{0, 1}), Claim: x}}, Limits{})
		if err == nil || !strings.Contains(err.Error(), "input") {
			t.Errorf("input %d: %v", bad, err)
		}
	}
	none, err := Verify(respond(3, x), []Class[int]{{Name: "none", Pairs: Pairs([]int{1}), Claim: x}}, Limits{})
	if err != nil || none[0].Pairs != 0 || none[0].Tight() || none[0].String() != "none: no pairs" {
		t.Errorf("%v, %v", none, err)
	}
}

func logRat(r *big.Rat) float64 {
	f, _ := r.Float64()
	return math.Log(f)
}

// Ratios beyond float64 have a logarithm still, and those next to 1 a small one.
func TestEpsilonOfExtremeRatios(t *testing.T) {
	huge := Finding[int, int]{Worst: Power(rat(10, 1), 1000)}
	if e := huge.Epsilon(); math.Abs(e-1000*math.Ln10) > 1e-9 {
		t.Errorf("%g", e)
	}
	near := Finding[int, int]{Worst: new(big.Rat).Add(rat(1, 1), new(big.Rat).Inv(Power(rat(10, 1), 30)))}
	if e := near.Epsilon(); math.Abs(e/1e-30-1) > 1e-12 {
		t.Errorf("%g", e)
	}
	if e := (Finding[int, int]{Worst: new(big.Rat)}).Epsilon(); !math.IsInf(e, -1) {
		t.Errorf("%g", e)
	}
	if Power(rat(3, 2), 0).Cmp(rat(1, 1)) != 0 || Power(rat(3, 2), 3).Cmp(rat(27, 8)) != 0 {
		t.Error("powers")
	}
}

func TestDifferenceAndWorst(t *testing.T) {
	a, b := Law[int]{0: rat(1, 2), 1: rat(1, 2)}, Law[int]{0: rat(1, 4), 1: rat(1, 2), 2: rat(1, 4)}
	if d := a.Difference(b); !strings.Contains(d, "probability") {
		t.Error(d)
	}
	if d := (Law[int]{0: rat(1, 1), 5: new(big.Rat)}).Difference(Law[int]{0: rat(1, 1)}); d != "" {
		t.Error(d)
	}
	if r, at := a.Worst(b); r.Cmp(rat(2, 1)) != 0 || at != 0 {
		t.Error(r, at)
	}
	if r, at := b.Worst(a); r != nil || at != 2 {
		t.Error(r, at)
	}
	if r, _ := (Law[int]{5: new(big.Rat), 0: rat(1, 1)}).Worst(Law[int]{0: rat(1, 1)}); r.Cmp(rat(1, 1)) != 0 {
		t.Error(r)
	}
}

// Rows by counting: sum over the number of items of places times orders.
func TestRows(t *testing.T) {
	for _, c := range []struct{ m, length, want int }{{1, 2, 3}, {2, 2, 7}, {3, 2, 13}, {2, 3, 13}, {3, 3, 34}, {3, 4, 73}, {0, 3, 1}} {
		seen := map[Row]bool{}
		for r := range Rows(c.m, c.length) {
			if seen[r] || len(r) != c.length {
				t.Errorf("row %v", r)
			}
			seen[r] = true
		}
		if len(seen) != c.want {
			t.Errorf("%d rows of %d over %d items, want %d", len(seen), c.length, c.m, c.want)
		}
	}
	for range Rows(3, 3) {
		break
	}
	if s := RowOf(0, 12, 3).String(); s != "0,12,3" {
		t.Error(s)
	}
}

// Every pair of rows is in the class that it should be in, by a definition
// written down another way, and in no other.
func TestSequencePairs(t *testing.T) {
	const m, length = 3, 4
	classes := map[[2]Row][]SequenceClass{}
	for _, c := range SequenceClasses() {
		for a, b := range SequencePairs(c, m, length) {
			key := [2]Row{a, b}
			slices.Sort(key[:])
			classes[key] = append(classes[key], c)
		}
		for range SequencePairs(c, m, length) {
			break
		}
	}
	var rows []Row
	for r := range Rows(m, length) {
		rows = append(rows, r)
	}
	pairs := 0
	for a, b := range Pairs(rows) {
		key := [2]Row{a, b}
		slices.Sort(key[:])
		var at []int
		for i := range length {
			if a[i] != b[i] {
				at = append(at, i)
			}
		}
		swap := len(at) == 2 && a[at[0]] == b[at[1]] && a[at[1]] == b[at[0]]
		if len(at) != 1 && !swap {
			if len(classes[key]) != 0 {
				t.Errorf("%v and %v are in %v", a, b, classes[key])
			}
			continue
		}
		pairs++
		if len(classes[key]) != 1 {
			t.Errorf("%v and %v are in %v", a, b, classes[key])
			continue
		}
		zeros := strings.Contains(string(a), "\x00")
		got := classes[key][0]
		ok := false
		switch got {
		case ItemItem:
			ok = len(at) == 1 && a[at[0]] != 0 && b[at[0]] != 0
		case ZeroItem:
			ok = len(at) == 1 && (a[at[0]] == 0 || b[at[0]] == 0)
		case SwapZero:
			ok = swap && (a[at[0]] == 0 || a[at[1]] == 0)
		case SwapFull:
			ok = swap && !zeros
		default:
			first := strings.IndexByte(string(a), 0)
			ok = swap && zeros && a[at[0]] != 0 && a[at[1]] != 0 && (got == SwapFront) == (first < at[0])
		}
		if !ok {
			t.Errorf("%v and %v are in %q", a, b, got)
		}
	}
	if pairs != len(classes) {
		t.Errorf("%d pairs, want %d", len(classes), pairs)
	}
	// The criterion by example.
	for _, c := range []struct {
		a, b Row
		want SequenceClass
	}{
		{RowOf(1, 0, 2, 3), RowOf(2, 0, 1, 3), SwapAfter},
		{RowOf(1, 2, 0, 3), RowOf(2, 1, 0, 3), SwapClear},
		{RowOf(1, 2, 3, 0), RowOf(2, 1, 3, 0), SwapClear},
		{RowOf(1, 0, 2, 0), RowOf(2, 0, 1, 0), SwapClear},
		{RowOf(3, 0, 1, 2), RowOf(3, 0, 2, 1), SwapFront},
	} {
		key := [2]Row{c.a, c.b}
		slices.Sort(key[:])
		if got := classes[key]; len(got) != 1 || got[0] != c.want {
			t.Errorf("%v and %v are in %v, want %q", c.a, c.b, got, c.want)
		}
	}
}
