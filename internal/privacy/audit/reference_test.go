package audit_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy/audit"
)

// Values of 40-digit arithmetic (testdata/gaussian.py): the curve in its far tails, and
// bounds from one trial to 2^31. Bounds may be below the value by the margin that the
// package rounds down by, and by nothing above it.
func TestGaussianReference(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "gaussian.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Fn     string
		Params map[string]float64
		Value  float64
	}
	if err := json.Unmarshal(text, &rows); err != nil || len(rows) != 88 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	worst := map[string]float64{}
	for _, r := range rows {
		p := r.Params
		n := func(name string) int64 { return int64(p[name]) }
		var got float64
		err, tolerance, over, by := error(nil), 0.0, 0.0, r.Value // below and above, in units of by
		switch r.Fn {
		case "curve":
			// The curve's own condition: a change of z by its last digit is z² such ones.
			got, over = audit.GaussianCurve(p["mu"])(p["x"]), 1e-14*(1-math.Log(r.Value))
			tolerance = over
		case "lower":
			got, err = audit.LowerBound(n("k"), n("n"), p["level"])
			tolerance = 4e-12
		case "two-run mu":
			got, err = audit.TwoRunMu(audit.Rates{TruePositives: n("tp"), Positives: n("n_pos"), FalsePositives: n("fp"), Negatives: n("n_neg")}, p["level"])
			tolerance, by = 2e-10, 1 // a difference of quantiles
		case "one-run mu":
			got, err = audit.OneRunMu(audit.Count{Canaries: n("m"), Guesses: n("r"), Correct: n("v")}, p["level"])
			tolerance, over, by = 1e-10, 1e-12, 1 // the reference is a bisection
		default:
			t.Fatalf("function %q", r.Fn)
		}
		off := (got - r.Value) / by
		worst[r.Fn] = math.Max(worst[r.Fn], math.Abs(off))
		if err != nil || !(off >= -tolerance && off <= over) {
			t.Errorf("%s %v: %v, want %v, off by %.2g, %v", r.Fn, p, got, r.Value, off, err)
		}
	}
	t.Logf("worst errors %v", worst)
	// At the ends the curve is exact, and it never is above the identity.
	for _, mu := range []float64{0, 1, 40} {
		f := audit.GaussianCurve(mu)
		if f(0) != 0 || f(1) != 1 || f(2) != 1 || f(-1) != 0 || f(math.NaN()) != 0 || f(0.25) > 0.25 {
			t.Errorf("mu %v: %v at 0, %v at 1, %v at 1/4", mu, f(0), f(1), f(0.25))
		}
	}
}
