package rdp_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
)

// number reads a JSON number or the strings "+Inf" and "-Inf".
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	switch s := string(b); s {
	case `"+Inf"`, `"inf"`, `"Infinity"`:
		*n = number(math.Inf(1))
	case `"-Inf"`:
		*n = number(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(n))
	}
	return nil
}

type golden struct {
	ID     string
	Fn     string
	Params json.RawMessage
	Value  number
	RelTol float64 `json:"rel_tol"`
	AbsTol float64 `json:"abs_tol"`
	Best   number  `json:"best_order"`
	Square *number `json:"wrong_value_nosquare"`
	Wrong  *number `json:"wrong_value"`
}

type goldenFile struct {
	Tables  struct{ Grids map[string][]float64 }
	Entries []golden
}

func read(t *testing.T, category string) goldenFile {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../../testdata/goldens", category+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f goldenFile
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(category, err)
	}
	return f
}

// params are all parameters that any golden used here has.
type params struct {
	Alpha, Eps, Delta, Sigma, Sens, B, Q, Rdp, T, Rho, Eps0 number
	Mechanism, Conversion, Grid, Bound, Accountant, Event   string
	Relation                                                string
	K, Count, N, Batch, E, L, Epochs, S                     int64
	MaxDegree                                               int64   `json:"max_degree"`
	NoiseScale                                              float64 `json:"noise_scale"`
	NoiseParameter                                          float64 `json:"noise_parameter"`
	J                                                       float64
	Parts                                                   []part
	Steps                                                   json.RawMessage
	raw                                                     map[string]any
}

type part struct {
	M                string
	Q, Sigma, B, Eps float64
	Count            int64
}

func (g golden) params(t *testing.T) params {
	t.Helper()
	var p params
	// Case matters: B is a batch and b a scale.
	if err := json.Unmarshal(g.Params, &p.raw); err != nil {
		t.Fatal(g.ID, err)
	}
	plain := map[string]any{}
	for k, v := range p.raw {
		if k == "B" {
			k = "Batch"
		}
		plain[k] = v
	}
	b, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	raw := p.raw
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(g.ID, string(b), err)
	}
	p.raw = raw
	if p.Sens == 0 {
		p.Sens = 1
	}
	return p
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fixed are the options that repeat what another accountant's grid gives.
func fixed(t *testing.T, f goldenFile, grid, conversion string) rdp.Options {
	t.Helper()
	if grid == "continuum" || grid == "continuous" {
		return rdp.Options{Conversion: rdp.Conversion(conversion)}
	}
	orders, ok := f.Tables.Grids[grid]
	switch {
	case grid == "int_2_32":
		orders = rdp.Whole(32)
	case grid == "dp_accounting_default" && ok && !slices.Equal(rdp.DPAccounting(), orders):
		t.Fatalf("the golden's grid %s is %v", grid, orders)
	case grid == "dp_accounting_default":
		orders = rdp.DPAccounting()
	case !ok:
		t.Fatalf("grid %q", grid)
	}
	return rdp.Options{Orders: orders, Conversion: rdp.Conversion(conversion), Fixed: true}
}

