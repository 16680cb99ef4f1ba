package slates

import (
	"fmt"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// readsSlates tells whether a floor looks at the slate, as do counts of what was clicked
// before such slates. What it finds beyond floors that do not is then a leak too.
func readsSlates(floor string) bool { return strings.HasPrefix(floor, attack.FloorCooccurrence) }

// Answer says in three lines what slates give away, by recall at the middle cutoff. The first is
// the headline: the most that anything tried finds beyond the best floor that reads no slate, the
// trained attack and counts alike. Then come the attack by itself, and what it adds to counts.
// Floors name as many distinct items for every pair. Among candidates that hold the clicks the
// first is a gain and no leak by itself. unfinished, where it is not empty, says why the attack
// may find more than it did.
func (p Outcome) Answer(unfinished string, ks []int, confidence float64) []report.Fact {
	m := metrics.Metric{Kind: metrics.Recall, K: ks[len(ks)/2]}.String()
	own, counting := Best(p.Gains, m, false), Best(p.Gains, m, true)
	strongest, by, tried := own, "the trained attack", []string{"the trained attack"}
	for _, c := range p.Counts {
		tried = append(tried, c.Name)
		if g := Best(c.Gains, m, false); g.stronger(strongest) {
			strongest, by = g, c.Name
		}
	}
	label := "leak"
	if p.Vocabulary == attack.VocabularyLogged {
		label = "gain"
	}
	headline := strongest.text() + ", by " + by
	if unfinished != "" {
		headline += "; " + unfinished
	}
	facts := []report.Fact{
		{Label: label, Value: headline, Note: fmt.Sprintf("%s in percent, less that of the best floor that reads no slate, with as many distinct guesses; the most that %s found; %.4g %% interval, users resampled; %s",
			m, strings.Join(tried, " or "), 100*confidence, p.Name)},
		{Label: "by the trained attack", Value: own.text()},
	}
	if counting.Over != "" {
		facts = append(facts, report.Fact{Label: "beyond counting", Value: counting.text(), Note: "what the trained attack adds to counts, which read the slate as well"})
	}
	return facts
}

// Best returns the gain in a metric over the best of the floors that read slates, or of those that do
// not; empty where there is none.
func Best(gains []Gain, metric string, reads bool) (g Gain) {
	for _, x := range gains {
		if x.Metric == metric && readsSlates(x.Over) == reads && (g.Over == "" || x.Floor > g.Floor) {
			g = x
		}
	}
	return g
}

// stronger tells whether a gain is more of a leak than another: surely above its floor where the other
// is not, or else more.
func (g Gain) stronger(than Gain) bool {
	if g.Leaks() != than.Leaks() {
		return g.Leaks()
	}
	return g.Value > than.Value
}

// text returns a gain in percent, over what, and with its interval.
func (g Gain) text() string {
	s := fmt.Sprintf("%+.2f (%+.2f to %+.2f) over %s", 100*g.Value, 100*g.Interval[0], 100*g.Interval[1], g.Over)
	if !g.Leaks() {
		return "none shown: " + s
	}
	return s
}
