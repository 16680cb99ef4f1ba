package standin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// A stand-in is made so that models can learn on it and its marginals are exact:
//
// 1. Every user gets a number of rows and every item a quota of rows from the
//    profile's curves. Both are divided into likes (rating 4, 5) and dislikes (1 to
//    3), by curves too where the profile has them; popular items are liked more.
// 2. Items belong to latent clusters. A user's taste is a log-weight a cluster: the
//    effects of the user's attributes plus noise, so attributes can be inferred.
// 3. A user's rows are written one after another. A liked item follows, with
//    probability Markov, from the item liked before it, through a short list of
//    successors in its cluster. Otherwise the user's taste picks a cluster, and the
//    items' unspent quotas pick the item. Only unspent quota picks a disliked item.
//    No user gets an item twice.
//
// What is not matched: the joint distribution of attributes, which item is which film, real
// time stamps, and how long a taste lasts.

// Version changes when the same profile and seed give other rows.
const Version = 3

// generator holds the state of one run of Generate.
type generator struct {
	Profile
	seed    rng.Seed
	length  []int       // per user
	likes   []int       // per user: rows of rating 4 and 5; nil when the profile has no curve
	attr    [][]int32   // per attribute, per user: value
	effect  [][]float64 // per attribute: value x cluster
	cluster []int32     // per item
	next    [][]int32   // per item: successors, most likely first
	like    *quotas
	dislike *quotas
	seen    []int32 // per item: 1 + user who got it last
}

// Generate returns rows and user features. The same profile and seed give the same rows.
func (p Profile) Generate(ctx context.Context, seed rng.Seed) (*dataset.Log, *dataset.Features, error) {
	g := &generator{Profile: p, seed: seed}
	if err := g.plan(); err != nil {
		return nil, nil, err
	}
	items := make([][]int32, p.Users)
	liked := make([][]bool, p.Users)
	order := make([]int32, p.Users) // longest first, so that no user is left with too few unseen items
	for u := range order {
		order[u] = int32(u)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return g.length[b] - g.length[a] })
	likesLeft, rowsLeft := g.like.left, p.Rows
	for i, u := range order {
		if i&255 == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		items[u], liked[u] = g.user(int(u), &likesLeft, &rowsLeft)
	}
	g.coverAll(items)
	if g.Early > 0 {
		for u := range items {
			items[u], liked[u] = g.early(u, items[u], liked[u])
		}
	}
	return g.log(items, liked), g.features(), nil
}

// plan draws everything that does not depend on the rows.
func (g *generator) plan() error {
	s := g.seed.Stream("standin/plan")
	lengths, err := spread(g.Lengths, g.Users, g.Rows, min(g.MinLength, g.Rows/g.Users), g.Items*2/3)
	if err != nil {
		return err
	}
	g.length = shuffled(lengths, s.Sub(0))
	most := g.Users * 3 / 5
	if g.Gini[1] > 0 { // real data of this size had an item of this many users
		most = max(most, int(g.Popularity[len(g.Popularity)-1].V))
	}
	counts, err := spread(g.Popularity, g.Items, g.Rows, max(1, g.MinItem), most)
	if err != nil {
		return err
	}
	counts = shuffled(counts, s.Sub(1))

	pick := s.Sub(2)
	g.cluster = make([]int32, g.Items)
	for i := range g.cluster {
		g.cluster[i] = int32(pick.IntN(g.Clusters))
	}
	likes := counts
	if !g.Implicit {
		likes = g.itemLikes(counts, s.Sub(3))
	}
	if g.ItemLikes != nil {
		if likes, err = paired(g.ItemLikes, counts, g.liked(), g.ItemRank, s.Sub(3)); err != nil {
			return err
		}
	}
	if g.Likes != nil {
		if g.likes, err = paired(g.Likes, g.length, g.liked(), g.UserRank, s.Sub(7)); err != nil {
			return err
		}
	}
	dislikes := make([]int, g.Items)
	for i, n := range counts {
		dislikes[i] = n - likes[i]
	}
	g.like, g.dislike = newQuotas(likes, g.cluster, g.Clusters, g.Crowd),
		newQuotas(dislikes, g.cluster, g.Clusters, g.Crowd)
	g.seen = make([]int32, g.Items)
	g.successors(likes, s.Sub(4))

	for a, attr := range g.Attributes {
		var values []int
		for v, n := range share(g.Users, attr.Counts) {
			values = append(values, slices.Repeat([]int{v}, n)...)
		}
		of := make([]int32, g.Users)
		for u, v := range shuffled(values, s.Sub(5, uint64(a))) {
			of[u] = int32(v)
		}
		g.attr = append(g.attr, of)
		g.effect = append(g.effect, attr.effects(g.Clusters, s.Sub(6, uint64(a))))
	}
	return nil
}

