package registry

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"privrec/internal/dataset"
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

func TestRealLadders(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name, recipe string
		items, core  int
		samples      int // of test, unknown items dropped
		level        dataset.Level
		width        int // of the features, one-hot
	}{
		{"ml-1m", "dipsgnn", 2810, 2810, 68774, dataset.LevelB, 2 + 7 + 21},
		{"ml-100k", "dipsgnn", 1149, 1152, 7158, dataset.LevelC, 2 + 1 + 21},
		{"gowalla", "lightgcn", 40981, 40981, 217242 - 29858, dataset.LevelA, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := Options{Dir: dir, CacheDir: t.TempDir()}
			start := time.Now()
			s, err := Load(t.Context(), c.name, c.recipe, dataset.View{}, opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("read and prepared in %v", time.Since(start))
			for _, k := range s.Source.Checks {
				if !k.OK() {
					t.Error(k)
				}
			}
			test, _ := s.Ladder.Get(dataset.RungKnownTest)
			width := 0
			if s.Features != nil {
				width = s.Features.Width()
			}
			if s.Items != c.items || s.CandidatesCore != c.core || test.Samples != c.samples || s.Source.Level != c.level || width != c.width {
				t.Errorf("%d items, %d before the split, %d test samples, level %v, %d features", s.Items, s.CandidatesCore, test.Samples, s.Source.Level, width)
			}
			if p := dataset.Prefixes(s.Test); p.Len() != test.Samples {
				t.Errorf("%d prefixes, the ladder says %d", p.Len(), test.Samples)
			}
			start = time.Now()
			again, err := Load(t.Context(), c.name, c.recipe, dataset.View{}, opts)
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
	s, err := Load(t.Context(), "ml-1m", "dipsgnn", dataset.View{}, Options{Dir: realData(t), NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	p, sum := dataset.Prefixes(s.Train), 0.0
	for _, l := range p.Length {
		sum += float64(l)
	}
	if got := sum / float64(p.Len()); got < 31.954 || got > 31.956 {
		t.Errorf("mean training prefix is %.4f, want 31.955", got)
	}
}
