package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/tensor"
)

// pack returns the graph of the prefix of the given length of one sequence.
func pack(t *testing.T, seq []int32, items int, length int32) *Packed {
	t.Helper()
	s, err := NewSessions([][]int32{seq}, items)
	if err != nil {
		t.Fatal(err)
	}
	g := new(Packed)
	g.Pack(s, []int32{0}, []int32{length}, []int32{0})
	return g
}

// The session of the DIPSGNN golden: 1,2,1,3 with label 4.
func TestPackOneSession(t *testing.T) {
	g := pack(t, []int32{1, 2, 1, 3, 4}, 5, 4)
	want := &Packed{
		Node: []int32{1, 2, 3}, NodeOff: []int32{0, 3}, SampleOf: []int32{0, 0, 0},
		Count: []tensor.Float{2, 1, 1},
		Src:   []int32{0, 1, 0}, Dst: []int32{1, 0, 2}, EdgeOff: []int32{0, 3},
		Last: []int32{2}, User: []int32{0}, Label: []int32{4},
	}
	if diff := cmp.Diff(want, g, cmp.AllowUnexported(Packed{}, degrees{})); diff != "" {
		t.Error(diff)
	}
}

func TestSessionsRejectsItemsOutsideTheCatalogue(t *testing.T) {
	for _, bad := range []int32{0, -1, 6} {
		if _, err := NewSessions([][]int32{{1, bad}}, 5); err == nil {
			t.Errorf("item %d accepted", bad)
		}
	}
}

// prefixes lists every prefix that has a label.
func prefixes(seqs [][]int32) (user, length []int32) {
	for u, seq := range seqs {
		for l := 1; l < len(seq); l++ {
			user, length = append(user, int32(u)), append(length, int32(l))
		}
	}
	return user, length
}

// A packed batch must be what building each prefix graph from scratch gives.
func TestPackEqualsDirectConstruction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const items = 6
		seqs := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(1, items), 0, 12), 1, 4).Draw(rt, "seqs")
		s, err := NewSessions(seqs, items)
		if err != nil {
			rt.Fatal(err)
		}
		user, length := prefixes(seqs)
		if len(user) == 0 {
			return
		}
		samples := rapid.SliceOfN(rapid.Int32Range(0, int32(len(user)-1)), 1, 5).Draw(rt, "samples")
		g := new(Packed)
		g.Pack(s, user, length, samples)
		for b, i := range samples {
			u, l := user[i], length[i]
			seq := seqs[u][:l]
			counts := map[int32]tensor.Float{}
			adj := map[[2]int32]int{}
			for q, v := range seq {
				counts[v]++
				if q > 0 {
					adj[[2]int32{seq[q-1], v}]++
				}
			}
			lo, hi := g.NodeOff[b], g.NodeOff[b+1]
			if int(hi-lo) != len(counts) {
				rt.Fatalf("sample %d: %d nodes, want %d", b, hi-lo, len(counts))
			}
			for n := lo; n < hi; n++ {
				if g.Count[n] != counts[g.Node[n]] || g.SampleOf[n] != int32(b) {
					rt.Fatalf("sample %d node %d: count %v sample %d", b, n, g.Count[n], g.SampleOf[n])
				}
			}
			for e := g.EdgeOff[b]; e < g.EdgeOff[b+1]; e++ {
				adj[[2]int32{g.Node[g.Src[e]], g.Node[g.Dst[e]]}]--
			}
			for k, v := range adj {
				if v != 0 {
					rt.Fatalf("sample %d: edge %v off by %d", b, k, v)
				}
			}
			if g.Node[g.Last[b]] != seq[len(seq)-1] || g.Label[b] != seqs[u][l] {
				rt.Fatalf("sample %d: last or label wrong", b)
			}
		}
	})
}

func TestEdgeWeights(t *testing.T) {
	// 1->2 twice, 2->1 once, 1->3 once, 2->3 once.
	g := pack(t, []int32{1, 2, 1, 2, 3, 1}, 3, 5)
	// edges in order: 1->2, 2->1, 1->2, 2->3
	in, out := g.BinaryWeights(nil, nil)
	if diff := cmp.Diff([]tensor.Float{1, 1, 0, 1}, in); diff != "" {
		t.Error("binary in:", diff)
	}
	if diff := cmp.Diff([]tensor.Float{1, 0.5, 0, 0.5}, out); diff != "" {
		t.Error("binary out:", diff)
	}
	in, out = g.CountWeights(in[:0], out[:0])
	if diff := cmp.Diff([]tensor.Float{0.5, 1, 0.5, 1}, in); diff != "" {
		t.Error("count in:", diff)
	}
	if diff := cmp.Diff([]tensor.Float{0.5, 0.5, 0.5, 0.5}, out); diff != "" {
		t.Error("count out:", diff)
	}
}

// Rows of both adjacencies sum to one or are empty, under both weightings.
func TestWeightsNormaliseRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seq := rapid.SliceOfN(rapid.Int32Range(1, 4), 3, 20).Draw(rt, "seq")
		s, err := NewSessions([][]int32{seq}, 4)
		if err != nil {
			rt.Fatal(err)
		}
		user, length := prefixes([][]int32{seq})
		g := new(Packed)
		g.Pack(s, user, length, []int32{int32(len(user) - 1), 0})
		for name, weights := range map[string]func(a, b []tensor.Float) ([]tensor.Float, []tensor.Float){
			"binary": g.BinaryWeights, "count": g.CountWeights,
		} {
			in, out := weights(nil, nil)
			rowIn, rowOut := make([]float64, g.Nodes()), make([]float64, g.Nodes())
			for e := range g.Src {
				rowIn[g.Dst[e]] += float64(in[e])
				rowOut[g.Src[e]] += float64(out[e])
			}
			for _, sum := range append(rowIn, rowOut...) {
				if sum != 0 && (sum < 1-1e-6 || sum > 1+1e-6) {
					rt.Fatalf("%s: row sums to %v", name, sum)
				}
			}
		}
	})
}
