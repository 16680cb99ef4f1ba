package standin_test

import (
	"math"
	"os"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/standin"
)

// realData skips a test that needs the data sets themselves, saying so.
func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" {
		// The data are not in the repository; .ci/run, where they are, fails if this skips.
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	return dir
}

// TestRealStructure measures on real rows what the stand-in's tests ask of it.
func TestRealStructure(t *testing.T) {
	dir := realData(t)
	var recall, auc [2]float64
	for i, name := range []string{"ml-1m", "standin-ml-1m"} {
		s, err := registry.Load(t.Context(), name, "dipsgnn", dataset.View{}, registry.Options{Dir: dir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		pop, markov := orderSignal(s)
		l, f, err := registry.LoadLog(t.Context(), name, dataset.View{}, registry.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		recall[i], auc[i] = markov, genderAUC(l, f)
		core, _ := s.Ladder.Get("10-core")
		t.Logf("%s: recall@20 popularity %.3f, markov %.3f; AUC of gender %.3f; %+v", name, pop, markov, auc[i], core)
		if markov < 2*pop {
			t.Errorf("%s: transitions %.3f are not twice popularity %.3f", name, markov, pop)
		}
	}
	if !within(recall[1], recall[0], 0.5) || !within(auc[1], auc[0], 0.15) {
		t.Errorf("stand-in is far from the real data: recall %v, AUC %v", recall, auc)
	}
}

// TestRealAggregates computes from the real rows what the profile says of them.
func TestRealAggregates(t *testing.T) {
	s, err := registry.Load(t.Context(), "ml-1m", "dipsgnn", dataset.View{},
		registry.Options{Dir: realData(t), NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := standin.Find("ml-1m")
	if err != nil {
		t.Fatal(err)
	}
	got := standin.AggregatesOf(s, 100)
	for _, x := range []*float64{&got.Gini, &got.AtCap} {
		*x = math.Round(*x*1e4) / 1e4
	}
	if got != p.After {
		t.Errorf("after the recipe the real data are %+v, the profile says %+v", got, p.After)
	}
}
