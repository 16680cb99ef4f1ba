package baseline

import (
	"cmp"
	"context"
	"math"

	"privrec/internal/config"
	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/model/rp3beta"
	"privrec/internal/model/userknn"
	"privrec/internal/rng"
)

// UserKNNShape sets the shape of UserKNN.
type UserKNNShape struct {
	Similarity string  `yaml:"similarity" limit:"cosine|dot"` // similarity of two users: cosine or dot
	Neighbours int     `yaml:"neighbours" limit:"1..1000000"`
	Shrink     float64 `yaml:"shrink"`
	Normalise  bool    `yaml:"normalise"` // scale the weights of a user's neighbours to sum to 1
	// Whose says which lists of neighbours count: of-user (those of this user, which "" means too) or to-user (the
	// users who have this one among theirs).
	Whose string `yaml:"whose,omitempty" limit:"of-user|to-user?"`
}

// RP3betaShape sets the shape of RP3beta.
type RP3betaShape struct {
	Alpha      float64 `yaml:"alpha" limit:"[0,10]"` // power to which each step's probability is raised
	Beta       float64 `yaml:"beta" limit:"[0,10]"`  // an item's score is divided by its popularity to this power
	Neighbours int     `yaml:"neighbours" limit:"1..1000000"`
	Normalise  bool    `yaml:"normalise"` // scale the weights of an item's neighbours to sum to 1
	// Top says where the largest weights are kept: in each row (row, which "" means too) or in each row and column
	// (row-and-column).
	Top string `yaml:"top,omitempty" limit:"row|row-and-column?"`
}

// The values of RP3betaShape.Top.
const (
	topRow    = "row"
	topColumn = "row-and-column"
)

// The following settings are those that Anelli et al., "Challenging the Myth of Graph Collaborative Filtering", RecSys
// 2023, found on Gowalla's published split.

// DefaultUserKNN returns that paper's setting of UserKNN.
func DefaultUserKNN() ClosedSetting[UserKNNShape] {
	return tuned(UserKNNShape{Similarity: string(nearest.Cosine), Neighbours: 146})
}

// DefaultRP3beta returns that paper's setting of RP3beta.
func DefaultRP3beta() ClosedSetting[RP3betaShape] {
	return tuned(RP3betaShape{Alpha: 0.56636, Beta: 0.001085, Neighbours: 777, Normalise: true})
}

func tuned[M ClosedShape](m M) ClosedSetting[M] {
	s := closed(m)
	s.Profile = "myth"
	return s
}

// Check implements ClosedShape.
func (s UserKNNShape) Check(v *config.Checker) {
	v.Check(s.Shrink >= 0 && !math.IsInf(s.Shrink, 1), "model.shrink", "must be at least 0 and finite, got %v",
		s.Shrink)
}

// Fit implements ClosedShape.
func (s UserKNNShape) Fit(ctx context.Context, g *graph.Bipartite, _ rng.Seed) (eval.Scorer, error) {
	o := nearest.Options{
		Similarity: nearest.Similarity(s.Similarity), Neighbours: s.Neighbours, Shrink: s.Shrink,
		Normalise: s.Normalise,
	}
	return userknn.FitTo(ctx, g, o, cmp.Or(userknn.Whose(s.Whose), userknn.OfUser))
}

// Fit implements ClosedShape.
func (s RP3betaShape) Fit(ctx context.Context, g *graph.Bipartite, _ rng.Seed) (eval.Scorer, error) {
	o := rp3beta.Options{
		Alpha: s.Alpha, Beta: s.Beta, Neighbours: s.Neighbours, Normalise: s.Normalise, Columns: s.Top == topColumn,
	}
	return rp3beta.Fit(ctx, g, o)
}
