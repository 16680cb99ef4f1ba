package exposure

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// chain is a GRU attack whose best guess after token x is follow(x), by its weights alone: items are unit
// vectors, the update gate always lets the candidate through, and the candidate is the unit vector of
// follow(x), or of follow of the strongest item of the context where byContext is set. Beside the best, guesses
// are in the order of prefer.
func chain(t *testing.T, c Config, vocab int, byContext bool, follow func(x int) int, prefer func(x int) float64) *Model {
	t.Helper()
	c.Encoder, c.Decoder, c.Dim, c.Heads, c.ScaleEmbedding, c.Tie = "mean", "gru", vocab, 1, false, TiePaper
	m, err := New(c, vocab, 2, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := vocab
	set(t, m, "item", func(i, j int) float64 { return map[bool]float64{true: 1}[i == j] })
	set(t, m, "gru.Whh", func(i, j int) float64 { return 0 })
	set(t, m, "gru.bih", func(_, j int) float64 { return map[bool]float64{true: -50}[j >= d && j < 2*d] }) // z = 0: nothing is kept
	set(t, m, "gru.Wih", func(i, j int) float64 {
		from := j
		if byContext {
			from = j - d
		}
		if i >= 2*d && from >= 0 && from < d && i-2*d == follow(from) {
			return 20
		}
		return 0
	})
	set(t, m, "output.b", func(_, j int) float64 { return 1e-3 * prefer(j) })
	return m
}

func firsts(lists [][]int32) []int32 {
	var all []int32
	for _, l := range lists {
		if len(l) == 0 {
			all = append(all, -1)
			continue
		}
		all = append(all, l[0])
	}
	return all
}

// TestDecodingFeedsItsOwnGuess: start -> 4 -> 6 -> 5 -> 4, whatever the true clicks are; then what Ban,
// StopAtEnd and Specials change.
func TestDecodingFeedsItsOwnGuess(t *testing.T) {
	const vocab = 8
	to := map[int]int{int(slate.Start): 4, 4: 6, 6: 5, 5: 4, 7: int(slate.End)}
	follow := func(x int) int { return to[x] } // others: Pad
	prefer := func(x int) float64 { return float64(x) }
	p := pairsOf(3, 2, 4, vocab, 1)
	for _, c := range []struct {
		name       string
		change     func(c *Config)
		candidates []int32
		want       []int32 // first of each list; -1 for an empty list
	}{
		{"plain", func(c *Config) {}, nil, []int32{4, 6, 5, 4}},
		{"ban", func(c *Config) { c.Ban = true }, nil, []int32{4, 6, 5, 7}},
		// 7 is the best candidate at every step, and what follows 7 is not among them
		{"among candidates", func(c *Config) {}, []int32{5, 7}, []int32{7, 7, 7, 7}},
		{"among candidates, all fed", func(c *Config) { c.FeedAll = true }, []int32{5, 7}, []int32{7, 7, 5, 7}},
		{"no candidate", func(c *Config) {}, []int32{}, []int32{-1, -1, -1, -1}},
		{"stop", func(c *Config) { c.StopAtEnd = true }, []int32{7}, []int32{7, -1, -1, -1}},
		{"stop, not reached", func(c *Config) { c.StopAtEnd = true }, nil, []int32{4, 6, 5, 4}},
		{"specials", func(c *Config) { c.Specials = true }, []int32{3, 7}, []int32{7, 3, 7, 3}},
	} {
		cfg := Paper("mean", "gru")
		c.change(&cfg)
		m := chain(t, cfg, vocab, false, follow, prefer)
		var ask func(int32) []int32
		if c.candidates != nil {
			ask = func(int32) []int32 { return c.candidates }
		}
		for i, lists := range listsOf(t, m, p, nil, 3, ask) {
			if got := firsts(lists); !slices.Equal(got, c.want) {
				t.Errorf("%s, pair %d: first guesses %v, want %v", c.name, i, got, c.want)
			}
		}
	}
}

// TestContextOfRanking: where only the context decides, a fixed one gives the same guess at every step, and
// the decoder's state in its place moves on.
func TestContextOfRanking(t *testing.T) {
	const vocab = 8
	to := map[int]int{4: 6, 6: 5, 5: 7, 7: 4}
	follow := func(x int) int { return to[x] }
	p := &slate.Pairs{T: 2, L: 4, Slates: []int32{4, 4}, Behaviours: []int32{4, 4, 4, 4}, Users: []int32{0}, Complete: []bool{true}}
	for context, want := range map[string][]int32{ContextFixed: {6, 6, 6, 6}, ContextState: {6, 5, 7, 4}} {
		c := Paper("mean", "gru")
		c.ContextDecode = context
		m := chain(t, c, vocab, true, follow, func(int) float64 { return 0 })
		if got := firsts(listsOf(t, m, p, nil, 2, nil)[0]); !slices.Equal(got, want) {
			t.Errorf("%s: first guesses %v, want %v", context, got, want)
		}
	}
}

// TestRankingEqualsTheLoss: the lists of all decoders are the ranked scores of teacher forcing on the
// model's own first guesses: both ways through the decoder agree, for vocabularies of several tiles.
func TestRankingEqualsTheLoss(t *testing.T) {
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		const vocab, depth = rankWide + 300, 7
		c := small(encoder, decoder, 4)
		c.Specials = encoder == "max"
		m := shaken(t, c, vocab, 4, 3)
		p := pairsOf(5, 4, 3, vocab, 6)
		first := int(slate.FirstItem)
		if c.Specials {
			first = 0
		}
		rows := []int32{4, 0, 3}
		got := listsOf(t, m, p, rows, depth, nil)
		own := p.Select(rows)
		for i := range rows {
			for k := range len(got[i]) {
				own.Behaviour(i)[k] = got[i][k][0]
			}
		}
		var b batch
		b.lay(m, own, rowsOf(len(rows)))
		tp := autograd.NewTape()
		tp.SetTraining(false)
		h := m.enc.context(tp, &b.slates, 0, decoder).rows
		if m.dec != nil {
			h = m.dec.states(tp, m.enc.context(tp, &b.slates, 0, decoder), &b, 0)
		}
		z := h.Linear(tp.Use(m.out), tp.Use(m.a)).V
		for i := range rows {
			if len(got[i]) != m.Lists() {
				t.Fatalf("%d lists", len(got[i]))
			}
			for k, list := range got[i] {
				at := i
				if m.dec != nil {
					at = m.dec.row(i, k, len(rows), m.l+1)
				}
				if err := checkTop(list, tensor.Row(z, at), first, depth); err != nil {
					t.Errorf("row %d, list %d: %v", rows[i], k, err)
				}
			}
		}
	})
}

