package classic

import (
	"errors"
	"fmt"
	"math"
)

// AmplifyPoisson returns the guarantee of an (epsilon, delta)-DP mechanism on a Poisson sample,
// which has each unit with probability rate, under the add-remove relation: log(1 + rate
// (e^epsilon-1)) and rate delta (Li, Qardaji, Su, "On sampling, anonymization, and differential
// privacy", ASIACCS 2012; Balle, Barthe, Gaboardi, "Privacy amplification by subsampling: tight
// analyses via couplings and divergences", NeurIPS 2018, on Poisson sampling). rate is in [0, 1].
func AmplifyPoisson(rate, epsilon, delta float64) (float64, float64, error) {
	if err := errors.Join(checkProbability("rate", rate), checkEpsilon(epsilon), checkProbability("delta", delta)); err != nil {
		return 0, 0, err
	}
	if rate == 0 {
		return 0, 0, nil
	}
	if rate == 1 {
		return epsilon, delta, nil
	}
	if epsilon > 50 { // e^epsilon may overflow: log(rate e^epsilon (1 + (1-rate)/rate e^-epsilon))
		return math.Max(0, epsilon+math.Log(rate)+math.Log1p((1-rate)/rate*math.Exp(-epsilon))), rate * delta, nil
	}
	return math.Log1p(rate * math.Expm1(epsilon)), rate * delta, nil
}

// AmplifyWithoutReplacement returns the same for a sample of some units, drawn uniformly without
// replacement, under the replace relation: the rate is sample/units. The guarantee of the mechanism
// must be under replace too (Balle, Barthe, Gaboardi, theorem 9).
func AmplifyWithoutReplacement(sample, units int64, epsilon, delta float64) (float64, float64, error) {
	if units < 1 || sample < 0 || sample > units {
		return 0, 0, fmt.Errorf("%d of %d units, want 0 to all", sample, units)
	}
	return AmplifyPoisson(float64(sample)/float64(units), epsilon, delta)
}

// PureToZCDP returns the smallest rho such that every epsilon-DP mechanism is rho-zCDP: epsilon
// (e^epsilon-1)/(e^epsilon+1), the Kullback-Leibler divergence of randomized response with two
// answers. It cannot be less, since rho is at least the divergence of order 1. The tests show that
// no other order needs more (a tight conversion is known: Harrison and Manurangsi, "Exact zCDP
// characterizations for fundamental differentially private mechanisms", 2025, start from one). Bun
// and Steinke, "Concentrated differential privacy", TCC 2016, proposition 1.4, has the larger
// epsilon²/2.
func PureToZCDP(epsilon float64) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	return epsilon * math.Tanh(epsilon/2), nil
}
