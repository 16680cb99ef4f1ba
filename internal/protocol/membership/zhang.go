package membership

import (
	"context"
	"slices"

	"privrec/internal/attack/attribute"
	"privrec/internal/dataset"
	"privrec/internal/graph"
	"privrec/internal/model/ials"
	"privrec/internal/protocol/target"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// itemVectors returns the attacker's vectors of items: factors of the rows of all users, which it is given, by
// alternating least squares (width 32). Zhang et al. also take factors of ratings.
func itemVectors(ctx context.Context, d *dataset.Interactions, s rng.Seed) (*ials.Model, error) {
	var edges []graph.Edge
	for u, items := range d.Train {
		for _, i := range items {
			edges = append(edges, graph.Edge{User: int32(u), Item: i})
		}
	}
	g, err := graph.NewBipartite(d.Users, d.Items, edges)
	if err != nil {
		return nil, err
	}
	return ials.Fit(ctx, g, ials.Options{Dim: 32, Rounds: 8, Unobserved: 0.3, Lambda: 0.003, Exponent: 1, Std: 0.1},
		s.Stream("membership items"))
}

// centre returns the mean vector of items, zero for none.
func centre(v tensor.Matrix, items []int32) []tensor.Float {
	out := make([]tensor.Float, v.Cols)
	for _, i := range items {
		for j, x := range tensor.Row(v, int(i)) {
			out[j] += x / tensor.Float(len(items))
		}
	}
	return out
}

// differences returns for each user the centre of their items minus the centre of their recommendations (Zhang et al.,
// section 3.3), and the cosine of the two centres.
func differences(v tensor.Matrix, had, lists [][]int32) (x tensor.Matrix, alike []float64) {
	x, alike = tensor.New(len(had), v.Cols), make([]float64, len(had))
	for k := range had {
		a, b := centre(v, had[k]), centre(v, lists[k])
		for j := range a {
			tensor.Row(x, k)[j] = a[j] - b[j]
		}
		alike[k] = target.Cosine(a, b)
	}
	return x, alike
}

// shadowAttack scores the attacked users by a classifier that was trained on the differences of members and non-members
// of the shadow model.
func shadowAttack(ctx context.Context, classifier string, practice tensor.Matrix, member []bool, x tensor.Matrix,
	s rng.Seed) ([]float64, error) {
	a, err := attribute.ByName(classifier)
	if err != nil {
		return nil, err
	}
	all := make([]int, len(member))
	for i := range all {
		all[i] = i
	}
	g, err := a.Fit(ctx, practice, classes(member, all), 2, s.Stream("membership shadow"))
	if err != nil {
		return nil, err
	}
	out := make([]float64, x.Rows)
	rows := make([]int, x.Rows)
	for i := range rows {
		rows[i] = i
	}
	return out, guess(g, x, rows, out)
}

// memberOf tells for each candidate whether some training rows contain it.
func (on *candidates) memberOf(d *dataset.Interactions) []bool {
	out := make([]bool, 0, len(on.Positive))
	for k, u := range on.users {
		if on.level == LevelUser {
			out = append(out, len(d.Train[u]) > 0)
			continue
		}
		for _, i := range on.items[k] {
			_, is := slices.BinarySearch(d.Train[u], i)
			out = append(out, is)
		}
	}
	return out
}
