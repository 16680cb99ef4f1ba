package results

import (
	"testing"
)

// The setting of a cell has its place on the axis, and one without an axis stays as it is.
func TestFull(t *testing.T) {
	at := 0.1
	for _, c := range []struct {
		cell Cell
		want string
	}{
		{Cell{Setting: "noise on"}, "noise on"}, {Cell{Axis: "epsilon", At: &at}, "epsilon 0.1"},
		{Cell{Setting: "noise on", Axis: "epsilon", At: &at}, "noise on, epsilon 0.1"},
	} {
		if got := c.cell.full(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
