package exposure

import (
	"privrec/internal/metrics"
	"privrec/internal/protocol/slates"
	"privrec/internal/train"
)

// Outcome is what a run measured: metrics.json. It holds no times, so that a resumed run
// writes the same bytes. Scores are shares.
type Outcome struct {
	Method      string              `json:"method"`
	Setting     string              `json:"setting"` // the profile, and what differs from it
	Data        slates.DataSummary  `json:"data"`
	Metrics     []metrics.Metric    `json:"metrics"`
	Definitions map[string]string   `json:"definitions"`
	Floors      []slates.Scores     `json:"floors"`      // under the main protocol, those with as many guesses last
	Evaluations []slates.Scores     `json:"evaluations"` // the attack under every protocol, the main one first
	Protocols   []slates.Outcome    `json:"protocols"`
	Protection  *ProtectionOutcome  `json:"protection,omitempty"`
	Figures     *Figures            `json:"figures,omitempty"`
	Selected    int                 `json:"selected_epoch"` // of the reported attack, from 1
	Cap         int                 `json:"epoch_cap"`
	Stopped     bool                `json:"stopped_early"`
	Short       string              `json:"short,omitempty"` // why the training is shorter than that of its profile, and not set against the paper
	Steps       int                 `json:"steps"`
	Epochs      []train.EpochRecord `json:"epochs"`
}

// ProtectionOutcome is what was done to the slates.
type ProtectionOutcome struct {
	Mechanism string  `json:"mechanism"`
	Attacker  string  `json:"attacker"`
	Replaced  float64 `json:"replaced"` // share of positions that hold another item
	Accuracy  share   `json:"accuracy"` // of recommendations, positions
	Before    share   `json:"accuracy_before"`
	Keep      float64 `json:"keep,omitempty"` // of rr: probability that a position stays
	Epsilon   float64 `json:"epsilon,omitempty"`
	Blind     int64   `json:"slates_without_reference,omitempty"`
}

// protected says what was done to the slates; nil where nothing was.
func (x *attackRun) protected() *ProtectionOutcome {
	if x.protection == nil {
		return nil
	}
	c, r := x.cfg.Protect, x.protection.report
	s := Setting{Select: c.Select, Replace: c.Replace, Ratio: c.Ratio, Epsilon: c.Epsilon}
	before, _ := Accuracy(x.Set, x.Set.Test)
	after, _ := Accuracy(x.Set, x.Test)
	return &ProtectionOutcome{Mechanism: s.String(), Attacker: c.Attacker, Replaced: float64(r.Replaced) / float64(max(1, len(x.Test.Slates))),
		Accuracy: share(after), Before: share(before), Keep: r.Keep, Epsilon: r.Epsilon, Blind: r.Blind}
}
