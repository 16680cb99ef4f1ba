package exposure

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset/slate"
	"privrec/internal/metrics"
	"privrec/internal/progress"
)

// Result holds the scores of one ranker for each pair.
type Result struct {
	Protocol Protocol         // with its defaults filled in
	Metrics  []metrics.Metric // Recall, NDCG, MRR, each at every cut-off, as [metrics.Metric.OfLists] defines them
	Rows     []int32          // the scored pairs, ascending
	Users    []int32          // the user of each scored pair
	Values   [][]float64      // per metric, per scored pair
	Dropped  Dropped          // pairs left out
	Outside  int              // known targets of the scored pairs that were not among the candidates, and so are misses

	depth   int     // largest cut-off
	guesses []int32 // (len(Rows), depth): |U_r|, distinct guesses at ranks up to r = 1..depth
}

// Guesses returns |U_k| of scored pair i, its number of distinct guesses at cutoff k. k is 1 to the largest cutoff.
func (r *Result) Guesses(i, k int) int { return int(r.guesses[i*r.depth+k-1]) }

// MeanGuesses returns the mean of |U_k| over the scored pairs, 0 without pairs.
func (r *Result) MeanGuesses(k int) float64 {
	if len(r.Rows) == 0 {
		return 0
	}
	sum := 0
	for i := range r.Rows {
		sum += r.Guesses(i, k)
	}
	return float64(sum) / float64(len(r.Rows))
}

func newResult(q Protocol, p *slate.Pairs, rows []int32) *Result {
	r := &Result{Protocol: q, depth: q.Cutoffs[len(q.Cutoffs)-1], Rows: rows, Users: make([]int32, 0, len(rows))}
	r.Metrics = metrics.Grid([]metrics.Kind{metrics.Recall, metrics.NDCG, metrics.MRR}, q.Cutoffs)
	r.Values = make([][]float64, len(r.Metrics))
	for m := range r.Values {
		r.Values[m] = make([]float64, 0, len(rows))
	}
	r.guesses = make([]int32, 0, len(rows)*r.depth)
	for _, row := range rows {
		r.Users = append(r.Users, p.Users[row])
	}
	return r
}

