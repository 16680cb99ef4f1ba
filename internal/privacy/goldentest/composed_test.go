package goldentest

import (
	"errors"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/classic"
	"privrec/internal/privacy/audit"
)

// composed are the classical theorems, and randomised response composed exactly.
func composed() map[string]answers {
	parts := func(r *row) []classic.Term {
		return []classic.Term{{Epsilon: r.num("eps0"), Delta: r.or("delta0", 0), Count: r.count("k")}}
	}
	// others are the accountants of losses, for pure parts.
	others := func(r *row, closed answer, ask func(response privacy.Event, n int64) ([]answer, error)) ([]answer, error) {
		if r.or("delta0", 0) != 0 {
			return []answer{closed}, nil
		}
		list, err := ask(privacy.RandomizedResponse{Epsilon: r.num("eps0"), Categories: 2, Unit: privacy.User}, r.count("k"))
		return append(list, closed), err
	}
	return map[string]answers{
		"BasicCompositionEps": one("classic.Basic", func(r *row) (float64, error) {
			e, _, err := classic.Basic(r.num("eps"), 0, r.count("k"))
			return e, err
		}),
		"AdvancedCompositionDRVEps": one("classic.Advanced", func(r *row) (float64, error) {
			return classic.Advanced(r.num("eps"), r.count("k"), r.num("delta_prime"))
		}),
		"AdvancedCompositionKOVEps": one("classic.AdvancedTight", func(r *row) (float64, error) {
			return classic.AdvancedTight(r.num("eps"), r.count("k"), r.num("delta_prime"))
		}),
		"AmplifyEps": one("classic.AmplifyPoisson", func(r *row) (float64, error) {
			e, _, err := classic.AmplifyPoisson(r.num("q"), r.num("eps"), 0)
			return e, err
		}),
		"AmplifyDelta": one("classic.AmplifyPoisson", func(r *row) (float64, error) {
			_, d, err := classic.AmplifyPoisson(r.num("q"), 1, r.num("delta"))
			return d, err
		}),
		"RRComposeDelta": func(r *row) ([]answer, error) {
			v, err := classic.KFoldDelta(parts(r), r.num("eps"))
			if err != nil {
				return nil, err
			}
			return others(r, answer{by: "classic.KFoldDelta", got: v}, func(e privacy.Event, n int64) ([]answer, error) {
				return deltas(release(e, 1, n, privacy.Replace), r.num("eps"), "")
			})
		},
		"RRComposeEps": func(r *row) ([]answer, error) {
			v, err := classic.KFoldEpsilon(parts(r), r.num("delta"))
			if errors.Is(err, classic.ErrUnreachable) { // refused, where the files have an infinity
				v, err = math.Inf(1), nil
				return []answer{{by: "classic.KFoldEpsilon", got: v}}, err
			}
			if err != nil {
				return nil, err
			}
			return others(r, answer{by: "classic.KFoldEpsilon", got: v}, func(e privacy.Event, n int64) ([]answer, error) {
				return epsilons(release(e, 1, n, privacy.Replace), r.num("delta"), "")
			})
		},
	}
}

// audited are empirical lower bounds.
func audited() map[string]answers {
	count := func(r *row) audit.Count {
		return audit.Count{Canaries: r.count("m"), Guesses: r.count("r"), Correct: r.count("v")}
	}
	rates := func(r *row) audit.Rates {
		a := audit.Rates{Positives: r.count("n_pos"), FalsePositives: r.count("fp"), Negatives: r.count("n_neg")}
		if r.has("fn") {
			a.TruePositives = a.Positives - r.count("fn")
		} else {
			a.TruePositives = r.count("tp")
		}
		return a
	}
	return map[string]answers{
		"OneRunP":   one("audit.OneRunPValue", func(r *row) (float64, error) { return audit.OneRunPValue(count(r), r.num("eps"), r.num("delta")) }),
		"OneRunEps": one("audit.OneRunEpsilon", func(r *row) (float64, error) { return audit.OneRunEpsilon(count(r), r.num("delta"), r.num("p")) }),
		"OneRunFDPEps": one("audit.OneRunFDP", func(r *row) (float64, error) {
			b, err := audit.OneRunFDP(count(r), audit.Options{Delta: r.num("delta"), Level: r.num("p")}, accountant.Exact)
			return b.Epsilon, err
		}),
		"CPLower":   one("audit.LowerBound", func(r *row) (float64, error) { return audit.LowerBound(r.count("k"), r.count("n"), r.num("alpha")) }),
		"CPUpper":   one("audit.UpperBound", func(r *row) (float64, error) { return audit.UpperBound(r.count("k"), r.count("n"), r.num("alpha")) }),
		"TwoRunEps": one("audit.TwoRunEpsilon", func(r *row) (float64, error) { return audit.TwoRunEpsilon(rates(r), r.num("delta"), r.num("alpha")) }),
		"GDPAuditMu": one("audit.TwoRunMu", func(r *row) (float64, error) {
			return audit.TwoRunMu(rates(r), r.num("alpha"))
		}),
		"GDPAuditEps": one("audit.TwoRunGDP", func(r *row) (float64, error) {
			b, err := audit.TwoRunGDP(rates(r), audit.Options{Delta: r.num("delta"), Level: r.num("alpha")}, accountant.Exact)
			return b.Epsilon, err
		}),
	}
}
