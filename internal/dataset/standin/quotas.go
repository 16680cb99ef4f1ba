package standin

import (
	"math"
	"slices"

	"privrec/internal/rng"
)

// quotas holds how many rows each item may still get and draws items in proportion, with a
// Fenwick tree a cluster. Drawing and spending take O(log items).
type quotas struct {
	plan      []int // per item: rows planned
	rest      []int // per item: rows still to give; below 0 when it got more than planned
	total     int   // of plan
	left      int   // rows still to give, never below 0
	weight    []int // per item: weight of one of its rows when an item is drawn, 1 or more
	inCluster []int // per cluster: sum of weighted positive rests
	cluster   []int32
	place     []int32   // per item: 1-based position in its cluster's tree
	member    [][]int32 // per cluster: items by position
	tree      [][]int   // per cluster: Fenwick tree over weighted positive rests
}

// newQuotas takes the rows planned for every item. With a crowd above 0, a row of the most
// popular item weighs 1 + crowd times that of the least popular one: users who come first get
// more of the popular items, those who come last fewer.
func newQuotas(plan []int, cluster []int32, clusters int, crowd float64) *quotas {
	q := &quotas{plan: plan, rest: make([]int, len(plan)), weight: make([]int, len(plan)), inCluster: make([]int, clusters), cluster: cluster,
		place: make([]int32, len(plan)), member: make([][]int32, clusters), tree: make([][]int, clusters)}
	for i, c := range cluster {
		q.member[c] = append(q.member[c], int32(i))
		q.place[i] = int32(len(q.member[c]))
	}
	for c := range q.tree {
		q.tree[c] = make([]int, len(q.member[c])+1)
	}
	const unit = 16 // steps of a weight
	most := max(1, slices.Max(plan))
	for i, n := range plan {
		q.weight[i] = 1
		if crowd > 0 {
			q.weight[i] = int(math.Round(unit * (1 + crowd*float64(n)/float64(most))))
		}
		q.rest[i] = n
		q.total += n
		q.add(i, n)
	}
	q.left = q.total
	return q
}

// add changes the drawable weight of item i.
func (q *quotas) add(i, by int) {
	c := q.cluster[i]
	by *= q.weight[i]
	q.inCluster[c] += by
	t := q.tree[c]
	for k := int(q.place[i]); k < len(t); k += k & -k {
		t[k] += by
	}
}

// spend takes one row from item i's quota.
func (q *quotas) spend(i int32) {
	if q.rest[i] > 0 {
		q.add(int(i), -1)
		q.left--
	}
	q.rest[i]--
}

// pick draws an item of cluster c in proportion to its unspent quota. The cluster must have
// some left.
func (q *quotas) pick(c int, s *rng.Stream) int32 {
	t := q.tree[c]
	at := s.IntN(q.inCluster[c])
	step := 1
	for step*2 < len(t) {
		step *= 2
	}
	k := 0
	for ; step > 0; step /= 2 {
		if k+step < len(t) && t[k+step] <= at {
			k += step
			at -= t[k]
		}
	}
	return q.member[c][k]
}

// pace returns the share of item i's plan that is left over the share of all plans that is
// left, at most 1: below 1 when the item has been given too often.
func (q *quotas) pace(i int32) float64 {
	if q.rest[i] <= 0 || q.left == 0 {
		return 0
	}
	return min(1, float64(q.rest[i])/float64(q.plan[i])*float64(q.total)/float64(q.left))
}
