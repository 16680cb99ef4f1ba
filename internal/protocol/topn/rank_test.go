package topn

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// made is an experiment on data in memory.
func made(t testing.TB, d *dataset.Interactions) *Experiment {
	t.Helper()
	m := Method{Name: "made", Train: DefaultTrain(), Eval: EvalConfig{K: []int{1}}}
	if d.Valid == nil {
		m.Train.Select, m.Train.Patience = SelectLast, 0
	}
	x, err := prepare(run.Rehearse(1), m, d)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// interactions makes data in memory.
func interactions(items int, train, valid, test [][]int32) *dataset.Interactions {
	d := &dataset.Interactions{Name: "made", Recipe: "by hand", Users: len(train), Items: items, Train: train, Valid: valid, Test: test}
	for range train {
		d.UserIDs = append(d.UserIDs, string(rune('a'+len(d.UserIDs))))
	}
	for range items {
		d.ItemIDs = append(d.ItemIDs, string(rune('A'+len(d.ItemIDs))))
	}
	d.Source = dataset.Source{Title: "made", Level: dataset.LevelD}
	return d
}

// drawn is data of a few users and items, every pair in one part or none.
func drawn(rt *rapid.T) *dataset.Interactions {
	users, items := rapid.IntRange(1, 6).Draw(rt, "users"), rapid.IntRange(2, 30).Draw(rt, "items")
	parts := [4][][]int32{}
	for p := range parts {
		parts[p] = make([][]int32, users)
	}
	for u := range users {
		for i := range items - 1 { // the last item is no user's, so that there is a negative
			p := rapid.IntRange(0, 3).Draw(rt, "part")
			parts[p][u] = append(parts[p][u], int32(i))
		}
	}
	parts[0][0] = append(parts[0][0], int32(items-1))
	if len(parts[0][0]) == items {
		parts[0][0] = parts[0][0][:items-1]
	}
	parts[2][users-1] = append(parts[2][users-1], int32(items-1))
	if users == 1 {
		parts[0][0] = slices.DeleteFunc(parts[0][0], func(i int32) bool { return i == int32(items-1) })
		if len(parts[0][0]) == 0 {
			rt.Skip("no edge") // this draw alone: rapid fails when too many are
		}
	}
	return interactions(items, parts[0], parts[1], parts[2])
}

// plainRank is the rank of an item among those that are not masked: by score, equal
// ones by number.
func plainRank(scores []tensor.Float, masked []int32, item int32) int32 {
	r := int32(1)
	for j, s := range scores {
		if !slices.Contains(masked, int32(j)) && (s > scores[item] || s == scores[item] && int32(j) < item) {
			r++
		}
	}
	return r
}

// Ranks are those of a plain count as deep as asked, for test and validation rows,
// items without a training row among them.
func TestRankEqualsCounting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(rt)
		x := made(t, d)
		users, items := tensor.New(d.Users, 2), tensor.New(d.Items, 2)
		for _, m := range []tensor.Matrix{users, items} {
			for i := range m.Data {
				m.Data[i] = tensor.Float(rapid.IntRange(-2, 2).Draw(rt, "value")) // so that there are ties
			}
		}
		k := rapid.IntRange(1, 8).Draw(rt, "k")
		for _, c := range []struct {
			part *part
			seen func(u int32) []int32
		}{
			{x.valid, func(u int32) []int32 { return d.Train[u] }},
			{x.test, func(u int32) []int32 { return slices.Concat(d.Train[u], d.Valid[u]) }},
		} {
			ranks, err := x.rank(t.Context(), inner(users, items), c.part, k)
			if err != nil {
				rt.Fatal(err)
			}
			for n, u := range c.part.users {
				scores := tensor.New(1, d.Items)
				tensor.Gemm(false, true, 1, tensor.RowsView(users, int(u), int(u)+1), items, 0, scores)
				beyond := map[int32]bool{}
				for j, item := range c.part.find[n] {
					want, got := plainRank(scores.Data, c.seen(u), item), ranks[n][j]
					if want <= int32(k) && got != want {
						rt.Fatalf("%s, user %d: item %d at rank %d, want %d", c.part.name, u, item, got, want)
					}
					if want > int32(k) && (got <= int32(k) || beyond[got]) {
						rt.Fatalf("%s, user %d: item %d at rank %d, want one beyond %d that no other has", c.part.name, u, item, got, k)
					}
					beyond[got] = true
				}
			}
		}
	})
}

