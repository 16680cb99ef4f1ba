package dataset

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// hashed is small data of every kind of private input.
func hashed() *Interactions {
	return &Interactions{
		Users: 3, Items: 4, UserIDs: []string{"a", "b", "c"}, ItemIDs: []string{"p", "q", "r", "s"},
		Train: [][]int32{{0, 1}, {2}, {0, 3}}, Valid: [][]int32{{2}, nil, nil}, Test: [][]int32{{3}, {0}, nil},
		Ratings: [][]float32{{1, 2}, {3}, {4, 5}},
		Features: &Features{UserIDs: []string{"a", "b", "c"}, Columns: []Column{
			{Name: "age", Kind: Numeric, Numbers: []float64{20, math.NaN(), 40}},
			{Name: "sex", Kind: Categorical, Codes: []int32{0, 1, -1}, Levels: []string{"f", "m"}},
		}},
	}
}

// Every change of anything private changes the digest.
func TestRowDigestSeesEverything(t *testing.T) {
	seen := map[RowDigest]string{hashed().Rows(): "unchanged"}
	for name, change := range map[string]func(x *Interactions){
		"user's id":         func(x *Interactions) { x.UserIDs[1] = "d" },
		"training row":      func(x *Interactions) { x.Train[1][0] = 1 },
		"a row less":        func(x *Interactions) { x.Train[0] = x.Train[0][:1] },
		"a row moved":       func(x *Interactions) { x.Train[0], x.Train[1] = []int32{0}, []int32{1, 2} },
		"rows of two users": func(x *Interactions) { x.Train[0], x.Train[1] = x.Train[1], x.Train[0] },
		"part":              func(x *Interactions) { x.Valid[0], x.Test[0] = x.Test[0], x.Valid[0] },
		"value":             func(x *Interactions) { x.Ratings[2][1] = 4 },
		"number":            func(x *Interactions) { x.Features.Columns[0].Numbers[0] = 21 },
		"missing number":    func(x *Interactions) { x.Features.Columns[0].Numbers[1] = 0 },
		"level":             func(x *Interactions) { x.Features.Columns[1].Codes[0] = 1 },
		"column":            func(x *Interactions) { x.Features.Columns[1].Name = "gender" },
		"labels":            func(x *Interactions) { x.Labels = [][]int32{{0}, {2}, {0}} },
		"item's id":         func(x *Interactions) { x.ItemIDs[3] = "t" },
		"order of items":    func(x *Interactions) { x.ItemIDs[0], x.ItemIDs[1] = "q", "p" },
		"an item more":      func(x *Interactions) { x.ItemIDs = append(x.ItemIDs, "t") },
		"a user less": func(x *Interactions) {
			x.UserIDs, x.Train, x.Valid, x.Test, x.Ratings = x.UserIDs[:2], x.Train[:2], x.Valid[:2], x.Test[:2], x.Ratings[:2]
		},
	} {
		x := hashed()
		change(x)
		d := x.Rows()
		if was, ok := seen[d]; ok {
			t.Errorf("%s: the digest is that of %s", name, was)
		}
		seen[d] = name
	}
	if a, b := hashed(), hashed(); a.Rows() != b.Rows() {
		t.Error("the digest of equal rows differs")
	}
	if hashed().TrainRows() == hashed().Rows() {
		t.Error("the digest of training rows is that of all rows")
	}
}

// Users in any order, and in any shards that are joined in any order and sent as text, have one hash:
// that of the rows in memory.
func TestRowHashJoins(t *testing.T) {
	items := []string{"p", "q", "r", "s"}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(rt, "users")
		x := &Interactions{Users: n, Items: 4, ItemIDs: items}
		for u := range n {
			row := rapid.SliceOfNDistinct(rapid.Int32Range(0, 3), 0, 4, rapid.ID[int32]).Draw(rt, "row")
			slices.Sort(row)
			x.UserIDs, x.Train = append(x.UserIDs, string(rune('a'+u))), append(x.Train, row)
		}
		shards := make([]RowHash, rapid.IntRange(1, 4).Draw(rt, "shards"))
		for _, u := range rapid.Permutation(span(n)).Draw(rt, "order") {
			shards[rapid.IntRange(0, len(shards)-1).Draw(rt, "shard")].Add(x.UserIDs[u], x.Train[u])
		}
		var all RowHash
		for _, k := range rapid.Permutation(span(len(shards))).Draw(rt, "joined") {
			text, err := json.Marshal(shards[k])
			if err != nil {
				rt.Fatal(err)
			}
			var read RowHash
			if err := json.Unmarshal(text, &read); err != nil {
				rt.Fatal(err)
			}
			all.Join(&read)
		}
		if all.Digest(items) != x.TrainRows() {
			rt.Fatal("rows in shards have another digest than in memory")
		}
	})
}

func span(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// A user's hash fills all words with all bits: of 1024 words the mean lies within 7 standard deviations
// of the middle, and no two users agree in more than a few words.
func TestRowHashFillsItsWords(t *testing.T) {
	var a, b RowHash
	a.Add("a", []int32{1})
	b.Add("b", []int32{1})
	sum, same := 0.0, 0
	for k := range a {
		sum += float64(a[k])
		if a[k] == b[k] {
			same++
		}
	}
	if mean := sum / float64(len(a)); math.Abs(mean-32767.5) > 7*18918/32 || same > 8 {
		t.Errorf("mean %g, %d words alike", mean, same)
	}
}

func TestSequencesAndDomainsHaveDigests(t *testing.T) {
	s := func() *Sequential {
		return &Sequential{UserIDs: []string{"a", "b"}, ItemIDs: []string{"", "p", "q"}, Train: [][]int32{{1, 2}, {2}}, Test: [][]int32{{1}, nil},
			Times: &Times{Train: [][]int64{{1, 2}, {3}}, Test: [][]int64{{4}, nil}}}
	}
	order, time := s(), s()
	order.Train[0] = []int32{2, 1}
	time.Times.Train[0][1] = 9
	if a := s().Rows(); a != s().Rows() || a == order.Rows() || a == time.Rows() || order.Rows() == time.Rows() {
		t.Error("digests of sequences do not tell orders or times apart")
	}
	c := func() *Cross {
		d := Domain{ItemIDs: []string{"", "p", "q"}, Train: [][]int32{{1}, {2}}, Valid: []int32{0, 1}, Test: []int32{2, 0}}
		e := d
		e.Train, e.Valid, e.Test = [][]int32{{2}, {1}}, []int32{1, 0}, []int32{0, 2}
		return &Cross{UserIDs: []string{"a", "b"}, Domains: [2]Domain{d, e}}
	}
	swapped, held := c(), c()
	swapped.Domains[0], swapped.Domains[1] = swapped.Domains[1], swapped.Domains[0]
	held.Domains[1].Test[0] = 1
	if a := c().Rows(); a != c().Rows() || a == swapped.Rows() || a == held.Rows() {
		t.Error("digests of domains do not tell domains or held-out rows apart")
	}
}

func BenchmarkRowHash(b *testing.B) {
	var h RowHash
	row := make([]int32, 100)
	for b.Loop() {
		h.Add("user", row)
	}
}
