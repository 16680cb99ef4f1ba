package ease

import (
	"fmt"
	"math"
	"testing"

	"privrec/internal/graph"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// shop returns rows of users with popular and rare items, ascending, and their graph.
func shop(t *testing.T, users, items int, seed uint64, without map[int]bool) (rows [][]int32, g *graph.Bipartite) {
	t.Helper()
	s := rng.Seed(seed).Stream("kept test")
	var edges []graph.Edge
	for u := range users {
		var row []int32
		for i := range items {
			if s.Float64() < 0.6/float64(1+i%17) {
				row = append(row, int32(i))
			}
		}
		if rows = append(rows, row); without[u] {
			continue
		}
		for _, i := range row {
			edges = append(edges, graph.Edge{User: int32(u), Item: i})
		}
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	return rows, g
}

// kept returns the fitted matrices of a graph.
func kept(t *testing.T, g *graph.Bipartite, lambda float64) *Kept {
	t.Helper()
	k, err := Count(t.Context(), g, lambda)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Invert(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// weights returns B of an inverse.
func weights(p tensor.Matrix) (b []float64) {
	for i := range p.Rows {
		for j, v := range tensor.Row(p, i) {
			if i == j {
				b = append(b, 0)
				continue
			}
			b = append(b, -float64(v)/float64(tensor.Row(p, j)[j]))
		}
	}
	return b
}

// What is kept, less the rows of users who leave, is to the bits what is counted without them.
func TestKeptTake(t *testing.T) {
	for seed := range uint64(5) {
		gone := map[int]bool{3: true, 40: true, 77: true}
		rows, all := shop(t, 90, 60, seed, nil)
		_, less := shop(t, 90, 60, seed, gone)
		k, want := kept(t, all, 20), kept(t, less, 20)
		var out [][]int32
		for u := range gone {
			out = append(out, rows[u])
		}
		k.Take(out)
		if err := k.Invert(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, m := range []struct {
			name      string
			got, want tensor.Matrix
		}{{"gram", k.Gram, want.Gram}, {"inverse", k.Inverse, want.Inverse}} {
			for i, v := range m.got.Data {
				if v != m.want.Data[i] {
					t.Fatalf("seed %d, %s: entry %d is %v, want %v", seed, m.name, i, v, m.want.Data[i])
				}
			}
		}
		m, err := Fit(t.Context(), less, 20)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		got, err := k.Model(less)
		if err != nil {
			t.Fatal(err)
		}
		a, b := tensor.New(90, 60), tensor.New(90, 60)
		users := make([]int32, 90)
		for u := range users {
			users[u] = int32(u)
		}
		if err := m.Score(nil, users, a); err != nil {
			t.Fatal(err)
		}
		if err := got.Score(nil, users, b); err != nil {
			t.Fatal(err)
		}
		for i := range a.Data {
			if a.Data[i] != b.Data[i] {
				t.Fatalf("seed %d: score %d is %v, of Fit %v", seed, i, b.Data[i], a.Data[i])
			}
		}
	}
}

// Corrected weights are within the bound of those that are computed anew, and the bound is far below the weights. A
// fault in the inverse is above the bound of the faultless one, and is bounded too. A bound is too small once in a
// million.
func TestKeptCorrect(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := rng.Seed(seed).Stream("kept correct")
			gone := map[int]bool{}
			for range 1 + s.IntN(20) {
				gone[s.IntN(200)] = true
			}
			rows, all := shop(t, 200, 80, seed, nil)
			_, less := shop(t, 200, 80, seed, gone)
			lambda := math.Exp(1 + 6*s.Float64())
			k, want := kept(t, all, lambda), kept(t, less, lambda)
			var out [][]int32
			for u := range gone {
				out = append(out, rows[u])
			}
			if err := k.Correct(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			for i := range 80 {
				for j := range i {
					if tensor.Row(k.Inverse, i)[j] != tensor.Row(k.Inverse, j)[i] {
						t.Fatalf("entries %d, %d and %d, %d differ", i, j, j, i)
					}
				}
			}
			k.Take(out)
			far := func() (d, most float64) {
				b, exact := weights(k.Inverse), weights(want.Inverse)
				for i := range b {
					d, most = max(d, math.Abs(b[i]-exact[i])), max(most, math.Abs(exact[i]))
				}
				return d, most
			}
			bound := k.Within(s.Sub(1)) + want.Within(s.Sub(2)) // both are rounded
			d, most := far()
			if !(d <= bound) || bound > most/50 {
				t.Errorf("lambda %.3g: weights differ by %.3g, the bound is %.3g, the largest is %.3g", lambda, d,
					bound, most)
			}
			i, j := s.IntN(80), s.IntN(80)
			tensor.Row(k.Inverse, i)[j] += tensor.Float(0.001 / lambda)
			tensor.Row(k.Inverse, j)[i] = tensor.Row(k.Inverse, i)[j]
			if bad, d := k.Within(s.Sub(3)), first(far()); !(bad+bound >= d) || bad < 2*bound {
				t.Errorf("lambda %.3g: a fault of %.3g has the bound %.3g", lambda, d, bad)
			}
		})
	}
}

// first returns the first of two numbers.
func first(a, _ float64) float64 { return a }

// Renumbered matrices are those of the items in their new order, without those that are dropped.
func TestKeptRenumber(t *testing.T) {
	_, g := shop(t, 50, 30, 1, nil)
	k, old := kept(t, g, 5), kept(t, g, 5)
	to, n := make([]int32, 30), 0
	for i := range to {
		if to[i] = -1; i%7 != 3 {
			n++
			to[i] = int32(n)
		}
	}
	for i := range to {
		if to[i] > 0 {
			to[i] = int32(n) - to[i] // backwards
		}
	}
	k.Renumber(to, n)
	for i, a := range to {
		for j, b := range to {
			if a < 0 || b < 0 {
				continue
			}
			if tensor.Row(k.Gram, int(a))[b] != tensor.Row(old.Gram, i)[j] ||
				tensor.Row(k.Inverse, int(a))[b] != tensor.Row(old.Inverse, i)[j] {
				t.Fatalf("items %d and %d, now %d and %d, have other entries", i, j, a, b)
			}
		}
	}
	if _, err := k.Model(g); err == nil {
		t.Error("a model of fewer items than the rows have")
	}
}
