package run

import (
	"runtime/debug"
	"testing"
)

// The environment has the last word.
func TestLeanHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, c := range []struct {
		set  string
		want int
	}{{"100", 100}, {"", garbagePercent}} {
		t.Setenv("GOGC", c.set)
		leanHeap()
		if got := debug.SetGCPercent(100); got != c.want {
			t.Errorf("GOGC=%q: %d %%, want %d", c.set, got, c.want)
		}
	}
}