// checkTop tells whether list is the depth best of z from first on, but for scores within rounding.
func checkTop(list []int32, z []tensor.Float, first, depth int) error {
	if len(list) != depth {
		return fmt.Errorf("%d tokens", len(list))
	}
	seen := map[int32]bool{}
	for k, x := range list {
		if seen[x] || int(x) < first {
			return fmt.Errorf("token %d is there twice, or special", x)
		}
		seen[x] = true
		if k > 0 && float64(z[x]) > float64(z[list[k-1]])+1e-4 {
			return fmt.Errorf("place %d: %v after %v", k, z[x], z[list[k-1]])
		}
	}
	for x := first; x < len(z); x++ {
		if !seen[int32(x)] && float64(z[x]) > float64(z[list[depth-1]])+1e-4 {
			return fmt.Errorf("token %d of %v is missing, the last has %v", x, z[x], z[list[depth-1]])
		}
	}
	return nil
}

// TestTopIsSortedSelection compares the selection, tiled or among candidates, with sorting, on scores with
// many ties.
func TestTopIsSortedSelection(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vocab := rapid.IntRange(5, 400).Draw(rt, "vocab")
		depth := rapid.IntRange(1, 30).Draw(rt, "depth")
		first := rapid.SampledFrom([]int{0, 4}).Draw(rt, "first")
		levels := rapid.IntRange(1, 50).Draw(rt, "levels")
		s := rng.Seed(rapid.IntRange(0, 1<<20).Draw(rt, "seed")).Stream("scores")
		o := &output{w: tensor.New(vocab, 1), a: make([]tensor.Float, vocab), first: first}
		for i := range o.a {
			o.a[i] = tensor.Float(s.IntN(levels))
		}
		h := tensor.New(1, 1)
		banned := [][]int32{{int32(s.IntN(vocab)), int32(s.IntN(vocab))}}
		var all, some []int32
		for x := range int32(vocab) {
			if s.IntN(3) == 0 {
				some = append(some, x)
			}
		}
		s.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for x := range int32(vocab) {
			all = append(all, x)
		}
		want := func(of []int32) []int32 {
			var l []int32
			for _, x := range of {
				if int(x) >= first && !contains(banned[0], x) {
					l = append(l, x)
				}
			}
			slices.SortFunc(l, func(x, y int32) int {
				if o.a[x] != o.a[y] {
					return int(o.a[y] - o.a[x])
				}
				return int(x - y)
			})
			return l[:min(depth, len(l))]
		}
		into := make([]best, 1)
		if o.top(h, depth, banned, into); !slices.Equal(into[0].token, want(all)) {
			rt.Errorf("of all: %v, want %v", into[0].token, want(all))
		}
		if o.among(h, depth, [][]int32{some}, banned, into); !slices.Equal(into[0].token, want(some)) {
			rt.Errorf("of candidates: %v, want %v", into[0].token, want(some))
		}
	})
}

// TestRankVisitsInOrder: several chunks of rows, in the order given, and lists that do not depend on the
// chunk they fall into.
func TestRankVisitsInOrder(t *testing.T) {
	m := shaken(t, small("attention", "lstm", 4), 60, 4, 3)
	n := 2*rankRows + 37
	p := pairsOf(n, 4, 3, 60, 8)
	var rows []int32
	err := m.Rank(t.Context(), p, nil, 4, nil, func(row int32, _ [][]int32) error { rows = append(rows, row); return nil })
	if err != nil || !slices.Equal(rows, rowsOf(n)) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	all := listsOf(t, m, p, nil, 4, nil)
	for _, r := range []int32{0, 300, int32(n - 1)} {
		if alone := listsOf(t, m, p, []int32{r}, 4, nil)[0]; fmt.Sprint(alone) != fmt.Sprint(all[r]) {
			t.Errorf("row %d: %v alone, %v among others", r, alone, all[r])
		}
	}
	if deep := listsOf(t, m, p, []int32{1}, math.MaxInt32, nil)[0][0]; len(deep) != 56 {
		t.Errorf("a list of all items has %d", len(deep))
	}
}
