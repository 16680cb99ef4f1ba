package audit_test

import (
	"fmt"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// The counts of the paper: 1000 canaries, 100 guesses, 75 right.
func ExampleOneRun() {
	bound, err := audit.OneRun(audit.Count{Canaries: 1000, Guesses: 100, Correct: 75}, audit.Options{Delta: 1e-5, Level: 0.05})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon is at least %.4f with confidence %.0f %%; this experiment could have shown %.2f\n", bound.Epsilon, 100*bound.Confidence, bound.Ceiling)
	// Output: epsilon is at least 0.6995 with confidence 95 %; this experiment could have shown 3.47
}

// From coins to a bound: a mechanism that adds normal noise of deviation 1 to
// every canary's indicator, audited under Gaussian DP.
func ExampleOneRunFDP() {
	coins, err := audit.NewCoins(rng.Seed(7).Stream("canaries"), 10000)
	if err != nil {
		fmt.Println(err)
		return
	}
	noise, scores := rng.Seed(7).Stream("noise"), make([]float64, coins.Len())
	for i := range scores {
		scores[i] = noise.NormFloat64()
		if coins.In(i) {
			scores[i]++
		}
	}
	guesses, err := audit.Rule{In: 200, Out: 200}.Guess(scores)
	if err != nil {
		fmt.Println(err)
		return
	}
	count, err := coins.Count(guesses)
	if err != nil {
		fmt.Println(err)
		return
	}
	bound, err := audit.OneRunFDP(count, audit.Options{Delta: 1e-5, Level: 0.05}, accountant.Exact)
	if err != nil {
		fmt.Println(err)
		return
	}
	accounted, err := accountant.Exact(1, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accounted %.2f, audited more: %v\n", accounted, bound.Contradicts(accounted))
	// Output: accounted 4.38, audited more: false
}
