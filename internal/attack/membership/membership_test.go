package membership

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"privrec/internal/metrics"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// planted has candidates of clusters with ten each, half of them members, whose true score is
// shifted by lift where they are.
func planted(clusters int, lift float64, seed uint64) (c Candidates, score, noise []float64) {
	r := rand.New(rand.NewPCG(seed, 2))
	c.Count = clusters
	for k := range clusters {
		for range 10 {
			m, x := r.IntN(2) == 1, r.NormFloat64()
			if m {
				x += lift
			}
			c.Member, c.Cluster = append(c.Member, m), append(c.Cluster, int32(k))
			score, noise = append(score, x), append(noise, r.NormFloat64())
		}
	}
	return c, score, noise
}

func options(seed rng.Seed) Options {
	return Options{Guesses: 50, Resamples: 300, Confidence: 0.95, Seed: seed.Stream("test")}
}

// A planted difference is measured as what it is, an attack without any as chance, and what is
// left beyond the floor is the difference of the two. Workers do not matter.
func TestCompare(t *testing.T) {
	c, score, noise := planted(400, 1, 1)
	attacks := []Attack{{Name: "planted", Score: score}, {Name: "noise", Score: noise}, {Name: "constant", Floor: true, Score: make([]float64, len(noise))}}
	got, err := Compare(c, attacks, options(1))
	if err != nil {
		t.Fatal(err)
	}
	want := 0.5 * math.Erfc(-1/math.Sqrt2/math.Sqrt2) // P(N(1,1) > N(0,1))
	if a := got[0].Values[metrics.DetectAUC]; math.Abs(a-want) > 6.2*0.009 {
		t.Errorf("AUC %.4f, want %.4f", a, want)
	}
	if in := got[1].Interval[metrics.DetectAUC]; in[0] > 0.5 || in[1] < 0.5 {
		t.Errorf("the interval of noise is %v", in)
	}
	for m := range got[0].Values {
		if d := got[0].Values[m] - got[2].Values[m]; got[0].Best[m] != 2 || math.Abs(got[0].Beyond[m]-d) > 1e-12 {
			t.Errorf("%v: %v is left beyond floor %d, want %v", metrics.DetectScore(m), got[0].Beyond[m], got[0].Best[m], d)
		}
	}
	if left := got[0].Left[metrics.DetectAUC]; left[0] <= 0 || left[0] > got[0].Beyond[metrics.DetectAUC] || left[1] < got[0].Beyond[metrics.DetectAUC] {
		t.Errorf("interval of what is left: %v about %v", left, got[0].Beyond[metrics.DetectAUC])
	}
	defer tensor.SetWorkers(tensor.Workers())
	tensor.SetWorkers(1)
	again, err := Compare(c, attacks, options(1))
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("one worker finds another result (%v)", err)
	}
}

// A floor is taken in the direction of the answers unless it learned one; an attack never is.
func TestFloorsMayBeReversed(t *testing.T) {
	c, score, _ := planted(50, 1, 3)
	low := negated(score)
	got, err := Compare(c, []Attack{{Name: "attack", Score: low}, {Name: "floor", Floor: true, Score: low}, {Name: "learned", Floor: true, Learned: true, Score: low}}, options(2))
	if err != nil {
		t.Fatal(err)
	}
	a := metrics.DetectAUC
	if got[0].Values[a] >= 0.5 || got[1].Values[a] <= 0.5 || got[2].Values[a] >= 0.5 || got[0].Reversed || !got[1].Reversed || got[2].Reversed {
		t.Errorf("%v, %v, %v", got[0].Values[a], got[1].Values[a], got[2].Values[a])
	}
}

// Candidates differ in how high they score without training, by more than training lifts any:
// a threshold hardly tells members, and both ratios do.
func TestLiRA(t *testing.T) {
	const candidates, models = 2000, 8
	r := rand.New(rand.NewPCG(5, 6))
	base := make([]float64, candidates)
	c := Candidates{Count: candidates}
	for i := range base {
		base[i] = 10 * r.NormFloat64()
		c.Member, c.Cluster = append(c.Member, r.IntN(2) == 1), append(c.Cluster, int32(i))
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
	score := scores(c.Member)
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
		if a, err := metrics.AUC(c2.score, c.Member); err != nil || a < c2.lo || a > c2.hi {
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
	c, score, _ := planted(5, 1, 1)
	if _, err := Compare(c, []Attack{{Name: "alone", Score: score}}, options(1)); err == nil {
		t.Error("no floor, and no error")
	}
	if _, err := Compare(c, []Attack{{Name: "x", Score: score, Floor: true}}, Options{Guesses: 1, Resamples: 3, Confidence: 0.95}); err == nil {
		t.Error("3 resamples, and no error")
	}
}
