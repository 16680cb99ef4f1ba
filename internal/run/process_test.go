package run

import (
	"runtime/debug"
	"testing"
)

// The environment has the last word.
func TestLeanHeap(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	RoomyHeap() // leaves the percentage alone
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("a roomy heap has %d %%, want 100", got)
	}
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
