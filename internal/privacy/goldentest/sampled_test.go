package goldentest

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/rdp"
)

// sgm is n Poisson-sampled Gaussians.
func sgm(q, sigma float64, n int64) (rdp.Curve, error) {
	c, err := rdp.SampledGaussian(q, sigma)
	return rdp.Times(c, n), err
}

// sampled are epsilons and calibrations by Rényi divergences on order grids.
func sampled() map[string]answers {
	return map[string]answers{
		"RDPCurveToEps": func(r *row) ([]answer, error) {
			o, err := r.grid(r.text("grid"), r.text("conversion"))
			if err != nil {
				return nil, err
			}
			var c rdp.Curve
			switch m := r.text("mechanism"); m {
			case "gaussian":
				if c, err = rdp.Gaussian(r.num("sigma"), 1); err == nil {
					c = rdp.Times(c, r.count("k"))
				}
			case "sgm":
				c, err = sgm(r.num("q"), r.num("sigma"), r.count("k"))
			default:
				err = fmt.Errorf("mechanism %q", m)
			}
			if err != nil {
				return nil, err
			}
			return r.epsilon("rdp.Epsilon", c, r.num("delta"), o)
		},
		"DPSGDEpsRDP": func(r *row) ([]answer, error) {
			o, err := r.grid(r.text("grid"), r.text("conversion"))
			if err != nil {
				return nil, err
			}
			c, err := sgm(r.num("q"), r.num("sigma"), r.count("steps"))
			if err != nil {
				return nil, err
			}
			return r.epsilon("rdp.Epsilon", c, r.num("delta"), o)
		},
		"DPSGDEpsRDPHetero": func(r *row) ([]answer, error) {
			o, err := r.grid(r.text("grid"), r.text("conversion"))
			if err != nil {
				return nil, err
			}
			var steps [][3]float64
			r.get("steps", &steps)
			sum := rdp.Sum()
			for _, s := range steps {
				c, err := sgm(s[0], s[1], int64(s[2]))
				if err != nil {
					return nil, err
				}
				sum = rdp.Sum(sum, c)
			}
			return r.epsilon("rdp.Epsilon", sum, r.num("delta"), o)
		},
		"RDPHeteroEps": func(r *row) ([]answer, error) {
			o, err := r.grid(r.text("grid"), "tight")
			if err != nil {
				return nil, err
			}
			var parts []struct {
				M                string
				Q, Sigma, B, Eps float64
				Count            int64
			}
			r.get("parts", &parts)
			sum := rdp.Sum()
			for _, p := range parts {
				var c rdp.Curve
				switch p.M {
				case "gaussian":
					c, err = rdp.Gaussian(p.Sigma, 1)
				case "laplace":
					c, err = rdp.Laplace(p.B, 1)
				case "pure":
					c, err = rdp.PureDP(p.Eps)
				case "sgm":
					c, err = rdp.SampledGaussian(p.Q, p.Sigma)
				default:
					err = fmt.Errorf("mechanism %q", p.M)
				}
				if err != nil {
					return nil, err
				}
				sum = rdp.Sum(sum, rdp.Times(c, p.Count))
			}
			return r.epsilon("rdp.Epsilon", sum, r.num("delta"), o)
		},
		"SigmaForDPSGD": calibrated,
		"WORComposedEps": func(r *row) ([]answer, error) {
			c, err := worTotal(r, r.num("sigma"))
			if err != nil {
				return nil, err
			}
			return r.epsilon("rdp.Epsilon", c, r.num("delta"), worOptions(r))
		},
		"WORComposedSigma": func(r *row) ([]answer, error) {
			goal := accountant.Goal{Epsilon: r.num("eps"), Delta: r.num("delta"), Exposed: 1}
			spent := func(sigma float64) (p rdp.Point, err error) {
				c, err := worTotal(r, sigma)
				if err != nil {
					return p, err
				}
				return rdp.Epsilon(context.Background(), c, goal.Delta, worOptions(r))
			}
			got, err := accountant.Calibrate(goal, 1, func(sigma float64) (float64, error) {
				p, err := spent(sigma)
				return p.Epsilon, err
			})
			if err != nil {
				return nil, err
			}
			p, err := spent(got.Noise)
			if err == nil && p.Epsilon > goal.Epsilon {
				err = fmt.Errorf("epsilon %v at the calibrated sigma %v, target %v", p.Epsilon, got, goal.Epsilon)
			}
			return []answer{{by: "accountant.Calibrate", got: got.Noise, side: safe, order: p.Order}}, err
		},
		"WORFloorEps": func(r *row) ([]answer, error) {
			c, err := worTotal(r, 1e9) // beyond any noise that matters
			if err != nil {
				return nil, err
			}
			return r.epsilon("rdp.Epsilon", c, r.num("delta"), worOptions(r))
		},
	}
}

