package membership

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/attack/attribute"
	"privrec/internal/protocol/target"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// folds is the number of parts of the users for the floor that is trained. Each part is scored by a model of the
// others.
const folds = 5

// floors returns the attacks that see no model: nothing, the length of the history, the popularity of the items, and
// both. They count rows of members and non-members alike, since the attacker is given the candidates. The floor of both
// is a logistic regression that learns who is a member from other users than those that it scores.
func floors(ctx context.Context, on *candidates, items int, s rng.Seed) ([]target.Way, error) {
	count := make([]float64, items)
	for _, rows := range on.items {
		for _, i := range rows {
			count[i]++
		}
	}
	var length, popular []float64
	for k, rows := range on.items {
		n, sum := math.Log(float64(len(rows))), 0.0
		if on.last {
			n = math.Log(float64(on.rows[k]))
		}
		for _, i := range rows {
			x := math.Log(count[i])
			if sum += x; on.level == LevelInteraction {
				length, popular = append(length, n), append(popular, x)
			}
		}
		if on.level == LevelUser {
			length, popular = append(length, n), append(popular, sum/float64(len(rows)))
		}
	}
	both, err := trained(ctx, on, s, length, popular)
	if err != nil {
		return nil, err
	}
	learned := target.Floor("length and popularity", both)
	learned.Learned = true
	return []target.Way{
		target.Floor("nothing", make([]float64, len(on.Positive))),
		target.Floor("length of the history", length),
		target.Floor("popularity of the items", popular),
		learned,
	}, nil
}

// trained returns scores of candidates by logistic regression on columns, each part of the users scored by a model of
// the other parts: the logit of a member's probability minus its mean over the part. Without that mean the share of
// members in a part would count against it, since the other parts have fewer members the more it has.
func trained(ctx context.Context, on *candidates, s rng.Seed, columns ...[]float64) ([]float64, error) {
	fold := make([]int, on.Count)
	stream := s.Stream("membership folds")
	for i, k := range stream.Perm(on.Count) {
		fold[k] = i % folds
	}
	a, err := attribute.ByName("logistic-regression")
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(on.Positive))
	for f := range folds {
		var learn, ask []int
		for i, k := range on.Cluster {
			if fold[k] == f {
				ask = append(ask, i)
			} else {
				learn = append(learn, i)
			}
		}
		if len(ask) == 0 {
			continue
		}
		if known := classes(on.Positive, learn); len(learn) == 0 || !slices.Contains(known, 0) ||
			!slices.Contains(known, 1) {
			return nil, &run.UsageError{Message: fmt.Sprintf("of %d candidates there are too few members, or too few "+
				"others, for the floor of length and popularity, which learns from four fifths of the users",
				len(on.Positive)), Fix: "attack more users, with more of both"}
		}
		g, err := a.Fit(ctx, rowsOf(columns, learn), classes(on.Positive, learn), 2,
			s.Stream("membership floor", uint64(f)))
		if err != nil {
			return nil, err
		}
		if err := guess(g, rowsOf(columns, ask), ask, out); err != nil {
			return nil, err
		}
		mean := 0.0
		for _, i := range ask {
			p := min(max(out[i], 1e-12), 1-1e-12) // a certain answer has no logit
			out[i] = math.Log(p / (1 - p))
			mean += out[i] / float64(len(ask))
		}
		for _, i := range ask {
			out[i] -= mean
		}
	}
	return out, nil
}

// rowsOf returns the given rows of columns.
func rowsOf(columns [][]float64, rows []int) tensor.Matrix {
	x := tensor.New(len(rows), len(columns))
	for i, r := range rows {
		for j, c := range columns {
			tensor.Row(x, i)[j] = tensor.Float(c[r])
		}
	}
	return x
}

// classes returns 1 for members and 0 for others.
func classes(member []bool, rows []int) []int32 {
	out := make([]int32, len(rows))
	for i, r := range rows {
		if member[r] {
			out[i] = 1
		}
	}
	return out
}

// guess writes the probability of class 1 of each row of x into out, at the places of rows.
func guess(g attribute.Guesser, x tensor.Matrix, rows []int, out []float64) error {
	p := make([][]float64, len(rows))
	for i := range p {
		p[i] = make([]float64, 2)
	}
	if err := g.Probabilities(x, p); err != nil {
		return err
	}
	for i, r := range rows {
		out[r] = p[i][1]
	}
	return nil
}
