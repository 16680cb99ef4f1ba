package metrics

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

// allMetrics is every kind at cut-offs below, at and above the sizes used here.
func allMetrics() []Metric {
	return Grid(Kinds(), []int{1, 2, 3, 6, 9})
}

func TestOfByHand(t *testing.T) {
	log2 := math.Log2
	for _, c := range []struct {
		metric string
		ranks  []int32
		want   float64
	}{
		{"Recall@5", []int32{5}, 1},
		{"Recall@5", []int32{6}, 0},
		{"HR@5", []int32{1}, 1},
		{"MRR@5", []int32{4}, 0.25},
		{"MRR@5", []int32{6}, 0},
		{"NDCG@5", []int32{1}, 1},
		{"NDCG@5", []int32{3}, 0.5},
		{"Precision@5", []int32{2}, 0.2},
		{"MAP@5", []int32{2}, 0.5},
		{"sampled Hit@5", []int32{5}, 1},
		{"sampled Hit@5", []int32{6}, 0},
		{"sampled NDCG@5", []int32{3}, 0.5},
		{"sampled NDCG@5", []int32{6}, 0},
		// Each target alone: no ideal for several, and ranks repeat.
		{"sampled Hit@5", []int32{2, 2, 9}, 2.0 / 3},
		{"Sampled ndcg@5", []int32{3, 3, 9}, 1.0 / 3},
		// A set, given out of order: hits at 2, 3 of targets {2, 3, 9}.
		{"Recall@5", []int32{9, 3, 2}, 2.0 / 3},
		{"HR@5", []int32{9, 3, 2}, 1},
		{"HR@5", []int32{9, 7}, 0},
		{"MRR@5", []int32{9, 3, 2}, 0.5},
		{"Precision@5", []int32{9, 3, 2}, 0.4},
		{"NDCG@5", []int32{9, 3, 2}, (1/log2(3) + 1/log2(4)) / (1 + 1/log2(3) + 1/log2(4))},
		{"NDCG@2", []int32{9, 3, 2}, (1 / log2(3)) / (1 + 1/log2(3))}, // the ideal is cut at K
		{"MAP@5", []int32{9, 3, 2}, (1.0/2 + 2.0/3) / 3},
		{"MAP@2", []int32{9, 3, 2}, (1.0 / 2) / 2},
		{"Recall@5", nil, 0},
	} {
		m, err := Parse(c.metric)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(c.ranks)
		near(t, c.metric, m.OfSet(c.ranks), c.want, 1e-15)
		if !slices.Equal(before, c.ranks) {
			t.Errorf("%s changed its argument", c.metric)
		}
	}
}

func TestSetOfOneIsSingle(t *testing.T) {
	for _, m := range allMetrics() {
		for r := int32(1); r < 12; r++ {
			// A second target far below the cut-off changes the divisor only, so compare the plain single.
			near(t, m.String(), m.OfSet([]int32{r}), m.Of(r), 0)
		}
	}
}

func TestMeansAndSummary(t *testing.T) {
	ranks := []int32{1, 2, 11, 4}
	near(t, "Recall@10", Metric{Recall, 10}.Mean(ranks), 0.75, 0)
	near(t, "MRR@10", Metric{MRR, 10}.Mean(ranks), (1+0.5+0.25)/4, 1e-15)
	near(t, "empty", Metric{MRR, 10}.Mean(nil), 0, 0)
	sets := [][]int32{{1}, {2}, {11}, {4}}
	for i, v := range Summary(allMetrics(), ranks) {
		s := SummarySet(allMetrics(), sets)[i]
		near(t, v.Metric.String(), v.Value, s.Value, 1e-15)
		if v.Count != 4 || s.Count != 4 {
			t.Errorf("counts %d %d", v.Count, s.Count)
		}
		if each := v.Metric.EachSet(sets); !slices.Equal(each, v.Metric.Each(ranks)) {
			t.Errorf("%v of sets of one target each: %v", v.Metric, each)
		}
		sum := 0.0
		for _, x := range v.Metric.Each(ranks) {
			sum += x
		}
		near(t, "Each", sum/4, v.Value, 1e-15)
	}
	if s := (Value{Metric{Recall, 20}, 0.2101, 5}).String(); s != "Recall@20 21.01" {
		t.Error(s)
	}
}

// sortedRank is the slow oracle: sort by score descending, index ascending, and look the target up.
func sortedRank(scores []float32, target int) int32 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if scores[a] != scores[b] {
			if scores[a] > scores[b] {
				return -1
			}
			return 1
		}
		return a - b
	})
	return int32(slices.Index(order, target)) + 1
}

func TestRankAgainstSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.SliceOfN(rapid.IntRange(-2, 2), 1, 40).Draw(t, "scores") // many ties
		scores, counts := make([]float32, len(small)), make([]int64, len(small))
		for i, s := range small {
			scores[i], counts[i] = float32(s), int64(s)
		}
		byCount := RanksByCount(counts)
		for y := range scores {
			want := sortedRank(scores, y)
			if byCount[y] != want {
				t.Fatalf("rank of %d = %d, want %d", y, byCount[y], want)
			}
		}
	})
}

func TestConstantScoresGiveNoFreeHit(t *testing.T) {
	for y, got := range RanksByCount(make([]int64, 100)) {
		if got != int32(y+1) {
			t.Fatalf("rank of %d = %d", y, got)
		}
	}
}

