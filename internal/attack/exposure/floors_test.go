package exposure

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// tabled makes pairs of the given slates and behaviours, one user each.
func tabled(slates, behaviours [][]int32) *slate.Pairs {
	p := &slate.Pairs{T: len(slates[0]), L: len(behaviours[0])}
	for i := range slates {
		p.Slates, p.Behaviours = append(p.Slates, slates[i]...), append(p.Behaviours, behaviours[i]...)
		p.Users = append(p.Users, int32(i))
		complete := true
		for _, v := range append(slices.Clone(slates[i]), behaviours[i]...) {
			complete = complete && v >= slate.FirstItem
		}
		p.Complete = append(p.Complete, complete)
	}
	return p
}

// failer is what the helpers need of a test, of rapid's too.
type failer interface {
	Helper()
	Fatal(args ...any)
}

// answers is what a ranker says of every row, copied.
func answers(t failer, r Ranker, p *slate.Pairs, rows []int32, depth int, candidates func(int32) []int32) [][][]int32 {
	t.Helper()
	var all [][][]int32
	err := r.Rank(context.Background(), p, rows, depth, candidates, func(_ int32, lists [][]int32) error {
		var own [][]int32
		for _, l := range lists {
			own = append(own, append([]int32{}, l...))
		}
		all = append(all, own)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func equalAnswers(a, b [][][]int32) bool {
	return slices.EqualFunc(a, b, func(x, y [][]int32) bool { return slices.EqualFunc(x, y, slices.Equal[[]int32]) })
}

func floor(t failer, name string, train *slate.Pairs, vocab int) Ranker {
	t.Helper()
	r, err := NewFloor(name, train, vocab, 7)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A market of six items, 4 to 9. Item 4 is shown three times and 6 clicked three times.
func market() *slate.Pairs {
	return tabled([][]int32{{4, 5}, {4, 4}, {7, slate.OOV}}, [][]int32{{6, 8}, {6, 9}, {6, slate.OOV}})
}

func TestFloorsByHand(t *testing.T) {
	train := market()
	among := func(list ...int32) func(int32) []int32 { return func(int32) []int32 { return list } }
	for _, c := range []struct {
		name, floor string
		slate       []int32
		depth       int
		candidates  func(int32) []int32
		want        []int32
	}{
		{"clicks 3, 1, 1, then by token", FloorPopularity, []int32{4, 5}, 10, nil, []int32{6, 8, 9, 4, 5, 7}},
		{"cut", FloorPopularity, []int32{4, 5}, 2, nil, []int32{6, 8}},
		{"ties in the order of candidates", FloorPopularity, []int32{4, 5}, 10, among(7, 9, 8, 6), []int32{6, 9, 8, 7}},
		{"the null attack does not look", FloorNull, []int32{9, 9}, 3, nil, []int32{6, 8, 9}},
		{"clicked/(shown+1): 3, 1, 1 of never shown, 0", FloorKindRatio, []int32{4, 5}, 10, nil, []int32{6, 8, 9, 4, 5, 7}},
		// 4 is shown 3 times, once before the pair (6, 8), twice before (6, 9): 6 3/8, 9 2/8, 8 1/8.
		{"after 4", FloorCooccurrence, []int32{4, slate.OOV}, 10, nil, []int32{6, 9, 8, 4, 5, 7}},
		// 5 adds 1/6 to 6 and 8: 8 has 0.2917, 9 only 0.25.
		{"after 4 and 5", FloorCooccurrence, []int32{4, 5}, 10, nil, []int32{6, 8, 9, 4, 5, 7}},
		{"4 twice counts twice", FloorCooccurrence, []int32{4, 4}, 4, nil, []int32{6, 9, 8, 4}},
		// The 5 below the line: 9 has 4/(3+5), 8 has 2/(3+5) + 1/(1+5); without it 4/3 and 2/3 + 1.
		{"one pair does not decide", FloorCooccurrence, []int32{4, 4, 5}, 3, nil, []int32{6, 9, 8}},
		{"nothing is known", FloorCooccurrence, []int32{slate.Pad, 8}, 3, nil, []int32{6, 8, 9}},
		{"candidates", FloorCooccurrence, []int32{4, 5}, 10, among(7, 5, 9, 8), []int32{8, 9, 7, 5}},
	} {
		p := tabled([][]int32{c.slate}, [][]int32{{6, 8}})
		got := answers(t, floor(t, c.floor, train, 10), p, nil, c.depth, c.candidates)
		if len(got) != 1 || len(got[0]) != 1 || !slices.Equal(got[0][0], c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// An item that is shown as often as it is clicked is of the other kind than one only clicked.
	mixed := tabled([][]int32{{4, 4}, {4, 5}, {5, 7}}, [][]int32{{4, 4}, {6, 4}, {6, 5}}) // 4: 3/(3+1), 5: 1/(2+1), 6: 2/(0+1), 7: 0
	if got := answers(t, floor(t, FloorKindRatio, mixed, 8), mixed, []int32{0}, 9, nil)[0][0]; !slices.Equal(got, []int32{6, 4, 5, 7}) {
		t.Errorf("kind ratio: %v", got)
	}
}

func TestKindRatioAgainstItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const vocab = 12
		train := pairsOf(rapid.IntRange(1, 20).Draw(t, "n"), 3, 2, vocab, rng.Seed(rapid.Uint64().Draw(t, "seed")))
		var shown, clicked [vocab]float64
		for _, v := range train.Slates {
			shown[v]++
		}
		for _, v := range train.Behaviours {
			clicked[v]++
		}
		want := count(nil, vocab, 1)[slate.FirstItem:]
		slices.SortStableFunc(want, func(a, b int32) int { // equal fractions of small numbers are equal floats
			return cmp.Or(cmp.Compare(clicked[b]/(shown[b]+1), clicked[a]/(shown[a]+1)), cmp.Compare(clicked[b], clicked[a]))
		})
		if got := answers(t, floor(t, FloorKindRatio, train, vocab), train, []int32{0}, vocab, nil)[0][0]; !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// score(v | s) from its definition, counted for every pair of items anew.
func slowCooccurrence(train *slate.Pairs, s []int32, v int32) float64 {
	sum := 0.0
	for _, a := range s {
		if a < slate.FirstItem {
			continue
		}
		together, shown := 0, 0
		for i := range train.Len() {
			for _, x := range train.Slate(i) {
				if x != a {
					continue
				}
				shown++
				for _, y := range train.Behaviour(i) {
					if y == v {
						together++
					}
				}
			}
		}
		sum += float64(together) / float64(shown+shrink)
	}
	return sum
}

func TestCooccurrenceAgainstItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocab := rapid.IntRange(6, 20).Draw(t, "vocab")
		seed := rng.Seed(rapid.Uint64().Draw(t, "seed"))
		train, p := pairsOf(rapid.IntRange(1, 12).Draw(t, "n"), 3, 2, vocab, seed), pairsOf(5, 3, 2, vocab, seed+1)
		depth := rapid.IntRange(1, vocab).Draw(t, "depth")
		var candidates func(int32) []int32
		all := count(nil, vocab-int(slate.FirstItem), 1)
		for i := range all {
			all[i] += slate.FirstItem
		}
		if rapid.Bool().Draw(t, "logged") {
			all = rapid.Permutation(all).Draw(t, "order")[:rapid.IntRange(0, len(all)).Draw(t, "size")]
			candidates = func(int32) []int32 { return all }
		}
		clicks := make([]int, vocab)
		for _, v := range train.Behaviours {
			clicks[v]++
		}
		got := answers(t, floor(t, FloorCooccurrence, train, vocab), p, nil, depth, candidates)
		for i := range p.Len() {
			want := slices.Clone(all)
			slices.SortStableFunc(want, func(a, b int32) int {
				return cmp.Or(cmp.Compare(slowCooccurrence(train, p.Slate(i), b), slowCooccurrence(train, p.Slate(i), a)), cmp.Compare(clicks[b], clicks[a]))
			})
			if want = want[:min(depth, len(want))]; !slices.Equal(got[i][0], want) {
				t.Fatalf("row %d, slate %v: %v, want %v", i, p.Slate(i), got[i][0], want)
			}
		}
	})
}

// Every floor answers some rows as it answers all, with lists as long as can be, without repeats, with
// candidates only, and a shorter list is the beginning of a longer one.
func TestFloorsKeepTheContract(t *testing.T) {
	const vocab = 40
	train, p := pairsOf(50, 4, 3, vocab, 1), pairsOf(1200, 4, 3, vocab, 2) // more rows than a block
	few := func(row int32) []int32 { return []int32{30, 4, 5 + row%7, 39} }
	rankers := map[string]Ranker{"five lists": NewRandomLists(vocab, 5, 3)}
	for _, name := range Floors() {
		rankers[name] = floor(t, name, train, vocab)
	}
	for name, r := range rankers {
		for _, candidates := range []func(int32) []int32{nil, few} {
			all := answers(t, r, p, nil, 50, candidates)
			if len(all) != p.Len() {
				t.Fatalf("%s: %d answers", name, len(all))
			}
			for row, lists := range all {
				allowed := 36
				if candidates != nil {
					allowed = 4
				}
				for _, l := range lists {
					once := map[int32]bool{}
					for _, v := range l {
						once[v] = true
						if v < slate.FirstItem || v >= vocab || candidates != nil && !slices.Contains(few(int32(row)), v) {
							t.Fatalf("%s row %d: %d cannot be guessed", name, row, v)
						}
					}
					if len(l) != allowed || len(once) != allowed || len(lists) != r.Lists() {
						t.Fatalf("%s row %d: %d lists, %d items, %d distinct, want %d", name, row, len(lists), len(l), len(once), allowed)
					}
				}
			}
			some := []int32{900, 3, 3, 511, 512}
			got := answers(t, r, p, some, 3, candidates)
			for i, row := range some {
				for j, l := range got[i] {
					if !slices.Equal(l, all[row][j][:3]) {
						t.Fatalf("%s row %d: %v alone, %v of all", name, row, l, all[row][j])
					}
				}
			}
		}
	}
}

// The same answers for any number of workers.
func TestFloorsDoNotDependOnWorkers(t *testing.T) {
	const vocab = 300
	train, p := pairsOf(400, 6, 5, vocab, 1), pairsOf(1100, 6, 5, vocab, 2)
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	for _, name := range Floors() {
		var first [][][]int32
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			got := answers(t, floor(t, name, train, vocab), p, nil, 60, nil)
			if first == nil {
				first = got
			} else if !equalAnswers(first, got) {
				t.Errorf("%s: other answers with %d workers", name, workers)
			}
		}
	}
}

// Random lists put each of n items at each place alike, and lists of one row are independent of each
// other. 30 places times 6 items, each count a binomial of 6000 and 1/6: 7.2 standard deviations are 6e-13
// two-sided, 1e-10 in all; the pair table has 36 cells of 6000 and 1/36.
func TestRandomIsUniform(t *testing.T) {
	const n, rows = 6, 6000
	p := pairsOf(rows, 2, 2, 10, 1)
	for _, candidates := range []func(int32) []int32{nil, func(int32) []int32 { return []int32{9, 4, 7, 5, 8, 6} }} {
		var at [2][n][10]int
		var both [10][10]int
		for _, lists := range answers(t, NewRandomLists(10, 2, 5), p, nil, n, candidates) {
			for j, l := range lists {
				for i, v := range l {
					at[j][i][v]++
				}
			}
			both[lists[0][0]][lists[1][0]]++
		}
		within := func(what string, got int, share float64) {
			if sd := math.Sqrt(rows * share * (1 - share)); math.Abs(float64(got)-rows*share) > 7.2*sd {
				t.Errorf("%s: %d of %d, expected %.0f", what, got, rows, rows*share)
			}
		}
		for j := range at {
			for i := range n {
				for v := 4; v < 10; v++ {
					within("place", at[j][i][v], 1.0/n)
				}
			}
		}
		for v := 4; v < 10; v++ {
			for w := 4; w < 10; w++ {
				within("two lists", both[v][w], 1.0/n/n)
			}
		}
	}
	a, b := answers(t, NewRandom(10, 5), p, nil, n, nil), answers(t, NewRandom(10, 6), p, nil, n, nil)
	if equalAnswers(a, b) {
		t.Error("two seeds, one answer")
	}
}

func TestDealAndMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SliceOfNDistinct(rapid.Int32Range(4, 60), 0, 30, rapid.ID[int32]).Draw(t, "one")
		lists := make([][]int32, rapid.IntRange(1, 6).Draw(t, "lists"))
		deal(lists, one)
		total := 0
		for j, l := range lists {
			total += len(l)
			for r, v := range l {
				if one[r*len(lists)+j] != v {
					t.Fatalf("list %d place %d: %d of %v", j, r, v, one)
				}
			}
		}
		if back := merge(nil, lists, 100); total != len(one) || !slices.Equal(back, one) {
			t.Fatalf("%v dealt and merged is %v", one, back)
		}
		depth := rapid.IntRange(1, 10).Draw(t, "depth")
		if cut := merge(nil, lists, depth); !slices.Equal(cut, one[:min(depth, len(one))]) {
			t.Fatalf("%v merged to %d is %v", one, depth, cut)
		}
	})
	if got := merge(nil, [][]int32{{4, 5, 6}, {4, 7}, {}, {5, 8, 9}}, 4); !slices.Equal(got, []int32{4, 5, 7, 8}) {
		t.Errorf("merged: %v", got)
	}
	p := market()
	five, err := Deal(floor(t, FloorPopularity, p, 10), 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := answers(t, five, p, []int32{1}, 2, nil)[0]; five.Lists() != 4 || !slices.EqualFunc(got, [][]int32{{6, 5}, {8, 7}, {9}, {4}}, slices.Equal[[]int32]) {
		t.Errorf("popularity dealt to four lists of two: %v", got)
	}
	if _, err := Deal(five, 2); err == nil {
		t.Error("four lists were dealt out")
	}
}

