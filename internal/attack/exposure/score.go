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
	if err := q.fits(ranker, p); err != nil {
		return nil, err
	}
	r, err := together(ctx, ranker, p, []Protocol{q})
	if err != nil {
		return nil, err
	}
	return r[0], nil
}

// EvaluateAll scores an attack under each protocol, like Evaluate. It ranks once for all protocols that ask for the
// same pairs and candidates, since shorter lists of an attack are the beginnings of its longer ones.
func EvaluateAll(ctx context.Context, m *Model, p *slate.Pairs, qs []Protocol) ([]*Result, error) {
	for _, q := range qs {
		if err := q.fits(m, p); err != nil {
			return nil, fmt.Errorf("%s: attack: %w", q, err)
		}
	}
	all := make([]*Result, len(qs))
	for i := range qs {
		if all[i] != nil {
			continue
		}
		var same []Protocol
		var at []int
		for k := i; k < len(qs); k++ {
			if all[k] == nil && qs[i].asks(qs[k]) {
				same, at = append(same, qs[k]), append(at, k)
			}
		}
		got, err := together(ctx, m, p, same)
		if err != nil {
			return nil, fmt.Errorf("%s: attack: %w", qs[i], err)
		}
		for k, r := range got {
			all[at[k]] = r
		}
	}
	return all, nil
}

// asks reports whether two protocols ask for the same pairs and candidates.
func (q Protocol) asks(o Protocol) bool {
	q, o = q.withDefaults(), o.withDefaults()
	o.Budget, o.Cutoffs, o.DropEnded = q.Budget, q.Cutoffs, q.DropEnded
	return q.same(o)
}

// fits refuses a wrong protocol, and one that a ranker has not the lists for.
func (q Protocol) fits(ranker Ranker, p *slate.Pairs) error {
	if field, problem := q.Check(); problem != "" {
		return fmt.Errorf("scoring guesses: %s: %s", field, problem)
	}
	if j := ranker.Lists(); j != 1 && j != p.L && q.withDefaults().Budget == BudgetKL {
		return fmt.Errorf("scoring guesses: %d lists for %d clicks: the budget k*L needs one list, or one for each "+
			"click", j, p.L)
	}
	return nil
}

// together scores a ranker under protocols that fit it and ask for the same pairs and candidates.
func together(ctx context.Context, ranker Ranker, p *slate.Pairs, qs []Protocol) ([]*Result, error) {
	j := ranker.Lists()
	rows, dropped := qs[0].rows(p)
	candidates, err := qs[0].candidates(p, rows)
	if err != nil {
		return nil, err
	}
	depth := 0
	of := make([]*scoring, len(qs))
	for i, q := range qs {
		of[i] = newScoring(q.withDefaults(), p, rows, candidates, j)
		depth = max(depth, of[i].depth)
	}
	next := 0
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
		for _, s := range of {
			s.answer(row, lists)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if next != len(rows) {
		return nil, fmt.Errorf("scoring guesses: %d of %d rows were answered", next, len(rows))
	}
	all := make([]*Result, len(of))
	for i, s := range of {
		all[i] = s.r
		dropped.Ended = s.r.Dropped.Ended
		all[i].Rows, all[i].Users, all[i].Dropped = s.kept, s.users, dropped
	}
	return all, nil
}

// scoring turns a ranker's lists into the result under one protocol.
type scoring struct {
	scorer
	depth int // of the lists that the protocol asks for
	kept  []int32
	users []int32

	short, split [][]int32
	one          [1][]int32
}

func newScoring(q Protocol, p *slate.Pairs, rows []int32, candidates func(row int32) []int32, lists int) *scoring {
	r := newResult(q, p, rows)
	s := &scoring{scorer: scorer{r: r, p: p, candidates: candidates}, depth: r.depth, kept: rows[:0:0],
		users: r.Users[:0:0], split: make([][]int32, p.L)}
	if lists == 1 && q.Budget == BudgetKL {
		s.depth *= p.L
	}
	return s
}

// answer scores the lists of a row, or counts it among those left out.
func (s *scoring) answer(row int32, lists [][]int32) {
	q := s.r.Protocol
	if q.DropEnded && len(lists) > 1 && slices.ContainsFunc(lists, func(l []int32) bool { return len(l) == 0 }) {
		s.r.Dropped.Ended++
		return
	}
	s.short = s.short[:0]
	for _, l := range lists {
		s.short = append(s.short, l[:min(len(l), s.depth)])
	}
	lists = s.short
	switch {
	case len(lists) == 1 && q.Budget == BudgetKL:
		deal(s.split, lists[0])
		lists = s.split
	case len(lists) > 1 && q.Budget == BudgetK:
		s.one[0] = merge(s.one[0][:0], lists, s.depth)
		lists = s.one[:]
	}
	s.kept, s.users = append(s.kept, row), append(s.users, s.p.Users[row])
	s.score(row, lists)
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
