package standin

import (
	"cmp"
	"math"
	"slices"

	"privrec/internal/rng"
)

// quotas holds how many rows each item may still get and draws items in proportion, with a Fenwick tree for each
// cluster. Drawing and spending take O(log items).
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

// newQuotas returns quotas of the rows planned for every item. With a crowd above 0, a row of the most popular item
// weighs 1 + crowd times that of the least popular one: users who come first get more of the popular items, those who
// come last fewer.
func newQuotas(plan []int, cluster []int32, clusters int, crowd float64) *quotas {
	q := &quotas{plan: plan, rest: make([]int, len(plan)), weight: make([]int, len(plan)),
		inCluster: make([]int, clusters), cluster: cluster,
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

// pick returns an item of cluster c drawn in proportion to its unspent quota. The cluster must have some left.
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

// pace returns the ratio of two shares, at most 1: the share of item i's plan that is left, over the share of all plans
// that is left. It is below 1 if the item has been given too often.
func (q *quotas) pace(i int32) float64 {
	if q.rest[i] <= 0 || q.left == 0 {
		return 0
	}
	return min(1, float64(q.rest[i])/float64(q.plan[i])*float64(q.total)/float64(q.left))
}

// paired returns one value of a curve for each entry of whole, with sum total. Entry i gets at most whole[i]. The ranks
// of the two correlate by about rank, in (0,1]: they are those of a normal copula, except for entries too small for
// their value.
func paired(q []Quantile, whole []int, total int, rank float64, s rng.Stream) ([]int, error) {
	n := len(whole)
	values, err := spread(q, n, total, 0, slices.Max(whole))
	if err != nil {
		return nil, err
	}
	order := make([]int, n) // smallest first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(whole[a], whole[b]) })
	for k, i := range order { // an entry always has room for the value of its own rank
		values[k] = min(values[k], whole[i])
	}
	for k, short := n-1, total-sum(values); short > 0; k-- { // what that took goes to the largest
		if k < 0 {
			k = n - 1
		}
		more := min(short, whole[order[k]]-values[k])
		values[k] += more
		short -= more
	}
	slices.Sort(values)

	r := 2 * math.Sin(math.Pi*rank/6) // correlation of normal variables with that rank correlation
	noise := math.Sqrt(max(0, 1/(r*r)-1))
	key := make([]float64, n)
	for k, i := range order {
		p := (float64(k) + 0.5) / float64(n)
		key[i] = math.Sqrt2*math.Erfinv(2*p-1) + noise*s.NormFloat64()
	}
	byKey := slices.Clone(order)
	slices.SortStableFunc(byKey, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	wish := make([]int, n)
	for k, i := range byKey {
		wish[i] = values[k]
	}
	// Smallest first, each entry takes the nearest value to its wish among those left that fit.
	// One always fits, because the k-th smallest value fits the k-th smallest entry.
	out := make([]int, n)
	for _, i := range order {
		at, _ := slices.BinarySearch(values, min(wish[i], whole[i])+1) // values before at fit
		if at == 0 {
			at, _ = slices.BinarySearch(values, whole[i]+1)
		}
		out[i] = values[at-1]
		values = slices.Delete(values, at-1, at)
	}
	return out, nil
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}