// check runs one category: every entry must be taken by a function or be listed
// as another package's, the counts must be as given, and the worst error is told.
func check(t *testing.T, category string, want map[string]int, fns map[string]func(t *testing.T, f goldenFile, g golden, p params) float64) {
	t.Helper()
	f := read(t, category)
	seen, worst := map[string]int{}, map[string]float64{}
	for _, g := range f.Entries {
		fn := fns[g.Fn]
		if fn == nil {
			seen["other"]++
			continue
		}
		got, v := fn(t, f, g, g.params(t)), float64(g.Value)
		if math.IsInf(got, -1) { // the row is another package's
			seen["other"]++
			continue
		}
		seen[g.Fn]++
		err := math.Abs(got - v)
		if got == v {
			err = 0
		}
		if !(err <= g.AbsTol+g.RelTol*math.Abs(v)) {
			t.Errorf("%s %s %s = %v, want %v (relative error %.2g)", g.ID, g.Fn, g.Params, got, v, err/math.Abs(v))
		}
		if v != 0 {
			worst[g.Fn] = max(worst[g.Fn], err/math.Abs(v))
		}
	}
	for fn, n := range want {
		if seen[fn] != n {
			t.Errorf("%s: %d rows of %s, want %d", category, seen[fn], fn, n)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%s: rows %v, want %v", category, seen, want)
	}
	t.Logf("%s: %v, worst relative errors %v", category, seen, worst)
}

type fnMap = map[string]func(t *testing.T, f goldenFile, g golden, p params) float64

// zcdp is the epsilon of a rho-zCDP mechanism.
func zcdp(t *testing.T, p params, conversion rdp.Conversion) float64 {
	o := rdp.Options{Conversion: conversion}
	return must(rdp.Epsilon(t.Context(), rdp.ZCDP(float64(p.Rho)), float64(p.Delta), o))(t).Epsilon
}

func TestGoldenPoints(t *testing.T) {
	check(t, "gaussian_rdp", map[string]int{"GaussianRDP": 12}, fnMap{
		"GaussianRDP": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.Gaussian(float64(p.Sigma), float64(p.Sens)))(t)(float64(p.Alpha))
		}})
	check(t, "rdp_to_dp_point", map[string]int{"RDPToEpsClassic": 10, "RDPToEpsTight": 10, "RDPToDeltaClassic": 10, "RDPToDeltaTight": 10}, fnMap{
		"RDPToEpsClassic": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return rdp.ClassicEpsilon(float64(p.Rdp), float64(p.Alpha), float64(p.Delta))
		},
		"RDPToEpsTight": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return rdp.TightEpsilon(float64(p.Rdp), float64(p.Alpha), float64(p.Delta))
		},
		"RDPToDeltaClassic": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return rdp.DeltaAt(rdp.Classic, float64(p.Rdp), float64(p.Alpha), float64(p.Eps))
		},
		"RDPToDeltaTight": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return rdp.DeltaAt(rdp.Tight, float64(p.Rdp), float64(p.Alpha), float64(p.Eps))
		}})
	check(t, "laplace", map[string]int{"LaplaceRDP": 9, "other": 14}, fnMap{
		"LaplaceRDP": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.Laplace(float64(p.B), float64(p.Sens)))(t)(float64(p.Alpha))
		}})
	check(t, "randomized_response", map[string]int{"RRRDP": 6, "other": 12}, fnMap{
		"RRRDP": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			wrong := p.NoiseParameter / float64(p.K)
			return must(rdp.RandomizedResponse(math.Log1p((1-p.NoiseParameter)/wrong), p.K))(t)(float64(p.Alpha))
		}})
	check(t, "graph_and_selection", map[string]int{"other": 6, "ExpMechRDP": 5, "PureToRDP": 5}, fnMap{
		"ExpMechRDP": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.BoundedRange(float64(p.Eps)))(t)(float64(p.Alpha))
		},
		"PureToRDP": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.PureDP(float64(p.Eps)))(t)(float64(p.Alpha))
		}})
}

func TestGoldenSampled(t *testing.T) {
	check(t, "sgm_rdp", map[string]int{"SampledGaussianRDP": 116}, fnMap{
		"SampledGaussianRDP": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			got, v := must(rdp.SampledGaussian(float64(p.Q), float64(p.Sigma)))(t)(float64(p.Alpha)), float64(g.Value)
			if math.Abs(got-v) > 5e-13*v {
				t.Errorf("%s %s: %v, want %v: relative error %.2g, above what this method reaches", g.ID, g.Params, got, v, math.Abs(got-v)/v)
			}
			return got
		}})
	base := func(t *testing.T, p params) (rdp.Curve, float64) {
		switch p.Mechanism {
		case "gaussian":
			return must(rdp.Gaussian(float64(p.Sigma), 1))(t), math.Inf(1)
		case "laplace":
			return must(rdp.Laplace(float64(p.B), 1))(t), 1 / float64(p.B)
		case "rr", "randomized_response", "pure":
			e := float64(p.Eps0)
			if e == 0 {
				e = float64(p.Eps)
			}
			return must(rdp.PureDP(e))(t), e
		}
		t.Fatalf("mechanism %q", p.Mechanism)
		return nil, 0
	}
	distinct := 0
	check(t, "wor_rdp", map[string]int{"WOR9": 40, "WOR9Capped": 40, "WOR27Gaussian": 23}, fnMap{
		"WOR9": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			c, e := base(t, p)
			w := rdp.WithoutReplacement{Rate: float64(p.Q), Base: c, EpsInf: e}
			got := must(w.Curve())(t)(float64(p.Alpha))
			w.Variant = rdp.Printed
			printed := must(w.Curve())(t)(float64(p.Alpha))
			if g.Square == nil {
				return got
			}
			distinct++
			if wrong := float64(*g.Square); math.Abs(printed/wrong-1) > 1e-10 || math.Abs(got/wrong-1) < 1e-9 {
				t.Errorf("%s: %v, as printed %v, want %v as printed and not otherwise", g.ID, got, printed, wrong)
			}
			return got
		},
		"WOR9Capped": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			c, e := base(t, p)
			return must(rdp.WithoutReplacement{Rate: float64(p.Q), Base: c, EpsInf: e, Capped: true}.Curve())(t)(float64(p.Alpha))
		},
		"WOR27Gaussian": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.WithoutReplacementGaussian(float64(p.Q), float64(p.Sigma)))(t)(float64(p.Alpha))
		}})
	if distinct == 0 {
		t.Error("no golden tells the theorem from its print")
	}
}

