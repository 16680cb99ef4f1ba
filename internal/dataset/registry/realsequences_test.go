package registry

import (
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/dataset"
)

// The counts of SASRec's recipes on the data themselves.
func TestRealSequences(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name    string
		items   int // with a training row
		unknown int // test rows of other items
	}{{"seq-beauty", 12068, 138}, {"ml-1m", 3416, 0}} {
		s, err := Load(t.Context(), c.name, "sasrec", dataset.View{}, Options{Dir: dir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range s.Source.Checks {
			if !k.OK() {
				t.Error(c.name, k)
			}
		}
		test, _ := s.Ladder.Get(dataset.RungTest)
		known, _ := s.Ladder.Get(dataset.RungKnownTest)
		if s.Items != c.items || test.Rows-known.Rows != c.unknown || s.Source.Level != dataset.LevelB {
			t.Errorf("%s: %d items, %d of %d test rows unknown, level %v", c.name, s.Items, test.Rows-known.Rows, test.Rows, s.Source.Level)
		}
	}
}

// The sessions are those that SR-GNN counts, by their digest and by every printed count, and
// RecBole's steps reach its rows.
func TestRealCounts(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		set, recipe string
		level       dataset.Level
	}{{"session-diginetica", "srgnn", dataset.LevelA}, {"ml-1m", "recbole", dataset.LevelB}} {
		t.Run(c.set, func(t *testing.T) {
			// A folder of data need not hold every set. MovieLens it must: without it nothing would be
			// checked.
			if _, err := os.Stat(filepath.Join(dir, c.set)); err != nil && c.set != "ml-1m" {
				t.Skipf("%s is not among the data sets of this machine: its counts are not checked", c.set)
			}
			s, err := Load(t.Context(), c.set, c.recipe, dataset.View{}, Options{Dir: dir, NoCache: true})
			if err != nil {
				t.Fatal(err)
			}
			if s.Source.Level != c.level {
				t.Errorf("level %v", s.Source.Level)
			}
			for _, k := range s.Source.Checks {
				if !k.OK() {
					t.Error(k)
				}
			}
		})
	}
}
