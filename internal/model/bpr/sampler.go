package bpr

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The ways to choose the positive pairs of a step.
const (
	// Pass takes the edges given by the training loop: a shuffled pass.
	Pass = "pass"
	// UserUniform draws, for each place, a uniform user among the users with an item,
	// then a uniform item of this user, as the released program of LightGCN does.
	UserUniform = "user-uniform"
	// Poisson takes every one of the E edges independently with probability Batch/E, the sampling for which privacy
	// amplification is proved. The number of pairs varies and may be 0.
	Poisson = "poisson"
)

// The ways to draw negatives, uniformly.
const (
	Unseen = "unseen" // among the items that the user does not have
	All    = "all"    // among all items, without reading what the user has
)

// SamplerOptions sets how triples are drawn.
type SamplerOptions struct {
	Positives string // Pass, UserUniform or Poisson
	Negatives string // Unseen or All
	Each      int    // negatives of each positive; 0 for 1, as in the publications
	Batch     int    // expected pairs a step, at least 1; for Poisson
	Seed      rng.Seed
	// Seen holds the items of users that Unseen leaves out, if these are more than the positives are drawn from. nil:
	// those of the graph.
	Seen *graph.Bipartite
}

// Sampler draws the triples of training steps. It reuses the last batch's memory, so only one goroutine may use it.
type Sampler struct {
	graph *graph.Bipartite
	o     SamplerOptions
	rate  float64 // Poisson: of inclusion
	some  []int32 // users with an item
	draws rng.Stream
	last  Triples
}

// Triples holds the triples of a step. Items lists the positives, then the first negative
// of every pair, then the second, and so on: with B = len(Users), the triples of pair k are
// (Users[k], Items[k], Items[B+k]), (Users[k], Items[k], Items[2B+k]), ...
type Triples struct {
	Users []int32
	Items []int32
}

// NewSampler returns a sampler of a graph's edges. It fails on options that it does not know and on a graph without
// edges. With Unseen negatives it fails with a *NoNegativeError on a user who has every item.
func NewSampler(g *graph.Bipartite, o SamplerOptions) (*Sampler, error) {
	switch {
	case o.Positives != Pass && o.Positives != UserUniform && o.Positives != Poisson:
		return nil, fmt.Errorf("bpr: positives %q, want %s, %s or %s", o.Positives, Pass, UserUniform, Poisson)
	case o.Negatives != Unseen && o.Negatives != All:
		return nil, fmt.Errorf("bpr: negatives %q, want %s or %s", o.Negatives, Unseen, All)
	case o.Each < 0:
		return nil, fmt.Errorf("bpr: %d negatives a positive, want at least 1, or 0 for 1", o.Each)
	case o.Batch < 1:
		return nil, fmt.Errorf("bpr: batch of %d, want at least 1", o.Batch)
	case g.Edges() == 0:
		return nil, fmt.Errorf("bpr: a graph of %d users and %d items without edges has nothing to sample", g.Users,
			g.Items)
	}
	o.Each = max(1, o.Each)
	if o.Seen == nil {
		o.Seen = g
	}
	if o.Seen.Users != g.Users || o.Seen.Items != g.Items {
		return nil, fmt.Errorf("bpr: negatives of %d users and %d items, positives of %d and %d", o.Seen.Users,
			o.Seen.Items, g.Users, g.Items)
	}
	s := &Sampler{graph: g, o: o, rate: min(1, float64(o.Batch)/float64(g.Edges())), draws: o.Seed.Stream("bpr.sample")}
	for u := range g.Users {
		switch d := g.UserDegree(u); {
		case d > 0 && o.Seen.UserDegree(u) == g.Items && o.Negatives == Unseen:
			return nil, &NoNegativeError{User: u, Items: g.Items}
		case d > 0:
			s.some = append(s.some, int32(u))
		}
	}
	return s, nil
}

// NoNegativeError is the error for a user who has every item, so that no negative can be drawn.
type NoNegativeError struct {
	User  int // in the graph
	Items int
}

// Error implements error.
func (e *NoNegativeError) Error() string {
	return fmt.Sprintf("bpr: user %d has all %d items: there is no negative to draw", e.User, e.Items)
}

