package gram

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/private/release"
	"privrec/internal/protocol/computed"
	"privrec/internal/protocol/static"
	"privrec/internal/protocol/topn"
	"privrec/internal/tensor"
)

// PublicConfig names data whose users are not protected. A row of the results says what they alone are worth.
type PublicConfig struct {
	Data PublicData `yaml:"data,omitempty"`
	// Match says which of their items are those of the private data: those of the same id, or of the same title. Left
	// out: id.
	Match string `yaml:"match,omitempty" limit:"|id|title"`
}

// PublicData names a data set and how it is filtered.
type PublicData struct {
	Name string `yaml:"name,omitempty"` // a registered data set or own data, other than data.name; left out: none
	// Recipe names the filters; rows of every part are taken. Left out: a recipe that suits
	Recipe string `yaml:"recipe,omitempty"`
}

// PublicPrior is the value of MatrixConfig.Public that adds public rows to what is released.
const PublicPrior = "prior"

const byTitle = "title" // value of PublicConfig.Match

// check reports settings of public data that cannot be run.
func (c PublicConfig) check(v *config.Checker, data topn.DataConfig) {
	v.Check(c.Data.Name != "" || c == PublicConfig{}, "public.data.name", "must be given with other keys of public")
	v.Check(c.Data.Name == "" || c.Data.Name != data.Name, "public.data.name",
		"is the data set whose users are protected, must be another one")
}

// suit sets the recipe to one that suits the public data, if the user named none.
func (c *PublicConfig) suit() {
	all := (registry.Need{Cut: registry.Pairs, Draws: true}).Suiting(c.Data.Name)
	if c.Data.Name != "" && c.Data.Recipe == "" && len(all) > 0 {
		c.Data.Recipe = all[0]
	}
}

// public holds rows of users who are not protected, and sums of them. Items are numbered as in the private data.
type public struct {
	counts sums
	matrix sums    // as the released one is, but with the weights of public counts
	items  []int32 // of the matrix, ascending
	square square  // the matrix without weights
}

// sums holds sums over public users, of the entries that a release has.
type sums struct {
	values  []float64
	squares float64 // sum of the squared values
	// spread is the relative variance that the values have because the users are few: the sum of the squared norms of
	// their terms, divided by squares.
	spread float64
}

// newSums returns sums of terms whose squared norms have a sum.
func newSums(values []float64, norms float64) sums {
	s := sums{values: values}
	for _, v := range values {
		s.squares += v * v
	}
	if s.squares > 0 {
		s.spread = norms / s.squares
	}
	return s
}

// beside loads the public rows, if there are any, and shows a model of them with the floors of x.
func (w *work) beside(ctx context.Context, x *static.Experiment) error {
	if w.open.Data.Name == "" {
		return nil
	}
	rows, note, err := w.publicRows(ctx, x.Data)
	if err != nil {
		return err
	}
	w.public = newPublic(rows, x.Data.Items, w.privacy.PerCount(), w.matrix)
	x.Beside(note, func(g *graph.Bipartite) []computed.Model {
		fit := func(ctx context.Context) (eval.Scorer, error) { return w.ofPublic(ctx, g) }
		return []computed.Model{{Name: "public", Label: ", epsilon 0", Fit: fit}}
	})
	return nil
}

// publicRows returns the rows of public users, of the private data's items. It fails if no item matches.
func (w *work) publicRows(ctx context.Context, d *dataset.Interactions) (rows [][]int32, note string, err error) {
	c := w.open.Data
	defer w.env.Stage("load " + c.Name)()
	v := w.env.View()
	v.Seed, v.HoldOut, v.Planted = v.RowsSeed(), nil, nil // these are of the protected users
	v.Forgotten, v.Found = nil, nil                       // and so are those who leave
	x, err := registry.LoadInteractions(ctx, c.Name, c.Recipe, v, registry.Options{})
	if err != nil {
		return nil, "", fmt.Errorf("public.data: %w", err)
	}
	if x.Source.Hash == d.Source.Hash {
		return nil, "", &dataset.Error{File: c.Name, Field: "public.data.name",
			Msg: "has the rows of " + d.Name + ", whose users are protected"}
	}
	if err := experiment.RecordSource(w.env, x.Source); err != nil {
		return nil, "", err
	}
	at, err := w.open.match(ctx, d, x)
	if err != nil {
		return nil, "", err
	}
	found := map[int32]bool{}
	for u := range x.Users {
		var row []int32
		for _, part := range [][][]int32{x.Train, x.Valid, x.Test} {
			if part == nil {
				continue
			}
			for _, i := range part[u] {
				if k, ok := at[i]; ok {
					row, found[k] = append(row, k), true
				}
			}
		}
		slices.Sort(row) // two public items may be one of the private data
		if row = slices.Compact(row); len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, "", &dataset.Error{File: c.Name, Field: "public.match",
			Msg: fmt.Sprintf("no item has the %s of an item of %s", w.open.by(), d.Name)}
	}
	return rows, fmt.Sprintf("%d of %d items have the %s of an item of %s (%s): the row \"public, epsilon 0\" learns "+
		"from the rows of its %d users, who are not protected, and from no row of the users who are.", len(found),
		d.Items, w.open.by(), x.Source.Title, c.Name, len(rows)), nil
}

