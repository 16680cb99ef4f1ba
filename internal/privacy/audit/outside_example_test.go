package audit_test

import (
	"fmt"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// Five hundred models with a canary and five hundred without, all told apart: no more
// than this can be shown with so many.
func ExampleTwoRun() {
	bound, err := audit.TwoRun(audit.Rates{TruePositives: 500, Positives: 500, Negatives: 500}, audit.Options{Delta: 1e-5, Level: 0.05})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f, at its ceiling: %v\n", bound.Epsilon, bound.AtCeiling())
	// Output: 4.91, at its ceiling: true
}

// The same counts under the stronger hypothesis of Gaussian DP.
func ExampleTwoRunGDP() {
	rates := audit.Rates{TruePositives: 420, Positives: 500, FalsePositives: 80, Negatives: 500}
	options := audit.Options{Delta: 1e-5, Level: 0.05}
	plain, err := audit.TwoRun(rates, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	gaussian, err := audit.TwoRunGDP(rates, options, accountant.Exact)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("epsilon %.2f; as Gaussian DP mu %.2f, epsilon %.2f\n", plain.Epsilon, gaussian.Mu, gaussian.Epsilon)
	// Output: epsilon 1.42; as Gaussian DP mu 1.72, epsilon 8.30
}

// A claim, an account and an audit in one line: the audit is of a mechanism that adds
// half the noise that its accountant was told.
func ExampleBound_Contradicts() {
	coins, err := audit.NewCoins(rng.Seed(3).Stream("canaries"), 20000)
	if err != nil {
		fmt.Println(err)
		return
	}
	noise, scores := rng.Seed(3).Stream("noise"), make([]float64, coins.Len())
	for i := range scores {
		scores[i] = 0.25 * noise.NormFloat64()
		if coins.In(i) {
			scores[i]++
		}
	}
	rule, bound, err := audit.Best(coins, scores, []audit.Rule{{In: 1000, Out: 1000}, {In: 5000, Out: 5000}}, audit.Options{Delta: 1e-5, Level: 0.01}, func(c audit.Count, o audit.Options) (audit.Bound, error) {
		return audit.OneRunFDP(c, o, accountant.Exact)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	accounted, err := accountant.Exact(1/0.5, 1e-5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v of %d tests: accounted %.1f, audited above it: %v\n", rule, bound.Tests, accounted, bound.Contradicts(accounted))
	// Output: {In:5000 Out:5000} of 2 tests: accounted 10.0, audited above it: true
}

// Which curves do 95 right guesses of 100 reject?
func ExampleOneRunRejects() {
	count := audit.Count{Canaries: 1000, Guesses: 100, Correct: 95}
	for _, mu := range []float64{0.5, 1, 2, 4} {
		rejected, err := audit.OneRunRejects(count, audit.GaussianCurve(mu), 0.05)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(mu, rejected)
	}
	// Output:
	// 0.5 true
	// 1 false
	// 2 false
	// 4 false
}
