package rdpgcf

import (
	"math"

	"privrec/internal/privacy"
)

// unprotected is the account of a model without any privacy, declared in the run's
// ledger, which it opens.
func (x *experiment) unprotected() (*Account, error) {
	a := &Account{
		Method: "none", Noise: "none", Unit: unitEdge, Neighbouring: addRemove, EpsTotal: privacy.Number(math.Inf(1)),
		Components:  []Component{},
		Unprotected: []Open{{"edges", "the model trains on and recommends from the rows in the clear"}},
	}
	if x.cfg.train.selected() {
		a.Unprotected = append(a.Unprotected, openSelection)
	}
	_, err := declare(x.env, a.Unprotected, nil)
	return a, err
}
