package rdpgcf

import (
	"math"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// unprotected is the account of a model without any privacy, also entered into the
// run's ledger.
func unprotected(env *run.Env) (*Account, error) {
	a := &Account{
		Method: "none", Noise: "none", Unit: unitEdge, Neighbouring: addRemove, EpsTotal: privacy.Number(math.Inf(1)),
		Components:  []Component{},
		Unprotected: []Open{{"edges", "the model trains on and recommends from the rows in the clear"}},
	}
	ledger, err := env.Ledger(privacy.Research)
	if err != nil {
		return nil, err
	}
	if err := a.Record(ledger); err != nil {
		return nil, err
	}
	return a, ledger.Flush("after the run")
}