// Named returns an error of NewSampler with the data's name of the user, if it is a *NoNegativeError.
func Named(err error, data string, userIDs []string) error {
	var none *NoNegativeError
	if !errors.As(err, &none) {
		return err
	}
	message := fmt.Sprintf("user %q has all %d items in train: there is no negative to draw", userIDs[none.User],
		none.Items)
	return &dataset.Error{File: data, Msg: message, Hint: "train.negatives=" + All + " draws among all items", Err: err}
}

// Rate returns the probability with which Poisson includes an edge in a step.
func (s *Sampler) Rate() float64 { return s.rate }

// Count returns the divisor for the sum over the pairs of a step: the number of samples, or with Poisson the expected
// number of pairs.
func (s *Sampler) Count(samples int) float64 {
	if s.o.Positives == Poisson {
		return s.rate * float64(s.graph.Edges())
	}
	return float64(samples)
}

// Draw returns the triples of a step, valid until the next Draw. samples are edges of the
// graph: Pass takes them, UserUniform only counts them, Poisson ignores them.
func (s *Sampler) Draw(step int, samples []int32) Triples {
	t := &s.last
	t.Users, t.Items = t.Users[:0], t.Items[:0]
	at := s.draws.Sub(uint64(step))
	switch s.o.Positives {
	case Pass:
		s.pass(samples)
	case UserUniform:
		for k := range samples {
			place := at.Sub(1, uint64(k))
			u := s.some[place.IntN(len(s.some))]
			items := s.graph.ItemsOf(int(u))
			t.add(graph.Edge{User: u, Item: items[place.IntN(len(items))]})
		}
	case Poisson:
		s.poisson(at.Sub(2))
	}
	b := len(t.Users)
	t.Items = slices.Grow(t.Items, b*s.o.Each)[:b+b*s.o.Each]
	tensor.Parallel(b, negativeGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			place := at.Sub(0, uint64(k))
			for j := range s.o.Each {
				t.Items[(1+j)*b+k] = s.negative(&place, int(t.Users[k]))
			}
		}
	})
	return *t
}

// How many pairs a core takes at a time: drawGrain where it looks edges up, negativeGrain where
// it draws negatives, which costs more.
const (
	drawGrain     = 128
	negativeGrain = 32
)

// pass adds the pairs of edges.
func (s *Sampler) pass(edges []int32) {
	t, b := &s.last, len(edges)
	t.Users, t.Items = slices.Grow(t.Users, b)[:b], slices.Grow(t.Items, b)[:b]
	tensor.Parallel(b, drawGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			e := s.graph.Edge(int(edges[k]))
			t.Users[k], t.Items[k] = e.User, e.Item
		}
	})
}

func (t *Triples) add(e graph.Edge) {
	t.Users, t.Items = append(t.Users, e.User), append(t.Items, e.Item)
}

// poisson adds every edge with probability rate: the gaps between those included are geometric.
func (s *Sampler) poisson(draw rng.Stream) {
	edges := s.graph.Edges()
	if s.rate >= 1 {
		for e := range edges {
			s.last.add(s.graph.Edge(e))
		}
		return
	}
	miss := math.Log1p(-s.rate)
	for e := 0; ; e++ {
		gap := math.Log(1-draw.Float64()) / miss // of (0, 1]: finite
		if gap >= float64(edges-e) {
			return
		}
		e += int(gap)
		s.last.add(s.graph.Edge(e))
	}
}

// negative returns a uniform item, under Unseen among the items that the user does not have. One draw chooses k, the
// item is the k-th that the user lacks, and no draw is rejected.
func (s *Sampler) negative(draw *rng.Stream, user int) int32 {
	if s.o.Negatives == All {
		return int32(draw.IntN(s.graph.Items))
	}
	held := s.o.Seen.ItemsOf(user)
	return missing(held, draw.IntN(s.graph.Items-len(held)))
}

// missing returns the k-th number, from 0, that is not in an ascending list.
func missing(held []int32, k int) int32 {
	before, end := 0, len(held) // held numbers below it
	for before < end {
		if mid := int(uint(before+end) >> 1); int(held[mid])-mid > k {
			end = mid
		} else {
			before = mid + 1
		}
	}
	return int32(k + before)
}
