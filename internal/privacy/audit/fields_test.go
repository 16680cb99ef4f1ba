package audit_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

var (
	goodCount = audit.Count{Canaries: 10, Guesses: 8, Correct: 7}
	goodRates = audit.Rates{TruePositives: 9, Positives: 10, FalsePositives: 1, Negatives: 10}
	goodOpts  = audit.Options{Delta: 1e-5, Level: 0.05}
)

// withOptions are the functions that take Options.
var withOptions = map[string]func(audit.Options) (audit.Bound, error){
	"OneRun":    func(o audit.Options) (audit.Bound, error) { return audit.OneRun(goodCount, o) },
	"OneRunFDP": func(o audit.Options) (audit.Bound, error) { return audit.OneRunFDP(goodCount, o, accountant.Exact) },
	"TwoRun":    func(o audit.Options) (audit.Bound, error) { return audit.TwoRun(goodRates, o) },
	"TwoRunGDP": func(o audit.Options) (audit.Bound, error) { return audit.TwoRunGDP(goodRates, o, accountant.Exact) },
	"Best": func(o audit.Options) (audit.Bound, error) {
		_, b, err := audit.Best(tenCoins(), make([]float64, 10), []audit.Rule{{In: 4, Out: 4}, {In: 1, Out: 1}, {In: 1}, {Out: 1}}, o, audit.OneRun)
		return b, err
	},
}

func tenCoins() audit.Coins {
	coins, err := audit.NewCoins(rng.Seed(1).Stream("coins"), 10)
	if err != nil {
		panic(err)
	}
	return coins
}

// refused fails the test unless the error says what is wanted and no bound comes with it.
func refused(t *testing.T, name, want string, b audit.Bound, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || b != (audit.Bound{}) {
		t.Errorf("%s: %+v, %v, want it to say %q", name, b, err, want)
	}
}

// Every option out of its range, of every function that takes them; what two options
// are wrong in is said of both.
func TestOptionsOutOfRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	const most = 1 << 31
	for name, f := range withOptions {
		o := goodOpts
		if b, err := f(o); err != nil || b.Level != 0.05 || b.Delta != 1e-5 {
			t.Fatalf("%s: %+v, %v", name, b, err)
		}
		for _, v := range []float64{nan, inf, -inf, -5e-324, -1, 1, 1.5, 1e300} {
			o = goodOpts
			o.Delta = v
			b, err := f(o)
			refused(t, name, fmt.Sprintf("delta is %v", v), b, err)
		}
		for _, v := range []float64{nan, inf, -inf, 0, math.Copysign(0, -1), -0.05, 1, 95} {
			o = goodOpts
			o.Level = v
			b, err := f(o)
			refused(t, name, fmt.Sprintf("level is %v, want between 0 and 1", v), b, err)
		}
		for _, v := range []int64{-1, math.MinInt64, most + 1, math.MaxInt64} {
			o = goodOpts
			o.Copies = v
			b, err := f(o)
			refused(t, name, fmt.Sprintf("copies are %d", v), b, err)
		}
		// 2^62 tests by four rules are 0 in 64 bits: no correction at all.
		for _, v := range []int64{-1, math.MinInt64, most + 1, 1 << 62, 1<<63 - 1} {
			o = goodOpts
			o.Tests = v
			b, err := f(o)
			refused(t, name, "tests are", b, err)
		}
		b, err := f(audit.Options{Delta: 7, Level: 7})
		refused(t, name, "delta is 7", b, err)
		refused(t, name, "level is 7", b, err)
		one, err1 := f(audit.Options{Delta: 1e-5, Level: 0.05, Copies: 1, Tests: 1})
		none, err2 := f(goodOpts)
		if err := errors.Join(err1, err2); err != nil || one.Epsilon != none.Epsilon || one.Copies != none.Copies || one.Tests != none.Tests {
			t.Errorf("%s: no copies and tests: %+v, one of each: %+v, %v", name, none, one, err)
		}
	}
}

