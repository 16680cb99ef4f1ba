package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"privrec/internal/tensor"
)

// Arrays are used again from batch to batch: a packed graph must not depend on
// what was packed into it before, nor its weights on those computed before.
func TestPackAgainEqualsPackOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const items = 5
		seqs := rapid.SliceOfN(rapid.SliceOfN(rapid.Int32Range(1, items), 2, 12), 1, 4).Draw(rt, "seqs")
		s, err := NewSessions(seqs, items)
		if err != nil {
			rt.Fatal(err)
		}
		user, length := prefixes(seqs)
		batch := rapid.SliceOfN(rapid.Int32Range(0, int32(len(user)-1)), 0, 5)
		used := new(Packed)
		var in, out []tensor.Float
		for range 3 {
			samples := batch.Draw(rt, "samples")
			fresh := new(Packed)
			fresh.Pack(s, user, length, samples)
			used.Pack(s, user, length, samples)
			if diff := cmp.Diff(fresh, used, cmpopts.IgnoreUnexported(Packed{}), cmpopts.EquateEmpty()); diff != "" {
				rt.Fatal(diff)
			}
			if used.Len() != len(samples) || used.Nodes() != len(used.Node) || len(used.NodeOff) != len(samples)+1 {
				rt.Fatalf("%d samples, %d nodes, %d offsets", used.Len(), used.Nodes(), len(used.NodeOff))
			}
			for name, weights := range map[string]func(g *Packed, a, b []tensor.Float) ([]tensor.Float, []tensor.Float){
				"binary": (*Packed).BinaryWeights, "count": (*Packed).CountWeights,
			} {
				in, out = weights(used, in[:0], out[:0])
				wantIn, wantOut := weights(fresh, nil, nil)
				if !cmp.Equal(in, wantIn, cmpopts.EquateEmpty()) || !cmp.Equal(out, wantOut, cmpopts.EquateEmpty()) {
					rt.Fatalf("%s weights %v %v, want %v %v", name, in, out, wantIn, wantOut)
				}
			}
		}
	})
}

// A sample's graph is the same in any batch, at any place.
func TestSamplesAreIndependent(t *testing.T) {
	seqs := [][]int32{{1, 2, 2, 3, 1, 4}, {4, 4, 1, 3, 2}}
	s, err := NewSessions(seqs, 4)
	if err != nil {
		t.Fatal(err)
	}
	user, length := prefixes(seqs)
	all := new(Packed)
	var samples []int32
	for i := range user {
		samples = append(samples, int32(i))
	}
	all.Pack(s, user, length, samples)
	for _, i := range samples {
		one := new(Packed)
		one.Pack(s, user, length, []int32{i})
		base := all.NodeOff[i]
		shift := func(x []int32) (y []int32) {
			for _, v := range x {
				y = append(y, v-base)
			}
			return y
		}
		nodes, edges := all.Node[base:all.NodeOff[i+1]], [2]int32{all.EdgeOff[i], all.EdgeOff[i+1]}
		if !cmp.Equal(one.Node, nodes) || !cmp.Equal(one.Count, all.Count[base:all.NodeOff[i+1]]) ||
			!cmp.Equal(one.Src, shift(all.Src[edges[0]:edges[1]]), cmpopts.EquateEmpty()) || !cmp.Equal(one.Dst, shift(all.Dst[edges[0]:edges[1]]), cmpopts.EquateEmpty()) ||
			one.Last[0] != all.Last[i]-base || one.User[0] != all.User[i] || one.Label[0] != all.Label[i] {
			t.Errorf("sample %d: %+v alone", i, one)
		}
	}
}

func TestSessionsKeepTheSequences(t *testing.T) {
	seqs := [][]int32{{3, 1, 3}, {}, {2}}
	s, err := NewSessions(seqs, 3)
	if err != nil {
		t.Fatal(err)
	}
	if s.Users() != 3 || s.NumItems() != 3 {
		t.Errorf("%d users, %d items", s.Users(), s.NumItems())
	}
	for u, seq := range seqs {
		if s.Len(u) != len(seq) || !cmp.Equal(s.Sequence(u), seq, cmpopts.EquateEmpty()) {
			t.Errorf("user %d has %v", u, s.Sequence(u))
		}
	}
}
