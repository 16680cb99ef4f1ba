package dataset

import (
	"os"
	"testing"
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
	for _, name := range []string{"ml-1m", "ml-100k"} {
		t.Run(name, func(t *testing.T) {
			s, err := Load(t.Context(), name, "dipsgnn", Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range s.Ladder {
				t.Logf("%+v", r)
			}
			for _, c := range s.Source.Checks {
				if !c.OK() {
					t.Error(c)
				}
			}
			t.Log(s.Items, s.CandidatesCore, s.Features.Width(), s.Source.Level)
		})
	}
}
