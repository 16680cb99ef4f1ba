package goldentest

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/reference"
)

// defect is a mistake that was found in another library, what shows that this one
// does not make it, and the tests of the packages that look at it more closely.
type defect struct {
	where, what string
	shows       func(t *testing.T)
	tests       []string // "folder Test", below internal/privacy
}

// TestDefectsOfReferences walks through all defects that are known of other
// accountants, samplers and calibrations.
func TestDefectsOfReferences(t *testing.T) {
	for _, d := range defects() {
		t.Run(strings.ReplaceAll(d.where+", "+d.what, " ", "-"), func(t *testing.T) {
			if d.shows == nil && len(d.tests) == 0 {
				t.Fatal("nothing shows it")
			}
			if d.shows != nil {
				d.shows(t)
			}
			for _, at := range d.tests {
				folder, name, _ := strings.Cut(at, " ")
				if !has(t, filepath.Join("..", filepath.FromSlash(folder)), name) {
					t.Errorf("there is no %s in %s", name, folder)
				}
			}
		})
	}
}

// has tells whether a folder has a test of a name.
func has(t *testing.T, folder, name string) bool {
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T) {") {
			return true
		}
	}
	return false
}

func TestNamedTestsAreLookedUp(t *testing.T) {
	if !has(t, ".", "TestDefectsOfReferences") || has(t, ".", "TestDefectsOfReference") || has(t, filepath.Join("..", "nowhere"), "TestGoldens") {
		t.Error("a test that is there is not found, or one that is not is")
	}
}

// within fails unless the value is near the right one and nowhere near the wrong one.
func within(t *testing.T, by string, got, want, wrong, tolerance float64) {
	t.Helper()
	if math.Abs(wrong-want) < 3*tolerance {
		t.Fatalf("%s: %v cannot be told from %v", by, wrong, want)
	}
	if !(math.Abs(got-want) <= tolerance) || math.Abs(got-wrong) <= tolerance {
		t.Errorf("%s: %v, want %v; %v is wrong", by, got, want, wrong)
	}
}

