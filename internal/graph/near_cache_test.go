package graph_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/graph"
)

// cache holds the vectors that were used last.
type cache struct {
	room, held int
	newer      []int32 // the vector used next after each, which is in the cache
	older      []int32
	in         []bool
	first      int32 // used last, -1: none
	last       int32
	misses     int
}

func newCache(room, vectors int) *cache {
	return &cache{room: room, newer: make([]int32, vectors), older: make([]int32, vectors), in: make([]bool, vectors), first: -1, last: -1}
}

// use brings a vector to the front, and counts those that were not there.
func (c *cache) use(v int32) {
	switch {
	case c.first == v:
		return
	case c.in[v]:
		c.drop(v)
	case c.held == c.room:
		c.misses++
		c.drop(c.last)
	default:
		c.misses++
	}
	c.in[v], c.older[v], c.newer[v] = true, c.first, -1
	if c.first >= 0 {
		c.newer[c.first] = v
	} else {
		c.last = v
	}
	c.first = v
	c.held++
}

func (c *cache) drop(v int32) {
	newer, older := c.newer[v], c.older[v]
	if newer >= 0 {
		c.older[newer] = older
	} else {
		c.first = older
	}
	if older >= 0 {
		c.newer[older] = newer
	} else {
		c.last = newer
	}
	c.in[v] = false
	c.held--
}

// misses counts the vectors that a product brings into a cache of some: for each row
// those of its neighbours, then that of the result.
func misses(g *graph.Bipartite, n *graph.Near, room int) int {
	c := newCache(room, 2*g.Nodes())
	for side, r := range []graph.Rows{n.Users, n.Items} {
		others, results := int32(g.Users), int32(g.Nodes())
		if side == 1 {
			others, results = 0, int32(g.Nodes()+g.Users)
		}
		for k, v := range r.At {
			for _, w := range r.Idx[r.Ptr[k]:r.Ptr[k+1]] {
				c.use(others + w)
			}
			c.use(results + v)
		}
	}
	return c.misses
}

// gowalla is the graph of the training split that LightGCN publishes. Its licence keeps it out of the
// project, so that the test skips where the folder of data sets is not named or has no such set. Where
// data sets are, .ci/run fails on a test that skips.
func gowalla(t *testing.T) *graph.Bipartite {
	t.Helper()
	dir := os.Getenv("PRIVREC_DATA")
	if dir == "" {
		t.Skip("PRIVREC_DATA is not set: no Gowalla")
	}
	f, err := os.Open(filepath.Join(dir, "gowalla", "train.txt.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var edges []graph.Edge
	var users, items int32
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		for k, s := range strings.Fields(lines.Text()) {
			id, err := strconv.ParseInt(s, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				users = max(users, int32(id)+1)
				continue
			}
			items = max(items, int32(id)+1)
			edges = append(edges, graph.Edge{User: users - 1, Item: int32(id)})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := graph.NewBipartite(int(users), int(items), edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// On Gowalla the order spares more than half of what a product with rows of 64 float32
// moves into a cache of 1, 2 or 4 MB.
func TestNearMovesLess(t *testing.T) {
	g := gowalla(t)
	near := g.Near()
	if near == nil {
		t.Fatal("no order")
	}
	published := &graph.Near{Users: graph.Rows{Ptr: g.UserPtr, Idx: g.UserItem}, Items: graph.Rows{Ptr: g.ItemPtr, Idx: g.ItemUser}}
	for u := range g.Users {
		published.Users.At = append(published.Users.At, int32(u))
	}
	for i := range g.Items {
		published.Items.At = append(published.Items.At, int32(i))
	}
	const row = 256
	for _, mb := range []int{1, 2, 4} {
		was, is := misses(g, published, mb<<20/row), misses(g, near, mb<<20/row)
		t.Logf("%d MB: %.0f MB as published, %.0f MB in the order", mb, float64(was)*row/1e6, float64(is)*row/1e6)
		if 2*is > was {
			t.Errorf("cache of %d MB: %d rows moved, %d before", mb, is, was)
		}
	}
}

func TestCacheForgetsTheOldest(t *testing.T) {
	c := newCache(2, 3)
	for _, v := range []int32{0, 1, 0, 2, 0, 1, 1} { // 2 pushes out 1, and 1 pushes out 2
		c.use(v)
	}
	if c.misses != 4 || !c.in[0] || !c.in[1] || c.in[2] {
		t.Errorf("%d misses, left %v", c.misses, c.in)
	}
}
