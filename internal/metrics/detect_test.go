package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// whole counts every score once.
func whole(int32) float64 { return 1 }

func measured(t testing.TB, scores []float64, positive []bool, guesses float64) Detection {
	t.Helper()
	r, err := NewROC(scores, positive)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Measure(whole, guesses)
	if !ok {
		t.Fatal("no measures")
	}
	return d
}

func TestDetection(t *testing.T) {
	yes := []bool{true, true, true, false, false, false, false, false, false, false, false, false, false}
	for name, c := range map[string]struct {
		scores  []float64
		guesses float64
		want    Detection
	}{
		"perfect":      {[]float64{9, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 3, Detection{1, 1, 1, 1, 1, 1}},
		"reversed":     {[]float64{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 3, Detection{0, 0, 0, 0, 0, 0}},
		"all equal":    {make([]float64, 13), 5, Detection{0.5, 0, 0.001, 0.01, 0.1, 3.0 / 13}},
		"second place": {[]float64{11, 9, 8, 10, 7, 6, 5, 4, 3, 2, 1, 0, -1}, 2, Detection{28.0 / 30, 0.9, 1.0 / 3, 1.0 / 3, 1, 0.5}},
	} {
		got := measured(t, c.scores, yes, c.guesses)
		for k := range got {
			if math.Abs(got[k]-c.want[k]) > 1e-12 {
				t.Errorf("%s, %v: %v, want %v", name, DetectScore(k), got[k], c.want[k])
			}
		}
	}
}

// Weights are copies: a score that counts twice is two equal scores. The area is that of AUC.
func TestDetectionWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var scores, copies []float64
		var positive, also []bool
		weights := make([]float64, n)
		for i := range n {
			scores, positive = append(scores, float64(r.IntN(6))), append(positive, i%2 == 0)
			weights[i] = float64(r.IntN(3))
			if i < 2 {
				weights[i]++
			}
			for range int(weights[i]) {
				copies, also = append(copies, scores[i]), append(also, positive[i])
			}
		}
		guesses := 1 + float64(r.IntN(8))
		roc, err := NewROC(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := roc.Measure(func(i int32) float64 { return weights[i] }, guesses)
		if !ok {
			t.Fatal("no measures")
		}
		flat, err := NewROC(copies, also)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := flat.Measure(whole, guesses)
		area, err := AUC(copies, also)
		if err != nil {
			t.Fatal(err)
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-9 {
				t.Errorf("%v: %v by weights, %v by copies", DetectScore(k), got[k], want[k])
			}
		}
		if math.Abs(got[DetectAUC]-area) > 1e-9 {
			t.Errorf("AUC %v, want %v", got[DetectAUC], area)
		}
	})
}

func TestNewROCRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		scores   []float64
		positive []bool
	}{
		"lengths":   {[]float64{1}, []bool{true, false}},
		"one class": {[]float64{1, 2}, []bool{true, true}},
		"NaN":       {[]float64{1, math.NaN()}, []bool{true, false}},
	} {
		if _, err := NewROC(c.scores, c.positive); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	r, err := NewROC([]float64{1, 2}, []bool{true, false})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Measure(func(i int32) float64 { return float64(i) }, 1); ok {
		t.Error("measures without a positive of any weight")
	}
}

func TestParseDetect(t *testing.T) {
	for _, s := range DetectScores() {
		m := DetectMetric{s, "member users"}
		if got, err := ParseDetect(m.String()); err != nil || got != m {
			t.Errorf("%v reads as %v, %v", m, got, err)
		}
	}
	for _, name := range []string{"AUC", "AUC ", "advant users"} {
		if _, err := ParseDetect(name); err == nil {
			t.Errorf("%q is read", name)
		}
	}
}
