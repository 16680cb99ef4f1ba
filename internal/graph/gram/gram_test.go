package gram

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/graph"
)

// made returns a graph of the users that keep accepts.
func made(t *rapid.T, users, items int, edges []graph.Edge, keep func(u int) bool) *graph.Bipartite {
	var own []graph.Edge
	for _, e := range edges {
		if keep(int(e.User)) {
			own = append(own, e)
		}
	}
	g, err := graph.NewBipartite(users, items, own)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func written(t *rapid.T, g *graph.Bipartite) []byte {
	var b bytes.Buffer
	if err := Write(context.Background(), &b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The matrix is that of a plain count, and the sum of the matrices of any groups of users is that of
// all users, byte for byte. A file that is cut, longer or changed in its length is refused.
func TestGram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		users, items := rapid.IntRange(1, 12).Draw(t, "users"), rapid.IntRange(1, 9).Draw(t, "items")
		var edges []graph.Edge
		has := make([][]bool, users)
		for u := range has {
			has[u] = make([]bool, items)
			for i := range has[u] {
				if rapid.Bool().Draw(t, "has") {
					has[u][i] = true
					edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
				}
			}
		}
		whole := written(t, made(t, users, items, edges, func(int) bool { return true }))
		r, err := NewReader("whole", bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		if r.Interactions != int64(len(edges)) || r.Items != items {
			t.Fatalf("%+v", r.Header)
		}
		for i := range items {
			got := make([]int64, items)
			if err := r.Row(func(j int, n int64) { got[j] = n }); err != nil {
				t.Fatal(err)
			}
			for j := range got {
				want := int64(0)
				for u := range has {
					if j <= i && has[u][i] && has[u][j] {
						want++
					}
				}
				if got[j] != want {
					t.Fatalf("entry %d, %d is %d, want %d", i, j, got[j], want)
				}
			}
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, 4).Draw(t, "groups")
		var parts []*Reader
		for k := range n {
			p, err := NewReader("part", bytes.NewReader(written(t, made(t, users, items, edges, func(u int) bool { return u*7%n == k }))))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, p)
		}
		var sum bytes.Buffer
		if err := Sum(context.Background(), &sum, parts...); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sum.Bytes(), whole) {
			t.Fatal("the sum of parts is another")
		}
		for _, bad := range [][]byte{whole[:len(whole)-1], append(bytes.Clone(whole), 0), append([]byte("x"), whole...)} {
			r, err := NewReader("bad", bytes.NewReader(bad))
			if err == nil {
				err = Sum(context.Background(), &sum, r)
			}
			if err == nil || !strings.Contains(err.Error(), "bad") {
				t.Fatalf("a damaged file is read (%v)", err)
			}
		}
	})
}
