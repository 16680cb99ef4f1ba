package goldentest

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/privacy/reference"
)

// randomisers are local randomisers and integer noise.
func randomisers() map[string]answers {
	oracle := func(r *row) local.Oracle {
		return local.Oracle{Kind: local.OracleKind(strings.ToLower(r.text("oracle"))), Epsilon: r.num("eps"), Categories: int(r.or("k", 2))}
	}
	// oracles asks the oracle, and the mechanism that it is made of.
	oracles := func(name string, law func(m local.Oracle, r *row) float64, grr func(m local.Response, r *row) float64, oue func(m local.UnaryEncoding, r *row) float64) answers {
		return func(r *row) ([]answer, error) {
			m := oracle(r)
			list := []answer{{by: "local.Oracle." + name, got: law(m, r)}}
			switch {
			case m.Kind == local.GRR && grr != nil:
				list = append(list, answer{by: "local.Response", got: grr(local.Response{Epsilon: m.Epsilon, Categories: int64(m.Categories)}, r)})
			case m.Kind == local.OUE && oue != nil:
				list = append(list, answer{by: "local.UnaryEncoding", got: oue(local.UnaryEncoding{Epsilon: m.Epsilon}, r)})
			}
			return list, nil
		}
	}
	pm := func(r *row) local.Piecewise { return local.Piecewise{Epsilon: r.num("eps")} }
	piecewise := func(by string, f func(m local.Piecewise, r *row) float64) answers {
		return plain("local.Piecewise."+by, func(r *row) float64 { return f(pm(r), r) })
	}
	gauss := func(r *row) secure.DiscreteGaussianLaw {
		return secure.DiscreteGaussianLaw{Sigma: math.Sqrt(r.num("sigma2"))}
	}
	return map[string]answers{
		"FOParamP": oracles("P", func(m local.Oracle, _ *row) float64 { return m.P() },
			func(m local.Response, _ *row) float64 { return m.Keep() }, func(m local.UnaryEncoding, _ *row) float64 { return m.P() }),
		"FOParamQ": oracles("Q", func(m local.Oracle, _ *row) float64 { return m.Q() },
			func(m local.Response, _ *row) float64 { return m.Other() }, func(m local.UnaryEncoding, _ *row) float64 { return m.Q() }),
		"FOVariance": oracles("FrequencyVariance", func(m local.Oracle, r *row) float64 { return m.FrequencyVariance(r.num("n"), r.num("f")) },
			nil, func(m local.UnaryEncoding, r *row) float64 { return m.FrequencyVariance(r.num("n"), r.num("f")) }),
		"KRRDelta": func(r *row) ([]answer, error) {
			epsilon0 := r.or("eps0", 0)
			if r.has("noise_parameter") {
				epsilon0 = fromNoise(r, "k").Epsilon
			}
			event := privacy.RandomizedResponse{Epsilon: epsilon0, Categories: r.count("k"), Unit: privacy.User}
			return deltas(release(event, 1, 1, privacy.Replace), r.num("eps"), "")
		},
		"PMC":           piecewise("C", func(m local.Piecewise, _ *row) float64 { return m.C() }),
		"PMDensityHigh": piecewise("Density", func(m local.Piecewise, _ *row) float64 { return m.Density(0, 0) }),
		"PMDensityLow":  piecewise("Density", func(m local.Piecewise, _ *row) float64 { return m.Density(m.C(), -1) }),
		"PMCentreProb":  piecewise("Centre", func(m local.Piecewise, _ *row) float64 { return m.Centre() }),
		"PML":           piecewise("Bounds", func(m local.Piecewise, r *row) float64 { l, _ := m.Bounds(r.num("t")); return l }),
		"PMR":           piecewise("Bounds", func(m local.Piecewise, r *row) float64 { _, h := m.Bounds(r.num("t")); return h }),
		"PMMean": piecewise("Density, its mean", func(m local.Piecewise, r *row) float64 {
			l, h := m.Bounds(r.num("t"))
			in, out := m.Density((l+h)/2, r.num("t")), m.Density(m.C(), -1)
			return (in - out) * (h - l) * (h + l) / 2
		}),
		"PMVariance":      piecewise("Variance", func(m local.Piecewise, r *row) float64 { return m.Variance(r.num("t")) }),
		"PMWorstVariance": piecewise("Variance", func(m local.Piecewise, _ *row) float64 { return math.Max(m.Variance(-1), m.Variance(1)) }),
		"DuchiVariance": plain("reference.DuchiVariance",
			func(r *row) float64 { return reference.DuchiVariance(r.num("eps"), r.num("t")) }),
		"HybridVariance": plain("reference.HybridVariance",
			func(r *row) float64 { return reference.HybridVariance(r.num("eps"), r.num("t")) }),

		"DiscreteGaussianZ": plain("secure.DiscreteGaussianLaw.Normaliser",
			func(r *row) float64 { return gauss(r).Normaliser() }),
		"DiscreteGaussianVariance": plain("secure.DiscreteGaussianLaw.PMF, its variance", func(r *row) (v float64) {
			for k := int64(1 + 40*math.Sqrt(r.num("sigma2"))); k > 0; k-- {
				v += 2 * float64(k) * float64(k) * gauss(r).PMF(k)
			}
			return v
		}),
		"DiscreteGaussianPMF": plain("secure.DiscreteGaussianLaw.PMF",
			func(r *row) float64 { return gauss(r).PMF(r.count("x")) }),
		"DiscreteLaplaceVariance": plain("1/(2 sinh²(a/2))",
			func(r *row) float64 { s := math.Sinh(r.num("a") / 2); return 1 / (2 * s * s) }),
	}
}

// The laws of perturbed sequences are whole distributions, which the mechanism's
// own tests walk through. Here each must be one, and keep its first cell, which
// nothing touches again, with the probability that the mechanism states.
func TestSequenceLaws(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(goldens, "pricdsr_mechanism_laws.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Mechanism string
			M, L, X   int
			Row       []int
			Law       map[string]string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 32 {
		t.Errorf("%d laws, want 32", len(file.Cases))
	}
	for _, c := range file.Cases {
		m := sequence.Mechanism{Variant: sequence.SDPPaper, Epsilon: math.Log(float64(c.X)), Items: c.M, Length: c.L}
		if c.Mechanism == "corrected" {
			m.Variant = sequence.SDPFixed
		} else if c.Mechanism != "paper" {
			t.Fatalf("mechanism %q", c.Mechanism)
		}
		var sum, kept big.Rat
		for out, text := range c.Law {
			p, ok := new(big.Rat).SetString(text)
			if !ok || p.Sign() <= 0 {
				t.Fatalf("%+v: probability %q", c, text)
			}
			sum.Add(&sum, p)
			if first, _, _ := strings.Cut(out, ","); first == big.NewInt(int64(c.Row[0])).String() {
				kept.Add(&kept, p)
			}
		}
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("%s %v: probabilities add up to %v", c.Mechanism, c.Row, &sum)
		}
		if c.Mechanism == "corrected" && c.Row[0] == 0 {
			continue // a named zero that becomes another is a zero still
		}
		if want, _ := kept.Float64(); math.Abs(m.Keep(0)-want) > 1e-15 {
			t.Errorf("%s, m %d, L %d, x %d, %v: keeps the first cell with %v, want %v", c.Mechanism, c.M, c.L, c.X, c.Row, m.Keep(0), want)
		}
	}
}
