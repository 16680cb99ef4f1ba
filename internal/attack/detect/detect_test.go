package detect

import (
	"math"
	"math/rand/v2"
	"reflect"
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
			c.Positive, c.Cluster = append(c.Positive, m), append(c.Cluster, int32(k))
			score, noise = append(score, x), append(noise, r.NormFloat64())
		}
	}
	return c, score, noise
}

func options(seed rng.Seed) Options {
	return Options{Measure: Detections(50), Resamples: 300, Confidence: 0.95, Seed: seed.Stream("test")}
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

func TestCompareRefuses(t *testing.T) {
	c, score, _ := planted(5, 1, 1)
	if _, err := Compare(c, []Attack{{Name: "alone", Score: score}}, options(1)); err == nil {
		t.Error("no floor, and no error")
	}
	if _, err := Compare(c, []Attack{{Name: "x", Score: score, Floor: true}}, Options{Measure: Detections(1), Resamples: 3, Confidence: 0.95}); err == nil {
		t.Error("3 resamples, and no error")
	}
	c.Weight = []float64{1}
	if _, err := Compare(c, []Attack{{Name: "x", Score: score, Floor: true}}, options(1)); err == nil {
		t.Error("one weight, and no error")
	}
}
