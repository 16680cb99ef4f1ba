package calculator

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A calibration for a risk is accounted at what it finds: at most the target there, and above it with
// a little less noise.
func TestCalibrateRiskInverts(t *testing.T) {
	rate := func(m map[string]any, i int) float64 {
		risk, _ := m["risk"].(map[string]any)
		rates, _ := risk["rates"].([]any)
		one, _ := rates[i].(map[string]any)
		v, _ := one["true_positive_rate"].(float64)
		return v
	}
	advantage := func(m map[string]any) float64 {
		risk, _ := m["risk"].(map[string]any)
		v, _ := risk["advantage"].(float64)
		return v
	}
	for _, c := range []struct{ name, line, noise string }{
		{"gaussian", "--sensitivity 2 --steps 7", "sigma"},
		{"sampled-gaussian", "--sampling-rate 0.05 --steps 40", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.05 --steps 40 --sampling without-replacement", "noise_multiplier"},
		{"dp-sgd", "--records 5000 --batch 100 --epochs 2", "noise_multiplier"},
		{"laplace", "--sensitivity 1 --steps 3", "scale"},
	} {
		flag := map[string]string{"sigma": "sigma", "scale": "scale", "noise_multiplier": "noise-multiplier"}[c.noise]
		less := func(m map[string]any) map[string]any {
			noise, _ := m[c.noise].(float64)
			return keys(t, fmt.Sprintf("account %s %s --delta 1e-5 --%s %v", c.name, c.line, flag, noise*0.99))
		}
		m := keys(t, fmt.Sprintf("calibrate %s %s --advantage 0.2", c.name, c.line))
		if at, below := advantage(m), advantage(less(m)); !(at <= 0.2 && at > 0.1999 && below > 0.2) {
			t.Errorf("%s: an advantage of %v, with 1 %% less noise %v", c.name, at, below)
		}
		m = keys(t, fmt.Sprintf("calibrate %s %s --tpr 0.04 --fpr 0.01 --delta 1e-6", c.name, c.line))
		if at, below := rate(m, 1), rate(less(m), 1); !(at <= 0.04 && at > 0.0399 && below > 0.04) {
			t.Errorf("%s: finds %v, with 1 %% less noise %v", c.name, at, below)
		}
	}
}

// The most of another number keeps within the guarantee, and a little more does not.
func TestCalibrateFinds(t *testing.T) {
	const sampled = "--noise-multiplier 1.3 --delta 1e-6 --epsilon 1.5 "
	for _, c := range []struct{ line, key, more string }{
		{"sampled-gaussian --sampling-rate 0.02 " + sampled + "--find steps", "steps", "account sampled-gaussian --sampling-rate 0.02 --noise-multiplier 1.3 --delta 1e-6 --steps %v"},
		{"sampled-gaussian --steps 200 " + sampled + "--find sampling-rate", "sampling_rate", "account sampled-gaussian --steps 200 --noise-multiplier 1.3 --delta 1e-6 --sampling-rate %v"},
		{"dp-sgd --records 9000 --batch 90 " + sampled + "--find epochs", "epochs", "account dp-sgd --records 9000 --batch 90 --noise-multiplier 1.3 --delta 1e-6 --epochs %v"},
		{"dp-sgd --records 9000 --epochs 4 " + sampled + "--find batch", "batch", "account dp-sgd --records 9000 --epochs 4 --noise-multiplier 1.3 --delta 1e-6 --batch %v"},
	} {
		m := keys(t, "calibrate "+c.line)
		found, _ := m[c.key].(float64)
		if eps, _ := m["epsilon"].(float64); !(eps <= 1.5 && eps > 1.35) {
			t.Errorf("%s: %v at epsilon %v", c.line, found, eps)
		}
		next := math.Ceil(found*1.02 + 1e-9)
		if c.key == "sampling_rate" {
			next = found * 1.01
		}
		if eps, _ := keys(t, fmt.Sprintf(c.more, next))["epsilon"].(float64); !(eps > 1.5) {
			t.Errorf("%s: more than %v, %v, has epsilon %v", c.line, found, next, eps)
		}
	}
}

// Delta at an epsilon inverts epsilon at a delta.
func TestAtEpsilon(t *testing.T) {
	for _, line := range []string{"gaussian --sigma 3 --sensitivity 1 --steps 4", "sampled-gaussian --noise-multiplier 1 --sampling-rate 0.05 --steps 60", "laplace --scale 4 --sensitivity 1 --steps 9 --accountant pld"} {
		eps, _ := keys(t, "account "+line+" --delta 1e-5")["epsilon"].(float64)
		delta, _ := keys(t, fmt.Sprintf("account %s --at-epsilon %v", line, eps))["delta"].(float64)
		if !(math.Abs(delta-1e-5) < 1e-8) {
			t.Errorf("%s: delta is %v at epsilon %v", line, delta, eps)
		}
	}
}

// A group is between one record and the same without sampling, and a group of one is one record.
func TestGroups(t *testing.T) {
	const line = "account sampled-gaussian --noise-multiplier 4 --sampling-rate 0.02 --steps 50 --delta 1e-6"
	eps := func(line string) float64 { v, _ := keys(t, line)["epsilon"].(float64); return v }
	one, group := eps(line), eps(line+" --group 4")
	whole := eps("account gaussian --sigma 1 --sensitivity 1 --steps 50 --delta 1e-6")
	rdp := eps(line + " --group 4 --accountant rdp")
	if !(one < group && group < rdp && rdp < whole) || eps(line+" --group 1") != one {
		t.Errorf("%v, %v (rényi %v), %v", one, group, rdp, whole)
	}
	// Poisson batches take the records of a group in one by one: at least as one of rate 1-(1-q)^4.
	if !(group > eps("account sampled-gaussian --noise-multiplier 4 --sampling-rate 0.07763184 --steps 50 --delta 1e-6")) {
		t.Errorf("%v is less than that of one record at four times the rate", group)
	}
}

// Batches of a fixed size: the bracket contains the truth that is known for a known pair, and the
// Rényi bound of the same releases is above it.
func TestFixedSizeBracket(t *testing.T) {
	const line = "account sampled-gaussian --noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --delta 1e-5 --sampling without-replacement"
	m, bound := keys(t, line), keys(t, line+" --accountant rdp")
	upper, _ := m["epsilon"].(float64)
	lower, _ := m["epsilon_lower"].(float64)
	renyi, _ := bound["epsilon"].(float64)
	// The reached pair is that of a Poisson sample, where one record more moves a sum by two norms.
	reached, _ := keys(t, "account sampled-gaussian --noise-multiplier 0.5 --sampling-rate 0.01 --steps 1000 --delta 1e-5")["epsilon"].(float64)
	if !(lower <= reached && lower > reached*0.999 && reached < upper && upper < 14.83 && renyi > 20.9) {
		t.Errorf("[%v, %v], reached %v, rényi %v", lower, upper, reached, renyi)
	}
}

// Shuffled batches: the lower bound is below the upper one, is above the Poisson value where Chua et al.
// show that it must be, and is reached by enumeration for one batch an epoch.
func TestShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := binomialPair{rapid.IntRange(1, 9).Draw(t, "epochs"), rapid.Float64Range(0.2, 0.99).Draw(t, "p"), rapid.Float64Range(0.01, 0.2).Draw(t, "q")}
		eps := rapid.Float64Range(0, 3).Draw(t, "epsilon")
		sum := 0.0
		for outcome := range 1 << b.n { // every sequence of events
			p, q := 1.0, 1.0
			for e := range b.n {
				if outcome>>e&1 == 1 {
					p, q = p*b.p, q*b.q
				} else {
					p, q = p*(1-b.p), q*(1-b.q)
				}
			}
			sum += math.Max(0, p-math.Exp(eps)*q)
		}
		if got := b.delta(eps); got > sum+1e-15 || got < sum*(1-1e-6)-1e-15 {
			t.Fatalf("%v, want %v", got, sum)
		}
	})
	for _, relation := range []string{"zero-out", "replace"} {
		m := keys(t, "account dp-sgd --records 60000 --batch 256 --epochs 1 --noise-multiplier 0.6 --delta 1e-6 --sampling shuffled --neighbouring "+relation)
		upper, _ := m["epsilon"].(float64)
		lower, _ := m["epsilon_lower"].(float64)
		poisson, _ := keys(t, "account dp-sgd --records 60000 --batch 256 --epochs 1 --noise-multiplier 0.6 --delta 1e-6 --neighbouring zero-out")["epsilon"].(float64)
		if !(lower > poisson && lower < upper) || m["accountant"] != unamplified {
			t.Errorf("%s: [%v, %v], poisson %v, by %v", relation, lower, upper, poisson, m["accountant"])
		}
	}
}

