package metrics

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func listMetrics(k int) (recall, ndcg, mrr Metric) {
	return Metric{Recall, k}, Metric{NDCG, k}, Metric{MRR, k}
}

func TestListsByHand(t *testing.T) {
	second, third := 1/math.Log2(3), 1/math.Log2(4)
	for _, c := range []struct {
		name              string
		targets           []int32
		lists             [][]int32
		k                 int
		recall, ndcg, mrr float64
		distinct          int32
	}{
		{"two lists", []int32{7, 8}, [][]int32{{7, 1, 2}, {3, 8, 7}}, 2, 1, (1 + second) / 2, 0.75, 4},
		{"one rank", []int32{7, 8}, [][]int32{{7, 1, 2}, {3, 8, 7}}, 1, 0.5, 0.5, 0.5, 2},
		{"best of two ranks", []int32{7, 9}, [][]int32{{1, 2, 7}, {3, 7, 1}}, 3, 0.5, second / 2, 0.25, 4},
		{"deep", []int32{2}, [][]int32{{7, 1, 2}}, 3, 1, third, 1.0 / 3, 3},
		{"a miss", []int32{4, 5}, [][]int32{{7, 1, 2}, {3, 8, 7}}, 3, 0, 0, 0, 5},
		{"a repeated target is found once", []int32{7, 7}, [][]int32{{7, 1}, {7, 7}}, 2, 0.5, 0.5, 0.5, 2},
		{"an unknown target is never found", []int32{-1, 7}, [][]int32{{7, 1}}, 2, 0.5, 0.5, 0.5, 2},
		{"short and empty lists", []int32{7, 8}, [][]int32{{}, {8}}, 5, 0.5, 0.5, 0.5, 1},
		{"no lists", []int32{7, 8}, nil, 5, 0, 0, 0, 0},
		{"no targets", nil, [][]int32{{1, 2}}, 2, 0, 0, 0, 2},
	} {
		var s Lists
		ranks := BestRanks(nil, c.lists, c.targets)
		recall, ndcg, mrr := listMetrics(c.k)
		distinct := make([]int32, c.k)
		s.Distinct(distinct, c.lists)
		got := []float64{recall.OfLists(ranks), ndcg.OfLists(ranks), mrr.OfLists(ranks), float64(distinct[c.k-1])}
		for i, want := range []float64{c.recall, c.ndcg, c.mrr, float64(c.distinct)} {
			if math.Abs(got[i]-want) > 1e-15 {
				t.Errorf("%s: recall, NDCG, MRR, guesses = %v, number %d should be %v", c.name, got, i, want)
			}
		}
	}
}

// A list of the golden example, printed: NDCG@2 is .8155.
func TestListsGolden(t *testing.T) {
	ndcg := Metric{NDCG, 2}.OfLists(BestRanks(nil, [][]int32{{7, 1, 2}, {3, 8, 7}}, []int32{7, 8}))
	if math.Abs(ndcg-0.8155) > 5e-5 {
		t.Errorf("NDCG@2 = %v, want .8155", ndcg)
	}
}

func drawLists(t *rapid.T) (lists [][]int32, targets []int32) {
	item := rapid.Int32Range(0, 12)
	lists = rapid.SliceOfN(rapid.SliceOfNDistinct(item, 0, 6, rapid.ID[int32]), 1, 5).Draw(t, "lists")
	return lists, rapid.SliceOfN(rapid.Int32Range(-1, 12), 1, 5).Draw(t, "targets")
}

// The definitions again, with sets, as the text has them.
func slowLists(lists [][]int32, targets []int32, k int) (recall, ndcg, mrr float64, union map[int32]bool) {
	union, once := map[int32]bool{}, map[int32]bool{}
	for _, l := range lists {
		for _, v := range l[:min(k, len(l))] {
			union[v] = true
		}
	}
	for _, y := range targets {
		if once[y] {
			continue
		}
		once[y] = true
		if !union[y] {
			continue
		}
		best := math.MaxInt
		for _, l := range lists {
			if at := slices.Index(l, y); at >= 0 {
				best = min(best, at)
			}
		}
		recall++
		ndcg += 1 / math.Log2(float64(best)+2)
		mrr += 1 / (float64(best) + 1)
	}
	n := float64(len(targets))
	return recall / n, ndcg / n, mrr / n, union
}

func TestListsAgainstSets(t *testing.T) {
	var s Lists // one for all samples: nothing of an earlier one may show
	rapid.Check(t, func(t *rapid.T) {
		lists, targets := drawLists(t)
		k := rapid.IntRange(1, 7).Draw(t, "k")
		r, n, m, union := slowLists(lists, targets, k)
		recall, ndcg, mrr := listMetrics(k)
		ranks := BestRanks(nil, lists, targets)
		distinct := make([]int32, k)
		s.Distinct(distinct, lists)
		if recall.OfLists(ranks) != r || math.Abs(ndcg.OfLists(ranks)-n) > 1e-15 || math.Abs(mrr.OfLists(ranks)-m) > 1e-15 || int(distinct[k-1]) != len(union) {
			t.Fatalf("%v %v %v %d, want %v %v %v %d", recall.OfLists(ranks), ndcg.OfLists(ranks), mrr.OfLists(ranks), distinct[k-1], r, n, m, len(union))
		}
	})
}

// The order of the lists says nothing, one more list and one more rank never lower a score, and a score
// of an order says at most what recall says.
func TestListsLaws(t *testing.T) {
	var s Lists
	rapid.Check(t, func(t *rapid.T) {
		lists, targets := drawLists(t)
		k := rapid.IntRange(1, 6).Draw(t, "k")
		all := func(lists [][]int32, k int) [4]float64 {
			recall, ndcg, mrr := listMetrics(k)
			ranks := BestRanks(nil, lists, targets)
			distinct := make([]int32, k)
			s.Distinct(distinct, lists)
			return [4]float64{recall.OfLists(ranks), ndcg.OfLists(ranks), mrr.OfLists(ranks), float64(distinct[k-1])}
		}
		base := all(lists, k)
		if shuffled := all(rapid.Permutation(lists).Draw(t, "order"), k); shuffled != base {
			t.Fatalf("%v in another order of the lists, %v before", shuffled, base)
		}
		extra := rapid.SliceOfNDistinct(rapid.Int32Range(0, 12), 0, 6, rapid.ID[int32]).Draw(t, "extra")
		for name, more := range map[string][4]float64{"list": all(append(slices.Clone(lists), extra), k), "rank": all(lists, k+1)} {
			for i := range more {
				if more[i] < base[i] {
					t.Fatalf("one more %s: %v, %v before", name, more, base)
				}
			}
		}
		if base[1] > base[0]+1e-15 || base[2] > base[1]+1e-15 {
			t.Fatalf("recall, NDCG, MRR = %v do not fall", base)
		}
	})
}

func TestListsRefuse(t *testing.T) {
	for name, f := range map[string]func(){
		"kind":     func() { Metric{HR, 5}.OfLists([]int32{1}) },
		"negative": func() { Metric{Recall, 5}.OfLists([]int32{-1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if d := (Metric{NDCG, 5}).ListsDefinition(); d != "NDCG@5: mean over the n targets of 1/log2(1+r), 0 when r > 5; r is the best rank over all lists, n is not cut, there is no ideal DCG" {
		t.Error(d)
	}
}
