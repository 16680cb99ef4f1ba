package definition

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/metrics"
)

// even draws an input that all programs measure alike: every user has truth and a list of 10 distinct items, ranks and
// scores say the same order, and no two scores are equal.
func even(t *rapid.T) *Input {
	const items = 20
	in := &Input{Ranked: true, Scored: true, Users: make([]User, rapid.IntRange(1, 6).Draw(t, "users")), Items: make([]string, items)}
	for i := range in.Items {
		in.Items[i] = string(rune('a' + i))
	}
	all := make([]int32, items)
	for i := range all {
		all[i] = int32(i)
	}
	for u := range in.Users {
		for r, item := range rapid.Permutation(all).Draw(t, "list")[:10] {
			in.Users[u].List = append(in.Users[u].List, Entry{Item: item, Rank: int64(r + 1), Score: float64(-r)})
		}
		for _, item := range rapid.Permutation(all).Draw(t, "truth")[:rapid.IntRange(1, 15).Draw(t, "size")] {
			in.Users[u].Truth = append(in.Users[u].Truth, Target{item, 1})
		}
	}
	return in
}

func values(r Result) map[string]float64 {
	out := map[string]float64{}
	for _, v := range r.Values {
		out[v.Name] = v.Value
	}
	return out
}

// TestAgreement holds the definitions to each other where they say the same, and to plain loops where they part.
func TestAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := even(t)
		k := rapid.IntRange(1, 10).Draw(t, "k")
		got := map[string]map[string]float64{}
		for _, name := range Names() {
			d, err := Of(name)
			if err != nil {
				t.Fatal(err)
			}
			got[name] = values(d.Measure(in, []int{k}))
		}
		same := func(metric string, want float64, names ...string) {
			for _, name := range names {
				if v := got[name][at(metric, k)]; math.Abs(v-want) > 1e-12 {
					t.Errorf("%s of %s is %v, want %v", at(metric, k), name, v, want)
				}
			}
		}
		users := float64(len(in.Users))
		var recall, cutRecall, precision, hits, first, ap, cutAP, elliotAP, ndcg, gentle float64
		for _, u := range in.Users {
			relevant := map[int32]bool{}
			for _, x := range u.Truth {
				relevant[x.Item] = true
			}
			n, found, sum, mean, dcg, ideal, soft, softIdeal, at := float64(len(relevant)), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
			for i := 1; i <= k; i++ {
				w, s := 1/math.Log2(float64(i)+1), 1/math.Max(1, math.Log2(float64(i)))
				if relevant[u.List[i-1].Item] {
					found++
					sum += found / float64(i)
					dcg, soft = dcg+w, soft+s
					if at == 0 {
						at = 1 / float64(i)
					}
				}
				if i <= len(relevant) {
					ideal, softIdeal = ideal+w, softIdeal+s
				}
				mean += found / float64(i)
			}
			recall += found / n
			cutRecall += found / math.Min(n, float64(k))
			precision += found / float64(k)
			hits += math.Min(found, 1)
			first += at
			ap += sum / n
			cutAP += sum / math.Min(n, float64(k))
			elliotAP += mean / float64(k)
			ndcg += dcg / ideal
			gentle += soft / softIdeal
		}
		same("Recall", recall/users, "privrec", "recbole", "elliot", "ranx", "trec_eval")
		same("Recall", cutRecall/users, "lenskit")
		same("Precision", precision/users, Names()...)
		same("HR", hits/users, Names()...)
		same("MRR", first/users, "privrec", "recbole", "lenskit", "elliot", "ranx")
		same("MAP", ap/users, "ranx", "trec_eval")
		same("MAP", cutAP/users, "privrec", "recbole", "lenskit")
		same("MAP", elliotAP/users, "elliot")
		same("NDCG", ndcg/users, "privrec", "recbole", "elliot", "ranx", "trec_eval")
		same("NDCG", gentle/users, "lenskit")
	})
}

// TestOursIsMetrics holds privrec's definition to package metrics, for users without a list too.
func TestOursIsMetrics(t *testing.T) {
	in := &Input{Items: []string{"a", "b", "c", "d", "e"}, Users: []User{
		{List: []Entry{{Item: 3}, {Item: 0}, {Item: 1}}, Truth: []Target{{0, 1}, {4, 1}, {0, 1}, {2, 0}}},
		{Truth: []Target{{1, 1}}},
		{List: []Entry{{Item: 2}}},
	}}
	d, err := Of("privrec")
	if err != nil {
		t.Fatal(err)
	}
	r := d.Measure(in, []int{1, 2, 3})
	if r.Averaged != 2 || r.Empty != 1 {
		t.Errorf("%d averaged, %d of them without a list, want 2 and 1", r.Averaged, r.Empty)
	}
	got := values(r)
	for _, k := range []int{1, 2, 3} {
		for _, kind := range []metrics.Kind{metrics.Recall, metrics.Precision, metrics.NDCG, metrics.MAP, metrics.MRR, metrics.HR} {
			m := metrics.Metric{Kind: kind, K: k}
			if want := m.MeanSet([][]int32{{2, 9}, {9}}); got[m.String()] != want {
				t.Errorf("%v is %v, want %v", m, got[m.String()], want)
			}
		}
	}
}

// TestOrders checks that every order holds the entries of a list, the larger score first.
func TestOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 60).Draw(t, "scores")
		in := &Input{Scored: true}
		var list []Entry
		for i, s := range scores {
			in.Items = append(in.Items, string(rune('a'+i%7))+string(rune('a'+i)))
			list = append(list, Entry{Item: int32(i), Score: float64(s)})
		}
		for name, order := range map[string]func(*Input, []Entry) []Entry{"rank": byRank, "score": byScoreFirst, "name": byScoreAndName, "quicksort": byQuicksort} {
			out := order(in, list)
			seen := make([]bool, len(list))
			for i, e := range out {
				seen[e.Item] = true
				if i > 0 && out[i-1].Score < e.Score {
					t.Fatalf("%s: score %v before %v", name, out[i-1].Score, e.Score)
				}
				if i > 0 && out[i-1].Score == e.Score && (name == "rank" || name == "score" || len(list) <= small) && name != "name" && out[i-1].Item > e.Item {
					t.Fatalf("%s: ties of a short list are out of order", name)
				}
				if i > 0 && out[i-1].Score == e.Score && name == "name" && in.Items[out[i-1].Item] < in.Items[e.Item] {
					t.Fatalf("of equal scores %s comes before %s", in.Items[out[i-1].Item], in.Items[e.Item])
				}
			}
			if len(out) != len(list) || slices.Contains(seen, false) {
				t.Fatalf("%s: %d of %d entries", name, len(out), len(list))
			}
		}
	})
}

// TestGini: equal counts of all items have 0, one item of n that has all has (n-1)/n.
func TestGini(t *testing.T) {
	for _, test := range []struct {
		counts map[int]int64
		n      int
		want   float64
	}{{map[int]int64{0: 3, 1: 3}, 2, 0}, {map[int]int64{4: 7}, 5, 0.8}, {nil, 3, 0}, {map[int]int64{0: 1, 1: 3}, 2, 0.25}} {
		if got := gini(test.counts, test.n); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%v of %d items: %v, want %v", test.counts, test.n, got, test.want)
		}
	}
}