// Allocated records: ten epochs that cost 3.98 to 15.8 shuffled cost below .9, and less than Poisson samples; the bound
// by Rényi divergences is above. Noise that is calibrated spends at most what is asked for.
func TestAllocated(t *testing.T) {
	const dpsgd = " dp-sgd --records 60000 --batch 256 --epochs 10 --delta 1e-5"
	line := "account" + dpsgd + " --noise-multiplier 1.1"
	number := func(line, key string) float64 {
		v, _ := keys(t, line)[key].(float64)
		return v
	}
	m := keys(t, line+" --sampling allocation")
	upper, _ := m["epsilon"].(float64)
	lower, _ := m["epsilon_lower"].(float64)
	renyi := number(line+" --sampling allocation --accountant rdp", "epsilon")
	if !(upper < 0.9 && lower > 0.99*upper && upper < number(line, "epsilon") && renyi > upper && renyi < 1.3*upper) {
		t.Errorf("[%v, %v], rényi %v", lower, upper, renyi)
	}
	if more := number(line+" --sampling allocation --times 3", "epsilon"); !(more > upper && more < 3*upper) {
		t.Errorf("in three steps of an epoch %v, in one %v", more, upper)
	}
	noise := number("calibrate"+dpsgd+" --sampling allocation --epsilon 1", "noise_multiplier")
	if spent := number(fmt.Sprintf("account%s --sampling allocation --noise-multiplier %v", dpsgd, noise),
		"epsilon"); !(spent <= 1 && spent > 0.999) {
		t.Errorf("calibrated noise %v spends %v", noise, spent)
	}
	for most, atLeast := range map[int]float64{300: 2, 400: 0.92} {
		cut := keys(t, fmt.Sprintf("%s --sampling truncated-poisson --most %d", line, most))
		upper, _ := cut["epsilon"].(float64)
		lower, _ := cut["epsilon_lower"].(float64)
		if !(upper > atLeast && lower <= upper && lower > 0.9) {
			t.Errorf("batches cut to %d: [%v, %v]", most, lower, upper)
		}
	}
	for flags, want := range map[string]string{
		"--sampling truncated-poisson": "go together",
		"--most 9":                     "go together",
		"--times 2":                    "goes with --sampling allocation",
		"--sampling allocation --accountant exact":                       "does not go with",
		"--sampling truncated-poisson --most 300 --accountant exact":     "does not go with",
		"--sampling truncated-poisson --most 300 --neighbouring replace": "does not go with",
	} {
		if text, err := ask(t, line+" "+flags); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", flags, text, err)
		}
	}
}
