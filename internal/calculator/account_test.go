package calculator

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// The answers against golden values (testdata/goldens, schema in its README of
// origin: 50-digit arithmetic, or limits with the stated tolerance).
func TestAccountGoldens(t *testing.T) {
	const sampled = "account sampled-gaussian --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --delta 1e-5"
	for _, c := range []struct {
		line, key string
		want, tol float64 // relative
	}{
		{sampled, "epsilon", 1.8282366665140988, 2e-6},
		{sampled + " --accountant exact", "epsilon", 1.8282366665140988, 2e-6},
		{sampled + " --accountant pld", "epsilon", 1.8282366665140988, 1e-4},
		{sampled + " --accountant pld", "epsilon_lower", 1.8282366665140988, 1e-4},
		{sampled + " --neighbouring replace", "epsilon", 2.8434402716927365, 1e-5},
		{sampled + " --neighbouring zero-out", "epsilon", 1.8282366665140988, 2e-6},
		{sampled + " --accountant rdp", "epsilon", 2.10133, 1e-4},
		{"account sampled-gaussian --sampling-rate 0.004266666666666667 --noise-multiplier 4 --steps 234000 --delta 1e-5", "epsilon", 2.103019547572249, 2e-6},
		{"account gaussian --sigma 2 --sensitivity 1 --steps 1 --delta 1e-5", "epsilon", 1.9930914044151196, 1e-9},
		{"account gaussian --sigma 2 --sensitivity 2 --steps 1 --delta 1e-5 --neighbouring replace", "epsilon", 4.3771780956812245, 1e-9},
		{"account gaussian --sigma 10 --sensitivity 1 --steps 25 --delta 1e-6 --accountant analytic", "epsilon", 2.254084650219741, 1e-12},
		{"account gaussian --sigma 10 --sensitivity 1 --steps 25 --delta 1e-6 --accountant pld", "epsilon", 2.254084650219741, 1e-4},
		{"account laplace --scale 10 --sensitivity 1 --steps 100 --delta 1e-5", "epsilon", 4.2203473250724794, 1e-5},
		{"account randomized-response --epsilon 0.1 --categories 2 --steps 100 --delta 1e-6", "epsilon", 4.7745675881079865, 1e-8},
		{"account randomized-response --epsilon 0.1 --categories 2 --steps 100 --delta 1e-6", "release_epsilon", 0.1, 0},
		{"account dipsgnn --sigma 0.6528681632302921 --clip 0.5 --steps 1 --delta 2.5e-7", "epsilon", 4.516128126738042, 1e-13},
		{"account rdp gaussian --sigma 2 --sensitivity 1 --alpha 8", "rdp", 1, 1e-14},
		{"account rdp laplace --scale 1 --sensitivity 1 --alpha 2", "rdp", 0.6191236299985928, 1e-11},
		{"account rdp sampled-gaussian --sampling-rate 0.001 --noise-multiplier 0.6 --alpha 1.1", "rdp", 7.866425388275461e-06, 1e-9},
		{"calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-3 --epsilon 0.1 --accountant analytic", "sigma", 17.404396203031165, 1e-12},
		{"calibrate gaussian --sensitivity 1 --steps 1 --delta 1e-3 --epsilon 0.1", "sigma", 17.404396203031165, 1e-9},
		{"calibrate dipsgnn --clip 0.5 --steps 1 --delta 2.5e-7 --epsilon 5", "sigma", 0.5935165120275382, 1e-13},
		{"calibrate sampled-gaussian --sampling-rate 0.01 --steps 1000 --delta 1e-5 --epsilon 1", "noise_multiplier", 1.4146194065286788, 2e-5},
		{"calibrate sampled-gaussian --sampling-rate 0.0423841059602649 --steps 2400 --delta 1e-5 --epsilon 2", "noise_multiplier", 4.230745107554153, 2e-5},
		// The goldens of rdp are on a grid of orders; ours are continuous and never above.
		{"calibrate sampled-gaussian --sampling-rate 0.01 --steps 1000 --delta 1e-5 --epsilon 1 --accountant rdp", "noise_multiplier", 1.513122162607208, 1e-4},
		{"calibrate sampled-gaussian --sampling-rate 1 --steps 100 --delta 1e-6 --epsilon 2 --accountant rdp", "noise_multiplier", 23.82577702666417, 1e-3},
	} {
		got, ok := keys(t, c.line)[c.key].(float64)
		if !ok || !(math.Abs(got-c.want) <= c.tol*c.want) {
			t.Errorf("%s: %s is %v, want %v within %g", c.line, c.key, got, c.want, c.tol)
		}
		if strings.HasPrefix(c.line, "calibrate") && strings.Contains(c.line, "rdp") && got > c.want*(1+1e-9) {
			t.Errorf("%s: %v is above the value on a grid, %v", c.line, got, c.want)
		}
	}
}

