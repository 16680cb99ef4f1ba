package stream

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/correlated"
	"privrec/internal/private/release"
)

// numberOf returns the number that a strategy of small tests has.
func numberOf(name string, steps int) int {
	switch name {
	case correlated.NameBuffered:
		return 3
	case correlated.NameBanded:
		return min(steps, 8)
	}
	return 0
}

// small returns the settings of a small stream.
func small(t testing.TB, name string, steps int, secure bool) Settings {
	t.Helper()
	s := Settings{Epsilon: 1, Delta: 1e-6, Horizon: steps, Counts: 0.1, Items: 3, CountItems: 2, Expected: 2,
		Secure: secure, Seed: 1}
	var err error
	if s.Design, err = Design(name, steps, numberOf(name, steps), secure); err != nil {
		t.Fatal(err)
	}
	return s
}

// All releases of a stream together come to the settings' epsilon and not above it, by the accountant, and but for
// secure noise by the sum of their squared mu, without it.
func TestTermsSpendEpsilon(t *testing.T) {
	for _, of := range []struct {
		name   string
		secure bool
	}{{"blt", false}, {"banded", false}, {"tree", false}, {"composed", false}, {"banded", true}} {
		for _, steps := range []int{1, 7, 365} {
			s := small(t, of.name, steps, of.secure)
			for _, epsilon := range []float64{0.1, 0.5, 1, 3, 8, 20} {
				for _, start := range []float64{0, 0.05} {
					what := fmt.Sprintf("%v, %d steps, epsilon %v, start %v", of, steps, epsilon, start)
					s.Epsilon, s.Start = epsilon, start
					terms, err := s.Terms()
					if err != nil {
						t.Fatal(what, err)
					}
					if n := len(terms.Entries); n != 2 && start == 0 || n != 3 && start > 0 {
						t.Errorf("%s: %d releases", what, n)
					}
					methods := []accountant.Method{accountant.Contour}
					if s.Secure {
						methods = append(methods, accountant.RDP)
					}
					for _, m := range methods {
						a, err := accountant.New(m, release.About.Unit, release.About.Neighbouring)
						if err != nil {
							t.Fatal(err)
						}
						spent, err := accountant.Covered(a, terms.Entries, s.Delta)
						if err != nil || !(spent.Epsilon <= epsilon && spent.Epsilon >= epsilon*(1-1e-6)) {
							t.Errorf("%s: %s says %v (%v)", what, m, spent.Epsilon, err)
						}
					}
					strategy, err := s.Design.Strategy()
					if err != nil {
						t.Fatal(err)
					}
					reach, err := strategy.Sensitivity(once)
					if err != nil {
						t.Fatal(err)
					}
					if want := math.Sqrt(2); math.Abs(terms.Counts.Norm-want) > 1e-12 || terms.Matrix.Norm != 1 {
						t.Errorf("%s: norms %v and %v", what, terms.Counts.Norm, terms.Matrix.Norm)
					}
					mu2 := math.Pow(reach*terms.Counts.Norm/terms.Counts.Deviation, 2) +
						math.Pow(reach/terms.Matrix.Deviation, 2)
					if start > 0 {
						mu2 += math.Pow(terms.Start.Multiplier, -2)
					}
					exact, err := accountant.Exact(math.Sqrt(mu2), s.Delta)
					if err != nil || exact > epsilon || exact < epsilon*(1-1e-6) && !s.Secure {
						t.Errorf("%s: normal noise of these deviations has epsilon %v (%v)", what, exact, err)
					}
				}
			}
		}
	}
}

// At says what a generator makes: the squares of the noise of each sum, a unit in one coordinate of z after the other.
func TestNoiseAt(t *testing.T) {
	const steps = 20
	for _, of := range []struct {
		name   string
		secure bool
	}{{"blt", false}, {"banded", false}, {"composed", false}, {"banded", true}} {
		s := small(t, of.name, steps, of.secure)
		terms, err := s.Terms()
		if err != nil {
			t.Fatal(err)
		}
		strategy, err := s.Design.Strategy()
		if err != nil {
			t.Fatal(err)
		}
		g, err := strategy.Generator(correlated.State{Width: steps})
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]float64, steps)
		for step := 1; step <= steps; step++ {
			row := make([]float64, steps)
			row[step-1] = 1
			if err := g.Next(row); err != nil {
				t.Fatal(err)
			}
			square := 0.0
			for j := range sums {
				sums[j] += row[j]
				square += sums[j] * sums[j]
			}
			for _, n := range []Noise{terms.Counts, terms.Matrix} {
				want := math.Sqrt(square) * n.Deviation
				if got, err := n.At(step); err != nil || math.Abs(got/want-1) > 1e-12 {
					t.Errorf("%v, step %d of %s: %v (%v), want %v", of, step, n.Purpose, got, err, want)
				}
			}
		}
		if _, err := terms.Matrix.At(0); err == nil {
			t.Errorf("%v: step 0", of)
		}
	}
}

