package link

import (
	"fmt"
	"slices"

	"privrec/internal/attack/detect"
	"privrec/internal/dataset"
	"privrec/internal/protocol/target"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Kinds of pairs that edges are told apart from.
const (
	fromRandom = "from random pairs"
	fromHeld   = "from held-out interactions"
	amongAll   = "among all pairs"
)

// pairs holds all candidates: some users with some items each.
type pairs struct {
	users []int32
	items [][]int32 // by place of the user, ascending
	at    []int     // by place of the user: number of the first pair

	questions []question
	density   float64 // share of edges among all pairs of these users
	held      string  // which interactions are held out
}

// question asks to tell edges from other pairs. Candidates are clustered by user.
type question struct {
	of    string
	pair  []int32 // number of the pair, by candidate
	users []int32 // by cluster
	detect.Candidates
}

// count returns the number of pairs.
func (p *pairs) count() int {
	n := 0
	for _, items := range p.items {
		n += len(items)
	}
	return n
}

// number returns the number of a candidate pair.
func (p *pairs) number(k int, item int32) int32 {
	j, _ := slices.BinarySearch(p.items[k], item)
	return int32(p.at[k] + j)
}

// known lists all interactions of a user, ascending, also those that the model was not given.
func known(d *dataset.Interactions, u int32) []int32 {
	all := slices.Clone(d.Train[u])
	for _, part := range [][][]int32{d.Valid, d.Test} {
		if part != nil {
			all = append(all, part[u]...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// drawn returns n random items, ascending; all of them if there are no more, or if n is 0.
func drawn(items []int32, n int, s rng.Stream) []int32 {
	if n == 0 || n >= len(items) {
		return items
	}
	out := make([]int32, n)
	for i, k := range s.Perm(len(items))[:n] {
		out[i] = items[k]
	}
	slices.Sort(out)
	return out
}

// others lists the items that are not in some. some is ascending.
func others(items int, some []int32) []int32 {
	out := make([]int32, 0, items-len(some))
	for i := range int32(items) {
		if _, has := slices.BinarySearch(some, i); !has {
			out = append(out, i)
		}
	}
	return out
}

// about holds the candidates of one user by question: edges, and the pairs to tell them from.
type about [3]struct {
	edges, others []int32
	weight        float64 // of each of the others
}

// about returns the candidates of one user of a run, drawn at random.
func (c Config) about(t *target.Run, u int32) (x about) {
	stream := func(what string) rng.Stream { return t.Held.Seed.Stream("link " + what).Of(t.Whole.UserIDs[u]) }
	graph := t.Given.Train[u]
	held := t.Whole.Train
	if _, rows := t.Holds(); !rows {
		held = t.Whole.Test
	}
	left := slices.DeleteFunc(slices.Clone(held[u]),
		func(i int32) bool { _, in := slices.BinarySearch(graph, i); return in })
	slices.Sort(left)
	for k, from := range [][]int32{others(t.Given.Items, known(t.Whole, u)), left} {
		n := min(len(graph), len(from))
		x[k].edges, x[k].others, x[k].weight = some(graph, n, stream("edges")),
			some(from, n, stream([]string{"random", "held out"}[k])), 1
	}
	free := others(t.Given.Items, graph)
	x[2].edges, x[2].others = graph, drawn(free, c.Attack.Others, stream("others"))
	x[2].weight = float64(len(free)) / float64(len(x[2].others))
	return x
}

// pairs returns all candidates, drawn at random. The draw depends on the data, the held-out rows and the seed of the
// attacked run, so runs of several models that share these get the same candidates.
func (c Config) pairs(t *target.Run) (*pairs, error) {
	var all []int32
	for u := range t.Given.Train {
		if n := len(t.Given.Train[u]); n > 0 && n < t.Given.Items {
			all = append(all, int32(u))
		}
	}
	p := &pairs{users: dataset.NewLots(t.Held.Seed.Stream("link users")).Some(t.Whole.UserIDs, all, c.Attack.Users),
		held: "test rows"}
	if _, rows := t.Holds(); rows {
		p.held = "rows of run.hold_out"
	}
	var edges, total int
	asked := make([]about, len(p.users))
	for k, u := range p.users {
		asked[k] = c.about(t, u)
		var items []int32
		for _, q := range asked[k] {
			items = append(append(items, q.edges...), q.others...)
		}
		slices.Sort(items)
		items = slices.Compact(items)
		p.at, p.items = append(p.at, total), append(p.items, items)
		total, edges = total+len(items), edges+len(t.Given.Train[u])
	}
	p.density = float64(edges) / (float64(len(p.users)) * float64(t.Given.Items))
	scale := 1.0
	if b := c.Attack.BaseRate; b > 0 { // pairs without an edge count for more, or for less
		scale = p.density * (1 - b) / (b * (1 - p.density))
		p.density = b
	}
	for n, of := range []string{fromRandom, fromHeld, amongAll} {
		q := question{of: of}
		for k := range asked {
			x := asked[k][n]
			if of == amongAll {
				x.weight *= scale
			}
			p.enter(&q, k, x.edges, true, 1)
			p.enter(&q, k, x.others, false, x.weight)
			if len(x.edges) > 0 {
				q.users = append(q.users, p.users[k])
				q.Count++
			}
		}
		if q.Count < 2 {
			return nil, &run.UsageError{Message: fmt.Sprintf("edges %s: only %d users have pairs of both kinds (%s)",
				of, q.Count, p.held), Fix: "hold out rows with run.hold_out.rows, or attack more users with " +
				"attack.users"}
		}
		p.questions = append(p.questions, q)
	}
	return p, nil
}

// enter adds candidates of the next cluster to a question.
func (p *pairs) enter(q *question, k int, items []int32, edges bool, weight float64) {
	for _, i := range items {
		q.pair = append(q.pair, p.number(k, i))
		q.Positive, q.Cluster, q.Weight = append(q.Positive, edges), append(q.Cluster, int32(q.Count)),
			append(q.Weight, weight)
	}
}

// some is drawn, except that n = 0 returns no items.
func some(items []int32, n int, s rng.Stream) []int32 {
	if n == 0 {
		return nil
	}
	return drawn(items, n, s)
}
