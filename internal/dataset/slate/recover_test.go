package slate

import (
	"slices"
	"testing"
)

func TestOwning(t *testing.T) {
	shown := [][]int32{
		{4, 5, 6, 7, 8, 9},
		{9, 5, 6, 7, 4, 8}, // the same stretch 5 6 7, other items before it
		{4, 6, 5, 7},
		{5, 6, 7, 10}, // no candidate
	}
	rows := []pairRow{
		{slate: []int32{7, 8}, behaviour: []int32{5, 4}},    // contiguous in one log only
		{slate: []int32{5, 6, 7}, behaviour: []int32{4}},    // in two, both have the click
		{slate: []int32{5, 6, 7}, behaviour: []int32{8, 9}}, // in two, clicks in this order in one
		{slate: []int32{6, 7}, behaviour: []int32{9, 8}},    // in two, clicks in this order in the other
		{slate: []int32{6, 5}, behaviour: []int32{9}},       // the slate decides, for any clicks
		{slate: nil, behaviour: []int32{5, 6, 4}},           // clicks alone, in one log
		{slate: nil, behaviour: nil},                        // nothing is known
		{slate: []int32{5, 7}, behaviour: []int32{4}},       // with a gap in 0 and 1, without in 2
		{slate: []int32{10}, behaviour: []int32{5}},         // only where no candidate is
	}
	want := []int32{0, -1, 1, 0, 2, 2, -1, 2, -1}
	if got := owning(rows, []int32{0, 1, 2}, shown); !slices.Equal(got, want) {
		t.Errorf("users %v, want %v", got, want)
	}
}

func TestEnd(t *testing.T) {
	log := []int32{4, 5, 4, 6}
	for _, c := range []struct {
		behaviour []int32
		want      int
	}{{[]int32{4, 4}, 2}, {[]int32{6, 5, 4}, 3}, {[]int32{5, 5}, -1}, {[]int32{4, 6}, -1}, {nil, -1}} {
		if got := end(log, c.behaviour); got != c.want {
			t.Errorf("%v ends at %d, want %d", c.behaviour, got, c.want)
		}
	}
}
