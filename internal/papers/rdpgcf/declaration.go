package rdpgcf

import (
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// What a finite total can take as public.
var (
	publicData     = privacy.Assumption{What: "which users and items there are, and how the rows were filtered and split", Why: "the unit is a training row"}
	publicSettings = privacy.Assumption{What: "the settings", Why: "to choose them by results on these rows is not accounted for"}
	publicReport   = privacy.Assumption{What: "what is measured here", Why: "numbers of rows, floors and ranks of held-out rows, whose masks are the training rows"}
	publicEdges    = privacy.Assumption{What: "the number of training edges, and of labels among them", Why: "it sets the rate and the number of steps"}
)

// declare opens the run's ledger with what the run leaves open, and what a finite total then
// takes as public.
func declare(env *run.Env, open []experiment.Open, taken []privacy.Assumption) (*privacy.Ledger, error) {
	a := experiment.Account{Unbounded: open, Public: taken}
	return env.Ledger(privacy.Research, a.Declaration())
}
