package classic_test

import (
	"errors"
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
)

// A hundred randomised responses of epsilon 0.1: what the theorems say, and what is
// true.
func ExampleKFoldEpsilon() {
	sum, _, err1 := classic.Basic(0.1, 0, 100)
	advanced, err2 := classic.Advanced(0.1, 100, 1e-5)
	tight, err3 := classic.AdvancedTight(0.1, 100, 1e-5)
	exact, err4 := classic.KFoldEpsilon([]classic.Term{{Epsilon: 0.1, Count: 100}}, 1e-5)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("basic %.2f, advanced %.2f, tighter %.2f, exact %.2f\n", sum, advanced, tight, exact)
	// Output: basic 10.00, advanced 5.85, tighter 5.30, exact 4.31
}

// Releases go on until the budget says no, however their noise was chosen.
func ExampleNewRenyiFilter() {
	filter, err := classic.NewRenyiFilter(privacy.Budget{Epsilon: 1, Delta: 1e-5}, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	runs := 0
	for sigma := 40.0; filter.ChargeDivergence(filter.Order()/(2*sigma*sigma)) == nil; sigma *= 0.9 {
		runs++
	}
	fmt.Println(runs, "releases")
	// Output: 15 releases
}
