package registry

import (
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
		s, err := Load(t.Context(), c.name, "sasrec", Options{Dir: dir, NoCache: true})
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
