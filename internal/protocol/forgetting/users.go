package forgetting

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// groups holds the users of a comparison by their numbers, ascending.
type groups struct {
	forgotten, strangers, remaining []int32
}

// leastForgotten is the smallest number of users whose forgetting can be measured with intervals.
const leastForgotten = 5

// drawGroups draws the forgotten and as many strangers among the users with training rows. A user's lot depends on the
// seed and the user's id alone; the lowest lots are forgotten, the next ones are strangers.
func drawGroups(d *dataset.Interactions, share float64, seed rng.Seed) (*groups, error) {
	lots := dataset.NewLots(seed.Stream("forgetting users"))
	type lot struct {
		user   int32
		number float64
	}
	var all []lot
	for u, rows := range d.Train {
		if len(rows) > 0 {
			all = append(all, lot{int32(u), lots.User(d.UserIDs[u])})
		}
	}
	slices.SortFunc(all, func(a, b lot) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.user, b.user))
	})
	n := int(math.Round(share * float64(len(all))))
	if n < leastForgotten || len(all) < 3*leastForgotten {
		return nil, &run.UsageError{Message: fmt.Sprintf("forget.share: %g of %d users are %d, and at least %d of "+
			"them are needed to measure anything", share, len(all), n, leastForgotten), Fix: "take a larger share"}
	}
	g := &groups{}
	for k, l := range all {
		switch {
		case k < n:
			g.forgotten = append(g.forgotten, l.user)
		case k < 2*n:
			g.strangers = append(g.strangers, l.user)
		default:
			g.remaining = append(g.remaining, l.user)
		}
	}
	slices.Sort(g.forgotten)
	slices.Sort(g.strangers)
	slices.Sort(g.remaining)
	return g, nil
}

// asked returns the users whom the attack asks about: the forgotten, then the strangers.
func (g *groups) asked() []int32 { return slices.Concat(g.forgotten, g.strangers) }

// graphOf returns the graph of the training rows of some users. Users and items keep their numbers.
func graphOf(d *dataset.Interactions, users ...[]int32) (*graph.Bipartite, error) {
	var edges []graph.Edge
	for _, list := range users {
		for _, u := range list {
			for _, i := range d.Train[u] {
				edges = append(edges, graph.Edge{User: u, Item: i})
			}
		}
	}
	return graph.NewBipartite(d.Users, d.Items, edges)
}
