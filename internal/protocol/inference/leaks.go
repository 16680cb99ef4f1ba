package inference

import (
	"fmt"
	"strings"

	"privrec/internal/metrics"
)

// Leak holds the result for one input of one target and one attribute, by the main attacker and the first length of
// lists. This choice is fixed before anything is measured: the best of several attackers would be above its floor by
// chance.
type Leak struct {
	Target    string `json:"target"`
	Sees      string `json:"sees"`
	K         int    `json:"k,omitempty"`
	Attacker  string `json:"attacker"`
	Attribute string `json:"attribute"`
	Found     bool   `json:"found"` // something surely leaks
	Text      string `json:"text"`
}

// leaks returns what lists add to interactions, and what other inputs reveal by themselves.
//
// Lists leak if they add to what the same attacker finds in interactions alone, and that attacker is then also above
// the majority. An attacker that errs on interactions gains micro F1 by answering the majority more often, and learns
// nothing. An attacker can also know something and still not answer better than the majority; its AUC shows that.
func (o *Outcome) leaks(c Config) (all []Leak) {
	for i, row := range o.Rows {
		if i < len(o.Floors) || row.attacker != 0 || row.Unsuitable != "" || row.K != 0 && row.K != c.Attack.K[0] {
			continue
		}
		for a, attribute := range o.Attributes {
			l := Leak{Target: row.Target, Sees: row.Sees, K: row.K, Attacker: row.Attacker, Attribute: attribute.Name}
			majority, _ := o.gain(i, a, metrics.MicroF1Score, OverMajority)
			if row.Sees != SeesBoth {
				auc, _ := o.gain(i, a, metrics.AUCScore, OverMajority)
				l.Found, l.Text = alone(row.Sees, majority, auc)
			} else {
				gain, _ := o.gain(i, a, metrics.MicroF1Score, OverInteractions)
				auc, _ := o.gain(i, a, metrics.AUCScore, OverInteractions)
				l.Found, l.Text = added(gain, majority, auc)
			}
			all = append(all, l)
		}
	}
	return all
}

// points returns a gain with its interval as text.
func (g Gain) points() string {
	if g.Interval == nil {
		return fmt.Sprintf("%+.1f points", 100*g.Value)
	}
	return fmt.Sprintf("%+.1f points (%+.1f to %+.1f)", 100*g.Value, 100*g.Interval[0], 100*g.Interval[1])
}

// alone reports whether an input leaks by itself, with a sentence. f1 and auc are its gains over the majority, whose
// AUC is that of chance.
func alone(sees string, f1, auc Gain) (found bool, text string) {
	what := map[string]string{SeesLists: "lists alone", SeesInteractions: "interactions alone",
		SeesVectors: "user vectors alone"}[sees]
	measured := fmt.Sprintf("micro F1 over the majority %s, AUC over chance %s", f1.points(), auc.points())
	switch {
	case f1.Interval == nil:
		return false, fmt.Sprintf("%s, of one split, without intervals: %s", what, measured)
	case f1.sure() > 0:
		return true, fmt.Sprintf("%s tell: %s", what, measured)
	case auc.sure() > 0:
		return true, fmt.Sprintf("%s tell something, with no more right answers than the majority: %s", what, measured)
	}
	return false, fmt.Sprintf("%s tell nothing measurable: %s", what, measured)
}

// added reports whether lists leak beyond interactions, with a sentence. f1 and auc are the gains over interactions,
// and majority is the gain in micro F1 over the majority.
func added(f1, majority, auc Gain) (found bool, text string) {
	measured := fmt.Sprintf("gain in micro F1 %s, in AUC %s", f1.points(), auc.points())
	switch {
	case f1.Interval == nil:
		return false, "what lists add to interactions, of one split, without intervals: " + measured
	case f1.sure() > 0 && majority.sure() > 0:
		return true, "the lists add to what interactions tell: " + measured
	case auc.sure() > 0:
		return true, "the lists add something to what interactions tell, with no more right answers than the floors: " +
			measured
	case f1.sure() > 0:
		return false, fmt.Sprintf("the lists add nothing measurable: %s, and over the majority %s", measured,
			majority.points())
	case f1.sure() < 0:
		return false, "the lists mislead the attacker: " + measured
	}
	return false, "the lists add nothing measurable to what interactions tell: " + measured
}

// counted returns a sentence with the numbers of gains of lists over interactions alone that are surely above and
// surely below 0, over all attackers and lengths of lists.
func (o *Outcome) counted(score metrics.ClassScore, confidence float64) string {
	n, above, below := 0, 0, 0
	for _, g := range o.Gains {
		if g.score != score || g.Over != OverInteractions || g.Interval == nil || o.Rows[g.row].Sees != SeesBoth {
			continue
		}
		n++
		switch g.sure() {
		case 1:
			above++
		case -1:
			below++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("of %d gains in %v that lists bring over interactions alone, %d lie above 0 with their whole "+
		"interval and %d below; where nothing leaks, %.2g would lie above by chance",
		n, score, above, below, float64(n)*(1-confidence)/2)
}

// targetNames returns the names of the targets.
func (o *Outcome) targetNames() string {
	var names []string
	for _, t := range o.Targets {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}
