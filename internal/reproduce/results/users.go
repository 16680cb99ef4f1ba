package results

import (
	"math"
	"slices"
	"strings"

	"privrec/internal/claims"
	"privrec/internal/compare"
)

// users holds the scores of a metric user by user, over all seeds, and the interval of their mean. It is empty where
// no run keeps scores of users that the result is the mean of.
type users struct {
	claims.Users
	lo, hi float64 // interval of the mean over users, in percent; NaN: none
	whole  int     // users that these are a sample of, where the runs keep no more; else their number
}

// resamples is how many sets of users an interval is drawn from.
const resamples = 1000

// add adds a run's scores. at has the place of each user.
func (u *users) add(t *compare.Scores, metric string, at map[string]int) {
	u.whole = max(u.whole, t.Whole())
	for k, id := range t.Users {
		i, ok := at[id]
		if !ok {
			i, at[id] = len(u.IDs), len(u.IDs)
			u.IDs, u.Num, u.Den = append(u.IDs, id), append(u.Num, 0), append(u.Den, 0)
		}
		w := t.Weight(k)
		u.Num[i], u.Den[i] = u.Num[i]+w*t.Values[metric][k], u.Den[i]+w
	}
}

// sort puts the users into the order of their names.
func (u *users) sort() {
	order := make([]int, len(u.IDs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(u.IDs[a], u.IDs[b]) })
	ids, num, den := make([]string, len(order)), make([]float64, len(order)), make([]float64, len(order))
	for i, k := range order {
		ids[i], num[i], den[i] = u.IDs[k], u.Num[k], u.Den[k]
	}
	u.IDs, u.Num, u.Den = ids, num, den
}

// meanOf returns the table whose mean of a metric is a result, or nil.
func meanOf(tables []*compare.Scores, metric string, result float64) *compare.Scores {
	for _, t := range tables {
		if t.Values[metric] == nil {
			continue
		}
		if math.Abs(t.Mean(metric)-result) <= 1e-6*max(1, math.Abs(result)) {
			return t
		}
	}
	return nil
}
