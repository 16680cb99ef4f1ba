package goldentest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/reference"
)

// at is a curve of Rényi divergences at the order of a row.
func at(by string, curve func(r *row) (rdp.Curve, error)) answers {
	return one(by, func(r *row) (float64, error) {
		c, err := curve(r)
		if err != nil {
			return 0, err
		}
		return c(r.num("alpha")), nil
	})
}

// fromNoise is randomised response as other libraries have it: with a probability,
// the noise parameter, the answer is uniform over all categories, else the truth.
func fromNoise(r *row, categories string) local.Response {
	noise, k := r.num("noise_parameter"), r.count(categories)
	return local.Response{Epsilon: math.Log1p((1 - noise) / noise * float64(k)), Categories: k}
}

// curves are Rényi divergences, and their conversions at one order.
func curves() map[string]answers {
	point := func(by string, f func(rdp, alpha, x float64) float64, x string) answers {
		return plain(by, func(r *row) float64 { return f(r.num("rdp"), r.num("alpha"), r.num(x)) })
	}
	return map[string]answers{
		"GaussianRDP": at("rdp.Gaussian", func(r *row) (rdp.Curve, error) { return rdp.Gaussian(r.num("sigma"), r.num("sens")) }),
		"LaplaceRDP":  at("rdp.Laplace", func(r *row) (rdp.Curve, error) { return rdp.Laplace(r.num("b"), r.num("sens")) }),
		"RRRDP": at("rdp.RandomizedResponse", func(r *row) (rdp.Curve, error) {
			m := fromNoise(r, "k")
			return rdp.RandomizedResponse(m.Epsilon, m.Categories)
		}),
		"SampledGaussianRDP": at("rdp.SampledGaussian", func(r *row) (rdp.Curve, error) { return rdp.SampledGaussian(r.num("q"), r.num("sigma")) }),
		"ExpMechRDP":         at("rdp.BoundedRange", func(r *row) (rdp.Curve, error) { return rdp.BoundedRange(r.num("eps")) }),
		"PureToRDP":          at("rdp.PureDP", func(r *row) (rdp.Curve, error) { return rdp.PureDP(r.num("eps")) }),
		"GraphRDP": plain("reference.Graph", func(r *row) float64 {
			g := reference.Graph{Nodes: r.count("N"), Batch: r.count("batch"), MaxDegree: r.count("max_degree"),
				Noise: r.num("noise_scale")}
			return g.Divergence(r.num("alpha"))
		}),
		"WOR9":       at("rdp.WithoutReplacement", func(r *row) (rdp.Curve, error) { return withoutReplacement(r, false) }),
		"WOR9Capped": at("rdp.WithoutReplacement, capped", func(r *row) (rdp.Curve, error) { return withoutReplacement(r, true) }),
		"WOR27Gaussian": at("rdp.WithoutReplacementGaussian", func(r *row) (rdp.Curve, error) {
			return rdp.WithoutReplacementGaussian(r.num("q"), r.num("sigma"))
		}),
		"RDPToEpsClassic":   point("rdp.ClassicEpsilon", rdp.ClassicEpsilon, "delta"),
		"RDPToEpsTight":     point("rdp.TightEpsilon", rdp.TightEpsilon, "delta"),
		"RDPToDeltaClassic": deltaOf("rdp.ClassicEpsilon, inverse", rdp.ClassicEpsilon),
		"RDPToDeltaTight":   deltaOf("rdp.TightEpsilon, inverse", rdp.TightEpsilon),
		"ZCDPToEpsStandard": zcdp(rdp.Classic),
		"ZCDPToEpsTight":    zcdp(rdp.Tight),
		"ZCDPToDeltaTight": one("rdp.Delta", func(r *row) (float64, error) {
			p, err := rdp.Delta(context.Background(), rdp.ZCDP(r.num("rho")), r.num("eps"),
				rdp.Options{Conversion: rdp.Tight})
			return p.Delta, err
		}),
	}
}

// deltaOf is the largest delta at which a conversion of the divergence of one order gives at least an epsilon.
func deltaOf(by string, epsilon func(rdp, alpha, delta float64) float64) answers {
	return plain(by, func(r *row) float64 {
		divergence, alpha, target := r.num("rdp"), r.num("alpha"), r.num("eps")
		if epsilon(divergence, alpha, 1) >= target {
			return 1
		}
		return math.Exp(crossing(-745, 0, func(log float64) bool {
			return epsilon(divergence, alpha, math.Exp(log)) < target
		}))
	})
}

// crossing is where over begins to hold between two numbers.
func crossing(lo, hi float64, over func(x float64) bool) float64 {
	for range 200 {
		if mid := (lo + hi) / 2; over(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// zcdp is the epsilon of a rho-zCDP mechanism.
func zcdp(conversion rdp.Conversion) answers {
	return one("rdp.Epsilon", func(r *row) (float64, error) {
		p, err := rdp.Epsilon(context.Background(), rdp.ZCDP(r.num("rho")), r.num("delta"),
			rdp.Options{Conversion: conversion})
		return p.Epsilon, err
	})
}

// withoutReplacement is theorem 9 for the mechanism of a row.
func withoutReplacement(r *row, capped bool) (rdp.Curve, error) {
	w := rdp.WithoutReplacement{Rate: r.num("q"), Capped: capped, EpsInf: math.Inf(1)}
	var err error
	switch m := r.text("mechanism"); m {
	case "gaussian":
		w.Base, err = rdp.Gaussian(r.num("sigma"), 1)
	case "laplace":
		w.EpsInf = 1 / r.num("b")
		w.Base, err = rdp.Laplace(r.num("b"), 1)
	case "rr":
		w.EpsInf = r.num("eps")
		w.Base, err = rdp.PureDP(w.EpsInf)
	default:
		err = fmt.Errorf("mechanism %q", m)
	}
	if err != nil {
		return nil, err
	}
	if r.Square == nil {
		return w.Curve()
	}
	// The print without the square is available by name, and gives what the row says
	// it gives.
	printed := w
	printed.Variant = rdp.Printed
	c, err := printed.Curve()
	if err != nil {
		return nil, err
	}
	if got, want := c(r.num("alpha")), float64(*r.Square); !r.near(got, want) {
		return nil, fmt.Errorf("as printed %v, want %v", got, want)
	}
	return w.Curve()
}

// grid are the options of a row that names an order grid and a conversion.
func (r *row) grid(name, conversion string) (rdp.Options, error) {
	o := rdp.Options{Conversion: rdp.Conversion(conversion), Fixed: true}
	orders, ok := r.file.Tables.Grids[name]
	switch {
	case name == "continuum" || name == "continuous":
		o.Fixed = false
	case name == "int_2_32":
		o.Orders = rdp.Whole(32)
	case name == "dp_accounting_default" && ok && !slices.Equal(rdp.DPAccounting(), orders):
		return o, fmt.Errorf("order grid %q is %v, want %v", name, rdp.DPAccounting(), orders)
	case name == "dp_accounting_default":
		o.Orders = rdp.DPAccounting()
	case ok:
		o.Orders = orders
	default:
		return o, fmt.Errorf("order grid %q", name)
	}
	return o, nil
}

// epsilon is the guarantee of a curve by a grid and a conversion.
func (r *row) epsilon(by string, c rdp.Curve, delta float64, o rdp.Options) ([]answer, error) {
	p, err := rdp.Epsilon(context.Background(), c, delta, o)
	a := answer{by: by, got: p.Epsilon}
	if o.Fixed {
		a.order = p.Order
	}
	return []answer{a}, err
}
