package metrics

import (
	"math"
	"testing"
)

// The areas are those of scikit-learn 1.9's average_precision_score.
func TestGuess(t *testing.T) {
	for name, c := range map[string]struct {
		scores    []float64
		positive  []bool
		weight    []float64
		budget    float64
		area      float64
		precision float64
		recall    float64
	}{
		"documented": {[]float64{0.1, 0.4, 0.35, 0.8}, []bool{false, false, true, true}, nil, 1, 0.8333333333333333, 0.5, 0.5},
		"all equal":  {make([]float64, 8), []bool{true, false, false, false, true, false, false, false}, nil, 1, 0.25, 0.25, 0.25},
		"ties":       {[]float64{3, 3, 2, 1, 1, 0}, []bool{true, false, true, false, true, false}, nil, 1, 0.5888888888888889, 2.0 / 3, 2.0 / 3},
		"weights":    {[]float64{3, 2, 1, 0}, []bool{true, false, true, false}, []float64{1, 10, 1, 10}, 1, 0.5833333333333333, 0.5, 0.5},
	} {
		r, err := NewROC(c.scores, c.positive)
		if err != nil {
			t.Fatal(err)
		}
		g, ok := r.Guess(func(i int32) float64 {
			if c.weight == nil {
				return 1
			}
			return c.weight[i]
		}, []float64{c.budget, 100})
		if !ok || math.Abs(g.Area-c.area) > 1e-12 || math.Abs(g.Precision[0]-c.precision) > 1e-12 || math.Abs(g.Recall[0]-c.recall) > 1e-12 || g.Recall[1] != 1 {
			t.Errorf("%s: %+v, %v", name, g, ok)
		}
		if c.weight == nil {
			if a, err := AUC(c.scores, c.positive); err != nil || math.Abs(g.AUC-a) > 1e-12 {
				t.Errorf("%s: AUC %v, want %v (%v)", name, g.AUC, a, err)
			}
		}
	}
}

func TestParseGuess(t *testing.T) {
	for _, m := range []GuessMetric{{AveragePrecision, 0, "edges"}, {GuessPrecision, 0.25, "edges among all pairs"}, {GuessRecall, 4, "edges"}} {
		if got, err := ParseGuess(m.String()); err != nil || got != m {
			t.Errorf("%v reads as %v, %v", m, got, err)
		}
	}
	for _, name := range []string{"AP", "AP ", "precision edges", "precision at x edges", "recall at -1x edges", "precision at 2x "} {
		if _, err := ParseGuess(name); err == nil {
			t.Errorf("%q is read", name)
		}
	}
}