// Every count out of its range, of every function that takes one.
func TestCountsOutOfRange(t *testing.T) {
	const most = 1 << 31
	number := func(v float64, err error) (audit.Bound, error) { return audit.Bound{}, err }
	for _, c := range []struct {
		count audit.Count
		want  string
	}{
		{audit.Count{}, "canaries are 0"}, {audit.Count{Canaries: -1}, "canaries are -1"}, {audit.Count{Canaries: math.MinInt64}, "canaries are -9223372036854775808"},
		{audit.Count{Canaries: most + 1}, "canaries are 2147483649, want 1 to 2147483648"}, {audit.Count{Canaries: math.MaxInt64}, "canaries are 9"},
		{audit.Count{Canaries: 5, Guesses: -1}, "guesses are -1"}, {audit.Count{Canaries: 5, Guesses: 6}, "guesses are 6, want 0 to the 5 canaries"},
		{audit.Count{Canaries: 5, Guesses: math.MinInt64, Correct: math.MinInt64}, "guesses are -9"},
		{audit.Count{Canaries: 5, Guesses: 4, Correct: 5}, "correct guesses are 5, want 0 to the 4 guesses"}, {audit.Count{Canaries: 5, Guesses: 4, Correct: -1}, "correct guesses are -1"},
	} {
		for name, f := range map[string]func() (audit.Bound, error){
			"OneRun":        func() (audit.Bound, error) { return audit.OneRun(c.count, goodOpts) },
			"OneRunFDP":     func() (audit.Bound, error) { return audit.OneRunFDP(c.count, goodOpts, accountant.Exact) },
			"OneRunPValue":  func() (audit.Bound, error) { return number(audit.OneRunPValue(c.count, 1, 0)) },
			"OneRunEpsilon": func() (audit.Bound, error) { return number(audit.OneRunEpsilon(c.count, 0, 0.1)) },
			"OneRunMu":      func() (audit.Bound, error) { return number(audit.OneRunMu(c.count, 0.1)) },
			"OneRunRejects": func() (audit.Bound, error) {
				_, err := audit.OneRunRejects(c.count, audit.GaussianCurve(1), 0.1)
				return audit.Bound{}, err
			},
			"Validate": func() (audit.Bound, error) { return audit.Bound{}, c.count.Validate() },
		} {
			b, err := f()
			refused(t, name, c.want, b, err)
		}
	}
	for _, c := range []struct {
		rates audit.Rates
		want  string
	}{
		{audit.Rates{Negatives: 1}, "positives are 0"}, {audit.Rates{Positives: 1}, "negatives are 0"}, {audit.Rates{Positives: -3, Negatives: 1}, "positives are -3"},
		{audit.Rates{Positives: 1, Negatives: math.MaxInt64}, "negatives are 9223372036854775807"}, {audit.Rates{Positives: most + 1, Negatives: 1}, "positives are 2147483649"},
		{audit.Rates{Positives: 4, TruePositives: 5, Negatives: 1}, "5 of 4 positives"}, {audit.Rates{Positives: 4, Negatives: 2, FalsePositives: -1}, "-1 of 2 negatives"},
		{audit.Rates{Positives: 4, TruePositives: math.MinInt64, Negatives: 1}, "of 4 positives"},
	} {
		for name, f := range map[string]func() (audit.Bound, error){
			"TwoRun":           func() (audit.Bound, error) { return audit.TwoRun(c.rates, goodOpts) },
			"TwoRunGDP":        func() (audit.Bound, error) { return audit.TwoRunGDP(c.rates, goodOpts, accountant.Exact) },
			"TwoRunEpsilon":    func() (audit.Bound, error) { return number(audit.TwoRunEpsilon(c.rates, 0, 0.1)) },
			"TwoRunComplement": func() (audit.Bound, error) { return number(audit.TwoRunComplement(c.rates, 0, 0.1)) },
			"TwoRunMu":         func() (audit.Bound, error) { return number(audit.TwoRunMu(c.rates, 0.1)) },
			"Validate":         func() (audit.Bound, error) { return audit.Bound{}, c.rates.Validate() },
		} {
			b, err := f()
			refused(t, name, c.want, b, err)
		}
	}
}

