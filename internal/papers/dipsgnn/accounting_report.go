package dipsgnn

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
)

// Privacy is privacy.json (specification 5.4): the claim, what really ran, and
// what no formula bounds.
type Privacy struct {
	Noise       string            `json:"noise"`
	EpsTotal    privacy.Number    `json:"eps_total"` // worst unit; infinity unless unbounded is empty
	Delta       float64           `json:"delta"`
	T           int               `json:"T"`
	C           float64           `json:"C"`
	Sigma       float64           `json:"sigma"`     // what the theorem calibrates; 0 is no noise
	NoiseStd    float64           `json:"noise_std"` // what was added
	Claimed     *Claim            `json:"claimed"`   // null: the model claims nothing
	Units       []UnitAccount     `json:"units"`
	Table       []Row             `json:"table"`
	Evaluations []EvaluationCount `json:"noisy_evaluations"`
	Unbounded   []nextitem.Open   `json:"unbounded"`
	Features    *FeatureAccount   `json:"features,omitempty"` // nil: no user features
}

// Claim is the paper's guarantee and what it assumes.
type Claim struct {
	Theorem string         `json:"theorem"`
	Unit    string         `json:"unit"`
	Eps     privacy.Number `json:"eps"`
	S2      int            `json:"s2"`
	M       int            `json:"M"`
}

// EvaluationCount is how often a set of samples was ranked with noise.
type EvaluationCount struct {
	Name   string `json:"name"`
	Passes int    `json:"passes"`
}

// Cost is s² M of a step and what it comes to.
type Cost struct {
	S2M      float64        `json:"s2_M"`
	Mu2      privacy.Number `json:"mu2"`
	EpsRDP   privacy.Number `json:"eps_rdp"`   // the paper's conversion
	EpsExact privacy.Number `json:"eps_exact"` // the exact curve of the Gaussian mechanism
}

// Row is a line of the table of specification 5.3.
type Row struct {
	Name string `json:"name"`
	Cost
}

// UnitAccount is the account of one unit of protection.
type UnitAccount struct {
	Unit         string         `json:"unit"` // edge-unit, delete, substitute, user
	Neighbouring string         `json:"neighbouring"`
	Delta        float64        `json:"delta"`
	T            int            `json:"T"`
	C            float64        `json:"C"`
	Sigma        float64        `json:"sigma"`
	NoiseStd     float64        `json:"noise_std"`
	Claimed      Claimed        `json:"claimed"`
	Accounted    Accounted      `json:"accounted"`
	Unbounded    []string       `json:"unbounded"`
	EpsTotal     privacy.Number `json:"eps_total"`
}

// Claimed is the claim beside every account.
type Claimed struct {
	Eps privacy.Number `json:"eps"`
	S2  int            `json:"s2"`
	M   int            `json:"M"`
}

// Accounted is the channel of noisy aggregations alone. M counts the releases
// that contain the worst edge, in training and in noisy evaluations, per
// propagation step; s2_M sums s² over those that contain the unit.
type Accounted struct {
	S2     int64 `json:"s2,omitempty"` // of the worst single release; absent where it depends on the prefix's length
	MTrain int64 `json:"M_train"`
	MEval  int64 `json:"M_eval"`
	Cost
}

// FeatureAccount is the local perturbation of user features.
type FeatureAccount struct {
	Eps1     privacy.Number  `json:"eps1"` // claimed, of a user's whole vector
	K        int             `json:"k"`
	N        int             `json:"n"`
	Zeroed   bool            `json:"all_unselected_zeroed"`
	EpsTotal privacy.Number  `json:"eps_total"` // infinity where something of a vector leaves in the clear
	Open     []nextitem.Open `json:"unbounded"`
}

// unbounded lists what the run leaves without protection (specification 5.2).
func (a Accounting) unbounded() []nextitem.Open {
	list := []nextitem.Open{
		{What: "labels", Why: "the loss sees the next item: the gradient of the embedding table points against the label's row and along every other row outside the session"},
		{What: "readout", Why: "the last item and the sum over positions are looked up in the raw sequence; only transition counts pass through the noise"},
	}
	if !a.StopGradient && !a.ZeroAdjacency {
		list = append(list, nextitem.Open{What: "backward", Why: "the backward pass multiplies gradients by the transposed adjacency in the clear, which post-processing does not cover"})
	}
	if math.IsInf(a.Epsilon, 1) && !a.ZeroAdjacency {
		list = append(list, nextitem.Open{What: "no_noise", Why: "the aggregation runs without noise"})
	} else if a.EvalNoiseOff {
		list = append(list, nextitem.Open{What: "eval_noise_off", Why: "recommendations are made without noise from the raw sequence"})
	}
	if a.Selected {
		list = append(list, nextitem.OpenSelection)
	}
	return list
}

const whyRange = "numbers are scaled by the minimum and maximum over all users, which depend on the data"

// Features accounts the perturbation of n features of which each user sends
// k. shared says that one choice was made for all users and the other features
// were left in the clear; scaled that some are numbers, scaled by the minimum
// and maximum of the data.
func Features(eps1 float64, k, n int, shared, scaled bool) *FeatureAccount {
	f := &FeatureAccount{Eps1: privacy.Number(eps1), K: k, N: n, Zeroed: !shared || k == n, EpsTotal: privacy.Number(eps1), Open: []nextitem.Open{}}
	if math.IsInf(eps1, 1) {
		f.Open = append(f.Open, nextitem.Open{What: "no_perturbation", Why: "features enter the model in the clear"})
	} else if !f.Zeroed {
		f.Open = append(f.Open, nextitem.Open{What: "unselected", Why: fmt.Sprintf("%d of %d features are left in the clear", n-k, n)})
	}
	if scaled {
		f.Open = append(f.Open, nextitem.Open{What: "range", Why: whyRange})
	}
	if len(f.Open) > 0 {
		f.EpsTotal = privacy.Number(math.Inf(1))
	}
	return f
}

// total is eps unless something is unbounded.
func (p *Privacy) total(eps privacy.Number) privacy.Number {
	if len(p.Unbounded) > 0 {
		return privacy.Number(math.Inf(1))
	}
	return eps
}

func (p *Privacy) names() []string {
	names := make([]string, len(p.Unbounded))
	for i, u := range p.Unbounded {
		names[i] = u.What
	}
	return names
}

// declaration is what the ledger of a run begins with.
func declaration(run, features []nextitem.Open) (d privacy.Declaration) {
	for _, u := range run {
		d.Open = append(d.Open, u.Unprotected(""))
	}
	for _, u := range features {
		d.Open = append(d.Open, u.Unprotected(privacy.Feature))
	}
	return d
}