func TestGoldenComposed(t *testing.T) {
	curve := func(t *testing.T, mechanism string, q, sigma float64, n int64) rdp.Curve {
		if mechanism == "sgm" {
			return rdp.Times(must(rdp.SampledGaussian(q, sigma))(t), n)
		}
		return rdp.Times(must(rdp.Gaussian(sigma, 1))(t), n)
	}
	eps := func(t *testing.T, c rdp.Curve, delta number, o rdp.Options, g golden) float64 {
		p := must(rdp.Epsilon(context.Background(), c, float64(delta), o))(t)
		if g.Best != 0 && o.Fixed && p.Order != float64(g.Best) {
			t.Errorf("%s: best order %v, want %v", g.ID, p.Order, g.Best)
		}
		return p.Epsilon
	}
	check(t, "rdp_to_dp_grid", map[string]int{"RDPCurveToEps": 60}, fnMap{
		"RDPCurveToEps": func(t *testing.T, f goldenFile, g golden, p params) float64 {
			return eps(t, curve(t, p.Mechanism, float64(p.Q), float64(p.Sigma), p.K), p.Delta, fixed(t, f, p.Grid, p.Conversion), g)
		}})
	check(t, "dpsgd_rdp_eps", map[string]int{"DPSGDEpsRDP": 42, "DPSGDEpsRDPHetero": 1}, fnMap{
		"DPSGDEpsRDP": func(t *testing.T, f goldenFile, g golden, p params) float64 {
			var steps int64
			if err := json.Unmarshal(p.Steps, &steps); err != nil {
				t.Fatal(err)
			}
			return eps(t, curve(t, "sgm", float64(p.Q), float64(p.Sigma), steps), p.Delta, fixed(t, f, p.Grid, p.Conversion), g)
		},
		"DPSGDEpsRDPHetero": func(t *testing.T, f goldenFile, g golden, p params) float64 {
			var steps [][3]float64
			if err := json.Unmarshal(p.Steps, &steps); err != nil {
				t.Fatal(err)
			}
			sum := rdp.Sum()
			for _, s := range steps {
				sum = rdp.Sum(sum, curve(t, "sgm", s[0], s[1], int64(s[2])))
			}
			return eps(t, sum, p.Delta, fixed(t, f, p.Grid, p.Conversion), g)
		}})
	check(t, "composition", map[string]int{"ZCDPToEpsStandard": 6, "ZCDPToEpsTight": 6, "ZCDPToDeltaTight": 4, "RDPHeteroEps": 4, "other": 25}, fnMap{
		"ZCDPToEpsStandard": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return zcdp(t, p, rdp.Classic)
		},
		"ZCDPToEpsTight": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return zcdp(t, p, rdp.Tight)
		},
		"ZCDPToDeltaTight": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.Delta(t.Context(), rdp.ZCDP(float64(p.Rho)), float64(p.Eps),
				rdp.Options{Conversion: rdp.Tight}))(t).Delta
		},
		"RDPHeteroEps": func(t *testing.T, f goldenFile, g golden, p params) float64 {
			sum := rdp.Sum()
			for _, x := range p.Parts {
				var c rdp.Curve
				switch x.M {
				case "laplace":
					c = must(rdp.Laplace(x.B, 1))(t)
				case "pure":
					c = must(rdp.PureDP(x.Eps))(t)
				case "gaussian", "sgm":
					c = curve(t, x.M, x.Q, x.Sigma, 1)
				default:
					t.Fatal(x.M)
				}
				sum = rdp.Sum(sum, rdp.Times(c, x.Count))
			}
			return eps(t, sum, p.Delta, fixed(t, f, p.Grid, "tight"), g)
		}})
}

