package classic_test

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/classic"
)

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
