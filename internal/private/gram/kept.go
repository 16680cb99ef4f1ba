package gram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/private/stream"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// Kept is the released matrix of a finished run, without what its noise hides. It is computed from what the run
// released and from its public list of items: no row of the data is read. Rows of a stand-in are generated again, for
// the ids of its items, which are all public.
type Kept struct {
	Manifest run.Manifest
	Data     string      // name of the data set
	IDs      []string    // of all items
	Items    []int32     // of the matrix, ascending, as indices of IDs
	Pairs    [][]float64 // both triangles, without the items' weights; the diagonal is that of the denoised matrix
	Diagonal []float64   // as released, and at least the deviation of its noise, without the weights
	Rank     int         // eigenvalues that stand out of the noise
	// Users is the number of users, as the released counts tell: their sum, over the most that a user contributes.
	// Users who contribute fewer make it too low.
	Users float64
}

// Close implements run.Answers.
func (*Kept) Close() {}

// OpenKept returns the release of the finished run in a directory. It fails on a run that released no matrix, and on
// one whose items are not stated, since its rows decide which there are.
func OpenKept(ctx context.Context, dir string) (*Kept, error) {
	m, err := run.ReadRun(dir, "name a run directory, as privrec train dp-ease writes them")
	if err != nil {
		return nil, err
	}
	const fix = "name a run of train dp-ease or train dp-itemknn"
	open := func(w *work, _ context.Context, _ string, m topn.Method, _ string) (run.Work, error) {
		if w.matrix == nil {
			return nil, run.Usagef(fix, "the run in %s released counts and no matrix of items", dir)
		}
		// a run may have rows held out, and does not ask for them here
		return &keeper{work: w, data: m.Data, dir: dir, view: w.env.View()}, nil
	}
	for _, t := range tasks(open) {
		if t.String() != m.Task {
			continue
		}
		a, err := run.Serve(ctx, []run.Task{t}, dir, "")
		if err != nil {
			return nil, err
		}
		k, ok := a.(*Kept)
		if !ok {
			return nil, fmt.Errorf("the release of the run in %s is a %T", dir, a)
		}
		k.Manifest = m
		return k, nil
	}
	return nil, run.Usagef(fix, "the run in %s is of %s, which releases no matrix of items", dir, m.Task)
}

// keeper is work that reads its release, and loads no rows. It implements run.Answerer.
type keeper struct {
	*work
	data topn.DataConfig
	dir  string
	view dataset.View
}

// Run implements run.Work.
func (k *keeper) Run(context.Context) error {
	return errors.New("a finished run is read, and not run again")
}

// Answer implements run.Answerer.
func (k *keeper) Answer(ctx context.Context) (run.Answers, error) {
	f, _ := k.env.Finished()
	ids, err := k.catalogue(ctx, f.Manifest)
	if err != nil {
		return nil, err
	}
	r, err := readReleased(k.dir, f.Manifest.ConfigHash, len(ids))
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, run.WithHint(fmt.Errorf("the run in %s has no %s", k.dir, ReleasedFile),
			"train again with another --out")
	}
	p, most := r.plan(), k.privacy.PerCount()
	if r.statement == "" {
		sums, err := k.sums()
		if err != nil {
			return nil, err
		}
		p = k.plan(r.counts, sums)
	} else {
		var s stream.Statement
		if err := json.Unmarshal([]byte(r.statement), &s); err != nil {
			return nil, fmt.Errorf("read what was released: %s: its stream: %w", k.dir, err)
		}
		most = s.Privacy().PerCount()
	}
	if len(p.Items) != len(r.items) {
		return nil, fmt.Errorf("the released matrix in %s is of %d items, and the released counts name %d", k.dir,
			len(r.items), len(p.Items))
	}
	// whatever model the run made of its release
	shape := MatrixConfig{Shrink: ShrinkOperator, Diagonal: DiagonalKept}
	d, diagonal, err := shape.clean(ctx, r, p)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	out := &Kept{Data: k.data.Name, IDs: ids, Items: r.items, Diagonal: diagonal, Rank: d.rank}
	for i := range d.n {
		out.Pairs = append(out.Pairs, d.row(i))
	}
	for _, c := range r.counts {
		out.Users += c / float64(most)
	}
	out.Users = math.Max(1, out.Users)
	return out, nil
}

// catalogue returns the ids of all items, in the order of the released counts.
func (k *keeper) catalogue(ctx context.Context, m run.Manifest) ([]string, error) {
	source, err := registry.Foreseen(ctx, k.data.Name, k.data.Recipe, k.data.Public)
	if err != nil {
		return nil, err
	}
	if source.Items == nil && source.StandIn {
		x, err := registry.LoadInteractions(ctx, k.data.Name, k.data.Recipe, k.view, k.data.Public.Options())
		if err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		return x.ItemIDs, nil
	}
	if source.Items == nil {
		return nil, run.Usagef("train with data.items, a list of all items that is known beforehand",
			"the run in %s takes its items from the rows: their ids are not public", k.dir)
	}
	if !slices.ContainsFunc(m.Data, func(d run.Data) bool { return d.SHA256 == source.Items.SHA256 }) {
		return nil, run.Usagef("restore it", "%s has other bytes than when the run in %s was made", source.Items.File,
			k.dir)
	}
	return source.Items.Names, nil
}

// Factors returns loadings L (n, rank) such that the entries of L L' off the diagonal are near those of x, and no row
// has a squared norm above most. It fits the diagonal as DiagonalKept does. Fewer columns are returned where fewer
// eigenvalues are positive. x must be symmetric.
func Factors(ctx context.Context, x [][]float64, rank int, most float64) ([][]float64, error) {
	n := len(x)
	guess, loadings := make([]float64, n), make([][]float64, n)
	for range fits {
		from := newSquare(n)
		for i := range n {
			copy(from.row(i), x[i])
			from.row(i)[i] = guess[i]
		}
		values, vectors, err := eigen(ctx, from)
		if err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		for i := range loadings {
			loadings[i] = loadings[i][:0]
		}
		for _, k := range largest(values, rank) {
			root := math.Sqrt(values[k])
			// an eigenvector has no sign: its sum is not negative
			if sum(vectors.row(k)) < 0 {
				root = -root
			}
			for i, v := range vectors.row(k) {
				loadings[i] = append(loadings[i], root*v)
			}
		}
		for i, row := range loadings {
			guess[i] = math.Min(squares(row), most)
		}
	}
	for i, row := range loadings {
		if s := squares(row); s > most {
			for k := range row {
				loadings[i][k] *= math.Sqrt(most / s)
			}
		}
	}
	return loadings, nil
}

// largest returns the places of the largest positive values, at most n, the largest first.
func largest(values []float64, n int) (at []int) {
	for k, v := range values {
		if v > 0 {
			at = append(at, k)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return at[:min(n, len(at))]
}

// sum returns the sum of values.
func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// squares returns the sum of squared values.
func squares(values []float64) (s float64) {
	for _, v := range values {
		s += v * v
	}
	return s
}