func TestFloorsRefuse(t *testing.T) {
	p := market()
	wrong := errors.New("wrong")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(wrong)
	ignore := func(int32, [][]int32) error { return nil }
	for _, name := range Floors() {
		r := floor(t, name, p, 10)
		for what, f := range map[string]func() error{
			"depth 0": func() error { return r.Rank(t.Context(), p, nil, 0, nil, ignore) },
			"row -1":  func() error { return r.Rank(t.Context(), p, []int32{0, -1}, 1, nil, ignore) },
			"row 3":   func() error { return r.Rank(t.Context(), p, []int32{3}, 1, nil, ignore) },
			"candidate 3": func() error {
				return r.Rank(t.Context(), p, nil, 1, func(int32) []int32 { return []int32{4, 3} }, ignore)
			},
			"candidate 10": func() error {
				return r.Rank(t.Context(), p, nil, 1, func(int32) []int32 { return []int32{10} }, ignore)
			},
			"after 0 of 3": func() error { return r.Rank(stopped, p, nil, 1, nil, ignore) },
			wrong.Error(): func() error {
				return r.Rank(t.Context(), p, nil, 1, nil, func(int32, [][]int32) error { return wrong })
			},
			"row 2 (number": func() error { return r.Rank(t.Context(), p.Select([]int32{0, 1}), []int32{2}, 1, nil, ignore) },
		} {
			if err := f(); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
		}
		if err := r.Rank(stopped, p, nil, 1, nil, ignore); !errors.Is(err, wrong) {
			t.Errorf("%s: cause %v", name, err)
		}
	}
	c := floor(t, FloorCooccurrence, p, 10)
	if err := c.Rank(t.Context(), tabled([][]int32{{4, 12}}, [][]int32{{4, 5}}), nil, 1, nil, ignore); err == nil || !strings.Contains(err.Error(), "token 12 of row 0") {
		t.Errorf("token beyond the vocabulary: %v", err)
	}
	if got := answers(t, c, p, []int32{0}, 6, nil)[0][0]; !slices.Equal(got, []int32{6, 8, 9, 4, 5, 7}) {
		t.Errorf("after an error: %v", got)
	}
	for _, bad := range []struct {
		name  string
		vocab int
		want  string
	}{{"luck", 10, `floor "luck"`}, {FloorPopularity, 4, "no items"}, {FloorPopularity, 9, "behaviour token 9"}, {FloorKindRatio, 7, "slate token 7"}, {FloorCooccurrence, 8, "behaviour token 8"}} {
		if _, err := NewFloor(bad.name, p, bad.vocab, 1); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s over %d tokens: error %v", bad.name, bad.vocab, err)
		}
	}
}