// liked returns the number of rows of rating 4 and 5.
func (p Profile) liked() int {
	if p.Implicit {
		return p.Rows
	}
	return p.Rows - p.ratingBounds()[2]
}

// ratingBounds returns the number of rows with at most each rating, rounded up.
func (p Profile) ratingBounds() (bounds [5]int) {
	all, upTo := max(1, sum(p.Ratings[:])), 0
	for r, n := range p.Ratings {
		upTo += n
		bounds[r] = (upTo*p.Rows + all - 1) / all
	}
	return bounds
}

// itemLikes returns the number of likes in each item's quota. The share of likes rises with popularity and varies
// between items; the total is the profile's share of ratings 4 and 5.
func (g *generator) itemLikes(counts []int, s rng.Stream) []int {
	lean := make([]float64, g.Items)
	for i, n := range counts {
		lean[i] = 0.35*math.Log(float64(n)) + 0.6*s.NormFloat64()
	}
	want := float64(g.Ratings[3]+g.Ratings[4]) / float64(sum(g.Ratings[:])) * float64(g.Rows)
	total := func(shift float64) (all float64) {
		for i, n := range counts {
			all += float64(n) / (1 + math.Exp(-lean[i]-shift))
		}
		return all
	}
	low, high := -20.0, 20.0
	for range 60 {
		if mid := (low + high) / 2; total(mid) < want {
			low = mid
		} else {
			high = mid
		}
	}
	out := make([]int, g.Items)
	carry := 0.0 // rounding error passed on, so that the total is right
	for i, n := range counts {
		exact := float64(n)/(1+math.Exp(-lean[i]-high)) + carry
		out[i] = int(clamp(math.Round(exact), 0, float64(n)))
		carry = exact - float64(out[i])
	}
	return out
}

// successors sets for every item a list of items of its cluster, drawn in proportion to likes, so that following the
// lists keeps popularity as planned.
func (g *generator) successors(likes []int, s rng.Stream) {
	listed := g.Successors
	members := make([][]int32, g.Clusters)
	for i, c := range g.cluster {
		members[c] = append(members[c], int32(i))
	}
	g.next = make([][]int32, g.Items)
	draw := newQuotas(likes, g.cluster, g.Clusters, 0)
	for i := range g.next {
		c := int(g.cluster[i])
		for try := 0; len(g.next[i]) < listed && try < 10*listed && draw.inCluster[c] > 0; try++ {
			if j := draw.pick(c, &s); int(j) != i && !slices.Contains(g.next[i], j) {
				g.next[i] = append(g.next[i], j)
			}
		}
	}
}

// effects returns drawn effects of each value on each cluster's log-weight, value x cluster.
func (a Attribute) effects(clusters int, s rng.Stream) []float64 {
	values := len(a.Counts)
	out := make([]float64, values*clusters)
	for c := range clusters {
		slope := s.NormFloat64()
		for v := range values {
			if a.Order {
				mid := float64(values-1) / 2
				out[v*clusters+c] = a.Effect * slope * (float64(v) - mid) / mid
			} else {
				out[v*clusters+c] = a.Effect * s.NormFloat64()
			}
		}
	}
	return out
}

// shuffled returns the values in random order.
func shuffled(values []int, s rng.Stream) []int {
	out := make([]int, len(values))
	for i, j := range s.Perm(len(values)) {
		out[i] = values[j]
	}
	return out
}

// hash returns the SHA-256 of generator version, profile and seed.
func (g *generator) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "privrec stand-in %d %+v seed %d", Version, g.Profile, g.seed))
	return hex.EncodeToString(sum[:])
}
