package rdpgcf

import (
	"math"
	"strings"
	"testing"
)

// Every task runs to its end and says what its account comes to.
func TestTasks(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := readJSON[Account](t, dir, "privacy.json")
		for _, l := range a.lines() {
			if !strings.Contains(text, l.head+" ") || !strings.Contains(text, l.text) {
				t.Errorf("what is printed lacks %q:\n%s", l.text, text)
			}
		}
		if !math.IsInf(float64(a.Total), 1) && len(a.Unbounded) > 0 {
			t.Errorf("a total of %v with %d things open", a.Total, len(a.Unbounded))
		}
	})
}

// What a run releases is what it ranked.
func TestVectorsRankAsReported(t *testing.T) {
	for _, kind := range []string{ReleaseNoisy, ReleaseAvg, ReleaseClean} {
		suite.VectorsRank(t, "rdpgcf", kind)
	}
}

// Two tasks train on as many edges as were released.
func TestForecast(t *testing.T) {
	suite.Forecast(t, func(task string) bool { return task != "rdpgcf" })
}

func TestModelsLearn(t *testing.T) {
	suite.Learn(t, "rdpgcf", "privacy.epsilon=.inf", "release.kinds=[clean]")
}

func TestWorkersAndSeeds(t *testing.T) { suite.Repeat(t, "rdpgcf") }