// The floors: a random order's expectation, and the order by training rows, both over
// what the user has not seen.
func TestFloors(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn(rt)
		x := made(t, d)
		x.Method.Eval.K = []int{3}
		random, popular, err := x.floors(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		counts := make([]tensor.Float, d.Items)
		for _, items := range d.Train {
			for _, i := range items {
				counts[i]++
			}
		}
		recall, hits, users := 0.0, 0.0, 0.0
		for u := range d.Users {
			if len(d.Test[u]) == 0 {
				continue
			}
			users++
			masked := slices.Concat(d.Train[u], d.Valid[u])
			recall += min(1, 3/float64(d.Items-len(masked)))
			n := 0.0
			for _, i := range d.Test[u] {
				if plainRank(counts, masked, i) <= 3 {
					n++
				}
			}
			hits += n / float64(len(d.Test[u]))
		}
		if got := random[0].Value; math.Abs(got-recall/users) > 1e-9 {
			rt.Fatalf("random Recall@3 %v, want %v", got, recall/users)
		}
		if got := popular[0].Value; math.Abs(got-hits/users) > 1e-9 {
			rt.Fatalf("popularity Recall@3 %v, want %v", got, hits/users)
		}
	})
}

// Under the sigmoid in 32 bits high scores tie, and the lower item comes first.
func TestSigmoidTies(t *testing.T) {
	d := interactions(4, [][]int32{{0}}, nil, [][]int32{{3}})
	x := made(t, d)
	users, items := tensor.New(1, 1), tensor.New(4, 1)
	users.Data[0] = 1
	copy(items.Data, []tensor.Float{0, 20, 30, 40})
	for _, c := range []struct {
		sigmoid bool
		want    int32
	}{{false, 1}, {true, 3}} {
		x.Method.Eval.Sigmoid = c.sigmoid
		scorer, err := x.scorer(experiment.Vectors{Users: users, Items: items})
		if err != nil {
			t.Fatal(err)
		}
		ranks, err := x.rank(t.Context(), scorer, x.test, 4)
		if err != nil {
			t.Fatal(err)
		}
		if ranks[0][0] != c.want {
			t.Errorf("sigmoid %t: rank %d, want %d", c.sigmoid, ranks[0][0], c.want)
		}
	}
	scores := tensor.New(1, 4)
	items.Data[1] = -1
	if err := (squashed{inner(users, items)}).Score(nil, []int32{0}, scores); err != nil {
		t.Fatal(err)
	}
	if scores.Data[0] != 0.5 || math.Abs(float64(scores.Data[1])-1/(1+math.E)) > 1e-7 || scores.Data[3] != 1 {
		t.Errorf("scores %v", scores.Data)
	}
}

func TestRankInterrupted(t *testing.T) {
	d := interactions(4, [][]int32{{0}}, nil, [][]int32{{3}})
	x := made(t, d)
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("no time"))
	_, err := x.rank(ctx, &bpr.Ranking{Users: tensor.New(1, 1), Goods: tensor.New(4, 1)}, x.test, 4)
	if !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

func TestRankReportsBadScores(t *testing.T) {
	d := interactions(4, [][]int32{{0}}, nil, [][]int32{{3}})
	x := made(t, d)
	users, items := tensor.New(1, 1), tensor.New(4, 1)
	users.Data[0], items.Data[2] = 1, tensor.Float(math.NaN())
	if _, err := x.rank(t.Context(), inner(users, items), x.test, 4); err == nil {
		t.Error("no error for a score that is not a number")
	}
}
