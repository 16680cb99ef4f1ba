package nearest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// TestBest compares the selection with a whole sort, ties and all.
func TestBest(t *testing.T) {
	s := rng.Seed(1).Stream("best")
	for n := range 60 {
		all := make([]Neighbour, n)
		for i := range all {
			all[i] = Neighbour{int32(i), float64(s.IntN(7))}
		}
		s.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		want := slices.Clone(all)
		slices.SortFunc(want, order)
		for _, k := range []int{1, 2, 5, 17, 59, 100} {
			if got := best(slices.Clone(all), k); !slices.Equal(got, want[:min(k, n)]) {
				t.Fatalf("best %d of %d: %v, want %v", k, n, got, want[:min(k, n)])
			}
		}
	}
}

// Normalised weights of those kept sum to 1.
func TestKeep(t *testing.T) {
	got := Keep([]Neighbour{{3, 1}, {1, 3}, {2, 1}}, 2, true)
	if want := []Neighbour{{1, 0.75}, {2, 0.25}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Common counts what dense rows share, one row after the other.
func TestCommon(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, width := rapid.IntRange(1, 6).Draw(rt, "rows"), rapid.IntRange(1, 6).Draw(rt, "columns")
		rows, columns := make([][]int32, n), make([][]int32, width)
		for i := range n {
			for c := range width {
				if rapid.Bool().Draw(rt, "has") {
					rows[i], columns[c] = append(rows[i], int32(c)), append(columns[c], int32(i))
				}
			}
		}
		m := Matrix{Columns: func(i int) []int32 { return rows[i] }, Rows: func(c int) []int32 { return columns[c] }}
		counter := NewCommon(m, n)
		for j := range n {
			got := map[int32]float64{}
			for _, x := range counter.Neighbours(j, func(i, common int32) float64 { return float64(common) }) {
				got[x.ID] = x.Weight
			}
			pairs := 0.0
			for i := range n {
				shared := 0.0
				for _, c := range rows[j] {
					if slices.Contains(rows[i], c) {
						shared++
					}
				}
				pairs += shared
				if i != j && got[int32(i)] != shared {
					rt.Fatalf("rows %d and %d share %v, got %v", j, i, shared, got[int32(i)])
				}
			}
			if _, self := got[int32(j)]; self || m.Pairs(j) != pairs {
				rt.Fatalf("row %d: itself %v, %v pairs, want %v", j, self, m.Pairs(j), pairs)
			}
		}
	})
}

// Lists come in the order of rows for any number of workers, and end with the context.
func TestLists(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	find := func() func(int) []Neighbour {
		return func(j int) []Neighbour { return []Neighbour{{int32(j), 1}} }
	}
	for _, workers := range []int{1, 3} {
		tensor.SetWorkers(workers)
		lists, err := Lists(t.Context(), "", 300, func(int) float64 { return 1 }, find)
		if err != nil {
			t.Fatal(err)
		}
		for j, l := range lists {
			if len(l) != 1 || l[0].ID != int32(j) {
				t.Fatalf("row %d has %v", j, l)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Lists(ctx, "", 300, func(int) float64 { return 1 }, find); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
