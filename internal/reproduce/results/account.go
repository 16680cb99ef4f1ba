package results

import (
	"privrec/internal/claims"
)

// accountLine is the account of one unit of protection.
type accountLine struct {
	unit, neighbouring        string
	delta, claimed, accounted float64 // NaN: nothing is claimed, or there is no delta
	noise                     float64 // what the noise alone amounts to; NaN: there is none
	open                      []string
}

// featuresUnit is the unit of user features that are perturbed on the user's side.
const featuresUnit = "user features, local"

// wholeRun is what an account without units is about.
const wholeRun = claims.WholeRun
