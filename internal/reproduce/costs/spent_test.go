package costs

import (
	"testing"

	"privrec/internal/experiment"
)

// A finished run tells the epochs that others of its task will run, and no time of a machine in use by others.
func TestRanShare(t *testing.T) {
	epochs := func(n int) []experiment.Epoch { return make([]experiment.Epoch, n) }
	for _, c := range []struct {
		t    experiment.Trained
		want float64
	}{
		{experiment.Trained{Cap: 300, Epochs: epochs(60)}, 0.2}, {experiment.Trained{Cap: 300, Epochs: epochs(300)}, 1},
		{experiment.Trained{Cap: 300, Selection: epochs(30), Epochs: epochs(15)}, 0.15}, {experiment.Trained{}, 1},
	} {
		if got := ranShare(c.t); got != c.want {
			t.Errorf("%d and %d epochs of 300: %v, want %v", len(c.t.Selection), len(c.t.Epochs), got, c.want)
		}
	}
}

// A recorded cost that is too high gives way to what a run took on such a machine, but not to what it took on another.
func TestAtMost(t *testing.T) {
	for _, c := range []struct {
		took           Cost
		forecast, want float64
	}{
		{Cost{Seconds: 100, alike: true}, 250, 100}, {Cost{Seconds: 100, alike: true}, 60, 60},
		{Cost{Seconds: 100}, 250, 250}, {Cost{Seconds: 100}, 60, 60},
	} {
		if got := c.took.atMost(c.forecast); got != c.want {
			t.Errorf("took %v s, alike %t, forecast %v s: %v s, want %v", c.took.Seconds, c.took.alike, c.forecast, got,
				c.want)
		}
	}
}
