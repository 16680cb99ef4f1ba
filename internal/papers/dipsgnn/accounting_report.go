package dipsgnn

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
)

// Privacy holds the content of privacy.json: the claim, the account of the real run, and what no formula bounds. The
// total is that of the worst unit.
type Privacy struct {
	experiment.Account
	Delta       float64           `json:"delta"`
	T           int               `json:"T"`
	C           float64           `json:"C"`
	Sigma       float64           `json:"sigma"`              // what the theorem calibrates; 0 is no noise
	NoiseStd    float64           `json:"noise_std"`          // what was added
	NoiseOn     string            `json:"noise_on,omitempty"` // edges: session graphs; else aggregated messages
	Claimed     *Claim            `json:"claimed"`
	Units       []UnitAccount     `json:"units"`
	Table       []Row             `json:"table"`
	Evaluations []EvaluationCount `json:"noisy_evaluations"`
	// Published names the files that the guarantee of a run with secure noise covers, and no others.
	Published []string `json:"published,omitempty"`
}

// Claim holds the paper's guarantee and its assumptions.
type Claim struct {
	experiment.Claim
	S2 int `json:"s2"`
	M  int `json:"M"`
}

// EvaluationCount says how often a set of samples was ranked with noise.
type EvaluationCount struct {
	Name   string `json:"name"`
	Passes int    `json:"passes"`
}

// Cost holds the cost of releases. S2M is s² M, the squared sensitivity times the number of releases.
type Cost struct {
	S2M      float64        `json:"s2_M"`
	Mu2      privacy.Number `json:"mu2"`
	EpsRDP   privacy.Number `json:"eps_rdp"`   // the paper's conversion
	EpsExact privacy.Number `json:"eps_exact"` // the exact curve of the Gaussian mechanism
}

// Row is a line of the table of ways to count, from that of the theorem to that of the real training.
type Row struct {
	Name string `json:"name"`
	Cost
}

// UnitAccount holds the account of one unit of protection: edge-unit, delete, substitute or user.
type UnitAccount struct {
	experiment.Unit
	Accounted Accounted `json:"accounted"`
}

// Accounted holds the account of the noisy aggregations alone. MTrain and MEval count the releases that contain the
// worst edge, in training and in noisy evaluations, per propagation step. S2M sums s² over those that contain the unit.
type Accounted struct {
	S2     int64 `json:"s2,omitempty"` // of the worst single release; absent where it depends on the prefix's length
	MTrain int64 `json:"M_train"`
	MEval  int64 `json:"M_eval"`
	Cost
}

// closed reports whether noise covers everything that a run reads of the order of items within a window. Labels and
// readout of windows that share no row do not depend on that order.
func (a Accounting) closed() bool {
	return a.Windows && a.StopGradient && !a.EvalNoiseOff && !a.Selected && !math.IsInf(a.Epsilon, 1)
}

// public lists the assumptions of a closed account.
var public = []privacy.Assumption{
	{What: "of every window of a training sequence: which items it has and how often, the last of them, and the label",
		Why: "readout and labels use these in the clear; the guarantee is for the order of the other items"},
	{What: "which items there are, how many users and windows, and how the rows were filtered, truncated and split",
		Why: "they depend on the rows of all users"},
	{What: "a user's own lists",
		Why: "beside noisy messages they are computed from which items the user has and the last of them in the " +
			"clear, so the guarantee is for what all others see (joint differential privacy)"},
	{What: "the settings", Why: "to choose them by results on these rows is not accounted for"},
	{What: "what is measured here", Why: "losses, floors and ranks of test samples are of labels in the clear"},
}

// unbounded returns what the run leaves unprotected.
func (a Accounting) unbounded() []experiment.Open {
	if a.closed() {
		return []experiment.Open{}
	}
	list := []experiment.Open{
		experiment.NotCovered("labels",
			"the loss sees the next item: the gradient of the embedding table points against the label's row and "+
				"along every other row outside the session"),
		experiment.NotCovered("readout",
			"the last item and the sum over positions are looked up in the raw sequence; only transition counts pass "+
				"through the noise"),
	}
	if !a.StopGradient && !a.ZeroAdjacency && !a.Edges {
		list = append(list, experiment.NotCovered("backward",
			"the backward pass multiplies gradients by the transposed adjacency in the clear, which post-processing "+
				"does not cover"))
	}
	if math.IsInf(a.Epsilon, 1) && !a.ZeroAdjacency {
		list = append(list, experiment.NotCovered("no_noise", "the aggregation runs without noise"))
	} else if a.EvalNoiseOff {
		list = append(list, experiment.NotCovered("eval_noise_off",
			"recommendations are made without noise from the raw sequence"))
	}
	if a.Selected {
		list = append(list, nextitem.OpenSelection)
	}
	return list
}

const whyRange = "numbers are scaled by the minimum and maximum over all users, which depend on the data"

// Features returns the account of the perturbation of n features, k of them sent by each user. shared says that one
// choice was made for all users and the other features were left in the clear. scaled says that some features are
// numbers, scaled by the minimum and maximum of the data.
func Features(eps1 float64, k, n int, shared, scaled bool) *experiment.Features {
	f := &experiment.Features{Eps1: privacy.Number(eps1), K: k, N: n, Zeroed: !shared || k == n,
		Total: privacy.Number(eps1), Unbounded: []experiment.Open{}}
	if math.IsInf(eps1, 1) {
		f.Unbounded = append(f.Unbounded,
			experiment.NotCovered("no_perturbation", "features enter the model in the clear"))
	} else if !f.Zeroed {
		f.Unbounded = append(f.Unbounded,
			experiment.NotCovered("unselected", fmt.Sprintf("%d of %d features are left in the clear", n-k, n)))
	}
	if scaled {
		f.Unbounded = append(f.Unbounded, experiment.NotCovered("range", whyRange))
	}
	if len(f.Unbounded) > 0 {
		f.Total = privacy.Number(math.Inf(1))
	}
	return f
}
