package exposure

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/slate"
	"privrec/internal/progress"
	"privrec/internal/progress/progresstest"
)

// Results under several protocols are those of each alone, for every attack. Pairs are ranked once for protocols with
// the same pairs and candidates, and again for others.
func TestEvaluateAllRanksOnce(t *testing.T) {
	const vocab, n = 40, 9
	p := pairsOf(n, 4, 3, vocab, 1)
	logged := make([][]int32, n)
	for u := range logged {
		for v := slate.FirstItem; v < 30; v++ {
			logged[u] = append(logged[u], v+int32(u))
		}
	}
	full := []Protocol{{Budget: BudgetK, Cutoffs: []int{2, 4}}, {Budget: BudgetKL, Cutoffs: []int{2, 4}},
		{Budget: BudgetList, Cutoffs: []int{3}}, {Budget: BudgetK, Cutoffs: []int{5}, DropEnded: true}}
	among := Protocol{Budget: BudgetKL, Vocabulary: VocabularyLogged, Logged: logged}
	few := Protocol{DistinctTargets: true, Cutoffs: []int{2}}
	fewer, dropped := few.rows(p)
	if dropped.Repeated == 0 {
		t.Fatal("no pair repeats a click")
	}
	everyPair(t, func(t *testing.T, encoder, decoder string) {
		m := shaken(t, small(encoder, decoder, 4), vocab, 4, 3)
		for _, c := range []struct {
			qs     []Protocol
			ranked []int // pairs of each ranking
		}{
			{full, []int{n}}, {[]Protocol{full[0], few, among, full[1]}, []int{n, len(fewer), n}}, {nil, nil},
		} {
			var r progresstest.Recorder
			got, err := EvaluateAll(progress.With(t.Context(), &r), m, p, c.qs)
			if err != nil {
				t.Fatal(err)
			}
			var ranked []int
			for _, s := range r.Stretches {
				ranked = append(ranked, s.Total)
			}
			if !slices.Equal(ranked, c.ranked) {
				t.Errorf("pairs ranked: %v, want %v", ranked, c.ranked)
			}
			for i, q := range c.qs {
				if want := evaluate(t, m, p, q); !reflect.DeepEqual(got[i], want) {
					t.Errorf("%s: %+v, alone %+v", q, got[i], want)
				}
			}
		}
	})
}

// An error names the protocol.
func TestEvaluateAllNamesTheProtocol(t *testing.T) {
	p := pairsOf(3, 4, 3, 40, 1)
	m := shaken(t, small("mean", "point", 4), 40, 4, 3)
	for _, c := range []struct {
		q    Protocol
		want string
	}{
		{Protocol{Budget: BudgetK, Cutoffs: []int{0}},
			"full vocabulary, k guesses: attack: scoring guesses: cutoffs: 0"},
		{Protocol{Vocabulary: VocabularyLogged},
			"logged candidates (the clicks are among them), k*L guesses: attack: logged candidates: pair 0"},
	} {
		_, err := EvaluateAll(t.Context(), m, p, []Protocol{{}, c.q})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
