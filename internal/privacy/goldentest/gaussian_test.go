package goldentest

import (
	"fmt"
	"math"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/reference"
)

// gaussian are the closed forms of Gaussian and Laplace noise.
func gaussian() map[string]answers {
	gdp := func(mu func(r *row) float64) answers {
		return one("accountant.Exact", func(r *row) (float64, error) { return accountant.Exact(mu(r), r.num("delta")) })
	}
	laplace := func(r *row) (channel.Laplace, error) {
		b, err := channel.LaplaceScale(r.num("eps"), r.num("sens"))
		return channel.Laplace{Scale: b, Sensitivity: r.num("sens")}, err
	}
	return map[string]answers{
		"AnalyticGaussianSigma": one("accountant.SigmaFor", func(r *row) (float64, error) {
			return accountant.SigmaFor(r.num("sens"), r.num("eps"), r.num("delta"))
		}),
		"AnalyticGaussianEps": gdp(func(r *row) float64 { return r.num("sens") / r.num("sigma") }),
		"AnalyticGaussianDelta": plain("accountant.Delta", func(r *row) float64 {
			return accountant.Delta(r.num("sens")/r.num("sigma"), r.num("eps"))
		}),
		"GDPEps": gdp(func(r *row) float64 { return r.num("mu") }),
		"UnamplifiedEps": gdp(func(r *row) float64 {
			return r.num("J") * math.Sqrt(r.num("S")*r.num("L")) / r.num("sigma")
		}),
		"CLTMuPoisson": plain("accountant.CLTMuPoisson",
			func(r *row) float64 { return accountant.CLTMuPoisson(r.num("q"), r.num("sigma"), r.num("steps")) }),
		"CLTMuUniform": plain("reference.CLTMuUniform",
			func(r *row) float64 { return reference.CLTMuUniform(r.num("q"), r.num("sigma"), r.num("steps")) }),
		"CLTEpsPoisson": gdp(func(r *row) float64 { return accountant.CLTMuPoisson(r.num("q"), r.num("sigma"), r.num("steps")) }),
		"ClosedFormSigma": plain("accountant.ClosedSigma", func(r *row) float64 {
			return accountant.ClosedSigma(r.num("C"), r.num("T"), r.num("eps"), r.num("delta"))
		}),
		"ClosedFormEps": plain("accountant.Closed", func(r *row) float64 {
			y := r.num("C") / r.num("sigma")
			return accountant.Closed(r.num("T")*y*y, r.num("delta"))
		}),
		"ClassicalGaussianSigma": one("the textbook's formula, accountant.Delta", func(r *row) (float64, error) {
			sigma := r.num("sens") * math.Sqrt(2*math.Log(1.25/r.num("delta"))) / r.num("eps")
			// Beyond epsilon 1 the formula is not proved; the rows tell what it really gives.
			if d := accountant.Delta(r.num("sens")/sigma, r.num("eps")); r.Achieved != nil && math.Abs(d-float64(*r.Achieved)) > 1e-9*d {
				return 0, fmt.Errorf("delta at sigma %v is %v, want %v", sigma, d, float64(*r.Achieved))
			}
			return sigma, nil
		}),
		"LaplaceScale":    one("channel.LaplaceScale", func(r *row) (float64, error) { m, err := laplace(r); return m.Scale, err }),
		"LaplaceVariance": one("channel.Laplace.Variance", func(r *row) (float64, error) { m, err := laplace(r); return m.Variance(), err }),
		"LaplaceTail":     one("channel.Laplace.Tail", func(r *row) (float64, error) { m, err := laplace(r); return m.Tail(r.num("t")), err }),
	}
}