func TestPopularityRanks(t *testing.T) {
	got, err := PopularityRanks([]int64{3, 9, 3, 0}, []int32{0, 1, 2, 3, 2})
	if err != nil || !slices.Equal(got, []int32{2, 1, 3, 4, 3}) {
		t.Error(got, err)
	}
	for _, bad := range []int32{-1, 4} {
		if _, err := PopularityRanks([]int64{3, 9, 3, 0}, []int32{0, bad}); err == nil || !strings.Contains(err.Error(), "sample 1") {
			t.Error(err)
		}
	}
}

// subsets calls visit with every n-subset of 1..v as ascending ranks; each is equally likely at random.
func subsets(v, n int, visit func([]int32)) {
	var rec func(from int, chosen []int32)
	rec = func(from int, chosen []int32) {
		if len(chosen) == n {
			visit(chosen)
			return
		}
		for r := from; r <= v; r++ {
			rec(r+1, append(chosen, int32(r)))
		}
	}
	rec(1, make([]int32, 0, n))
}

func TestRandomFloorIsTheExactExpectation(t *testing.T) {
	for _, m := range allMetrics() {
		for v := 1; v <= 7; v++ {
			for n := 1; n <= v; n++ {
				sum, count := 0.0, 0
				subsets(v, n, func(ranks []int32) { sum += m.OfSet(ranks); count++ })
				near(t, m.String(), m.Random(v, n), sum/float64(count), 1e-13)
			}
		}
	}
	floor := RandomFloor([]Metric{{Recall, 20}, {MRR, 2}}, 2810)
	near(t, "Recall@20 floor of ML-1M", floor[0].Value, 20.0/2810, 1e-16)
	near(t, "MRR@2", floor[1].Value, 1.5/2810, 1e-16)
}

func TestParse(t *testing.T) {
	for _, m := range allMetrics() {
		got, err := Parse(strings.ToLower(m.String()))
		if err != nil || got != m {
			t.Errorf("%v: %v %v", m, got, err)
		}
		if !strings.Contains(m.Definition(), m.String()+": ") {
			t.Errorf("definition of %v: %q", m, m.Definition())
		}
	}
	for _, bad := range []string{"", "recall", "recall@", "recall@0", "recall@-1", "recall@1.5", "recal@5", "@5"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestJSON(t *testing.T) {
	in := []Value{{Metric{NDCG, 10}, 0.25, 4}}
	text, err := json.Marshal(in)
	if err != nil || string(text) != `[{"metric":"NDCG@10","value":0.25,"count":4}]` {
		t.Errorf("%s %v", text, err)
	}
	var out []Value
	if err := json.Unmarshal(text, &out); err != nil || !slices.Equal(in, out) {
		t.Error(out, err)
	}
	if err := json.Unmarshal([]byte(`[{"metric":"NDCG"}]`), &out); err == nil {
		t.Error("a metric without a cut-off was accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("NDCG@10")
	f.Add("x@")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(m.String()); err != nil || again != m {
			t.Errorf("%q: %v, then %v %v", s, m, again, err)
		}
	})
}

func TestAUC(t *testing.T) {
	// Against all pairs, ties one half.
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		scores, positive := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i] = float64(rapid.IntRange(0, 4).Draw(t, "s"))
			positive[i] = rapid.Bool().Draw(t, "p")
		}
		positive[0], positive[1] = true, false
		wins, pairs := 0.0, 0.0
		for i := range scores {
			for j := range scores {
				if positive[i] && !positive[j] {
					pairs++
					switch {
					case scores[i] > scores[j]:
						wins++
					case scores[i] == scores[j]:
						wins += 0.5
					}
				}
			}
		}
		got, err := AUC(scores, positive)
		if err != nil || math.Abs(got-wins/pairs) > 1e-12 {
			t.Fatalf("AUC %v %v, want %v", got, err, wins/pairs)
		}
	})
	for _, c := range []struct {
		s []float64
		p []bool
	}{{[]float64{1}, []bool{true}}, {[]float64{1, 2}, []bool{true}}, {[]float64{math.NaN(), 2}, []bool{true, false}}} {
		if _, err := AUC(c.s, c.p); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
}

func TestConfusion(t *testing.T) {
	c, err := NewConfusion([]int{0, 0, 0, 1, 1, 2}, []int{0, 0, 1, 1, 0, 0}, 4)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "accuracy", c.Accuracy(), 0.5, 0)
	near(t, "F1 of 0", c.F1(0), 4.0/7, 1e-15) // precision 2/4, recall 2/3
	near(t, "F1 of 1", c.F1(1), 0.5, 1e-15)
	near(t, "macro", c.MacroF1(), (4.0/7+0.5)/3, 1e-15) // class 2 counts 0, class 3 does not occur
	near(t, "weighted", c.WeightedF1(), (3*4.0/7+2*0.5)/6, 1e-15)
	near(t, "balanced", c.BalancedAccuracy(), (2.0/3+1.0/2+0)/3, 1e-15)
	for _, bad := range [][2][]int{{{0}, {0, 1}}, {{4}, {0}}, {{0}, {-1}}} {
		if _, err := NewConfusion(bad[0], bad[1], 4); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	near(t, "empty",
		Confusion{}.Accuracy()+Confusion{}.MacroF1()+Confusion{}.WeightedF1()+Confusion{}.BalancedAccuracy(), 0, 0)
}

// Items of a list have their places, and every other one a place of its own below the end.
func TestRanksIn(t *testing.T) {
	got := RanksIn([]int32{7, 3, 5}, []int32{5, 1, 7, 2})
	if got[0] != 3 || got[2] != 1 || got[1] <= 3 || got[3] <= 3 || got[1] == got[3] {
		t.Errorf("ranks %v", got)
	}
}
