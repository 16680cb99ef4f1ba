package membership

import (
	"math/rand/v2"
	"strings"
	"testing"

	"privrec/internal/metrics"
)

// Candidates differ in how high they score without training, by more than training lifts any:
// a threshold hardly tells members, and both ratios do.
func TestLiRA(t *testing.T) {
	const candidates, models = 2000, 8
	r := rand.New(rand.NewPCG(5, 6))
	base := make([]float64, candidates)
	var member []bool
	for i := range base {
		base[i] = 10 * r.NormFloat64()
		member = append(member, r.IntN(2) == 1)
	}
	scores := func(in []bool) []float64 {
		out := make([]float64, candidates)
		for i := range out {
			out[i] = base[i] + 0.5*r.NormFloat64()
			if in[i] {
				out[i] += 2
			}
		}
		return out
	}
	score := scores(member)
	var refs References
	for k := range models {
		in := make([]bool, candidates)
		for i := range in {
			if k%2 == 0 {
				in[i] = r.IntN(2) == 1
			} else {
				in[i] = !refs.In[k-1][i]
			}
		}
		refs.In = append(refs.In, in)
		refs.Score = append(refs.Score, scores(in))
	}
	online, err := refs.Online(score)
	if err != nil {
		t.Fatal(err)
	}
	offline, err := refs.Offline(score)
	if err != nil {
		t.Fatal(err)
	}
	for name, c2 := range map[string]struct {
		score  []float64
		lo, hi float64
	}{"threshold": {score, 0.45, 0.65}, "online": {online, 0.97, 1}, "offline": {offline, 0.97, 1}} {
		if a, err := metrics.AUC(c2.score, member); err != nil || a < c2.lo || a > c2.hi {
			t.Errorf("%s: AUC %.3f, want %v to %v (%v)", name, a, c2.lo, c2.hi, err)
		}
	}
}

func TestReferencesRefuse(t *testing.T) {
	for want, r := range map[string]References{
		"in 0 and out of 2":   {Score: [][]float64{{1, 2}, {2, 1}}, In: [][]bool{{false, true}, {false, false}}},
		"2 scores of 3":       {Score: [][]float64{{1, 2}}, In: [][]bool{{true, false}}},
		"1 models with":       {Score: [][]float64{{1, 2}}},
		"all candidates the ": {Score: [][]float64{{1, 1}, {1, 1}}, In: [][]bool{{true, false}, {false, true}}},
	} {
		score := []float64{0, 0}
		if strings.HasSuffix(want, "of 3") {
			score = append(score, 0)
		}
		if _, err := r.Online(score); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
