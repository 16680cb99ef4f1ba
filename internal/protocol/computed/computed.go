// Package computed gives protocols a strong floor: simple models that are computed at once, in
// seconds, from the rows that a model was trained on. A trained model that ranks worse than one of
// them has not been worth its training. On a paper's data its tables say that. On own data no
// table does, so results have the floor there unless a configuration says otherwise.
package computed

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/model/ease"
	"privrec/internal/model/itemknn"
	"privrec/internal/model/nearest"
)

// Values of the key data.floor.
const (
	OwnData = ""         // computed for own data, and for no other
	Always  = "computed" // computed
	Never   = "none"     // left out
)

// Wanted reports whether results on a data set have the floor.
func Wanted(value, data string) bool {
	return value == Always || value == OwnData && registry.IsOwn(data)
}

// Lambda is the L2 penalty of EASE, and Neighbours the number of neighbours of ItemKNN. Both are the defaults of the
// tasks that train them.
const (
	Lambda     = 80
	Neighbours = 100
)

// widest bounds the width of the matrix that EASE inverts. Time grows with the cube of the width: 4,000 take seconds on
// one core.
const widest = 4000

// Model is one model of the floor.
type Model struct {
	Name string
	// Label follows the name in its row. Empty: the model is of the training rows, and computed at once.
	Label string
	Fit   func(ctx context.Context) (eval.Scorer, error)
}

// Models returns the models of the floor for a graph, without the one named method. EASE is among them if its matrix is
// at most 4,000 wide.
func Models(g *graph.Bipartite, method string) (all []Model) {
	if min(g.Users, g.Items) <= widest {
		all = append(all, Model{Name: "EASE", Fit: func(ctx context.Context) (eval.Scorer, error) {
			return ease.Fit(ctx, g, Lambda)
		}})
	}
	all = append(all, Model{Name: "ItemKNN", Fit: func(ctx context.Context) (eval.Scorer, error) {
		return itemknn.Fit(ctx, g,
			itemknn.Options{MeanBias: true, Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: Neighbours,
				Normalise: true}})
	}})
	for i, m := range all {
		if m.Name == method {
			return append(all[:i:i], all[i+1:]...)
		}
	}
	return all
}

// label is the suffix that marks rows of the floor.
const label = ", computed at once"

// Scores returns the scores of every model. rank evaluates one.
func Scores(ctx context.Context, models []Model,
	rank func(eval.Scorer) ([]metrics.Value, error)) (rows []experiment.Scores, err error) {
	one := func(m Model) error {
		s, err := m.Fit(ctx)
		if err != nil {
			return err
		}
		defer experiment.Free(s)
		values, err := rank(s)
		if err != nil {
			return err
		}
		rows = append(rows, experiment.NewScores(m.Name+cmp.Or(m.Label, label), "", values))
		return nil
	}
	for _, m := range models {
		if err := one(m); err != nil {
			return nil, fmt.Errorf("floor %s: %w", m.Name, err)
		}
	}
	return rows, nil
}

// Better returns a note if a model of the floor ranks better than the best of our own evaluations by a metric. It
// returns none if no model does, or if there is no such floor.
func Better(floors, ours []experiment.Scores, by metrics.Metric) []string {
	name, most, best := "", 0.0, 0.0
	for _, s := range ours {
		best = max(best, s.Values[by.String()])
	}
	for _, s := range floors {
		if of, ok := strings.CutSuffix(s.Name, label); ok && s.Values[by.String()] > max(most, best) {
			name, most = of, s.Values[by.String()]
		}
	}
	if name == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s, computed from the same rows in seconds and without privacy, is better: "+
		"%s %.1f %% against %.1f %%.", name, by, 100*most, 100*best)}
}
