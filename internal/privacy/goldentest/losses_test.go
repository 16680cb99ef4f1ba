package goldentest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/reference"
)

// poissonGaussian is n sampled Gaussians of noise multiplier sigma.
func poissonGaussian(q, sigma float64, n int64) []terms.Term {
	return release(privacy.Gaussian{Sigma: sigma, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, q, n, privacy.AddRemove)
}

func release(leaf privacy.Event, q float64, n int64, relation privacy.Neighbouring) []terms.Term {
	t := terms.Term{Leaf: leaf, Rate: q, Relation: relation, Count: n}
	if q < 1 {
		t.Method = privacy.Poisson
	}
	return []terms.Term{t}
}

// relation is the neighbouring relation of a row, and how far a record of a sum
// clipped at 1 moves it: one that is replaced by 2.
func relation(r *row) (privacy.Neighbouring, float64, error) {
	switch n := r.textOr("relation", "add_or_remove_one"); n {
	case "add_or_remove_one":
		return privacy.AddRemove, 1, nil
	case "replace_one":
		return privacy.Replace, 2, nil
	case "replace_special":
		return privacy.ZeroOut, 1, nil
	default:
		return "", 0, fmt.Errorf("relation %q", n)
	}
}

// composition is what a row of privacy losses is about.
func composition(r *row) ([]terms.Term, error) {
	n, move, err := relation(r)
	if err != nil {
		return nil, err
	}
	q, steps := r.or("q", 1), r.count("steps")
	switch m := r.text("mechanism"); m {
	case "gaussian", "poisson_gaussian":
		return release(privacy.Gaussian{Sigma: r.num("sigma"), Sensitivity: move, Norm: clipped(move, n), Unit: privacy.User, Neighbouring: n}, q, steps, n), nil
	case "laplace", "poisson_laplace":
		return release(privacy.Laplace{Scale: r.num("b"), Sensitivity: move, Unit: privacy.User, Neighbouring: n}, q, steps, n), nil
	default:
		return nil, fmt.Errorf("mechanism %q", m)
	}
}

// losses are exact epsilons and deltas of compositions: by the contour integral,
// by the certified bracket where the row is about both directions, and bounded by
// Rényi divergences.
func losses() map[string]answers {
	return map[string]answers{
		"PLDEps": func(r *row) ([]answer, error) {
			ts, err := composition(r)
			if err != nil {
				return nil, err
			}
			return epsilons(ts, r.num("delta"), r.textOr("direction", ""))
		},
		"PLDDelta": func(r *row) ([]answer, error) {
			ts, err := composition(r)
			if err != nil {
				return nil, err
			}
			return deltas(ts, r.num("eps"), r.textOr("direction", ""))
		},
		"EventEps": eventEpsilon,
		"DiscreteGaussianDelta": func(r *row) ([]answer, error) {
			sigma, shift := math.Sqrt(r.num("sigma2")), r.count("sens")
			ts := release(privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: float64(shift), Dimension: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1, 1, privacy.AddRemove)
			return deltas(ts, r.num("eps"), "")
		},
		"DiscreteLaplaceDelta": func(r *row) ([]answer, error) {
			scale, shift := 1/r.num("a"), r.count("sens")
			ts := release(privacy.DiscreteLaplace{Scale: scale, Sensitivity: float64(shift), Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1, 1, privacy.AddRemove)
			return deltas(ts, r.num("eps"), "")
		},
		"LaplaceDelta": func(r *row) ([]answer, error) {
			b, sens := r.num("b"), r.num("sens")
			return deltas(release(privacy.Laplace{Scale: b, Sensitivity: sens, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1, 1, privacy.AddRemove), r.num("eps"), "")
		},
	}
}

// epsilons asks every accountant that covers a composition. The bracket and the
// bound are about the larger of the directions, and hold for either as far as
// upper bounds go.
func epsilons(ts []terms.Term, delta float64, direction string) (list []answer, err error) {
	v, err := exact.EpsilonIn(context.Background(), exact.Direction(direction), ts, delta)
	switch {
	case err == nil:
		list = append(list, answer{by: "exact.Epsilon", got: v.Epsilon})
	case !errors.Is(err, exact.ErrNotCovered):
		return nil, err
	}
	if direction != "" && len(list) > 0 {
		return list, nil // the row without the direction is asked of the others
	}
	b, err := pld.Bracket(context.Background(), ts, delta, pld.Options{})
	if err != nil {
		return nil, err
	}
	list = append(list, answer{by: "pld.Bracket, upper", got: b.Upper, side: above})
	if direction == "" {
		list = append(list, answer{by: "pld.Bracket, lower", got: b.Lower, side: below})
	}
	c, err := rdp.Total(ts)
	if errors.Is(err, rdp.ErrNotCovered) { // Poisson samples under replace
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := rdp.Epsilon(context.Background(), c, delta, rdp.Options{})
	if err != nil {
		return nil, err
	}
	if p.Epsilon < b.Lower {
		return nil, fmt.Errorf("the bound %v of Rényi divergences is below the bracket's lower end %v", p.Epsilon, b.Lower)
	}
	return list, nil
}

func deltas(ts []terms.Term, epsilon float64, direction string) (list []answer, err error) {
	v, err := exact.DeltaIn(context.Background(), exact.Direction(direction), ts, epsilon)
	switch {
	case err == nil:
		list = append(list, answer{by: "exact.Delta", got: v.Delta})
	case !errors.Is(err, exact.ErrNotCovered):
		return nil, err
	}
	if direction == string(exact.Add) && len(list) > 0 {
		return list, nil // the bracket is about the larger one
	}
	b, err := pld.DeltaBracket(context.Background(), ts, epsilon, pld.Options{})
	if err != nil {
		return nil, err
	}
	if direction == "" || direction == b.Direction {
		list = append(list, answer{by: "pld.DeltaBracket, upper", got: b.Upper, side: above}, answer{by: "pld.DeltaBracket, lower", got: b.Lower, side: below})
	}
	return list, nil
}

// eventEpsilon is about how many times an event counts, and about the relation.
func eventEpsilon(r *row) ([]answer, error) {
	n, delta := r.count("count"), r.num("delta")
	switch e := r.text("event"); e {
	case "exponential":
		if a := r.text("accountant"); a != "rdp" {
			return nil, fmt.Errorf("accountant %q", a)
		}
		o, err := r.grid(r.text("grid"), "tight")
		if err != nil {
			return nil, err
		}
		event := privacy.Exponential{Epsilon: r.num("eps"), Unit: privacy.User, Neighbouring: privacy.Replace}
		ts, err := flat(privacy.SelfComposed{Event: event, Count: n}, privacy.Replace)
		if err != nil {
			return nil, err
		}
		c, err := rdp.Total(ts)
		if err != nil {
			return nil, err
		}
		p, err := rdp.Epsilon(context.Background(), c, delta, o)
		return []answer{{by: "rdp.Epsilon", got: p.Epsilon}}, err
	case "randomized_response":
		m := fromNoise(r, "buckets")
		if rel := r.text("relation"); rel != "replace_one" {
			return nil, fmt.Errorf("relation %q", rel)
		}
		r.read["accountant"] = true
		ts, err := flat(privacy.SelfComposed{Event: privacy.RandomizedResponse{Epsilon: m.Epsilon, Categories: m.Categories, Unit: privacy.User}, Count: n}, privacy.Replace)
		if err != nil {
			return nil, err
		}
		list, err := epsilons(ts, delta, "")
		if err != nil || m.Categories != 2 {
			return list, err
		}
		v := reference.KFoldEpsilon([]reference.Guarantee{{Epsilon: m.Epsilon, Count: n}}, delta)
		return append(list, answer{by: "reference.KFoldEpsilon", got: v}), nil
	case "gaussian":
		rel, move, err := relation(r)
		if err != nil {
			return nil, err
		}
		r.read["accountant"] = true
		event := privacy.Gaussian{Sigma: r.num("sigma"), Sensitivity: move, Norm: clipped(move, rel), Unit: privacy.User, Neighbouring: rel}
		ts, err := flat(privacy.SelfComposed{Event: event, Count: n}, rel)
		if err != nil {
			return nil, err
		}
		list, err := epsilons(ts, delta, "")
		if err != nil {
			return nil, err
		}
		account, err := accountant.New(accountant.Analytic, privacy.User, rel)
		if err != nil {
			return nil, err
		}
		if err := account.Charge(event, n); err != nil {
			return nil, err
		}
		spent, err := account.Spent(delta)
		return append(list, answer{by: "accountant.Account", got: spent.Epsilon}), err
	default:
		return nil, fmt.Errorf("event %q", e)
	}
}

func flat(e privacy.Event, n privacy.Neighbouring) ([]terms.Term, error) {
	l, err := terms.Flatten(e, 1, privacy.User, n)
	if err != nil {
		return nil, err
	}
	return l.Worst()
}

// clipped is the norm of vectors whose sum moves by d: half of it where one is exchanged
// for another. Elsewhere no accountant asks.
func clipped(d float64, relation privacy.Neighbouring) float64 {
	if relation == privacy.Replace {
		return d / 2
	}
	return 0
}
