package rdp

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy/numeric"
)

// Central moments against alternating sums in 60 and more digits (mpmath): s, l,
// log E[(P/Q-1)^l]. In floats the sum has no right digit left in half of the rows.
func TestCentralMoments(t *testing.T) {
	for _, c := range []struct {
		s    float64
		l    int
		want float64
	}{
		{0.1, 2, 99.99999999999999},
		{0.1, 4, 599.9999999999999},
		{0.1, 10, 4499.999999999999},
		{0.1, 32, 49599.99999999999},
		{0.1, 128, 812799.9999999999},
		{0.3, 2, 11.111096165660905},
		{0.3, 4, 66.66666666666666},
		{0.3, 10, 500.00000000000006},
		{0.3, 32, 5511.111111111111},
		{0.3, 128, 90311.11111111112},
		{0.7, 2, 1.901643211211953},
		{0.7, 4, 12.236296442362491},
		{0.7, 10, 91.83673458839942},
		{0.7, 32, 1012.2448979591838},
		{0.7, 128, 16587.755102040817},
		{1, 2, 0.5413248546129181},
		{1, 4, 5.818290038535158},
		{1, 10, 44.99876700058899},
		{1, 32, 495.9999999999989},
		{1, 128, 8128.0},
		{2, 2, -1.2586915494460322},
		{2, 4, -0.33150648080087225},
		{2, 10, 10.272459996023096},
		{2, 32, 123.98623932527126},
		{2, 128, 2031.999999999998},
		{5, 2, -3.1988091590904},
		{5, 4, -5.095149746922987},
		{5, 10, -6.571481679487023},
		{5, 32, 11.006097833802094},
		{5, 128, 324.3339507582815},
		{30, 2, -6.801839156328427},
		{30, 4, -12.499148167317372},
		{30, 10, -27.0363443734856},
		{30, 32, -66.66675207990723},
		{30, 128, -163.0986771482462},
		{100, 2, -9.210290371559516},
		{100, 4, -17.32143518665558},
		{100, 10, -39.18897004024985},
		{100, 32, -107.21103750786128},
		{100, 128, -335.90650275672704},
		{1000, 2, -13.815510057964232},
		{1000, 4, -26.532402493933578},
		{1000, 10, -62.22625203265877},
		{1000, 32, -181.2484215245777},
		{1000, 128, -637.0757437542836},
	} {
		if got := logCentralMoment(c.l, c.s); !(math.Abs(got-c.want) <= 1e-13*(1+math.Abs(c.want))) {
			t.Errorf("moment %d at s %v: log %.17g, want %.17g", c.l, c.s, got, c.want)
		}
	}
}

// Where the shortcut says that the moments cannot be the smaller bound, they are
// not: the two ways agree at every degree.
func TestMomentShortcut(t *testing.T) {
	for _, s := range []float64{0.2, 0.5, 1, 3, 10} {
		rho := 1 / (2 * s * s)
		skipped := 0
		for j := 3; j <= 200; j++ {
			k := float64(j)
			if k*numeric.Log1mExp(-(k-1)*rho) < -math.Ln2 {
				continue
			}
			skipped++
			raw := math.Ln2 + k*(k-1)*rho
			if b := math.Log(4) + (logCentralMoment(j/2*2, s)+logCentralMoment((j+1)/2*2, s))/2; b < raw {
				t.Errorf("s %v, degree %d: moments give log %v, below %v", s, j, b, raw)
			}
		}
		if s < 3 && skipped == 0 {
			t.Errorf("s %v: nothing is skipped", s)
		}
	}
}

// A walk from any order of the grid ends where looking at all of them does.
func TestWalkFindsTheMinimum(t *testing.T) {
	for _, c := range []struct{ q, s, steps, delta float64 }{
		{256.0 / 60000, 1.1, 14062, 1e-5}, {1e-5, 0.7, 1e6, 1e-8}, {0.3, 20, 10, 1e-6}, {0.01, 0.5, 1000, 1e-9}, {1, 4, 1, 1e-5}, {0.5, 0.3, 1e6, 1e-5}, {0.001, 60, 3, 1e-4},
	} {
		one, err := SampledGaussian(c.q, c.s)
		if err != nil {
			t.Fatal(err)
		}
		for _, conversion := range []Conversion{Classic, Tight} {
			for _, fixed := range []bool{true, false} {
				o := Options{Conversion: conversion, Fixed: fixed}
				s, err := newSearch(context.Background(), Times(one, int64(c.steps)), o, func(r, alpha float64) float64 { return epsilonAt(conversion, r, alpha, c.delta) })
				if err != nil {
					t.Fatal(err)
				}
				want := s.grid()
				for from := 0; from < len(s.orders); from += 7 {
					if _, got := s.walk(from); math.Abs(got.value-want.value) > 1e-14*math.Abs(want.value) {
						t.Errorf("%+v %s from order %v: %+v, by the whole grid %+v", c, conversion, s.orders[from], got, want)
					}
				}
			}
		}
	}
}

// The root finder on functions that secants dislike: a step, a plateau, a cliff
// to infinity, an error.
func TestRoot(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(x float64) float64
		want float64
	}{
		"straight":   {func(x float64) float64 { return 3 - 2*x }, 1.5},
		"flat below": {func(x float64) float64 { return math.Max(-1e-9, -1e-3*math.Expm1(x-2)) }, 2},
		"step":       {func(x float64) float64 { return math.Copysign(1, 0.3-x) }, 0.3},
		"cliff": {func(x float64) float64 {
			if x < -1 {
				return math.Inf(1)
			}
			return -0.5 - x
		}, -0.5},
		"zero beyond": {func(x float64) float64 {
			if x > 4 {
				return math.Inf(-1)
			}
			return 1
		}, 4},
	} {
		for _, start := range []float64{-30, 0, 25} {
			x, err := root(func(x float64) (float64, error) { return c.f(x), nil }, start)
			if err != nil || math.Abs(x-c.want) > 1e-9 || c.f(x) > 0 {
				t.Errorf("%s from %v: %v, %v, want %v", name, start, x, err, c.want)
			}
		}
	}
	if _, err := root(func(float64) (float64, error) { return 1, nil }, 0); !errors.Is(err, ErrUnreachable) {
		t.Errorf("no root: %v", err)
	}
	if x, err := root(func(float64) (float64, error) { return -1, nil }, 0); err == nil || !strings.Contains(err.Error(), "even the least noise") {
		t.Errorf("always within: %v, %v", x, err)
	}
	broken := errors.New("broken")
	if _, err := root(func(float64) (float64, error) { return 0, broken }, 0); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// Sums in logarithms, in any order of size.
func TestLogSum(t *testing.T) {
	s := newLogSum()
	if !math.IsInf(s.log(), -1) || s.log1p() != 0 {
		t.Errorf("nothing sums to %v, %v", s.log(), s.log1p())
	}
	for _, v := range []float64{-1000, math.Inf(-1), 700, 700, 699, -5} {
		s.add(v)
	}
	if want := 700 + math.Log(2+math.Exp(-1)); math.Abs(s.log()-want) > 1e-13*want || s.log1p() != s.log() {
		t.Errorf("sum %v, want %v", s.log(), want)
	}
	s.add(math.Inf(1))
	if !math.IsInf(s.log(), 1) {
		t.Errorf("with an infinite term: %v", s.log())
	}
}
