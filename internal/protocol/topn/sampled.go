package topn

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/run"
)

// WhySampled explains why a ranking among sampled items does not stand alone.
const WhySampled = "scores among sampled items are higher than among all, and need not put methods into the same " +
	"order (Krichene and Rendle, KDD 2020): compare them only at one number of items"

// sampledMetrics returns the metrics of the ranking among sampled items; none if the setting does not ask for it.
func (x *Experiment) sampledMetrics() []metrics.Metric {
	if x.Method.Eval.Candidates == 0 {
		return nil
	}
	return metrics.Grid([]metrics.Kind{metrics.SampledHit, metrics.SampledNDCG}, x.Method.Eval.K)
}

// checkCandidates fails if some test row has too few candidates. Such a row would be easier than the others, and the
// mean would not be what its name says.
func (x *Experiment) checkCandidates() error {
	n := x.Method.Eval.Candidates
	if n == 0 {
		return nil
	}
	few, least := int32(-1), x.Data.Items
	for _, u := range x.test.users {
		if left := x.Data.Items - len(x.test.seen[u]) - 1; left < least {
			few, least = u, left
		}
	}
	if least >= n {
		return nil
	}
	return &run.UsageError{Message: fmt.Sprintf("eval.candidates: user %q of %s has %d items that are neither in "+
		"train nor in validation nor the row itself, so %d cannot be drawn",
		x.Data.UserIDs[few], x.Data.Name, least, n), Fix: fmt.Sprintf("take at most %d", least)}
}

// candidates draws the candidates of a user's test rows: for each row eval.candidates distinct items outside the user's
// training and validation items, without the row's own. Other test items of the user may be among them. They depend on
// the seed and the data alone, so all methods have the same.
type candidates struct {
	x    *Experiment
	pool []int32 // what the user has neither in train nor in validation, ascending
	used []uint64
	list []int32
}

// candidates returns the candidates of a part's rows in the form that eval.RanksAmong takes.
func (x *Experiment) candidates(p *part) func(i int) func(k int) []int32 {
	return func(i int) func(k int) []int32 {
		c := &candidates{x: x, pool: x.unseen(p, p.users[i])}
		c.used, c.list = make([]uint64, (len(c.pool)+63)/64), make([]int32, 0, x.Method.Eval.Candidates)
		return func(k int) []int32 { return c.draw(p.users[i], p.find[i][k]) }
	}
}

// unseen lists the items that a user's ranking does not leave out, ascending.
func (x *Experiment) unseen(p *part, user int32) []int32 {
	held := make([]bool, x.Data.Items)
	for _, i := range p.seen[user] {
		held[i] = true
	}
	pool := make([]int32, 0, len(held)-len(p.seen[user]))
	for i, h := range held {
		if !h {
			pool = append(pool, int32(i))
		}
	}
	return pool
}

// draw returns the candidates of one row, in no order, by Floyd's method, which makes every set equally likely (Bentley
// and Floyd, CACM 30(9), 1987).
func (c *candidates) draw(user, item int32) []int32 {
	clear(c.used)
	c.list = c.list[:0]
	own, _ := slices.BinarySearch(c.pool, item)
	stream := c.x.Env.Seed.Stream("topn.candidates")
	if c.x.view.ByPlace {
		stream = stream.Sub(uint64(user), uint64(item))
	} else {
		stream = stream.Of(c.x.Data.UserIDs[user], c.x.Data.ItemIDs[item])
	}
	others := len(c.pool) - 1 // numbered without the row's own
	for most := others - c.x.Method.Eval.Candidates; most < others; most++ {
		at := stream.IntN(most + 1)
		if c.used[at/64]&(1<<(at%64)) != 0 {
			at = most
		}
		c.used[at/64] |= 1 << (at % 64)
		if at >= own {
			c.list = append(c.list, c.pool[at+1])
		} else {
			c.list = append(c.list, c.pool[at])
		}
	}
	return c.list
}

// rankSampled returns, for every user of a part, the rank of each row among its own sampled items.
func (x *Experiment) rankSampled(ctx context.Context, s eval.Scorer, p *part) ([][]int32, error) {
	ranks, err := eval.RanksAmong(ctx, s, p.users, p.find, x.candidates(p),
		eval.Options{Tape: x.tape, Chunk: rankChunk})
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, fmt.Errorf("rank %s rows among sampled items: %w", p.name, err)
	}
	return ranks, nil
}

// ranked holds the ranks of the test rows, by user.
type ranked struct {
	full    [][]int32 // among all items
	sampled [][]int32 // each alone among sampled items; nil: the setting asks for none
}

// rankTest ranks the test rows in every way that the setting asks for.
func (x *Experiment) rankTest(ctx context.Context, s eval.Scorer) (r ranked, err error) {
	if r.full, err = x.rank(ctx, s, x.test, depth(x.metrics())); err != nil || x.Method.Eval.Candidates == 0 {
		return r, err
	}
	r.sampled, err = x.rankSampled(ctx, s, x.test)
	return r, err
}

// values returns the means of ranks: over users among all items, over rows among sampled ones.
func (x *Experiment) values(r ranked) []metrics.Value {
	return append(metrics.SummarySet(x.metrics(), r.full),
		metrics.Summary(x.sampledMetrics(), slices.Concat(r.sampled...))...)
}

// writeSampled writes the mean scores of every user, weighted by the number of rows, and the rank of every row.
func (x *Experiment) writeSampled(release string, ids []string, ranks [][]int32) error {
	var users, items []string
	var flat []int64
	for k, of := range ranks {
		for j, r := range of {
			users, items, flat = append(users, ids[k]), append(items, x.Data.ItemIDs[x.test.find[k][j]]),
				append(flat, int64(r))
		}
	}
	err := experiment.WriteSets(x.Env, fileOf("scores", release)+"-sampled", ids, "samples", ranks, x.sampledMetrics())
	if err != nil {
		return err
	}
	return x.Env.WriteScores(fileOf("rows", release), run.Column{Name: "user_id", Values: users},
		run.Column{Name: "item_id", Values: items}, run.Column{Name: "rank_among_sampled", Values: flat})
}

// fileOf names a file of a release.
func fileOf(name, release string) string {
	if release == "" {
		return name
	}
	return name + "-" + release
}
