package als

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// round lists the releases of one round with their noise.
type round struct {
	clip    float64
	vectors release.Sum
	matrix  release.Sum // of "observed"
	common  release.Sum // of "observed" with the weight of all cells
}

// plan returns the counts and the rounds of a run with the noise of each release. m is the number of items with
// vectors.
func (c Config) plan() (counts release.Sum, rounds []round, err error) {
	m, k := c.Model, c.Privacy.Items
	counts = release.CountSum(c.Privacy.PerCount())
	sums, shares := []release.Sum{counts}, []float64{c.Privacy.Counts}
	whole := 0.0
	for t := range m.Rounds {
		whole += math.Pow(m.Growth, float64(t-m.Rounds+1))
	}
	for t := range m.Rounds {
		share := (1 - c.Privacy.Counts) * math.Pow(m.Growth, float64(t-m.Rounds+1)) / whole
		r := round{clip: m.clip(t)}
		r.vectors = vectorSum(t+1, r.clip, m.most(), k, m.Dim)
		sums, shares = append(sums, r.vectors), append(shares, share*(1-m.Matrices-m.Common))
		if m.Cells == CellsObserved {
			r.matrix = matrixSum(t+1, r.clip, k, m.Dim)
			sums, shares = append(sums, r.matrix), append(shares, share*m.Matrices)
		}
		if m.Unobserved > 0 {
			r.common = commonSum(t+1, r.clip, m.Dim)
			sums, shares = append(sums, r.common), append(shares, share*m.Common)
		}
		rounds = append(rounds, r)
	}
	if sums, err = c.Privacy.Split(sums, shares...); err != nil {
		return counts, nil, err
	}
	counts, sums = sums[0], sums[1:]
	next := func(s *release.Sum) {
		if s.Purpose != "" {
			*s, sums = sums[0], sums[1:]
		}
	}
	for t := range rounds {
		next(&rounds[t].vectors)
		next(&rounds[t].matrix)
		next(&rounds[t].common)
	}
	return counts, rounds, nil
}

// releases returns the number of sums that a run releases.
func (m ModelConfig) releases() int {
	n := 1
	if m.Cells == CellsObserved {
		n++
	}
	if m.Unobserved > 0 {
		n++
	}
	return 1 + n*m.Rounds
}

// clip returns the bound G of round t, from 0. It depends on the setting alone.
func (m ModelConfig) clip(t int) float64 {
	if m.Cells == CellsAll && t == 0 {
		return math.Min(m.Clip, math.Sqrt(float64(m.Dim)/float64(m.Items)))
	}
	return m.Clip
}

// trainer runs the rounds. All that it keeps between rounds was released or is public.
type trainer struct {
	cfg      Config
	prior    *prior
	rows     *rows
	releaser *release.Releaser

	items table  // V (m, d), with which the next round begins
	basis *basis // of "all": what the rounds came to
}

// begin draws the first vectors without using the data: normal numbers for "observed", an orthonormal basis orthogonal
// to the popular direction for "all".
func (t *trainer) begin(s rng.Stream) error {
	t.items = newTable(len(t.prior.items), t.cfg.Model.Dim)
	for i := range t.items.x {
		t.items.x[i] = s.NormFloat64() / math.Sqrt(float64(t.items.cols))
	}
	if t.cfg.Model.Cells == CellsAll {
		return t.items.orthonormal(t.prior.popular)
	}
	return nil
}

// train runs all rounds.
func (t *trainer) train(ctx context.Context, rounds []round, done func()) error {
	for n, r := range rounds {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w at round %d: %w", run.ErrInterrupted, n, err)
		}
		if err := t.round(n, r, n == len(rounds)-1); err != nil {
			return fmt.Errorf("round %d: %w", n+1, err)
		}
		done()
	}
	return nil
}

// round computes users' vectors, releases the sums, and computes items' vectors from the released sums.
func (t *trainer) round(n int, r round, last bool) error {
	m := t.cfg.Model
	users := newUserStep(m, r.clip, t.items).all(t.rows.whole)
	b := t.rows.vectors(users, r.vectors.Grid)
	if err := t.releaser.Release(r.vectors, b.x, b.cols); err != nil {
		return err
	}
	if m.Cells == CellsAll {
		if t.basis == nil {
			t.basis = &basis{}
		}
		t.basis.add(t.items, b, t.prior.popular, r.vectors.Deviation(), m.Average && n > 0)
		if last {
			return nil
		}
		t.items = newTable(b.rows, b.cols)
		copy(t.items.x, t.basis.sum.x)
		return t.items.orthonormal(t.prior.popular)
	}
	a := t.rows.matrices(users, r.matrix.Grid)
	if err := t.releaser.Release(r.matrix, a.x, a.cols); err != nil {
		return err
	}
	var k table
	if m.Unobserved > 0 {
		k = common(users, r.common.Grid)
		if err := t.releaser.Release(r.common, k.x, k.cols); err != nil {
			return err
		}
	}
	return t.solveItems(a, b, k, r.matrix.Deviation())
}

// solveItems computes every item's vector from the released sums:
//
//	v_j = ((A_j + w0 K)+ + lambda' I)^-1 b_j
//
// where (M)+ is the nearest positive semidefinite matrix to M: its negative eigenvalues become 0. lambda' is in units
// of the noise of A_j, whose largest singular value is about sqrt(2d) deviations: directions of noise alone stay short.
func (t *trainer) solveItems(a, b, k table, deviation float64) error {
	m, d := t.cfg.Model, b.cols
	lambda := math.Max(1e-3, m.LambdaItem*deviation*math.Sqrt(float64(d)))
	failed := make([]error, b.rows)
	tensor.Parallel(b.rows, 4, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			lower := a.row(j)
			if k.x != nil {
				axpy(m.Unobserved, k.x, lower)
			}
			values, vectors, err := square(lower, d).eigen()
			if failed[j] = err; err != nil {
				continue
			}
			y := table{1, d, b.row(j)}.times(vectors)
			for i, v := range values {
				y.x[i] /= math.Max(v, 0) + lambda
			}
			v := t.items.row(j)
			for i := range v {
				v[i] = dot(vectors.row(i), y.x)
			}
		}
	})
	for j, err := range failed {
		if err != nil {
			return fmt.Errorf("item %d: %w", j, err)
		}
	}
	return nil
}

// sums returns every release of a run.
func (c Config) sums() ([]release.Sum, error) {
	counts, rounds, err := c.plan()
	list := []release.Sum{counts}
	for _, r := range rounds {
		for _, s := range []release.Sum{r.vectors, r.matrix, r.common} {
			if s.Purpose != "" {
				list = append(list, s)
			}
		}
	}
	return list, err
}
