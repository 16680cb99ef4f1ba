package classic

import (
	"fmt"
	"math"
)

func checkEpsilon(v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("epsilon is %v, want at least 0 and finite", v)
	}
	return nil
}

func checkProbability(name string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s is %v, want 0 to 1", name, v)
	}
	return nil
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
