package audit

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy/accountant"
)

// Every wrong argument is an error that names it, and no number comes with it.
func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good, rates := Count{10, 5, 3}, Rates{5, 10, 1, 10}
	o := Options{Delta: 1e-5, Level: 0.05}
	with := func(f func(*Options)) Options { o := o; f(&o); return o }
	broken := func(float64, float64) (float64, error) { return 0, errors.New("broken") }
	mad := func(float64, float64) (float64, error) { return nan, nil }
	first := func(v float64, err error) (any, error) { return v, err }
	bound := func(b Bound, err error) (any, error) { return b.Epsilon, err }
	for _, c := range []struct {
		want string
		call func() (any, error)
	}{
		{"canaries are 0", func() (any, error) { return first(OneRunPValue(Count{}, 1, 0)) }},
		{"guesses are 11", func() (any, error) { return first(OneRunPValue(Count{10, 11, 3}, 1, 0)) }},
		{"guesses are -1", func() (any, error) { return first(OneRunEpsilon(Count{10, -1, 0}, 0, 0.1)) }},
		{"correct guesses are 6", func() (any, error) { return first(OneRunMu(Count{10, 5, 6}, 0.1)) }},
		{"correct guesses are -1", func() (any, error) { return bound(OneRun(Count{10, 5, -1}, o)) }},
		{"canaries are", func() (any, error) { return bound(fdp(Count{1 << 40, 1, 1}, o)) }},
		{"epsilon is NaN", func() (any, error) { return first(OneRunPValue(good, nan, 0)) }},
		{"epsilon is -1", func() (any, error) { return first(OneRunPValue(good, -1, 0)) }},
		{"epsilon is +Inf", func() (any, error) { return first(OneRunPValue(good, inf, 0)) }},
		{"delta is NaN", func() (any, error) { return first(OneRunPValue(good, 1, nan)) }},
		{"delta is 1", func() (any, error) { return first(OneRunEpsilon(good, 1, 0.05)) }},
		{"delta is -1", func() (any, error) { return first(TwoRunEpsilon(rates, -1, 0.05)) }},
		{"delta is 2", func() (any, error) { return first(TwoRunComplement(rates, 2, 0.05)) }},
		{"delta is NaN", func() (any, error) { return bound(OneRun(good, with(func(o *Options) { o.Delta = nan }))) }},
		{"level is 0", func() (any, error) { return first(OneRunEpsilon(good, 0, 0)) }},
		{"level is 1", func() (any, error) { return first(OneRunMu(good, 1)) }},
		{"level is NaN", func() (any, error) { return first(LowerBound(1, 2, nan)) }},
		{"level is 2", func() (any, error) { return first(UpperBound(1, 2, 2)) }},
		{"level is 0", func() (any, error) { return bound(TwoRun(rates, with(func(o *Options) { o.Level = 0 }))) }},
		{"3 successes of 2", func() (any, error) { return first(LowerBound(3, 2, 0.1)) }},
		{"-1 successes", func() (any, error) { return first(UpperBound(-1, 2, 0.1)) }},
		{"0 successes of 0", func() (any, error) { return first(UpperBound(0, 0, 0.1)) }},
		{"positives are 0", func() (any, error) { return first(TwoRunEpsilon(Rates{0, 0, 0, 5}, 0, 0.1)) }},
		{"positives are 0", func() (any, error) { return first(TwoRunMu(Rates{0, 0, 0, 5}, 0.1)) }},
		{"negatives are -2", func() (any, error) { return first(TwoRunComplement(Rates{0, 1, 0, -2}, 0, 0.1)) }},
		{"6 of 5 negatives", func() (any, error) { return bound(TwoRunGDP(Rates{0, 1, 6, 5}, o, accountant.Exact)) }},
		{"copies are -1", func() (any, error) { return bound(OneRun(good, with(func(o *Options) { o.Copies = -1 }))) }},
		{"tests are -1", func() (any, error) { return bound(TwoRun(rates, with(func(o *Options) { o.Tests = -1 }))) }},
		{"above 0", func() (any, error) { return bound(fdp(good, with(func(o *Options) { o.Delta = 0 }))) }},
		{"above 0", func() (any, error) {
			return bound(TwoRunGDP(rates, with(func(o *Options) { o.Delta = 0 }), accountant.Exact))
		}},
		{"no conversion", func() (any, error) { return bound(OneRunFDP(good, o, nil)) }},
		{"broken", func() (any, error) { return bound(OneRunFDP(good, o, broken)) }},
		{"broken", func() (any, error) { return bound(TwoRunGDP(rates, o, broken)) }},
		{"is NaN", func() (any, error) { return bound(TwoRunGDP(rates, o, mad)) }},
	} {
		got, err := c.call()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
		if v := got.(float64); v != 0 && v != 1 {
			t.Errorf("%s: the error comes with %v", c.want, v)
		}
	}
	if _, err := OneRunRejects(good, nil, 0.1); err == nil {
		t.Error("no curve accepted")
	}
	if _, err := OneRunRejects(good, GaussianCurve(1), 0); err == nil {
		t.Error("level 0 accepted")
	}
}
