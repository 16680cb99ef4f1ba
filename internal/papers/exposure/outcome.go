package exposure

import (
	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/protocol/slates"
)

// Outcome holds the measurements of a run as metrics.json stores them. Floors are those under the main protocol, those
// with as many guesses last. Evaluations are the attack under every protocol, the main one first.
type Outcome struct {
	experiment.Outcome[slates.DataSummary]
	Protocols  []slates.Outcome   `json:"protocols"`
	Protection *ProtectionOutcome `json:"protection,omitempty"`
	Figures    *Figures           `json:"figures,omitempty"`
}

// ProtectionOutcome describes the protection of the slates.
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

// protected returns the description of the slates' protection; nil if there was none.
func (x *attackRun) protected() *ProtectionOutcome {
	if x.protection == nil {
		return nil
	}
	c, r := x.cfg.Protect, x.protection.report
	s := protect.Setting{Select: c.Select, Replace: c.Replace, Ratio: c.Ratio, Epsilon: c.Epsilon}
	before, _ := protect.Accuracy(x.Set, x.Set.Test)
	after, _ := protect.Accuracy(x.Set, x.Test)
	return &ProtectionOutcome{Mechanism: s.String(), Attacker: c.Attacker,
		Replaced: float64(r.Replaced) / float64(max(1, len(x.Test.Slates))),
		Accuracy: share(after), Before: share(before), Keep: r.Keep, Epsilon: r.Epsilon, Blind: r.Blind}
}

// write writes metrics and account, and shows both.
func (x *attackRun) write(o *Outcome, a *Account) error {
	if err := x.Env.WriteMetrics(o); err != nil {
		return err
	}
	if err := experiment.WriteCells(x.Env, o.Data.Level, slates.Cells(o.Protocols)); err != nil {
		return err
	}
	d, err := x.document(o)
	if err != nil {
		return err
	}
	if err := x.Env.WritePrivacy(a); err != nil {
		return err
	}
	a.show(d)
	return x.Env.Print(d)
}
