package classic

import (
	"math"
	"strings"
	"testing"
)

// The Kullback-Leibler form of rho dominates the whole curve of randomised
// response, and nothing smaller does.
func TestPureToZCDP(t *testing.T) {
	for _, e := range []float64{1e-3, 0.1, 1, 3, 10} {
		rho, err := PureToZCDP(e)
		if err != nil {
			t.Fatal(err)
		}
		if rho > e*e/2 {
			t.Errorf("epsilon %v: rho %v above epsilon²/2", e, rho)
		}
		p, q := 1/(1+math.Exp(-e)), 1/(1+math.Exp(e))
		for alpha := 1.0001; alpha < 1e4; alpha *= 1.1 {
			// log(p^a q^(1-a) + q^a p^(1-a))/(a-1) with q = p e^-e
			d := (math.Log(p*math.Exp(0)+q*math.Exp((1-2*alpha)*e)) + (alpha-1)*e) / (alpha - 1)
			if d > alpha*rho*(1+1e-9)+1e-12 {
				t.Errorf("epsilon %v, order %v: divergence %v above %v", e, alpha, d, alpha*rho)
			}
		}
		if kl := (p - q) * e; math.Abs(kl-rho) > 1e-12*rho {
			t.Errorf("epsilon %v: rho %v, divergence at order 1 %v", e, rho, kl)
		}
	}
}

func TestPureToZCDPRefuses(t *testing.T) {
	for _, e := range []float64{math.NaN(), math.Inf(1), -1e-300} {
		if rho, err := PureToZCDP(e); err == nil || !strings.Contains(err.Error(), "epsilon is") || rho != 0 {
			t.Errorf("epsilon %v: %v, %v", e, rho, err)
		}
	}
}