// worTotal is the total of the RDP-GCF paper: steps times layers of a Gaussian
// amplified by theorem 9.
func worTotal(r *row, sigma float64) (rdp.Curve, error) {
	base, err := rdp.Gaussian(sigma, 1)
	if err != nil {
		return nil, err
	}
	e, b := r.num("E"), r.num("B")
	w := rdp.WithoutReplacement{Rate: b / e, Base: base, EpsInf: math.Inf(1), Capped: r.textOr("bound", "raw") == "capped"}
	c, err := w.Curve()
	return rdp.Times(c, int64(math.Ceil(r.num("epochs")*e/b))*r.count("L")), err
}

func worOptions(r *row) rdp.Options {
	return rdp.Options{Orders: rdp.Whole(256), Conversion: rdp.Conversion(r.text("conversion")), Fixed: true}
}

// calibrated is the noise multiplier for a target, by the accountant of the row.
// What was calibrated is within the target by that accountant.
func calibrated(r *row) ([]answer, error) {
	target := privacy.Budget{Epsilon: r.num("eps"), Delta: r.num("delta")}
	q, steps := r.num("q"), r.count("steps")
	goal := accountant.Goal{Epsilon: target.Epsilon, Delta: target.Delta, Exposed: accountant.Exposed(q, steps)}
	switch a := r.text("accountant"); a {
	case "rdp":
		o, err := r.grid("dp_accounting_default", "tight")
		if err != nil {
			return nil, err
		}
		spent := func(sigma float64) (float64, error) {
			c, err := sgm(q, sigma, steps)
			if err != nil {
				return 0, err
			}
			p, err := rdp.Epsilon(context.Background(), c, target.Delta, o)
			return p.Epsilon, err
		}
		direct, err := rdp.CalibrateSampledGaussian(context.Background(), q, steps, target, o)
		if err != nil {
			return nil, err
		}
		search, err := accountant.Calibrate(goal, 1, spent)
		if err != nil {
			return nil, err
		}
		for _, sigma := range []float64{direct, search.Noise} {
			if e, err := spent(sigma); err != nil || e > target.Epsilon {
				return nil, fmt.Errorf("sigma %v has epsilon %v, target %v: %w", sigma, e, target.Epsilon, err)
			}
		}
		if r.Recovered != nil {
			if e, err := spent(r.value()); err != nil || math.Abs(e-float64(*r.Recovered)) > 1e-8*e {
				return nil, fmt.Errorf("epsilon at %v is %v, want %v: %w", r.value(), e, float64(*r.Recovered), err)
			}
		}
		return []answer{{by: "rdp.CalibrateSampledGaussian", got: direct, side: safe}, {by: "accountant.Calibrate, rdp", got: search.Noise, side: safe}}, nil
	case "pld":
		spent := func(sigma float64) (float64, error) {
			v, err := exact.EpsilonIn(context.Background(), exact.Remove, poissonGaussian(q, sigma, steps), target.Delta)
			return v.Epsilon, err
		}
		search, err := accountant.Calibrate(goal, 1, spent)
		if err != nil {
			return nil, err
		}
		if e, err := spent(search.Noise); err != nil || e > target.Epsilon {
			return nil, fmt.Errorf("sigma %v has epsilon %v, target %v: %w", search.Noise, e, target.Epsilon, err)
		}
		return []answer{{by: "accountant.Calibrate, exact", got: search.Noise, side: safe}}, nil
	default:
		return nil, fmt.Errorf("accountant %q", a)
	}
}
