package exposure

import (
	"math"
	"testing"

	"privrec/internal/metrics"
	"privrec/internal/protocol/slates"
)

// The points of figures stand among the evaluations: clean slates at ratio 0 of every mechanism,
// randomised response by its epsilon, slates by their length.
func TestListed(t *testing.T) {
	recall := metrics.Metric{Kind: metrics.Recall, K: 5}
	found := func(x float64) []Attacker {
		return []Attacker{{AttackerClean, slates.Found{Values: map[string]float64{"Recall@5": x}}}}
	}
	f := &Figures{Points: []FigurePoint{
		{Mechanism: "as they are", Accuracy: 0.5, Attackers: found(0.4)},
		{Mechanism: "random, uniform", Ratio: 0.2, Accuracy: 0.3, Attackers: found(0.2)},
		{Mechanism: "random, uniform", Ratio: 0.4, Accuracy: share(math.NaN()), Attackers: found(0.1)},
		{Mechanism: "similar, uniform", Ratio: 0.2, Accuracy: 0.2, Attackers: found(0.05)},
		{Mechanism: "rr", Epsilon: 4, Accuracy: 0.1, Attackers: found(0.01)},
	}, Slates: []SlatesPoint{{Length: 5, Values: []slates.NamedValues{{Values: map[string]float64{"Recall@5": 0.3}}}}}}
	type want struct {
		recall   float64
		accuracy float64
	}
	wants := map[string]want{
		"random, uniform, ratio 0, clean attacker":    {0.4, 0.5},
		"random, uniform, ratio 0.2, clean attacker":  {0.2, 0.3},
		"random, uniform, ratio 0.4, clean attacker":  {0.1, math.NaN()},
		"similar, uniform, ratio 0, clean attacker":   {0.4, 0.5},
		"similar, uniform, ratio 0.2, clean attacker": {0.05, 0.2},
		"rr, epsilon 4, clean attacker":               {0.01, 0.1},
		"slates of 5":                                 {0.3, math.NaN()},
	}
	got := f.evaluations([]metrics.Metric{recall})
	if len(got) != len(wants) {
		t.Errorf("%d evaluations, want %d", len(got), len(wants))
	}
	for _, s := range got {
		w, ok := wants[s.Name]
		accuracy, has := s.Values[metrics.Accuracy.String()]
		if !ok || s.Values["Recall@5"] != w.recall || has == math.IsNaN(w.accuracy) || has && accuracy != w.accuracy {
			t.Errorf("%s: %v, want %v", s.Name, s.Values, w)
		}
	}
}
