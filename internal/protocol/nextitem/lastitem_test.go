package nextitem

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// lastRows are four users: the second's test item is in no training row, the third's
// validation item is not, the fourth comes back to an item it had.
func lastRows(t testing.TB) *dataset.Sequential {
	t.Helper()
	l := &dataset.Log{Name: "hand", Hash: "00", UserIDs: []string{"a", "b", "c", "d", "e"}, ItemIDs: []string{"1", "2", "3", "4", "5", "6"}}
	for u, items := range [][]int32{{0, 1, 2, 3}, {1, 2, 0, 4}, {3, 0, 5, 1}, {2, 3, 1, 2}, {1, 0}} {
		for _, i := range items {
			l.Users, l.Items = append(l.Users, int32(u)), append(l.Items, i)
		}
	}
	s, err := dataset.Recipe{Name: "hand", Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true}}.Apply(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onLast is an experiment on those rows.
func onLast(t testing.TB, masked bool) *Experiment {
	t.Helper()
	s := small()
	s.LastItem, s.Masked, s.Eval.K = true, masked, []int{2}
	x, err := Cut(run.Rehearse(1), s, lastRows(t))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestHeldOut(t *testing.T) {
	x := onLast(t, true)
	name := func(items ...int32) string {
		var b strings.Builder
		for _, i := range items {
			b.WriteString(x.Data.ItemIDs[i])
		}
		return b.String()
	}
	for _, c := range []struct {
		part    *Part
		want    []string // user, prefix, label
		unknown int
	}{
		{x.Valid, []string{"a 12 3", "b 23 1", "d 34 2"}, 1},
		{x.Test, []string{"a 123 4", "c 41 2", "d 342 3"}, 1},
	} {
		var got []string
		for k, u := range c.part.Samples.User {
			got = append(got, fmt.Sprintf("%s %s %s", x.Data.UserIDs[u], name(c.part.Prefix(int32(k))...), name(c.part.Labels[k]+1)))
		}
		if !slices.Equal(got, c.want) || c.part.Unknown != c.unknown {
			t.Errorf("%s: %v and %d unknown, want %v and %d", c.part.Name, got, c.part.Unknown, c.want, c.unknown)
		}
	}
	for u, want := range []string{"1234", "2315", "4162", "3423", "21"} {
		if u != 1 && u != 2 { // who have an item that training does not know, and no place for it
			if got := name(x.cut.history(x, u)...); got != want {
				t.Errorf("user %d has %s, want %s", u, got, want)
			}
		}
	}
}

// byHand ranks by a loop over the candidates, where every sample has the same scores.
func byHand(p *Part, masked bool, scores []tensor.Float) []int32 {
	var ranks []int32
	for k, target := range p.Labels {
		rank := int32(1)
		for j, v := range scores {
			had := slices.Contains(p.Prefix(int32(k)), int32(j)+1)
			if int32(j) != target && !(masked && had) && (v > scores[target] || v == scores[target] && int32(j) < target) {
				rank++
			}
		}
		ranks = append(ranks, rank)
	}
	for range p.Unknown {
		ranks = append(ranks, math.MaxInt32)
	}
	return ranks
}

// Ranks and floors are those of a loop over the candidates, with and without the history.
func TestRanksOfLastItems(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := onLast(t, rapid.Bool().Draw(rt, "mask"))
		scores := make(eval.Same, x.Items)
		for j := range scores {
			scores[j] = tensor.Float(rapid.IntRange(0, 4).Draw(rt, "score"))
		}
		p := []*Part{x.Valid, x.Test}[rapid.IntRange(0, 1).Draw(rt, "part")]
		ranks, err := x.rankBy(t.Context(), scores, p)
		if err != nil {
			rt.Fatal(err)
		}
		if want := byHand(p, x.Masked, scores); !slices.Equal(ranks, want) {
			rt.Fatalf("ranks %v, want %v", ranks, want)
		}
		p = x.Test
		m := metrics.Metric{Kind: metrics.HR, K: 2}
		want := 0.0
		for k, label := range p.Labels {
			left := x.Items
			if x.Masked {
				left = 0
				for j := range int32(x.Items) {
					if j == label || !slices.Contains(p.Prefix(int32(k)), j+1) {
						left++
					}
				}
			}
			want += min(1, 2/float64(left)) / float64(len(p.Labels)+p.Unknown)
		}
		if got := x.cut.random(x, []metrics.Metric{m})[0]; math.Abs(got.Value-want) > 1e-12 || got.Count != len(p.Labels)+p.Unknown {
			rt.Fatalf("a random order: %v of %d, want %v of %d", got.Value, got.Count, want, len(p.Labels)+p.Unknown)
		}
	})
	x := onLast(t, true)
	if n := x.counts(); !slices.Equal(n, []int64{3, 3, 2, 2}) {
		t.Errorf("counts %v of items %v", n, x.Data.ItemIDs)
	}
	ranks, err := x.popular(t.Context())
	if want := byHand(x.Test, true, []tensor.Float{3, 3, 2, 2}); err != nil || !slices.Equal(ranks, want) {
		t.Errorf("popularity ranks %v (%v), want %v", ranks, err, want)
	}
}