// A conversion's own error can be told from outside, and its wild answers are not
// taken for bounds.
func TestConversionIsWrapped(t *testing.T) {
	own := errors.New("no such mu")
	for value, want := range map[float64]string{math.Inf(1): "is +Inf", -1e-300: "is -1e-300", math.NaN(): "is NaN"} {
		convert := func(float64, float64) (float64, error) { return value, nil }
		b, err := audit.OneRunFDP(goodCount, goodOpts, convert)
		refused(t, "one run", want, b, err)
		b, err = audit.TwoRunGDP(goodRates, goodOpts, convert)
		refused(t, "two runs", want, b, err)
	}
	fails := func(float64, float64) (float64, error) { return 3, own }
	for name, f := range map[string]func() (audit.Bound, error){
		"one run":  func() (audit.Bound, error) { return audit.OneRunFDP(goodCount, goodOpts, fails) },
		"two runs": func() (audit.Bound, error) { return audit.TwoRunGDP(goodRates, goodOpts, fails) },
		"best": func() (audit.Bound, error) {
			_, b, err := audit.Best(tenCoins(), make([]float64, 10), []audit.Rule{{}, {In: 1}}, goodOpts, func(c audit.Count, o audit.Options) (audit.Bound, error) { return audit.OneRunFDP(c, o, fails) })
			return b, err
		},
	} {
		b, err := f()
		refused(t, name, "no such mu", b, err)
		if !errors.Is(err, own) {
			t.Errorf("%s: %v does not wrap the conversion's error", name, err)
		}
	}
}

// The ends of what is allowed: smallest and largest levels, deltas and counts give
// finite bounds that do not fall with the level.
func TestEndsOfTheRanges(t *testing.T) {
	levels := []float64{1e-320, 1e-300, 1e-16, 0.5, 1 - 1e-15}
	for _, c := range []audit.Count{{Canaries: 1, Guesses: 1, Correct: 1}, {Canaries: 1}, {Canaries: 1 << 31, Guesses: 1, Correct: 1}, {Canaries: 100, Guesses: 100, Correct: 100}, {Canaries: 100, Guesses: 100}} {
		for _, d := range []float64{0, 5e-324, 0.999999} {
			last := 0.0
			for _, level := range levels {
				e, err := audit.OneRunEpsilon(c, d, level)
				if err != nil || !(e >= last) || math.IsInf(e, 1) {
					t.Errorf("%+v, delta %v, level %v: %v after %v, %v", c, d, level, e, last, err)
				}
				last = e
			}
		}
		for _, level := range levels {
			if mu, err := audit.OneRunMu(c, level); err != nil || !(mu >= 0 && mu < 100) {
				t.Errorf("%+v, level %v: mu %v, %v", c, level, mu, err)
			}
		}
	}
	for _, r := range []audit.Rates{{TruePositives: 1, Positives: 1, Negatives: 1}, {TruePositives: 1 << 31, Positives: 1 << 31, Negatives: 1 << 31}, {Positives: 7, FalsePositives: 9, Negatives: 9}} {
		last := 0.0
		for _, level := range levels {
			b, err := audit.TwoRun(r, audit.Options{Level: level})
			if err != nil || !(b.Epsilon >= last) || math.IsInf(b.Epsilon, 1) || b.Epsilon > b.Ceiling {
				t.Errorf("%+v, level %v: %+v after %v, %v", r, level, b, last, err)
			}
			last = b.Epsilon
			if mu, err := audit.TwoRunMu(r, level); err != nil || !(mu >= 0 && mu < 100) {
				t.Errorf("%+v, level %v: mu %v, %v", r, level, mu, err)
			}
		}
	}
}