func TestGoldenCalibration(t *testing.T) {
	check(t, "sigma_calibration", map[string]int{"SigmaForDPSGD": 8, "other": 7}, fnMap{
		"SigmaForDPSGD": func(t *testing.T, f goldenFile, g golden, p params) float64 {
			if p.Accountant != "rdp" {
				return math.Inf(-1)
			}
			var steps int64
			if err := json.Unmarshal(p.Steps, &steps); err != nil {
				t.Fatal(err)
			}
			target := privacy.Budget{Epsilon: float64(p.Eps), Delta: float64(p.Delta)}
			got := must(rdp.CalibrateSampledGaussian(context.Background(), float64(p.Q), steps, target, fixed(t, f, "dp_accounting_default", "tight")))(t)
			if v := float64(g.Value); got < v*(1-1e-9) {
				t.Errorf("%s: sigma %v is below %v", g.ID, got, v)
			}
			best := must(rdp.CalibrateSampledGaussian(context.Background(), float64(p.Q), steps, target, rdp.Options{}))(t)
			if best > got*(1+1e-10) || best < 0.99*got {
				t.Errorf("%s: sigma %v without the grid, %v with it", g.ID, best, got)
			}
			return got
		}})
}

// calibrated is the least noise of a family of curves that meets epsilon at the delta of a golden.
func calibrated(t *testing.T, p params, epsilon float64, family func(s float64) (rdp.Curve, error),
	o rdp.Options) (accountant.Calibrated, error) {
	goal := accountant.Goal{Epsilon: epsilon, Delta: float64(p.Delta), Exposed: 1}
	return accountant.Calibrate(goal, 2, func(s float64) (float64, error) {
		c, err := family(s)
		if err != nil {
			return 0, err
		}
		at, err := rdp.Epsilon(t.Context(), c, float64(p.Delta), o)
		return at.Epsilon, err
	})
}

// The bound that the RDP-GCF paper totals, with and without the cap.
func TestGoldenWORComposed(t *testing.T) {
	total := func(p params, sigma float64) (rdp.Curve, error) {
		base, err := rdp.Gaussian(sigma, 1)
		if err != nil {
			return nil, err
		}
		c, err := rdp.WithoutReplacement{Rate: float64(p.Batch) / float64(p.E), Base: base, EpsInf: math.Inf(1), Variant: rdp.Printed, Capped: p.Bound == "capped"}.Curve()
		steps := int64(math.Ceil(float64(p.Epochs) * float64(p.E) / float64(p.Batch)))
		return rdp.Times(c, steps*p.L), err
	}
	options := func(p params) rdp.Options {
		return rdp.Options{Orders: rdp.Whole(256), Conversion: rdp.Conversion(p.Conversion), Fixed: true}
	}
	check(t, "wor_composed", map[string]int{"WORComposedSigma": 8, "WORComposedEps": 8, "UnamplifiedEps": 16, "WORFloorEps": 4}, fnMap{
		"WORComposedEps": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(rdp.Epsilon(context.Background(), must(total(p, float64(p.Sigma)))(t), float64(p.Delta), options(p)))(t).Epsilon
		},
		"WORComposedSigma": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			return must(calibrated(t, p, float64(p.Eps), func(s float64) (rdp.Curve, error) { return total(p, s) },
				options(p)))(t).Noise
		},
		"WORFloorEps": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			floor := must(rdp.Epsilon(context.Background(), must(total(p, 1e9))(t), float64(p.Delta), options(p)))(t).Epsilon
			if !strings.HasPrefix(p.Conversion, "cl") {
				return floor
			}
			// Nothing below the floor can be reached, and that is said.
			_, err := calibrated(t, p, floor*0.99, func(s float64) (rdp.Curve, error) { return total(p, s) },
				options(p))
			if err == nil {
				t.Errorf("%s: a target below the floor %v was reached", g.ID, floor)
			}
			return floor
		},
		"UnamplifiedEps": func(t *testing.T, _ goldenFile, g golden, p params) float64 {
			mu := p.J * math.Sqrt(float64(p.S*p.L)) / float64(p.Sigma)
			exact := must(accountant.Exact(mu, float64(p.Delta)))(t)
			if bound := must(rdp.Epsilon(context.Background(), rdp.ZCDP(mu*mu/2), float64(p.Delta), rdp.Options{}))(t); bound.Epsilon < exact || bound.Epsilon > 1.02*exact {
				t.Errorf("%s: bound %+v of %v", g.ID, bound, exact)
			}
			return exact
		}})
}