// is returns a value, or fails the test.
func is[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// spent charges an event to an account of a method.
func spent(t *testing.T, m accountant.Method, e privacy.Event, n privacy.Neighbouring, count int64, delta float64) float64 {
	t.Helper()
	a := is(accountant.New(m, privacy.User, n))(t)
	if err := a.Charge(e, count); err != nil {
		t.Fatalf("%s: %v", m, err)
	}
	return is(a.Spent(delta))(t).Epsilon
}

// bracketed asks for both the exact epsilon and its certified bracket.
func bracketed(t *testing.T, ts []terms.Term, delta float64) (v exact.Value, b pld.Bounds) {
	t.Helper()
	v, b = is(exact.Epsilon(context.Background(), ts, delta))(t), is(pld.Bracket(context.Background(), ts, delta, pld.Options{}))(t)
	if v.Epsilon < b.Lower || v.Epsilon-v.Error > b.Upper {
		t.Errorf("exact %v is outside of %v to %v", v.Epsilon, b.Lower, b.Upper)
	}
	return v, b
}

const mnist = 256. / 60000

func defects() []defect {
	return []defect{
		{"dp_accounting RDP", "exponential mechanism without its count", func(t *testing.T) {
			e := privacy.Exponential{Epsilon: 1, Unit: privacy.User, Neighbouring: privacy.Replace}
			c := is(rdp.Total(is(flat(privacy.SelfComposed{Event: e, Count: 100}, privacy.Replace))(t)))(t)
			o := rdp.Options{Orders: rdp.DPAccounting(), Fixed: true, Conversion: rdp.Tight}
			within(t, "rdp", is(rdp.Epsilon(context.Background(), c, 1e-6, o))(t).Epsilon, 37.26, 1.006, 0.01)
		}, []string{"accountant/rdp TestGoldenRelationsAndCounts", "accountant/rdp TestCountIsHonoured", "accountant TestCountIsHonoured"}},
		{"dp_accounting PLD", "randomised response without its count", func(t *testing.T) {
			e := privacy.RandomizedResponse{Epsilon: math.Log(3), Categories: 2, Unit: privacy.User} // uniform half of the time
			ts := is(flat(privacy.SelfComposed{Event: e, Count: 50}, privacy.Replace))(t)
			v, b := bracketed(t, ts, 1e-6)
			within(t, "exact", v.Epsilon, 52.68, 1.099, 0.01)
			within(t, "pld", b.Upper, 52.68, 1.099, 0.01)
			within(t, "k-fold", reference.KFoldEpsilon([]reference.Guarantee{{Epsilon: math.Log(3), Count: 50}},
				1e-6), 52.68, 1.099, 0.01)
		}, []string{"accountant/pld TestGoldenCountsAndRelations", "accountant/exact TestPureAgainstKFold"}},
		{"dp_accounting RDP against PLD", "replaced record moves a sum once", func(t *testing.T) {
			e := privacy.Gaussian{Sigma: 2, Sensitivity: 2, Unit: privacy.User, Neighbouring: privacy.Replace} // a sum clipped at 1
			for _, m := range accountant.Methods() {
				tolerance, at := 1e-4, 4.37718
				if m == accountant.RDP { // a bound, a little above
					tolerance, at = 0.2, 4.55
				}
				within(t, string(m), spent(t, m, e, privacy.Replace, 1, 1e-5), at, 2.166, tolerance)
			}
		}, []string{"accountant TestReplace", "accountant/exact TestGoldenRelations", "accountant/rdp TestSampledTerms"}},
		{"dp_accounting RDP", "signs of the fractional series", func(t *testing.T) {
			for _, c := range []struct{ q, s, alpha float64 }{{0.01, 1, 1.5}, {0.01, 4, 1.5}, {0.25, 4, 1.2}, {0.1, 0.6, 1.1}} {
				got, want := is(rdp.SampledGaussian(c.q, c.s))(t)(c.alpha), moment(c.q, c.s, c.alpha)
				if !(math.Abs(got-want) <= 1e-9*want) {
					t.Errorf("%+v: %v, want %v", c, got, want)
				}
			}
		}, []string{"accountant/rdp TestFractionalOrdersKeepTheirSigns", "accountant/rdp TestSampledGaussianReference"}},
		{"dp_accounting PLD", "mass out of rounding at fine meshes", func(t *testing.T) {
			ts := poissonGaussian(mnist, 1.1, 234000)
			within(t, "exact, add", is(exact.EpsilonIn(context.Background(), exact.Add, ts, 1e-5))(t).Epsilon, 11.93983, 12.115, 1e-4)
			last := math.Inf(1)
			for _, bins := range []int{1 << 14, 1 << 16, 1 << 18} { // finer never is worse
				b := is(pld.Bracket(context.Background(), ts, 1e-5, pld.Options{Bins: bins}))(t)
				if b.Upper > last*(1+1e-9) || b.Upper < b.Lower {
					t.Errorf("%d bins: %+v after %v", bins, b, last)
				}
				last = b.Upper
			}
		}, []string{"accountant/pld TestNoMassAtFineMeshes", "accountant/pld TestChecks"}},
		{"dp_accounting PLD", "mesh coarser than the loss of a step", func(t *testing.T) {
			// Rows of pld_eps.json, which TestGoldens holds to the same brackets.
			b := is(pld.Bracket(context.Background(), poissonGaussian(1e-5, 0.7, 1_000_000), 1e-8, pld.Options{}))(t)
			within(t, "rare events, pld", b.Upper, 0.12697, 0.178, 3e-3)
			v, b := bracketed(t, poissonGaussian(mnist, 4, 234000), 1e-5)
			within(t, "quiet steps, exact", v.Epsilon, 2.10302, 2.265, 2e-5)
			within(t, "quiet steps, pld", b.Upper, 2.10302, 2.265, 1e-3)
		}, []string{"accountant/pld TestGoldenEpsilon", "accountant/pld TestBinsOfManyReleases"}},
		{"dp_accounting WOR", "forward differences cancel", func(t *testing.T) {
			for _, c := range []struct {
				s     float64
				alpha int64
			}{{25, 128}, {30, 128}, {30, 256}} {
				got, want := is(rdp.WithoutReplacementGaussian(0.01, c.s))(t)(float64(c.alpha)), theorem27(0.01, c.s, c.alpha)
				if !(math.Abs(got-want) <= 1e-9*want) {
					t.Errorf("%+v: %v, want %v", c, got, want)
				}
			}
		}, []string{"accountant/rdp TestWithoutReplacementDoesNotCancel", "accountant/rdp TestWithoutReplacementGaussianReference"}},
		{"Opacus RDP", "no orders beyond 1029 and negative epsilons", func(t *testing.T) {
			curve := is(rdp.SampledGaussian(1e-4, 30))(t)
			for _, alpha := range []float64{1029, 1030, 2000} {
				if got, want := curve(alpha), moment(1e-4, 30, alpha); !(math.Abs(got-want) <= 1e-8*want) {
					t.Errorf("order %v: %v, want %v", alpha, got, want)
				}
			}
			if p := is(rdp.Epsilon(context.Background(), is(rdp.Gaussian(1e6, 1))(t), 0.9, rdp.Options{Orders: []float64{1.5}, Fixed: true}))(t); p.Epsilon < 0 {
				t.Errorf("epsilon %v", p.Epsilon)
			}
		}, []string{"accountant/rdp TestHighOrdersAndClamps"}},
		{"Opacus and prv_accountant PRV", "errors of the mean times the steps, one direction", func(t *testing.T) {
			for _, steps := range []int64{200_000, 1_000_000} {
				ts := poissonGaussian(1e-3, 2, steps)
				v, b := bracketed(t, ts, 1e-6)
				if b.Upper-b.Lower > 2e-4 || v.Error > 1e-9 { // theirs scatter by 2e-4
					t.Errorf("%d steps: exact %+v, %v to %v", steps, v, b.Lower, b.Upper)
				}
				remove, add := is(exact.EpsilonIn(context.Background(), exact.Remove, ts, 1e-6))(t), is(exact.EpsilonIn(context.Background(), exact.Add, ts, 1e-6))(t)
				if remove.Epsilon == add.Epsilon || math.Abs(v.Epsilon-max(remove.Epsilon, add.Epsilon)) > v.Error+1e-9 {
					t.Errorf("%d steps: %v, remove %v, add %v", steps, v, remove, add)
				}
			}
		}, []string{"accountant/exact TestDirectionsAreDual", "accountant/pld TestPrunedDirections"}},
		{"prv_accountant", "pure privacy as (alpha-1) epsilon by alpha", func(t *testing.T) {
			curve := is(rdp.PureDP(1))(t)
			p := math.E / (1 + math.E)
			within(t, "rdp.PureDP", curve(2), math.Log(p*p/(1-p)+(1-p)*(1-p)/p), 0.5, 1e-12)
			within(t, "at order 1", curve(1), 2*p-1, 0, 1e-12) // Kullback and Leibler's, not 0
		}, []string{"accountant/rdp TestRandomizedResponseReference"}},
		{"any PRV", "atoms on a mesh", func(t *testing.T) {
			ts := release(privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1, 1, privacy.AddRemove)
			want := 1 + 2*math.Log1p(-1e-3) // delta = 1 - e^((epsilon-1)/2)
			v, b := bracketed(t, ts, 1e-3)
			within(t, "exact", v.Epsilon, want, want-8.7e-4, 1e-9)
			if b.Lower > want || b.Upper < want || b.Upper-b.Lower > 1e-4 {
				t.Errorf("%v to %v, want around %v", b.Lower, b.Upper, want)
			}
		}, []string{"accountant/pld TestAtoms", "accountant/pld TestGoldenAtoms", "accountant/pld TestResponseBinomial"}},
		{"autodp", "integer table with a factor 1-q too much", func(t *testing.T) {
			got := is(rdp.SampledGaussian(0.1, 1))(t)(2)
			within(t, "rdp.SampledGaussian", got, math.Log1p(0.01*math.Expm1(1)), 0.01436, 1e-15) // (1-q)² + 2q(1-q) + q² e
		}, []string{"accountant/rdp TestSampledGaussianFiniteSum", "accountant/rdp TestKnownWrongPoints"}},
		{"autodp and Balle-Wang", "absolute tolerance on delta", func(t *testing.T) {
			for _, c := range []struct{ epsilon, delta float64 }{{20, 1e-9}, {20, 1e-12}, {1, 1e-12}, {50, 1e-100}} {
				sigma := is(accountant.SigmaFor(1, c.epsilon, c.delta))(t)
				if d := stick(1/sigma, c.epsilon); !(math.Abs(d-c.delta) <= 1e-7*c.delta) {
					t.Errorf("%+v: sigma %v has delta %v", c, sigma, d)
				}
				if d := stick(1/(0.957*sigma), c.epsilon); d < 1.5*c.delta { // the noise that they give
					t.Errorf("%+v: 4.3 %% less noise has delta %v: the integral does not tell", c, d)
				}
			}
		}, []string{"accountant TestDeltaAgainstIntegration", "accountant TestExtremeGaussians"}},
		{"Opacus GDP", "the limit theorem as a bound", func(t *testing.T) {
			const q, s, steps, delta = 0.01, 1.0, 1000, 1e-5
			limit := is(accountant.Exact(accountant.CLTMuPoisson(q, s, steps), delta))(t)
			sampled := privacy.Sampled{Rate: q, Method: privacy.Poisson, Event: privacy.Gaussian{Sigma: s, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}}
			v, b := bracketed(t, poissonGaussian(q, s, steps), delta)
			if !(limit < b.Lower-0.05) {
				t.Fatalf("the limit %v is not below %v: this setting shows nothing", limit, b.Lower)
			}
			for _, m := range accountant.Methods() {
				if m == accountant.Analytic {
					continue // refuses samples
				}
				if got := spent(t, m, sampled, privacy.AddRemove, steps, delta); got < v.Epsilon-v.Error-1e-12 {
					t.Errorf("%s: %v is below the exact %v", m, got, v.Epsilon)
				}
			}
		}, []string{"accountant/exact TestAboveTheLimitTheorem", "accountant TestCLTLimits"}},
		{"go noise", "sigma to a thousandth", func(t *testing.T) {
			for _, c := range []struct{ epsilon, delta float64 }{{0.1, 1e-5}, {1, 1e-5}, {10, 1e-8}} {
				sigma := is(accountant.SigmaFor(3, c.epsilon, c.delta))(t)
				enough, less := accountant.Delta(3/sigma, c.epsilon), accountant.Delta(3/(sigma*(1-1e-9)), c.epsilon)
				if enough > c.delta || less <= c.delta {
					t.Errorf("%+v: sigma %v has delta %v, a billionth less of it %v", c, sigma, enough, less)
				}
			}
		}, []string{"accountant TestCalibrateFindsTheInverse"}},
		{"go rand.Normal", "a support that tells the value", nil, []string{"mechanism/secure TestSupportAttackOnResearchNoise", "mechanism/secure TestSupportAttackOnSecureNoise", "mechanism/secure TestSecureNoiseHasOneGrid"}},
	}
}
