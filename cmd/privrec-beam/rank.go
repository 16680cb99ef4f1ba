package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"privrec/internal/dataset/compress"
	"privrec/internal/eval"
	"privrec/internal/lists"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/perturb"
	"privrec/internal/protocol/imported"
	"privrec/internal/tensor"
)

// rankStep ranks the users that a first pipeline kept.
type rankStep struct {
	Ranking *ranking
	Counts  string // file of how many training rows each item with a vector has
	Strange string // file of the items of the truth without a vector
	Numbers bool   // the ids of all users are numbers
}

// ranker ranks users a chunk at a time, as one machine does.
type ranker struct {
	*rankStep
	*board
	depth  int
	size   int // users of a chunk
	ids    []string
	users  []rankedUser
	scores *perturb.Sorter
	lists  *lists.Writer // nil: none are written
}

// rank measures the users of a shard, and writes their lists if that is wanted.
func (s *step) rank(ctx context.Context, in shardNote) (note stepNote, err error) {
	dir, end, err := scratch()
	if err != nil {
		return note, err
	}
	defer end()
	r, err := s.Rank.open(ctx)
	if err != nil {
		return note, err
	}
	r.scores = perturb.NewSorter(func() (*os.File, error) { return perturb.NamelessFile(dir) })
	r.scores.Compare = byNumber(r.Numbers)
	defer r.scores.Close()
	name := fmt.Sprintf("%05d-%s", in.Shard, attempt())
	var out *os.File
	if r.Ranking.Top > 0 {
		if out, err = os.Create(filepath.Join(dir, "lists")); err != nil {
			return note, err
		}
		defer out.Close()
		if r.lists, err = lists.NewWriter(out, lists.TSV, compress.Gzip, true); err != nil {
			return note, err
		}
	}
	err = readPiece(ctx, in.Kept, func(id, held []byte) error {
		var u rankedUser
		if err := u.read(held); err != nil {
			return fmt.Errorf("%s: %w", in.Kept, err)
		}
		note.Users++
		r.ids, r.users = append(r.ids, string(id)), append(r.users, u)
		if len(r.users) < r.size {
			return nil
		}
		return r.chunk(ctx)
	})
	if err == nil {
		err = r.chunk(ctx)
	}
	if err != nil {
		return note, err
	}
	note.Shard, note.Score = in.Shard, join(s.Work, "scores-"+name)
	if r.lists != nil {
		note.Lists = join(s.Work, "lists-"+name)
		if err := r.lists.Close(); err != nil {
			return note, err
		}
		if err := copyFile(ctx, out.Name(), note.Lists, false); err != nil {
			return note, err
		}
	}
	return note, putFile(ctx, note.Score, false, func(w io.Writer) error {
		p := pieceWriter{w: bufio.NewWriter(w)}
		if err := r.scores.Each(p.add); err != nil {
			return err
		}
		return p.w.Flush()
	})
}

// board holds what all shards of a job share: its items, and the input of the floors.
type board struct {
	items  *universe
	floors *imported.Floors
}

// shared holds the board that this process opened last.
var shared struct {
	sync.Mutex
	of string
	b  *board
}

// open reads the shared data of all shards, once in a process.
func (s *rankStep) open(ctx context.Context) (*ranker, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.of != s.Counts {
		b, err := s.board(ctx)
		if err != nil {
			return nil, err
		}
		shared.of, shared.b = s.Counts, b
	}
	r := &ranker{rankStep: s, board: shared.b, size: eval.ChunkSize(len(shared.b.items.ids))}
	for _, m := range r.floors.Metrics {
		r.depth = max(r.depth, m.K)
	}
	return r, nil
}

func (s *rankStep) board(ctx context.Context) (*board, error) {
	g, err := goodsOf(ctx, s.Ranking)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(g.ids))
	if err := addSums(ctx, s.Counts, counts); err != nil {
		return nil, err
	}
	strange := map[string]bool{}
	if err := readIDs(ctx, s.Strange, strange); err != nil {
		return nil, err
	}
	b := &board{items: newUniverse(g, slices.Sorted(maps.Keys(strange)))}
	all := make([]int64, len(b.items.ids))
	for i, n := range counts {
		all[b.items.of[i]] = n
	}
	b.floors = imported.NewFloors(imported.Metrics(s.Ranking.K), all)
	return b, nil
}

// scoring lets one shard at a time hold scores. A process works on several shards, and scoring uses all its cores.
var scoring sync.Mutex

// chunk ranks the users read so far, and forgets them.
func (r *ranker) chunk(ctx context.Context) error {
	train := make([][]int32, len(r.users)) // among all items
	truth := make([][]int32, len(r.users))
	rows := tensor.New(len(r.users), r.items.rows.Cols)
	at := make([]int, len(r.users)) // among those that are scored; -1: not
	var samples []int32
	for k, u := range r.users {
		for _, i := range u.train {
			train[k] = append(train[k], r.items.of[i])
		}
		truth[k] = r.truth(u)
		if at[k] = -1; len(u.vector) > 0 && (len(truth[k]) > 0 || r.Ranking.Top > 0) {
			at[k] = len(samples)
			samples = append(samples, int32(k))
			copy(tensor.Row(rows, k), u.vector)
		}
	}
	var best [][]eval.Item
	if len(samples) > 0 {
		var err error
		exclude := func(k int32) []int32 {
			return append(append(make([]int32, 0, len(train[k])+len(r.items.barred)), train[k]...), r.items.barred...)
		}
		deepest := min(max(r.depth, r.Ranking.Top), len(r.items.ids))
		scoring.Lock()
		best, err = eval.Top(ctx, &bpr.Ranking{Users: rows, Goods: r.items.rows}, samples, deepest,
			eval.Options{Exclude: exclude})
		scoring.Unlock()
		if err != nil {
			return err
		}
	}
	for k := range r.users {
		var ranked []eval.Item
		if at[k] >= 0 {
			ranked = best[at[k]]
		}
		if err := r.write(r.ids[k], ranked); err != nil {
			return err
		}
		if len(truth[k]) > 0 {
			if err := r.measure(r.ids[k], ranked, train[k], truth[k]); err != nil {
				return err
			}
		}
	}
	r.ids, r.users = r.ids[:0], r.users[:0]
	return nil
}

// truth returns the truth of a user, ascending, among all items.
func (r *ranker) truth(u rankedUser) []int32 {
	var list []int32
	for _, i := range u.truth {
		list = append(list, r.items.of[i])
	}
	for _, id := range u.strange {
		list = append(list, r.items.others[id])
	}
	none := int64(0)
	return once(list, &none)
}

// write writes the list of a user with a vector.
func (r *ranker) write(user string, ranked []eval.Item) error {
	if r.lists == nil {
		return nil
	}
	for k, x := range ranked[:min(len(ranked), r.Ranking.Top)] {
		if err := r.lists.Row(user, r.items.ids[x.Index], k+1, x.Score); err != nil {
			return err
		}
	}
	return nil
}

// measure adds the measures of a user: of the list, of random order, of popularity.
func (r *ranker) measure(user string, ranked []eval.Item, train, truth []int32) error {
	ranks := metrics.RanksIn(eval.Indices(ranked[:min(len(ranked), r.depth)]), truth)
	random, popular := r.floors.Of(train, truth)
	m := measures{rows: int64(len(truth)), random: random}
	for _, metric := range r.floors.Metrics {
		m.own, m.popular = append(m.own, metric.OfSet(ranks)), append(m.popular, metric.OfSet(popular))
	}
	return r.scores.Add([]byte(user), m.append)
}