// Every answer has the agreed keys, and says what it is about.
func TestAccountKeys(t *testing.T) {
	const tail = " --steps 10 --delta 1e-6"
	for _, c := range []struct{ line, accountant, relation, unit string }{
		{"account gaussian --sigma 5 --sensitivity 1" + tail, "exact", "add-remove", "record"},
		{"account gaussian --sigma 5 --sensitivity 1 --accountant rdp --neighbouring zero-out" + tail, "rdp", "zero-out", "record"},
		{"account sampled-gaussian --noise-multiplier 2 --sampling-rate 0.1 --accountant pld" + tail, "pld", "add-remove", "record"},
		{"account sampled-gaussian --noise-multiplier 2 --sampling-rate 0.1 --sampling without-replacement" + tail, "pld", "replace", "record"},
		{"account laplace --scale 5 --sensitivity 1 --accountant rdp" + tail, "rdp", "add-remove", "record"},
		{"account randomized-response --epsilon 1 --categories 3 --accountant rdp" + tail, "rdp", "replace", "record"},
		{"account dipsgnn --sigma 5 --clip 1" + tail, "closed-form", "add-remove", "edge"},
		{"calibrate gaussian --sensitivity 1 --epsilon 3 --accountant rdp" + tail, "rdp", "add-remove", "record"},
		{"calibrate laplace --sensitivity 1 --epsilon 3 --accountant rdp" + tail, "rdp", "add-remove", "record"},
		{"calibrate dipsgnn --clip 1 --epsilon 3" + tail, "closed-form", "add-remove", "edge"},
	} {
		m := keys(t, c.line)
		for key, want := range map[string]string{"accountant": c.accountant, "neighbouring": c.relation, "unit": c.unit} {
			if m[key] != want {
				t.Errorf("%s: %s is %v, want %s", c.line, key, m[key], want)
			}
		}
		eps, ok := m["epsilon"].(float64)
		if !ok || !(eps > 0) || m["delta"] != 1e-6 || m["steps"] != 10.0 {
			t.Errorf("%s: epsilon %v, delta %v, steps %v", c.line, m["epsilon"], m["delta"], m["steps"])
		}
		s, _ := m["statement"].(string)
		for _, want := range []string{"one " + c.unit, "e^" + RoundUp(eps, 6), "1e-6", "10 releases"} {
			if !strings.Contains(s, want) {
				t.Errorf("%s: the statement lacks %q: %s", c.line, want, s)
			}
		}
		if order, ok := m["order"].(float64); (c.accountant == "rdp") != (ok && order > 1) {
			t.Errorf("%s: order %v", c.line, m["order"])
		}
		if lower, ok := m["epsilon_lower"].(float64); c.accountant == "pld" && !(ok && lower <= eps && lower > 0) {
			t.Errorf("%s: epsilon_lower %v", c.line, m["epsilon_lower"])
		}
		if _, ok := m["warnings"].([]any); !ok {
			t.Errorf("%s: no list of warnings", c.line)
		}
		text, err := ask(t, c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		for _, want := range []string{"epsilon  ", RoundUp(eps, 6), c.accountant, c.relation, c.unit, "- " + s} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text lacks %q:\n%s", c.line, want, text)
			}
		}
	}
}

