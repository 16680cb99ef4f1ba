package gerai

import (
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/report"
)

// Account says what a run of GERAI protects. The paper claims loss.epsilon for a training triple
// by its theorem 4.2, and features.epsilon for a user's features by theorem 4.1.
//
// What the second comes to is in Costs. The first does not hold for a run:
//
//   - The functional mechanism releases coefficients that depend on the data alone, once. Here
//     they also depend on the network below h, whose gradients have no noise in any reading but
//     "scalar", and that one adds noise to three constants. So nothing bounds what the model or
//     its recommendations tell of a rating.
//   - A rating is not a triple: it is an edge of the graph too, and moves the vectors of its user
//     and of its item in every triple of the two.
//   - The scale is that of a mean over all |D| triples. A step's mean is over B of them, so even
//     if h were all that is released, a step would spend epsilon |D|/B (HOnly).
type Account struct {
	experiment.Account
	Costs features.Costs `json:"feature_costs"`
	HOnly *HOnly         `json:"h_only,omitempty"` // nil where the loss has no noise that is drawn in every step
}

// HOnly is the epsilon of one training triple if h were all that training releases and if the
// network below h were public. A run has no such guarantee.
type HOnly struct {
	Step    float64 `json:"eps_step"`  // epsilon |D|/B, of a whole batch
	Epoch   float64 `json:"eps_epoch"` // the sum over its steps
	Steps   int     `json:"steps_per_epoch"`
	Scale   float64 `json:"noise_scale"`
	Triples int     `json:"triples"` // |D|
}

// account returns a setting's claims and open things, before anything is released.
func (c Config) account(triples int) *Account {
	a := &Account{Costs: c.Features.Costs()}
	a.Account = experiment.Unprotected("interactions",
		"the model learns from the ratings in the clear, as its graph and as its triples, and recommends from them")
	a.Account.Features = c.Features.Account()
	if c.Loss.Noise != NoiseOff || c.Features.Noise != features.NoiseNone {
		a.Noise = string(privacy.Research)
	}
	if c.Train.Selected() {
		a.Leave(topn.OpenSelection.What, topn.OpenSelection.Why)
	}
	if c.Features.Form == features.FormAttributes && c.Features.Noise == features.NoiseLocal {
		a.Public = publicOfAttributes
	}
	switch c.Loss.Noise {
	case NoiseOff:
		return a
	case NoiseScalar:
		a.Leave("loss_noise", "it is on the numbers of the Taylor form, which are no data: gradients are random "+
			"multiples of what the ratings give")
	case NoiseOnce:
		a.Leave("loss_noise", "it reaches the gradient of h alone, and all steps have the same draw: the difference "+
			"of two has none")
	case NoiseStep:
		a.Leave("loss_noise", "it reaches the gradient of h alone: those of all other parameters are the ones "+
			"without noise")
		a.HOnly = c.hOnly(triples)
	}
	a.Claimed = &experiment.Claim{Eps: privacy.Number(c.Loss.Epsilon), Unit: "training triple",
		Theorem: "theorem 4.2, functional mechanism"}
	return a
}

// publicOfAttributes lists the assumptions of Repaired's guarantee.
var publicOfAttributes = []privacy.Assumption{
	{What: "which users there are, and their ratings",
		Why: "epsilon compares users with the same ratings, and says nothing of attributes that follow from these"},
	{What: "what a run notes of its files",
		Why: "check sums are of the attributes as they are, and tell whether a guess of all of them is right: the " +
			"guarantee is for the model, its lists and its metrics"},
	{What: "other runs", Why: "each draws reports of its own, whatever their settings, and costs its epsilon again"},
}

// hOnly returns the epsilons of a step and of an epoch, the sum over its steps.
func (c Config) hOnly(triples int) *HOnly {
	batch := min(c.Train.Batch, triples)
	h := &HOnly{Step: stepEpsilon(c.Loss.Epsilon, triples, batch), Steps: triples / batch,
		Scale: Scale(c.Model.Dim, c.Loss.Epsilon, triples), Triples: triples}
	h.Epoch = float64(h.Steps) * h.Step
	if last := triples % batch; last > 0 {
		h.Steps++
		h.Epoch += stepEpsilon(c.Loss.Epsilon, triples, last)
	}
	return h
}

// declaration returns the declaration that the ledger begins with. Its open things concern ratings, and not the
// features, which are other data.
func (a *Account) declaration() privacy.Declaration {
	d := a.Account.Declaration()
	for i := range a.Unbounded {
		d.WithoutNoise[i].Unit = privacy.Interaction
	}
	return d
}

// show adds claims, costs and open things to a result.
func (c Config) show(a *Account, d *report.Document) {
	a.Account.Show(d)
	d.Facts = append(d.Facts, c.Features.Facts()...)
	if h := a.HOnly; h != nil {
		spent := fmt.Sprintf("epsilon %.4g a step (%g x %d/%d), %.3g an epoch of %d steps", h.Step, c.Loss.Epsilon,
			h.Triples, c.Train.Batch, h.Epoch, h.Steps)
		if h.Steps == 1 {
			spent = fmt.Sprintf("epsilon %.4g for all triples at once, a step and an epoch", h.Step)
		}
		d.Facts = append(d.Facts, report.Fact{Label: "noise of the loss", Value: fmt.Sprintf("scale %.5g", h.Scale),
			Note: "if h were all that is released: " + spent + ", for one training triple"})
	}
	d.Notes = append(d.Notes, c.Features.Notes()...)
	if c.Features.Form == features.FormAttributes && c.Features.Noise == features.NoiseLocal &&
		c.Loss.Noise == NoiseOff {
		d.Notes = append(d.Notes,
			fmt.Sprintf("The recommendations are %g-locally differentially private for one attribute of one user, "+
				"all ratings fixed: the attributes enter the run through the users' reports alone.",
				c.Features.Epsilon))
	}
}
