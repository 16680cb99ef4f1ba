package baseline

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every item but a user's first is a label once, and is read with all of the items before it,
// or with at least length-stride+1 and at most length of the latest ones.
func TestWindows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		length := rapid.IntRange(1, 8).Draw(rt, "length")
		stride := rapid.IntRange(1, length).Draw(rt, "stride")
		sequences := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(1, 9), 0, 40), 0, 4).Draw(rt, "sequences")
		labels := make([][]int32, len(sequences))
		for _, w := range windows(sequences, length, stride) {
			if w.first <= w.start || w.end <= w.first || int(w.end-w.start) > length+1 {
				rt.Fatalf("window %+v of length %d", w, length)
			}
			for place := w.first; place < w.end; place++ {
				labels[w.user] = append(labels[w.user], place)
				if read := int(place - w.start); read < min(int(place), length-stride+1) || read > length {
					rt.Fatalf("window %+v reads %d items before place %d, length %d, stride %d", w, read, place, length, stride)
				}
			}
		}
		for u, s := range sequences {
			var want []int32
			for place := 1; place < len(s); place++ {
				want = append(want, int32(place))
			}
			if !slices.Equal(labels[u], want) {
				rt.Fatalf("labels %v, want %v", labels[u], want)
			}
		}
	})
}