func TestRefusedSettings(t *testing.T) {
	good := small(t, "blt", 7, false)
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *Settings){
		"epsilon is 0,":               func(s *Settings) { s.Epsilon = 0 },
		"epsilon is NaN":              func(s *Settings) { s.Epsilon = math.NaN() },
		"delta is 0.5":                func(s *Settings) { s.Delta = 0.5 },
		"horizon is 0":                func(s *Settings) { s.Horizon = 0 },
		"horizon is 10001":            func(s *Settings) { s.Horizon = correlated.MaxHorizon + 1 },
		"counts is 0,":                func(s *Settings) { s.Counts = 0 },
		"counts is 1,":                func(s *Settings) { s.Counts = 1 },
		"start is -0.1":               func(s *Settings) { s.Start = -0.1 },
		"start is 1e-09, want 0":      func(s *Settings) { s.Start = 1e-9 },
		"leaves nothing for the":      func(s *Settings) { s.Start = 0.9 },
		"items is 0":                  func(s *Settings) { s.Items = 0 },
		"count-items is 0":            func(s *Settings) { s.CountItems = 0 },
		"expected is 0":               func(s *Settings) { s.Expected = 0 },
		"has 7 steps, want 8":         func(s *Settings) { s.Horizon = 8 },
		"strategy blt has no secure":  func(s *Settings) { s.Secure = true },
		"entry 2 of the strategy is ": func(s *Settings) { s.Secure, s.Design = true, toeplitz("[1,0.3]") },
		"unknown strategy":            func(s *Settings) { s.Design.Name = "wavelet" },
	} {
		s := good
		if change(&s); s.Check() == nil || !strings.Contains(s.Check().Error(), want) {
			t.Errorf("%v, want %q", s.Check(), want)
		}
	}
	for _, d := range []struct {
		name          string
		steps, number int
		secure        bool
		want          string
	}{{"blt", 7, 0, false, "buffers"}, {"blt", 7, 3, true, "no secure form"},
		{"composed", 7, 0, true, "no secure form"}, {"banded", 7, 8, false, "8 bands"},
		{"banded", 7, 8, true, "8 bands"}, {"wavelet", 7, 0, false, "unknown strategy"},
		{"banded", 0, 0, false, "0 steps"}, {"tree", 20000, 0, false, "20000 steps"}} {
		if _, err := Design(d.name, d.steps, d.number, d.secure); err == nil || !strings.Contains(err.Error(), d.want) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// toeplitz returns a design of 7 steps.
func toeplitz(column correlated.Numbers) correlated.Design {
	return correlated.Design{Name: correlated.NameToeplitz, Steps: 7, Column: column}
}

// An event is alike one of another machine, and not alike another one.
func TestAlike(t *testing.T) {
	e := privacy.CorrelatedGaussian{NoiseMultiplier: 7, Sensitivity: 1.5, Participation: once, Unit: privacy.User,
		Neighbouring: privacy.AddRemove, Design: correlated.Design{Name: correlated.NameBanded, Steps: 9, Bands: 3}}
	for want, change := range map[string]func(x *privacy.CorrelatedGaussian){
		"same":      func(*privacy.CorrelatedGaussian) {},
		"same, too": func(x *privacy.CorrelatedGaussian) { x.NoiseMultiplier *= 1 + 1e-12 },
		"less":      func(x *privacy.CorrelatedGaussian) { x.NoiseMultiplier *= 1 - 1e-6 },
		"bands":     func(x *privacy.CorrelatedGaussian) { x.Bands++ },
		"unit":      func(x *privacy.CorrelatedGaussian) { x.Unit = privacy.Record },
	} {
		x := e
		change(&x)
		if got := alike(x, e); got != strings.HasPrefix(want, "same") {
			t.Errorf("%s: %v", want, got)
		}
	}
}
