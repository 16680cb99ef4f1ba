package auditing

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
)

// Accounted holds the promise that the audited run's account makes for the unit of an audit.
type Accounted struct {
	Unit    string         `json:"unit"` // of the promise
	Epsilon privacy.Number `json:"epsilon"`
	Delta   float64        `json:"delta"`
	Claimed string         `json:"claimed,omitempty"` // the paper's claim, with its unit
	// Why gives the reason why there is nothing to compare with, or how the units relate.
	Why string `json:"why,omitempty"`
	// Above says that the audited bound is above the claim, and what follows; empty where it is not.
	Above string `json:"above_claim,omitempty"`

	claim  *experiment.Claim
	claims bool // the claim is for what is audited
	more   bool // the auditor saw more than the claim is about
}

// finite reports whether there is a promise that a bound can contradict.
func (a Accounted) finite() bool { return !math.IsInf(float64(a.Epsilon), 1) }

// promise names the unit and the relation of neighbours that a guarantee is for.
type promise struct {
	unit         string
	neighbouring privacy.Neighbouring
}

// covers lists the guarantees that apply to each audited unit, the closest first. A canary edge is one row more or
// less; in a sequence it is the last row, and so the label of one more sample. Canaries with both sides of the coin in
// the data are exchanged: of a guarantee for one more or less it would take two. Where every row of a sequence but the
// first is a label, a sequence of two rows is one sample and one transition.
var covers = map[string][]promise{
	Edge: {{"edge", privacy.AddRemove}, {"interaction", privacy.AddRemove}, {"sample", privacy.AddRemove},
		{"user", privacy.AddRemove}},
	Rating:      {{"rating", privacy.Replace}, {"interaction", privacy.Replace}},
	User:        {{"user", privacy.AddRemove}},
	Sequence:    {{"user", privacy.AddRemove}},
	pair:        {{"sample", privacy.AddRemove}, {"user", privacy.AddRemove}},
	Interaction: {{"interaction", privacy.Replace}},
	Order:       {{"swap", privacy.Replace}},
}

// pair names canary sequences of two rows.
const pair = Sequence + " of two rows"

// neighbours names the unit and the relation that one canary stands for.
func (c AuditConfig) neighbours() string {
	if c.Unit == Sequence && c.Rows == 2 {
		return pair
	}
	return c.Unit
}

// accounted returns the guarantee that an audit is compared with. A guarantee for a larger unit covers a smaller one.
// One for a smaller unit says nothing of a larger one without group privacy, and is not compared.
func accounted(a *experiment.Account, unit string) Accounted {
	out := Accounted{Unit: unit, Epsilon: privacy.Number(math.Inf(1))}
	if a == nil {
		out.Why = "the run has no account"
		return out
	}
	if c := a.Claimed; c != nil {
		out.Claimed, out.claim = claimText(c), c
		out.claims = slices.Contains(claims[unit], c.Unit) ||
			slices.ContainsFunc(covers[unit], func(p promise) bool { return p.unit == c.Unit })
	}
	if len(a.Unbounded) > 0 {
		out.Why = "without noise: " + strings.Join(experiment.Names(a.Unbounded), ", ")
		return out
	}
	for _, p := range covers[unit] {
		for _, u := range a.Units {
			if u.Unit != p.unit || u.Neighbouring != string(p.neighbouring) {
				continue
			}
			out.Unit, out.Epsilon, out.Delta = u.Unit, u.Total, u.Delta
			if u.Unit == User && unit == Edge {
				out.Why = "a promise for users covers every edge of a user: the audit is the weaker of the two"
			}
			return out
		}
	}
	if len(a.Units) > 0 {
		out.Why = fmt.Sprintf("the account is for one %s; for one %s it would take the privacy of groups, so that "+
			"the two are not compared", a.Units[0].Unit, unit)
	}
	return out
}

// claims lists further units of papers' claims that cover a canary, beside those of covers. A canary edge is one more
// rating, and so one more training triple; in a sequence it is one more transition.
var claims = map[string][]string{Edge: {"training triple", "edge-unit"}, Rating: {"rating that is there, its value"},
	pair: {"edge-unit"}}

// shown records that the auditor saw only outputs that do not come from a canary's own row. Claims for items' vectors
// cover no more than those.
func (a *Accounted) shown(others bool) {
	a.more = !others && a.claim != nil && strings.Contains(a.claim.Theorem, "items' vectors")
}

// above records whether the bound on epsilon at a delta exceeds the claim. A guarantee at a smaller delta also holds at
// a larger one, but not the other way round.
func (a *Accounted) above(bound, delta float64) {
	c := a.claim
	if c == nil || delta < c.Delta || !(bound > float64(c.Eps)) {
		return
	}
	a.Above = fmt.Sprintf("above the epsilon of %v that is claimed for one %s, ", c.Eps, c.Unit)
	if a.claims && a.more {
		a.Above += "which is for items' vectors: users' own are the users', and the auditor saw what they give"
	} else if a.claims {
		a.Above += "and the claim does not hold"
	} else {
		a.Above += "which is another unit: it says nothing of this one"
	}
}
