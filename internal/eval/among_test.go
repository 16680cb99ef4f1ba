package eval

import (
	"slices"
	"strings"
	"testing"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Ranks among items of every target's own are those of a plain count in which ties are lost, for
// any chunk and any number of workers.
func TestRanksAmong(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	s := &table{items: 60, levels: 4}
	samples, _ := cases(23, 60)
	targets := make([][]int32, len(samples))
	lists := make([][][]int32, len(samples))
	for i := range samples {
		for k := range i % 4 {
			stream := rng.Seed(2).Stream("among", uint64(i), uint64(k))
			order := stream.Perm(60)
			y := int32(order[0])
			var list []int32
			for _, j := range order[1 : 2+i] {
				list = append(list, int32(j))
			}
			targets[i], lists[i] = append(targets[i], y), append(lists[i], list)
		}
	}
	for _, workers := range []int{1, 3} {
		for _, chunk := range []int{0, 1, 7} {
			tensor.SetWorkers(workers)
			got, err := RanksAmong(t.Context(), s, samples, targets, func(i int) func(k int) []int32 {
				own := make([]int32, 0, 60)
				return func(k int) []int32 { own = append(own[:0], lists[i][k]...); return own }
			}, Options{Chunk: chunk})
			if err != nil {
				t.Fatal(err)
			}
			for i, sample := range samples {
				row := s.row(sample)
				for k, y := range targets[i] {
					want := int32(1)
					for _, j := range lists[i][k] {
						if row[j] >= row[y] {
							want++
						}
					}
					if got[i][k] != want {
						t.Fatalf("sample %d, target %d: rank %d, want %d", i, k, got[i][k], want)
					}
				}
			}
		}
	}
	if !slices.ContainsFunc(targets, func(l []int32) bool { return len(l) > 1 }) {
		t.Error("no sample has two targets")
	}
}

func TestRanksAmongRefuses(t *testing.T) {
	s := &table{items: 5, levels: 4}
	none := func(int) func(int) []int32 { return func(int) []int32 { return nil } }
	far := func(int) func(int) []int32 { return func(int) []int32 { return []int32{9} } }
	for _, c := range []struct {
		name    string
		targets [][]int32
		among   func(int) func(int) []int32
		o       Options
		want    string
	}{
		{"other lengths", [][]int32{{1}, {1}}, none, Options{}, "1 samples for 2"},
		{"a target outside", [][]int32{{5}}, none, Options{}, "target 5 is outside"},
		{"a candidate outside", [][]int32{{1}}, far, Options{}, "panic"},
		{"excluded items", [][]int32{{1}}, none, Options{Exclude: func(int32) []int32 { return nil }}, "do not go with"},
	} {
		if _, err := RanksAmong(t.Context(), s, []int32{0}, c.targets, c.among, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