// A calibrated answer, asked back at exactly the noise it printed, is the same
// epsilon and at most the target.
func TestCalibrateNeverOvershoots(t *testing.T) {
	for _, c := range []struct{ mechanism, rest, key string }{
		{"gaussian", "--sensitivity 3 --steps 7", "sigma"},
		{"gaussian", "--sensitivity 3 --steps 7 --accountant analytic", "sigma"},
		{"gaussian", "--sensitivity 0.1 --steps 100000 --accountant rdp", "sigma"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 500", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 500 --neighbouring replace", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 500 --accountant rdp", "noise_multiplier"},
		{"sampled-gaussian", "--sampling-rate 0.02 --steps 50 --sampling without-replacement", "noise_multiplier"},
		{"laplace", "--sensitivity 2 --steps 3 --accountant rdp", "scale"},
		{"dipsgnn", "--clip 0.3 --steps 12", "sigma"},
	} {
		for _, target := range []float64{0.3, 1, 7.7} {
			m := keys(t, fmt.Sprintf("calibrate %s %s --delta 1e-6 --epsilon %v", c.mechanism, c.rest, target))
			noise, _ := m[c.key].(float64)
			eps, _ := m["epsilon"].(float64)
			if !(eps <= target && eps > target*(1-1e-6)) || m["target_epsilon"] != target {
				t.Errorf("%s %s: epsilon %v for %v", c.mechanism, c.rest, eps, target)
			}
			flag := strings.ReplaceAll(c.key, "_", "-")
			back := keys(t, fmt.Sprintf("account %s %s --delta 1e-6 --%s %s", c.mechanism, c.rest, flag, short(noise)))
			if back["epsilon"] != eps {
				t.Errorf("%s %s: %v at %v, but asked back %v", c.mechanism, c.rest, eps, noise, back["epsilon"])
			}
		}
	}
}

// What cannot be computed is an error with the accountant, the releases and,
// where there is one, the way out.
func TestAccountFails(t *testing.T) {
	for _, c := range []struct{ line, err, hint string }{
		{"account laplace --scale 1e-9 --sensitivity 1e9 --steps 1e12 --delta 1e-100 --accountant pld", `no guarantee from the accountant "pld" for 1e12 releases`, "--accountant rdp may still give a bound"},
		{"account sampled-gaussian --noise-multiplier 1e-6 --sampling-rate 0.1 --steps 3 --delta 1e-9 --neighbouring replace", `no guarantee from the accountant "exact"`, ""},
		{"account sampled-gaussian --noise-multiplier 1 --sampling-rate 0.1 --steps 3 --delta 1e-9 --neighbouring replace --accountant rdp", `no guarantee from the accountant "rdp"`, "--accountant exact or pld may cover it"},
		{"account rdp sampled-gaussian --noise-multiplier 1 --sampling-rate 0.1 --alpha 2 --neighbouring replace", `no guarantee from the accountant "rdp" for a release`, "--accountant exact or pld may cover it"},
		{"calibrate sampled-gaussian --sampling-rate 0.1 --steps 3 --delta 1e-9 --epsilon 1 --neighbouring replace --accountant rdp", "no noise multiplier found for epsilon 1 at delta 1e-9", "--accountant exact or pld may cover it"},
	} {
		if out, err := ask(t, c.line); kind(err) != failed || out != "" || !strings.HasPrefix(err.Error(), c.err) || hint(err) != c.hint {
			t.Errorf("%s: %s: %v, hint %q", c.line, kind(err), err, hint(err))
		}
	}
}

// A result that says nothing is refused, whatever accountant it came from.
func TestSound(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		r    accountant.Result
		want string
	}{
		{accountant.Result{Epsilon: math.NaN()}, "NaN"},
		{accountant.Result{Epsilon: -1}, "-1"},
		{accountant.Result{Epsilon: inf}, "too large"},
		{accountant.Result{Epsilon: inf, Unprotected: []privacy.Unprotected{{What: "x"}}}, ""},
		{accountant.Result{}, ""},
	} {
		if err := sound(c.r); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.r.Epsilon, err)
		}
	}
}
