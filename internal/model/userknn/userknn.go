// Package userknn recommends what users like a user have: Resnick, Iacovou, Suchak, Bergstrom,
// Riedl, "GroupLens: An Open Architecture for Collaborative Filtering of Netnews", CSCW 1994,
// with the vector similarity of Breese, Heckerman, Kadie, "Empirical Analysis of Predictive
// Algorithms for Collaborative Filtering", UAI 1998, section 2.1.2, on the 0/1 matrix x of
// users and items. Every user u keeps the K users N(u) that are most similar:
//
//	sim(u, v) = |items of both| / (sqrt(|items of u| |items of v|) + shrink)
//	s_uj = sum over v in N(u) of w_uv x_vj
//
// The weights w_uv are the similarities, divided by their sum if Normalise is set. That leaves
// the order of a user's items as it is. There is no gradient and no seed.
//
// Departures: the papers rate on a scale, add the user's mean and take deviations from the
// neighbours' means, which on what users merely have changes nothing but a user's own scale.
// Keeping the K most similar users and the shrink are of Herlocker, Konstan, Borchers, Riedl,
// SIGIR 1999, and of its successors. With cosine, K = 146 and no shrink the model is the one
// that Anelli et al., RecSys 2023, tuned on Gowalla, but for whose neighbours count: their program
// cuts the matrix of similarities by column, so that a user's score takes the users who have this
// one among their nearest. ToUser is that definition.
package userknn

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/tensor"
)

// Cite names the publication.
const Cite = "Resnick et al., GroupLens: An Open Architecture for Collaborative Filtering of Netnews, CSCW 1994"

// Model is a fitted UserKNN. It implements eval.Scorer, with users as samples.
type Model struct {
	graph *graph.Bipartite
	like  [][]nearest.Neighbour // of every user, the most similar first
}

// Whose names the users who count as neighbours of a user.
type Whose string

// The two definitions of a neighbour.
const (
	OfUser Whose = "of-user" // the users nearest to the user: N(u)
	ToUser Whose = "to-user" // the users v to whom the user is among the nearest: u in N(v)
)

// FitTo returns the model of Fit with the neighbours of a definition.
func FitTo(ctx context.Context, g *graph.Bipartite, o nearest.Options, whose Whose) (*Model, error) {
	m, err := Fit(ctx, g, o)
	if err != nil {
		return nil, err
	}
	switch whose {
	case OfUser:
	case ToUser:
		m.like = nearest.Reversed(m.like)
	default:
		return nil, fmt.Errorf("userknn: neighbours are %q, want %s or %s", whose, OfUser, ToUser)
	}
	return m, nil
}

// Fit returns a model with the neighbours of every user. It looks at all pairs of users of an item, as many as the sum
// of squared item degrees. Equal similarities are ordered by user. It fails on an option out of its range, on a graph
// without users or items, and if ctx ends.
func Fit(ctx context.Context, g *graph.Bipartite, o nearest.Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("userknn: %w", err)
	}
	if g.Users == 0 || g.Items == 0 {
		return nil, errors.New("userknn: no users or no items")
	}
	x := nearest.Matrix{Columns: g.ItemsOf, Rows: g.UsersOf}
	lists, err := nearest.Lists(ctx, fmt.Sprintf("find the neighbours of %d users", g.Users), g.Users, x.Pairs,
		o.Similar(x, g.Users))
	if err != nil {
		return nil, err
	}
	return &Model{graph: g, like: lists}, nil
}

// Items returns the number of items.
func (m *Model) Items() int { return m.graph.Items }

// Score writes s_uj of every sample u and item j into scores (len(samples), Items()). It fails on a user outside the
// graph.
func (m *Model) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for _, u := range samples {
		if u < 0 || int(u) >= m.graph.Users {
			return fmt.Errorf("userknn: user %d is outside 0..%d", u, m.graph.Users-1)
		}
	}
	tensor.Parallel(len(samples), 8, func(_, lo, hi int) {
		sum := make([]float64, m.graph.Items)
		for b := lo; b < hi; b++ {
			clear(sum)
			for _, v := range m.like[samples[b]] {
				for _, j := range m.graph.ItemsOf(int(v.ID)) {
					sum[j] += v.Weight
				}
			}
			row := tensor.Row(scores, b)
			for j, s := range sum {
				row[j] = tensor.Float(s)
			}
		}
	})
	return nil
}