// Evaluate scores a ranker on the pairs that the protocol keeps. It takes about 100 bytes of memory for each pair and 4
// for each rank up to the largest cutoff; it does not keep the lists. It fails on a wrong protocol, and if the ranker
// fails or does not answer as [Ranker] says.
func Evaluate(ctx context.Context, ranker Ranker, p *slate.Pairs, q Protocol) (*Result, error) {
	if field, problem := q.Check(); problem != "" {
		return nil, fmt.Errorf("scoring guesses: %s: %s", field, problem)
	}
	q = q.withDefaults()
	j := ranker.Lists()
	if j != 1 && j != p.L && q.Budget == BudgetKL {
		return nil, fmt.Errorf("scoring guesses: %d lists for %d clicks: the budget k*L needs one list, or one for "+
			"each click", j, p.L)
	}
	rows, dropped := q.rows(p)
	candidates, err := q.candidates(p, rows)
	if err != nil {
		return nil, err
	}
	r := newResult(q, p, rows)
	depth, split := r.depth, make([][]int32, p.L)
	if j == 1 && q.Budget == BudgetKL {
		depth *= p.L
	}
	var one [1][]int32
	sc := scorer{r: r, p: p, candidates: candidates}
	kept, users, next := rows[:0:0], r.Users[:0:0], 0
	shown := progress.Begin(ctx, "score pairs", len(rows))
	defer shown.End()
	err = ranker.Rank(ctx, p, rows, depth, candidates, func(row int32, lists [][]int32) error {
		shown.Add(1)
		if next >= len(rows) || row != rows[next] || len(lists) != j {
			return fmt.Errorf("scoring guesses: row %d with %d lists instead of number %d of %d rows with %d", row,
				len(lists), next, len(rows), j)
		}
		next++
		for _, list := range lists {
			if len(list) > depth {
				return fmt.Errorf("scoring guesses: row %d: a list of %d items, %d were asked for", row, len(list),
					depth)
			}
		}
		if q.DropEnded && j > 1 && slices.ContainsFunc(lists, func(l []int32) bool { return len(l) == 0 }) {
			r.Dropped.Ended++
			return nil
		}
		switch {
		case j == 1 && q.Budget == BudgetKL:
			deal(split, lists[0])
			lists = split
		case j > 1 && q.Budget == BudgetK:
			one[0] = merge(one[0][:0], lists, depth)
			lists = one[:]
		}
		kept, users = append(kept, row), append(users, p.Users[row])
		sc.score(row, lists)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != len(rows) {
		return nil, fmt.Errorf("scoring guesses: %d of %d rows were answered", next, len(rows))
	}
	dropped.Ended = r.Dropped.Ended
	r.Rows, r.Users, r.Dropped = kept, users, dropped
	return r, nil
}

// EvaluateLike scores a ranker with a single list on the pairs of another result, with the same number of distinct
// guesses for each pair at every rank: if the other's lists name |U_r| distinct items in their top r, the first |U_r|
// items of this list have at most rank r. So a floor makes as many guesses as the attack really made, since L lists
// that repeat each other make fewer than k*L.
func EvaluateLike(ctx context.Context, ranker Ranker, p *slate.Pairs, other *Result) (*Result, error) {
	if ranker.Lists() != 1 {
		return nil, fmt.Errorf("scoring guesses like another's: %d lists, want a single one", ranker.Lists())
	}
	q, rows := other.Protocol, other.Rows
	for i, row := range rows {
		if int(row) >= p.Len() || p.Users[row] != other.Users[i] {
			return nil, fmt.Errorf("scoring guesses like another's: row %d is not of the same pairs", row)
		}
	}
	candidates, err := q.candidates(p, rows)
	if err != nil {
		return nil, err
	}
	r := newResult(q, p, rows)
	r.Dropped = other.Dropped
	sc, next := scorer{r: r, p: p, candidates: candidates}, 0
	depth := 1
	for i := range rows {
		depth = max(depth, other.Guesses(i, r.depth))
	}
	levels := make([][]int32, 0, r.depth)
	shown := progress.Begin(ctx, "score pairs", len(rows))
	defer shown.End()
	err = ranker.Rank(ctx, p, rows, depth, candidates, func(row int32, lists [][]int32) error {
		shown.Add(1)
		if next >= len(rows) || row != rows[next] || len(lists) != 1 || len(lists[0]) > depth {
			return fmt.Errorf("scoring guesses: row %d answered where number %d of %d rows is due", row, next,
				len(rows))
		}
		levels = sc.levels(levels[:0], lists[0], other.guesses[next*r.depth:(next+1)*r.depth])
		next++
		sc.scoreLevels(row, levels)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != len(rows) {
		return nil, fmt.Errorf("scoring guesses: %d of %d rows were answered", next, len(rows))
	}
	return r, nil
}

// scorer turns the lists of a pair into its scores.
type scorer struct {
	r          *Result
	p          *slate.Pairs
	candidates func(row int32) []int32
	lists      metrics.Lists
	targets    []int32
	ranks      []int32
}

// score appends the scores of a row.
func (s *scorer) score(row int32, lists [][]int32) {
	s.take(row)
	s.ranks = metrics.BestRanks(s.ranks[:0], lists, s.targets)
	at := len(s.r.guesses)
	s.r.guesses = append(s.r.guesses, make([]int32, s.r.depth)...)
	s.lists.Distinct(s.r.guesses[at:], lists)
	s.values()
}

// levels splits a list into the items of rank 1, 2, ..., so that distinct[r-1] items have at most rank r.
func (s *scorer) levels(dst [][]int32, list, distinct []int32) [][]int32 {
	from := int32(0)
	for _, n := range distinct {
		to := max(from, min(n, int32(len(list))))
		dst = append(dst, list[from:to])
		from = to
	}
	return dst
}

// scoreLevels appends the scores of a row; levels[r-1] holds its items of rank r.
func (s *scorer) scoreLevels(row int32, levels [][]int32) {
	s.take(row)
	s.ranks = s.ranks[:0]
	for i, y := range s.targets {
		rank := int32(0)
		if y >= 0 && !slices.Contains(s.targets[:i], y) {
			rank = int32(slices.IndexFunc(levels, func(l []int32) bool { return slices.Contains(l, y) })) + 1
		}
		s.ranks = append(s.ranks, rank)
	}
	count := int32(0)
	for _, l := range levels {
		count += int32(len(l))
		s.r.guesses = append(s.r.guesses, count)
	}
	s.values()
}

// take reads the targets of a row. Unknown targets become -1, which no guess can find.
func (s *scorer) take(row int32) {
	s.targets = append(s.targets[:0], s.p.Behaviour(int(row))...)
	var among []int32
	if s.candidates != nil {
		among = s.candidates(row)
	}
	for i, y := range s.targets {
		if y < slate.FirstItem {
			s.targets[i] = -1
		} else if s.candidates != nil && !slices.Contains(among, y) {
			s.r.Outside++
		}
	}
}

func (s *scorer) values() {
	for m, metric := range s.r.Metrics {
		s.r.Values[m] = append(s.r.Values[m], metric.OfLists(s.ranks))
	}
}
