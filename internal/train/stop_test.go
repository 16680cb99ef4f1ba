package train

import (
	"context"
	"math"
	"testing"
)

// TestEarlyStopping runs tables of validation scores: one column a metric, one row an epoch.
func TestEarlyStopping(t *testing.T) {
	a, b := []string{"a"}, []string{"a", "b"}
	for _, c := range []struct {
		name   string
		stop   Stop
		lower  bool
		scores [][2]float64
		epochs int // run before stopping
		best   int // by a
	}{
		{"never", Stop{}, false, [][2]float64{{3, 0}, {2, 0}, {1, 0}, {0, 0}}, 4, 0},
		{"reset, one in a row", Stop{Rule: StopReset, Patience: 1, Metrics: a}, false, [][2]float64{{1, 0}, {2, 0}, {2, 9}, {3, 0}}, 3, 1},
		{"reset, interrupted rows", Stop{Rule: StopReset, Patience: 2, Metrics: a}, false, [][2]float64{{1, 0}, {0, 0}, {2, 0}, {1, 0}, {3, 0}, {0, 0}, {0, 0}, {9, 0}}, 7, 4},
		{"total, the same rows", Stop{Rule: StopTotal, Patience: 2, Metrics: a}, false, [][2]float64{{1, 0}, {0, 0}, {2, 0}, {1, 0}, {3, 0}, {0, 0}, {0, 0}, {9, 0}}, 4, 2},
		{"total, any of two improves", Stop{Rule: StopTotal, Patience: 2, Metrics: b}, false, [][2]float64{{1, 1}, {0, 2}, {2, 0}, {1, 3}, {0, 0}, {0, 0}, {9, 9}}, 6, 2},
		{"default watches all", Stop{Rule: StopTotal, Patience: 1}, false, [][2]float64{{1, 1}, {0, 2}, {0, 3}, {0, 3}}, 4, 0},
		{"ties do not improve", Stop{Rule: StopTotal, Patience: 2, Metrics: a}, false, [][2]float64{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, 3, 0},
		{"ties improve", Stop{Rule: StopTotal, Patience: 2, Metrics: a, TiesImprove: true}, false, [][2]float64{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, 4, 0},
		{"lower is better", Stop{Rule: StopReset, Patience: 2, Metrics: a}, true, [][2]float64{{5, 0}, {4, 0}, {6, 0}, {3, 0}, {4, 0}, {3, 0}, {1, 0}}, 6, 3},
		{"stops on the last epoch", Stop{Rule: StopReset, Patience: 1, Metrics: a}, false, [][2]float64{{1, 0}, {0, 0}}, 2, 0},
		{"negative scores", Stop{Rule: StopReset, Patience: 1, Metrics: a}, false, [][2]float64{{-3, 0}, {-2, 0}, {-4, 0}, {0, 0}}, 3, 1},
	} {
		m := newToy(1)
		o := toyOptions(m)
		o.Epochs, o.Stop, o.Primary = len(c.scores), c.stop, ""
		o.Validate = func(_ context.Context, epoch int) ([]Score, error) {
			s := c.scores[epoch]
			return []Score{{"a", s[0], c.lower}, {"b", s[1], false}}, nil
		}
		stopped := false
		o.Hooks.OnEpoch = func(e EpochInfo) { stopped = e.Stopped }
		r, err := Run(t.Context(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		early := c.epochs < len(c.scores)
		if len(r.Epochs) != c.epochs || r.Best != c.best || r.Stopped != early || stopped != early {
			t.Errorf("%s: %d epochs, best %d, stopped %v %v; want %d, %d", c.name, len(r.Epochs), r.Best, r.Stopped, stopped, c.epochs, c.best)
		}
	}
}

func TestValidationIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		scores [2][]Score
		want   string
	}{
		"none":         {[2][]Score{{}, {}}, "after epoch 1 returned no score"},
		"NaN":          {[2][]Score{{{Name: "a", Value: math.NaN()}}, nil}, "a is NaN: not finite"},
		"infinite":     {[2][]Score{{{Name: "a"}}, {{Name: "a", Value: math.Inf(-1)}}}, "after epoch 2: a is -Inf"},
		"other names":  {[2][]Score{{{Name: "a"}}, {{Name: "b"}}}, `Validate returned ["b"], earlier ["a"]`},
		"other number": {[2][]Score{{{Name: "a"}}, {{Name: "a"}, {Name: "b"}}}, `earlier ["a"]`},
	} {
		m := newToy(1)
		o := toyOptions(m)
		o.Primary, o.Stop = "", Stop{Rule: StopTotal, Patience: 9}
		o.Validate = func(_ context.Context, epoch int) ([]Score, error) { return c.scores[epoch], nil }
		_, err := Run(t.Context(), m, o)
		wantError(t, name, err, c.want)
	}
}
