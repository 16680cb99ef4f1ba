package gram

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/private/release"
	"privrec/internal/protocol/static"
	"privrec/internal/rng"
)

// Source computes exact sums of users' contributions where their rows are stored. It adds no noise.
type Source interface {
	// Items returns the number of items.
	Items() int
	// Counts returns how many users contribute each item to the counts.
	Counts(ctx context.Context, d Draws) ([]float64, error)
	// Triangle returns the upper triangle of the sum of users' terms, row after row.
	Triangle(ctx context.Context, d Draws, p *Plan) ([]float64, error)
}

// RowsName names the rows in the manifest of a run that were summed elsewhere, by their dataset.RowDigest.
const RowsName = "training rows that were added up elsewhere"

// oldRowsName names such rows in runs of older programs, by their release.RowsSum.
const oldRowsName = "rows that were added up elsewhere"

// Draws says how many of a user's items are contributed, and how they are chosen.
type Draws struct {
	Seed   rng.Seed
	Counts int // items of a user, at most, to the counts
	Matrix int // and to the matrix
}

// ToCounts returns the random choice of users' contributions to the counts.
func (d Draws) ToCounts() release.Draw { return d.draw("counts", d.Counts, nil) }

// ToMatrix returns the random choice of users' contributions to the matrix of a plan.
func (d Draws) ToMatrix(p *Plan) release.Draw { return d.draw("matrix", d.Matrix, p.Prefer) }

func (d Draws) draw(to string, most int, weights []float64) release.Draw {
	return release.Draw{Items: most, Weights: weights, Stream: d.Seed.Stream("private.contributions." + to)}
}

// local is a Source of rows in memory.
type local struct{ rows static.Rows }

// Items implements Source.
func (l local) Items() int { return l.rows.Items }

// Counts implements Source.
func (l local) Counts(_ context.Context, d Draws) ([]float64, error) {
	t := release.NewTally(d.Counts, l.rows.Items)
	for _, list := range d.ToCounts().All(l.rows.UserIDs, l.rows.Train) {
		if err := t.Add(list); err != nil {
			return nil, fmt.Errorf("counts: %w", err)
		}
	}
	return release.Exact(t.Counts), nil
}

// Triangle implements Source.
func (l local) Triangle(_ context.Context, d Draws, p *Plan) ([]float64, error) {
	return p.triangle(d.ToMatrix(p).All(l.rows.UserIDs, l.rows.Train)), nil
}

// Terms sums the terms of users one by one, in whole steps of the plan's grid. Sums of disjoint groups of users can be
// added in any order.
type Terms struct {
	Steps []int64 // on and above the diagonal, row after row

	plan  *Plan
	place map[int32]int32
	rows  []int32
}

// Terms returns an empty sum of users' terms. It takes 4 m² bytes for m items.
func (p *Plan) Terms() *Terms {
	m := len(p.Items)
	t := &Terms{Steps: make([]int64, m*(m+1)/2), plan: p, place: make(map[int32]int32, m)}
	for r, i := range p.Items {
		t.place[i] = int32(r)
	}
	return t
}

// Add adds the term of a user who contributes these items. It fails on more items than the sensitivity allows, and on
// an item outside the matrix.
func (t *Terms) Add(contributed []int32) error {
	if len(contributed) > t.plan.Most {
		return fmt.Errorf("a user contributes %d items, want at most %d", len(contributed), t.plan.Most)
	}
	t.rows = t.rows[:0]
	for _, i := range contributed {
		r, ok := t.place[i]
		if !ok {
			return fmt.Errorf("a user contributes item %d, which the matrix does not have", i)
		}
		t.rows = append(t.rows, r)
	}
	slices.Sort(t.rows)
	p, m, scale := t.plan, len(t.plan.Items), t.plan.scale(t.rows)
	for k, i := range t.rows {
		row := t.Steps[start(m, int(i)):]
		for _, j := range t.rows[k:] {
			row[j-i] += p.step(scale, p.Weights[i], p.Weights[j])
		}
	}
	return nil
}

// Triangle returns the sum of steps in the form of Source.Triangle.
func (p *Plan) Triangle(steps []int64) []float64 {
	out := make([]float64, len(steps))
	for k, n := range steps {
		out[k] = float64(n) * p.Sum.Grid
	}
	return out
}
