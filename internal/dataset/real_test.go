package dataset

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// realData skips a test that needs the data sets themselves, saying so.
func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" {
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	return dir
}

func TestRealLadders(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name, recipe string
		items, core  int
		samples      int // of test, unknown items dropped
		level        Level
		width        int // of the features, one-hot
	}{
		{"ml-1m", "dipsgnn", 2810, 2810, 68774, LevelB, 2 + 7 + 21},
		{"ml-100k", "dipsgnn", 1149, 1152, 7158, LevelC, 2 + 1 + 21},
		{"gowalla", "lightgcn", 40981, 40981, 217242 - 29858, LevelA, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := Options{Dir: dir, CacheDir: t.TempDir()}
			start := time.Now()
			s, err := Load(t.Context(), c.name, c.recipe, opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("read and prepared in %v", time.Since(start))
			for _, k := range s.Source.Checks {
				if !k.OK() {
					t.Error(k)
				}
			}
			test, _ := s.Ladder.Get(RungKnownTest)
			width := 0
			if s.Features != nil {
				width = s.Features.Width()
			}
			if s.Items != c.items || s.CandidatesCore != c.core || test.Samples != c.samples || s.Source.Level != c.level || width != c.width {
				t.Errorf("%d items, %d before the split, %d test samples, level %v, %d features", s.Items, s.CandidatesCore, test.Samples, s.Source.Level, width)
			}
			if p := Prefixes(s.Test); p.Len() != test.Samples {
				t.Errorf("%d prefixes, the ladder says %d", p.Len(), test.Samples)
			}
			start = time.Now()
			again, err := Load(t.Context(), c.name, c.recipe, opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("from the cache in %v: %s", time.Since(start), again.Source.Cache)
			if !strings.HasPrefix(again.Source.Cache, "read") {
				t.Errorf("the cache was not used: %s", again.Source.Cache)
			}
			again.Source.Cache = s.Source.Cache
			if !reflect.DeepEqual(s, again) {
				t.Error("the cache gave other data")
			}
		})
	}
}

// TestRealMeanPrefix pins the mean length of a training prefix, which depends on the
// order of every step.
func TestRealMeanPrefix(t *testing.T) {
	s, err := Load(t.Context(), "ml-1m", "dipsgnn", Options{Dir: realData(t), NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	p, sum := Prefixes(s.Train), 0.0
	for _, l := range p.Length {
		sum += float64(l)
	}
	if got := sum / float64(p.Len()); got < 31.954 || got > 31.956 {
		t.Errorf("mean training prefix is %.4f, want 31.955", got)
	}
}

// TestRealStructure measures on real rows what the stand-in's tests ask of it.
func TestRealStructure(t *testing.T) {
	dir := realData(t)
	var recall, auc [2]float64
	for i, name := range []string{"ml-1m", "standin-ml-1m"} {
		s, err := Load(t.Context(), name, "dipsgnn", Options{Dir: dir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		pop, markov := orderSignal(s)
		l, f, err := LoadLog(t.Context(), name, Options{Dir: dir})
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
	s, err := Load(t.Context(), "ml-1m", "dipsgnn", Options{Dir: realData(t), NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := FindProfile("ml-1m")
	if err != nil {
		t.Fatal(err)
	}
	got := s.Aggregates(100)
	for _, x := range []*float64{&got.Gini, &got.AtCap} {
		*x = math.Round(*x*1e4) / 1e4
	}
	if got != p.After {
		t.Errorf("after the recipe the real data are %+v, the profile says %+v", got, p.After)
	}
}
