package standin

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// user returns the rows of one user: items and whether they are liked. likesLeft and rowsLeft count what all users
// still have to write.
func (g *generator) user(u int, likesLeft, rowsLeft *int) (items []int32, liked []bool) {
	s := g.seed.Stream("standin/user", uint64(u))
	taste := g.taste(u, &s)
	n := g.length[u]
	items, liked = make([]int32, 0, n), make([]bool, 0, n)
	// A user's share of likes varies around the share still to be given out.
	share := float64(*likesLeft) / float64(*rowsLeft)
	share = 1 / (1 + math.Exp(-math.Log(share/max(1-share, 1e-9))-0.5*s.NormFloat64()))
	last := int32(-1)
	left := 0 // likes of this user still to write
	if g.likes != nil {
		left = g.likes[u]
	}
	for len(items) < n {
		if g.likes != nil { // every order of likes and dislikes is equally likely
			share = float64(left) / float64(n-len(items))
		}
		like := g.Implicit || s.Float64() < share
		item := int32(-1)
		if like && last >= 0 && s.Float64() < g.Markov {
			item = g.follow(last, u, &s)
		}
		if item < 0 {
			if like {
				item = g.choose(g.like, g.dislike, taste, u, &s)
			} else {
				item = g.choose(g.dislike, g.like, nil, u, &s)
			}
		}
		q := g.dislike
		if like {
			q, last = g.like, item
			left--
			*likesLeft--
		}
		q.spend(item)
		*rowsLeft--
		g.seen[item] = int32(u) + 1
		items, liked = append(items, item), append(liked, like)
	}
	return items, liked
}

// early returns a user's rows reordered in blocks, with blocks of popular items towards the front. Inside a block rows
// keep their order.
func (g *generator) early(u int, items []int32, liked []bool) ([]int32, []bool) {
	s := g.seed.Stream("standin/early", uint64(u))
	size := int(clamp(float64(len(items)/8), 5, 10))
	type block struct {
		from, to int
		key      float64
	}
	var blocks []block
	mean, square := 0.0, 0.0
	for from := 0; from < len(items); from += size {
		b := block{from: from, to: min(from+size, len(items))}
		for _, i := range items[b.from:b.to] {
			b.key += math.Log(float64(g.like.plan[i]+g.dislike.plan[i])) / float64(b.to-b.from)
		}
		mean += b.key
		square += b.key * b.key
		blocks = append(blocks, b)
	}
	n := float64(len(blocks))
	mean /= n
	spread := math.Sqrt(max(0, square/n-mean*mean))
	for k := range blocks {
		blocks[k].key = g.Early*(blocks[k].key-mean)/max(spread, 1e-9) + s.NormFloat64()
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(b.key, a.key) })
	outItems, outLiked := make([]int32, 0, len(items)), make([]bool, 0, len(items))
	for _, b := range blocks {
		outItems = append(outItems, items[b.from:b.to]...)
		outLiked = append(outLiked, liked[b.from:b.to]...)
	}
	return outItems, outLiked
}

// taste returns the weight of every cluster for user u.
func (g *generator) taste(u int, s *rng.Stream) []float64 {
	w := make([]float64, g.Clusters)
	for c := range w {
		w[c] = g.Taste * s.NormFloat64()
		for a := range g.attr {
			w[c] += g.effect[a][int(g.attr[a][u])*g.Clusters+c]
		}
		w[c] = math.Exp(w[c])
	}
	return w
}

// follow returns a successor of item that user u does not have, or -1. If a successor has been given more often than
// planned by now, it is skipped with the probability that brings it back to its plan.
func (g *generator) follow(item int32, u int, s *rng.Stream) int32 {
	list := g.next[item]
	for range 4 {
		k := 0
		for k < len(list)-1 && s.Float64() < g.Decay { // geometric
			k++
		}
		if len(list) == 0 {
			return -1
		}
		j := list[k]
		if g.seen[j] != int32(u)+1 && s.Float64() < g.like.pace(j) {
			return j
		}
	}
	return -1
}

// choose returns an item that user u does not have. It draws a cluster by taste (nil for none) times unspent quota,
// then an item of it by unspent quota. If draws or quotas run out it looks through all items, then through those of the
// other quota, then takes any.
func (g *generator) choose(q, other *quotas, taste []float64, u int, s *rng.Stream) int32 {
	weight := make([]float64, g.Clusters)
	total := 0.0
	for c := range weight {
		w := float64(q.inCluster[c])
		if taste != nil {
			w *= taste[c]
		}
		total += w
		weight[c] = total
	}
	for try := 0; try < 30 && total > 0; try++ {
		c, _ := slices.BinarySearch(weight, s.Float64()*total)
		for c < g.Clusters && q.inCluster[c] <= 0 { // the edge of a cumulative sum
			c++
		}
		if c == g.Clusters {
			continue
		}
		if i := q.pick(c, s); g.seen[i] != int32(u)+1 {
			return i
		}
	}
	for _, from := range []*quotas{q, other} {
		if i := g.scan(func(i int) int { return max(0, from.rest[i]) }, u, s); i >= 0 {
			return i
		}
	}
	return g.scan(func(i int) int { return 1 }, u, s) // cannot fail: a user's rows are fewer than the items
}

