package exact_test

import (
	"fmt"
	"math/big"

	"privrec/internal/privacy/audit/exact"
)

// A response that keeps with odds x to 2 is e^eps-private for x = e^eps. One that
// leaves a value in the clear now and then is not private for any.
func ExampleVerify() {
	x := big.NewRat(5, 1)
	response := func(in int, c *exact.Choices) int {
		if c.Choose(x, big.NewRat(2, 1)) == 0 {
			return in
		}
		return (in + 1 + c.Below(2)) % 3
	}
	careless := func(in int, c *exact.Choices) int {
		if c.Below(1000) == 0 {
			return 10 + in // a debug output
		}
		return response(in, c)
	}
	classes := []exact.Class[int]{{Name: "any two", Pairs: exact.Pairs([]int{0, 1, 2}), Claim: x}}
	for _, m := range []exact.Mechanism[int, int]{response, careless} {
		found, err := exact.Verify(m, classes, exact.Limits{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(found[0].Holds(), found[0].Epsilon())
	}
	// Output:
	// true 1.6094379124341003
	// false +Inf
}
