package goldentest

import (
	"errors"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/classic"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/reference"
)

// composed are the classical theorems, and randomised response composed exactly.
func composed() map[string]answers {
	parts := func(r *row) []reference.Guarantee {
		return []reference.Guarantee{{Epsilon: r.num("eps0"), Delta: r.or("delta0", 0), Count: r.count("k")}}
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
		"BasicCompositionEps": one("classic.NewSumFilter", func(r *row) (float64, error) {
			f, err := classic.NewSumFilter(privacy.Budget{Epsilon: 1e9, Delta: 1e-9})
			for range r.count("k") {
				if err == nil {
					err = f.Charge(r.num("eps"), 0)
				}
			}
			return f.Spent(), err
		}),
		"AdvancedCompositionDRVEps": plain("reference.Advanced", func(r *row) float64 {
			return reference.Advanced(r.num("eps"), r.count("k"), r.num("delta_prime"))
		}),
		"AdvancedCompositionKOVEps": plain("reference.AdvancedTight", func(r *row) float64 {
			return reference.AdvancedTight(r.num("eps"), r.count("k"), r.num("delta_prime"))
		}),
		"AmplifyEps": plain("reference.Sampled", func(r *row) float64 {
			return reference.Sampled(r.num("q"), r.num("eps"))
		}),
		"AmplifyDelta": plain("the product", func(r *row) float64 { return r.num("q") * r.num("delta") }),
		"RRComposeDelta": func(r *row) ([]answer, error) {
			v := reference.KFoldDelta(parts(r), r.num("eps"))
			return others(r, answer{by: "reference.KFoldDelta", got: v},
				func(e privacy.Event, n int64) ([]answer, error) {
					return deltas(release(e, 1, n, privacy.Replace), r.num("eps"), "")
				})
		},
		"RRComposeEps": func(r *row) ([]answer, error) {
			v := reference.KFoldEpsilon(parts(r), r.num("delta"))
			if math.IsInf(v, 1) {
				return []answer{{by: "reference.KFoldEpsilon", got: v}}, nil
			}
			return others(r, answer{by: "reference.KFoldEpsilon", got: v},
				func(e privacy.Event, n int64) ([]answer, error) {
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
		// The least level at which the audit rejects this epsilon.
		"OneRunP": one("audit.OneRun, inverse", func(r *row) (float64, error) {
			var failed error
			log := crossing(-745, 0, func(log float64) bool {
				b, err := audit.OneRun(count(r), audit.Options{Delta: r.num("delta"), Level: math.Exp(log)})
				failed = errors.Join(failed, err)
				return b.Epsilon >= r.num("eps") && b.Epsilon > 0
			})
			return math.Exp(log), failed
		}),
		"OneRunEps": one("audit.OneRun", func(r *row) (float64, error) {
			b, err := audit.OneRun(count(r), audit.Options{Delta: r.num("delta"), Level: r.num("p")})
			return b.Epsilon, err
		}),
		"OneRunFDPEps": one("audit.OneRunFDP", func(r *row) (float64, error) {
			b, err := audit.OneRunFDP(count(r), audit.Options{Delta: r.num("delta"), Level: r.num("p")}, accountant.Exact)
			return b.Epsilon, err
		}),
		"CPLower": one("audit.LowerBound", func(r *row) (float64, error) {
			return audit.LowerBound(r.count("k"), r.count("n"), r.num("alpha"))
		}),
		"CPUpper": one("audit.UpperBound", func(r *row) (float64, error) {
			return audit.UpperBound(r.count("k"), r.count("n"), r.num("alpha"))
		}),
		"TwoRunEps": one("audit.TwoRun", func(r *row) (float64, error) {
			b, err := audit.TwoRun(rates(r), audit.Options{Delta: r.num("delta"), Level: r.num("alpha")})
			return b.Epsilon, err
		}),
		"GDPAuditMu": one("audit.TwoRunMu", func(r *row) (float64, error) {
			return audit.TwoRunMu(rates(r), r.num("alpha"))
		}),
		"GDPAuditEps": one("audit.TwoRunGDP", func(r *row) (float64, error) {
			b, err := audit.TwoRunGDP(rates(r), audit.Options{Delta: r.num("delta"), Level: r.num("alpha")}, accountant.Exact)
			return b.Epsilon, err
		}),
	}
}
