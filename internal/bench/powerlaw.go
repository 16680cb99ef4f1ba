package bench

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"privrec/internal/graph"
	"privrec/internal/rng"
)

// Sizes holds the sizes of a graph and of a model on it.
type Sizes struct {
	Users, Items, Edges int
	Dim, Layers, Batch  int
}

// Gowalla returns the sizes of the training split of Gowalla that LightGCN publishes, and of
// the models compared on it.
func Gowalla() Sizes {
	return Sizes{Users: 29858, Items: 40981, Edges: 810128, Dim: 64, Layers: 3, Batch: 1024}
}

// Check fails on sizes that cannot make a graph or a model, with the name of the flag.
func (s Sizes) Check() error {
	for _, f := range []struct {
		name       string
		value, low int
	}{
		{"users", s.Users, 1}, {"items", s.Items, 2}, {"edges", s.Edges, max(s.Users, s.Items)},
		{"dim", s.Dim, 1}, {"layers", s.Layers, 1}, {"batch", s.Batch, 1},
	} {
		if f.value < f.low || f.value > math.MaxInt32 {
			return fmt.Errorf("--%s is %d, want %d to %d", f.name, f.value, f.low, math.MaxInt32)
		}
	}
	if cells := float64(s.Users) * float64(s.Items); float64(s.Edges)*most > cells/2 {
		return fmt.Errorf("--edges is %d: %d times as many must be at most half of the %d x %d pairs", s.Edges, most,
			s.Users, s.Items)
	}
	return nil
}

// powerLaw draws a graph whose degrees fall with the rank of a node: the r-th user's as
// (r+20)^-0.55 and the r-th item's as (r+30)^-0.75, in random order of ids. With Gowalla's
// sizes its largest and median degrees are about Gowalla's. Users and items without an edge are
// rare: each is drawn once.
func powerLaw(s Sizes, seed rng.Seed) (*graph.Bipartite, error) {
	users, items := newRanks(s.Users, 20, 0.55, seed.Stream("bench.users")),
		newRanks(s.Items, 30, 0.75, seed.Stream("bench.items"))
	pair := func(u, i int32) uint64 { return uint64(u)<<32 | uint64(i) }
	keys := make([]uint64, 0, s.Edges+s.Users+s.Items)
	for u := range s.Users {
		keys = append(keys, pair(int32(u), items.draw()))
	}
	for i := range s.Items {
		keys = append(keys, pair(users.draw(), int32(i)))
	}
	for {
		slices.Sort(keys)
		keys = slices.Compact(keys)
		if len(keys) >= s.Edges {
			break
		}
		for range (s.Edges - len(keys)) + (s.Edges-len(keys))/4 + 100 {
			keys = append(keys, pair(users.draw(), items.draw()))
		}
	}
	pick := seed.Stream("bench.edges")
	edges := make([]graph.Edge, s.Edges)
	for k := range edges { // the first of a shuffle
		j := k + pick.IntN(len(keys)-k)
		keys[k], keys[j] = keys[j], keys[k]
		edges[k] = graph.Edge{User: int32(keys[k] >> 32), Item: int32(uint32(keys[k]))}
	}
	return graph.NewBipartite(s.Users, s.Items, edges)
}

// ranks draws nodes in proportion to a power of their rank.
type ranks struct {
	cumulated []float64
	order     []int32
	stream    rng.Stream
}

func newRanks(n int, shift, power float64, stream rng.Stream) *ranks {
	r := &ranks{cumulated: make([]float64, n), order: make([]int32, n), stream: stream}
	sum := 0.0
	for k := range n {
		sum += math.Pow(float64(k)+shift, -power)
		r.cumulated[k] = sum
		r.order[k] = int32(k)
	}
	for k := range n {
		j := k + r.stream.IntN(n-k)
		r.order[k], r.order[j] = r.order[j], r.order[k]
	}
	return r
}

func (r *ranks) draw() int32 {
	x := r.stream.Float64() * r.cumulated[len(r.cumulated)-1]
	return r.order[min(sort.SearchFloat64s(r.cumulated, x), len(r.order)-1)]
}

// readGraph reads a graph from a file with a user and an item in every line, both counted from 0.
func readGraph(path string) (*graph.Bipartite, error) {
	edges, users, items, err := readPairs(path)
	if err != nil {
		return nil, err
	}
	return graph.NewBipartite(users, items, edges)
}

// readPairs returns the pairs of a file as readGraph reads it, and how many users and items their numbers reach.
func readPairs(path string) (edges []graph.Edge, users, items int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("bench: read a graph: %w", err)
	}
	defer f.Close()
	var top [2]int
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		user, item, _ := strings.Cut(lines.Text(), "\t")
		var at [2]int
		for k, text := range [2]string{user, item} {
			if at[k], err = strconv.Atoi(text); err != nil || at[k] < 0 || at[k] >= math.MaxInt32 {
				return nil, 0, 0, fmt.Errorf("bench: %s:%d: %q is no number of a node: want a user, a tab and an "+
					"item, counted from 0", path, len(edges)+1, text)
			}
			top[k] = max(top[k], at[k]+1)
		}
		edges = append(edges, graph.Edge{User: int32(at[0]), Item: int32(at[1])})
	}
	if err := lines.Err(); err != nil {
		return nil, 0, 0, fmt.Errorf("bench: %s:%d: %w", path, len(edges)+1, err)
	}
	if len(edges) == 0 {
		return nil, 0, 0, fmt.Errorf("bench: %s has no pairs", path)
	}
	return edges, top[0], top[1], nil
}
