package dpmf

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
)

// account returns the account with the claim that the package comment proves, and what that claim does not cover.
func (m form) account(c Config) experiment.Account {
	a := experiment.Protected()
	if math.IsInf(c.Privacy.Epsilon, 1) {
		a.Leave("no noise", "privacy.epsilon is infinite, and items' vectors are fitted without noise")
		return a
	}
	a.Claimed = &experiment.Claim{Eps: privacy.Number(c.Privacy.Epsilon), Unit: "rating that is there, its value",
		Theorem: "objective perturbation of items' vectors, users' vectors fixed"}
	if m.method == implicit.method {
		a.Claimed.Unit = "cell that is there, its value"
		a.Leave("existence", "a cell of 1 is an interaction, which is secret by being there, and the cells of 0 are "+
			"drawn among the items that the user has not: the noise is for the value of a cell that both neighbours "+
			"have")
	} else {
		a.Leave("existence", "which items a user rated decides the Hessian of the objective: the noise is for the "+
			"value of a rating that both neighbours have")
	}
	if c.Privacy.Draws == DrawsEpoch {
		a.Claimed.Theorem += ", as if its noise were drawn once"
	}
	a.Leave("users_vectors",
		"users' vectors are fitted to the cells without noise, and items' vectors to these: a value moves more of "+
			"the objective than the noise is for")
	a.Leave("minimum", "an objective of both users' and items' vectors is not convex, and epochs of gradient steps "+
		"end at no exact minimum of it: the proof by densities of minimisers does not apply")
	return a
}

// held returns the largest number of cells of one user.
func (c *cells) held() privacy.Holding {
	most := 1
	for u := range c.users.len() {
		most = max(most, c.users.start[u+1]-c.users.start[u])
	}
	return privacy.Holding{Unit: privacy.User, Of: value.Unit, Most: int64(most)}
}

// compose adds the account of the noise by itself: for the value of one cell, and for the values of all cells of the
// user with the most.
func (c Config) compose(a experiment.Account, l *privacy.Ledger, held privacy.Holding) (experiment.Privacy, error) {
	if a.Claimed == nil {
		a.Total = privacy.Number(math.Inf(1))
		return &a, nil
	}
	got, err := a.ComposePure(l, value, held)
	if err != nil {
		return nil, err
	}
	if want := float64(a.Claimed.Eps) * float64(c.draws()); !(got > 0 && got <= want*(1+1e-9)) {
		return nil, fmt.Errorf("the ledger's noise comes to epsilon %.10g for one %s, the setting's draws to %v", got,
			value.Unit, want)
	}
	return &a, nil
}