// by names what items are matched by.
func (c PublicConfig) by() string {
	if c.Match == byTitle {
		return byTitle
	}
	return "id"
}

// match returns the items of d that items of x are. A title that several items of d have is that of the first one.
func (c PublicConfig) match(ctx context.Context, d, x *dataset.Interactions) (map[int32]int32, error) {
	key := func(x *dataset.Interactions) (func(i int) string, error) {
		if c.Match != byTitle {
			return func(i int) string { return x.ItemIDs[i] }, nil
		}
		titles, err := registry.Titles(ctx, x.Name, registry.Options{})
		if err != nil {
			return nil, fmt.Errorf("public.match: %w", err)
		}
		return func(i int) string { return registry.PlainTitle(titles[x.ItemIDs[i]]) }, nil
	}
	ofData, err := key(d)
	if err != nil {
		return nil, err
	}
	ofPublic, err := key(x)
	if err != nil {
		return nil, err
	}
	place := map[string]int32{}
	for i := range d.Items {
		if k := ofData(i); k != "" {
			if _, taken := place[k]; !taken {
				place[k] = int32(i)
			}
		}
	}
	at := map[int32]int32{}
	for i := range x.Items {
		if k, ok := place[ofPublic(i)]; ok {
			at[int32(i)] = k
		}
	}
	return at, nil
}

// newPublic returns the sums of public rows: what the expected counts are if a user contributes at most most items, and
// the matrix that m describes, from whole rows. There is no matrix for a nil m.
func newPublic(rows [][]int32, items, most int, m *MatrixConfig) *public {
	counts, norms, longest := make([]float64, items), 0.0, 0
	for _, row := range rows {
		share := math.Min(1, float64(most)/float64(len(row)))
		for _, i := range row {
			counts[i] += share
		}
		norms += share * share * float64(len(row))
		longest = max(longest, len(row))
	}
	p := &public{counts: newSums(counts, norms)}
	if m == nil {
		return p
	}
	for _, i := range release.Top(counts, m.Items) {
		if counts[i] > 0 {
			p.items = append(p.items, i)
		}
	}
	slices.Sort(p.items)
	plan := newPlan(p.items, release.MatrixWeights(counts, p.items, 1, m.ItemWeight/2), longest, m.UserWeight)
	within, norms := make([][]int32, len(rows)), 0.0
	for u, row := range rows {
		var z []float64
		for _, i := range row {
			if r, ok := slices.BinarySearch(p.items, i); ok {
				within[u], z = append(within[u], i), append(z, plan.Weights[r])
			}
		}
		if len(z) > 0 {
			norms += math.Pow(norm(z), 2-2*plan.Exponent)
		}
	}
	triangle := plan.triangle(within)
	p.matrix = newSums(triangle, norms)
	p.square = (&released{items: p.items, triangle: triangle}).full()
	unweigh(p.square, plan.Weights)
	return p
}

// ofPublic computes the model of public rows alone, for users with the rows of a graph.
func (w *work) ofPublic(ctx context.Context, g *graph.Bipartite) (eval.Scorer, error) {
	scores := w.popularity(w.public.counts.values)
	if w.matrix == nil {
		return newScorer(g, scores, nil, tensor.Matrix{}), nil
	}
	diagonal := w.public.square.diagonal()
	b, err := w.model(ctx, w.public.square, diagonal, mean(diagonal))
	if err != nil {
		return nil, err
	}
	return newScorer(g, scores, w.public.items, b), nil
}

// diagonal returns a copy of the diagonal.
func (a square) diagonal() []float64 {
	d := make([]float64, a.n)
	for i := range d {
		d[i] = a.row(i)[i]
	}
	return d
}
