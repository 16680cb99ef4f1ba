package dpfactor

import (
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
)

// Assumptions of a finite total.
var public = []privacy.Assumption{
	{What: "which row trains",
		Why: "the unit is a training row: where a share of a user's rows trains, a row more can put another one of " +
			"that user's into training, and costs two"},
	{What: "users' own lists and vectors",
		Why: "they are fitted to the user's own row in the clear, so the guarantee is for what all others see (joint " +
			"differential privacy)"},
	{What: "the most rows of a user", Why: "it says how large a group of rows a user is"},
	{What: "the settings", Why: "to choose them by results on these rows is not accounted for"},
	{What: "what is measured here", Why: "numbers of rows, floors and ranks of held-out rows"},
}

// account returns the account with the claim of the published proof, and what that claim does not cover.
func (c Config) account() experiment.Account {
	var a experiment.Account
	theorem := "objective perturbation of items' vectors, users' vectors fixed"
	if c.Privacy.Users == UsersPublic {
		a = experiment.Protected(public...)
		theorem = "objective perturbation of items' vectors, users' vectors public"
	} else {
		a = experiment.Protected()
		a.Leave("users_vectors",
			"users' vectors are fitted to the rows without noise, and items' vectors to these: a row moves more of "+
				"the objective than the noise is for")
		a.Leave("minimum", "an objective of both users' and items' vectors is not convex, and alternating rounds end "+
			"at no exact minimum of it: the proof by densities of minimisers does not apply")
		if c.Model.Matrix == MatrixRatings {
			a.Leave("rated", "which items a user rated decides the curvature of the objective: the noise is for the "+
				"value of a rating")
		}
	}
	a.Claimed = &experiment.Claim{Eps: privacy.Number(c.Privacy.Epsilon), Unit: string(c.unit().Unit), Theorem: theorem}
	return a
}

// held returns the largest number of rows of one user.
func (w *work) held() privacy.Holding {
	most := 1
	for u := range w.Graph.Users {
		most = max(most, len(w.Graph.ItemsOf(u)))
	}
	return privacy.Holding{Unit: privacy.User, Of: w.cfg.unit().Unit, Most: int64(most)}
}

// compose adds the pure epsilons of the noise: for one row, and for the user with the most rows, each at the same cost.
func (w *work) compose(a experiment.Account) (experiment.Privacy, error) {
	of := w.cfg.unit()
	row, err := a.ComposePure(w.ledger, of, w.held())
	if err != nil {
		return nil, err
	}
	if want := w.cfg.Privacy.Epsilon; !(row > 0 && row <= want*(1+1e-9)) {
		return nil, fmt.Errorf("the ledger's noise comes to epsilon %.10g for one %s, the setting's is %v", row,
			of.Unit, want)
	}
	return &a, nil
}
