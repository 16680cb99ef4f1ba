package classic

import (
	"math"
	"strings"
	"testing"
)

// Every wrong argument is an error that names it, and no number comes with it.
func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	pure := []Term{{1, 0, 1}}
	two := func(a, b float64, err error) (float64, error) { return a + b, err }
	for _, c := range []struct {
		want string
		call func() (float64, error)
	}{
		{"epsilon is NaN", func() (float64, error) { return two(Basic(nan, 0, 1)) }},
		{"epsilon is -1", func() (float64, error) { return two(Basic(-1, 0, 1)) }},
		{"delta is 2", func() (float64, error) { return two(Basic(1, 2, 1)) }},
		{"count is 0", func() (float64, error) { return two(Basic(1, 0, 0)) }},
		{"overflows", func() (float64, error) { return two(Basic(1e300, 0, 1<<50)) }},
		{"epsilon is +Inf", func() (float64, error) { return Advanced(inf, 1, 0.1) }},
		{"slack is 0", func() (float64, error) { return Advanced(1, 1, 0) }},
		{"slack is 1", func() (float64, error) { return AdvancedTight(1, 1, 1) }},
		{"count is -3", func() (float64, error) { return AdvancedTight(1, -3, 0.1) }},
		{"overflows", func() (float64, error) { return Advanced(800, 1, 0.1) }},
		{"no terms", func() (float64, error) { return two(AdvancedAny(nil, 0.1)) }},
		{"term 1: delta is -1", func() (float64, error) { return two(AdvancedAny([]Term{{1, 0, 1}, {1, -1, 1}}, 0.1)) }},
		{"slack is NaN", func() (float64, error) { return two(AdvancedAny(pure, nan)) }},
		{"overflows", func() (float64, error) { return two(AdvancedAny([]Term{{1e300, 0, 1 << 50}}, 0.1)) }},
		{"no terms", func() (float64, error) { return KFoldDelta(nil, 1) }},
		{"epsilon is NaN", func() (float64, error) { return KFoldDelta(pure, nan) }},
		{"term 0: epsilon is NaN", func() (float64, error) { return KFoldEpsilon([]Term{{nan, 0, 1}}, 0.1) }},
		{"delta is 1", func() (float64, error) { return KFoldEpsilon(pure, 1) }},
		{"delta is NaN", func() (float64, error) { return KFoldEpsilon(pure, nan) }},
		{"outcomes", func() (float64, error) { return KFoldEpsilon([]Term{{1, 0, 1 << 22}, {2, 0, 1 << 22}}, 0.1) }},
		{"outcomes", func() (float64, error) { return KFoldDelta([]Term{{1, 0, 1 << 22}, {2, 0, 1 << 22}}, 0.1) }},
		{"counts add up", func() (float64, error) { return KFoldDelta([]Term{{1, 0, 1 << 53}, {1, 1e-9, 1}}, 0.1) }},
		{"overflows", func() (float64, error) { return KFoldDelta([]Term{{1e300, 0, 1 << 50}}, 0.1) }},
		{"rate is 1.5", func() (float64, error) { return two(AmplifyPoisson(1.5, 1, 0)) }},
		{"rate is NaN", func() (float64, error) { return two(AmplifyPoisson(nan, 1, 0)) }},
		{"epsilon is -1", func() (float64, error) { return two(AmplifyPoisson(0.5, -1, 0)) }},
		{"delta is 3", func() (float64, error) { return two(AmplifyPoisson(0.5, 1, 3)) }},
		{"3 of 2 units", func() (float64, error) { return two(AmplifyWithoutReplacement(3, 2, 1, 0)) }},
		{"0 of 0 units", func() (float64, error) { return two(AmplifyWithoutReplacement(0, 0, 1, 0)) }},
		{"epsilon is", func() (float64, error) { return PureToZCDP(-1) }},
	} {
		got, err := c.call()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
		if got != 0 {
			t.Errorf("%s: the error comes with %v", c.want, got)
		}
	}
}