// scan returns an item that user u does not have, drawn by weight, or -1 if no weight is left.
func (g *generator) scan(weight func(int) int, u int, s *rng.Stream) int32 {
	total := 0
	for i := range g.seen {
		if g.seen[i] != int32(u)+1 {
			total += weight(i)
		}
	}
	if total == 0 {
		return -1
	}
	at := s.IntN(total)
	for i := range g.seen {
		if g.seen[i] != int32(u)+1 {
			if at -= weight(i); at < 0 {
				return int32(i)
			}
		}
	}
	return -1
}

// coverAll gives every item without a user to a user. It replaces an item that has more rows than planned, or else the
// user's most frequent one.
func (g *generator) coverAll(items [][]int32) {
	counts := make([]int, g.Items)
	for _, list := range items {
		for _, i := range list {
			counts[i]++
		}
	}
	s := g.seed.Stream("standin/cover")
	for i, n := range counts {
		for n == 0 {
			u := s.IntN(g.Users)
			best := 0
			for k, j := range items[u] {
				if counts[j] > counts[items[u][best]] {
					best = k
				}
			}
			if counts[items[u][best]] > 1 {
				counts[items[u][best]]--
				items[u][best] = int32(i)
				n = 1
			}
		}
	}
}

// log returns the rows with times and ratings. The quality of an item plus noise, without its cluster, orders the liked
// rows and the disliked ones; the profile's shares cut that order into ratings.
func (g *generator) log(items [][]int32, liked [][]bool) *dataset.Log {
	l := &dataset.Log{Name: "standin-" + g.Name, StandIn: true, Hash: g.hash(),
		Users: make([]int32, 0, g.Rows), Items: make([]int32, 0, g.Rows), Times: make([]int64, 0, g.Rows)}
	for u := range g.Users {
		l.UserIDs = append(l.UserIDs, strconv.Itoa(u+1))
	}
	for i := range g.Items {
		l.ItemIDs = append(l.ItemIDs, strconv.Itoa(i+1))
	}
	quality := make([]float64, g.Items)
	qs := g.seed.Stream("standin/quality")
	for i := range quality {
		quality[i] = qs.NormFloat64()
	}
	utility := make([]float64, 0, g.Rows)
	isLiked := make([]bool, 0, g.Rows)
	for u, list := range items {
		s := g.seed.Stream("standin/time", uint64(u))
		const spring2000, span = 956703932, 89 * 7 * 24 * 3600 // seconds; users arrive over twenty months
		now := spring2000 + int64(s.IntN(span))
		for k, i := range list {
			l.Users = append(l.Users, int32(u))
			l.Items = append(l.Items, i)
			l.Times = append(l.Times, now)
			now += 1 + int64(-20*math.Log1p(-s.Float64()))
			utility = append(utility, quality[i]+s.NormFloat64())
			isLiked = append(isLiked, liked[u][k])
		}
	}
	if !g.Implicit {
		l.Values = make([]float32, g.Rows)
		g.rate(l.Values, utility, isLiked)
	}
	return l
}

// rate orders rows by (liked, utility) and assigns ratings by share from below.
func (g *generator) rate(values []float32, utility []float64, liked []bool) {
	order := make([]int32, len(values))
	for i := range order {
		order[i] = int32(i)
		if liked[i] {
			utility[i] += 1e6 // above every disliked row
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(utility[a], utility[b]), cmp.Compare(a, b))
	})
	k := 0
	for r, upTo := range g.ratingBounds() {
		for ; k < upTo; k++ {
			values[order[k]] = float32(r + 1)
		}
	}
}

// features returns the users' attributes.
func (g *generator) features() *dataset.Features {
	f := &dataset.Features{}
	for u := range g.Users {
		f.UserIDs = append(f.UserIDs, strconv.Itoa(u+1))
	}
	for a, attr := range g.Attributes {
		if attr.Kind == dataset.Numeric {
			c := dataset.Column{Name: attr.Name, Kind: dataset.Numeric, Numbers: make([]float64, g.Users)}
			for u, v := range g.attr[a] {
				c.Numbers[u] = attr.Numbers[v]
			}
			f.Columns = append(f.Columns, c)
			continue
		}
		_, levels := dataset.Ascending(attr.Values)
		c := dataset.Column{Name: attr.Name, Kind: dataset.Categorical, Levels: levels, Codes: make([]int32, g.Users)}
		for u, v := range g.attr[a] {
			c.Codes[u] = int32(slices.Index(levels, attr.Values[v]))
		}
		rows := make([]int32, g.Users)
		for u := range rows {
			rows[u] = int32(u)
		}
		f.Columns = append(f.Columns, c.Gather(rows)) // drops values that no user has at a small size
	}
	return f
}
