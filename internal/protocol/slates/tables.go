package slates

import (
	"fmt"
	"slices"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// Tables returns the scores of a protocol beside its floors, and the gains over them.
func (p Outcome) Tables(ms []metrics.Metric, level dataset.Level) ([]*report.Table, error) {
	name := p.Vocabulary + "-" + budgetFile(p.Budget)
	c := report.Comparison{Name: name, Title: "Protocol " + p.Name, Level: level, Metrics: ms}
	for _, f := range p.Floors {
		f.Name += p.FloorGuesses
		c.Floors = append(c.Floors, f.Row(ms))
	}
	for _, f := range p.Equal {
		c.Floors = append(c.Floors, f.Row(ms))
	}
	users := p.Attack
	users.Name, users.Values = "  mean over users", p.Attack.Users
	c.Ours = append(c.Ours, p.Attack.Row(ms), users.Row(ms))
	c.Notes = append(c.Notes, p.counted())
	if len(p.Equal) > 0 {
		c.Notes = append(c.Notes,
			"the attack names fewer distinct items than its protocol allows: what compares with it are the floors "+
				"with as many guesses")
	}
	scores, err := c.Table()
	if err != nil {
		return nil, err
	}
	guesses := &report.Table{Name: name + "-guesses", Title: "Distinct items named for a pair, mean",
		Columns: []report.Column{{Name: "row"}}}
	ks := cutoffs(ms)
	for _, k := range ks {
		guesses.Columns = append(guesses.Columns, report.Column{Name: Cutoff(k), Format: "%.2f"})
	}
	named := slices.Concat(p.Floors, p.Equal, []experiment.Scores{p.Attack})
	for i := range p.Floors {
		named[i].Name += p.FloorGuesses
	}
	for _, s := range named {
		row := []any{s.Name}
		for _, k := range ks {
			row = append(row, s.Guesses[Cutoff(k)])
		}
		guesses.Add(row...)
	}
	return []*report.Table{scores, guesses, p.leaks(name)}, nil
}

// leaks returns the gains in recall as a table, one row a floor and a cutoff; those of the other metrics are in
// metrics.json.
func (p Outcome) leaks(name string) *report.Table {
	what := "Leak"
	if p.Vocabulary == attack.VocabularyLogged {
		what = "Gain"
	}
	t := &report.Table{Name: name + "-leak", Title: what +
		": the attack less a floor that names as many distinct items for every pair, percent",
		Columns: []report.Column{{Name: "over"}, {Name: "metric"}, {Name: "attack", Format: "%.2f"},
			{Name: "floor", Format: "%.2f"},
			{Name: "gain", Format: "%+.2f"}, {Name: "from", Format: "%+.2f"}, {Name: "to", Format: "%+.2f"},
			{Name: "more than the floor"}}}
	for _, g := range p.Gains {
		if m, err := metrics.Parse(g.Metric); err == nil && m.Kind == metrics.Recall {
			t.Add(g.Over, g.Metric, 100*(g.Floor+g.Value), 100*g.Floor, 100*g.Value, 100*g.Interval[0],
				100*g.Interval[1], g.Leaks())
		}
	}
	t.Notes = append(t.Notes, UnequalNote(p.Gains)...)
	return t
}

// Table returns the counts of the input after every step.
func (d DataSummary) Table() *report.Table {
	t := &report.Table{Name: "data", Title: "Where the pairs come from",
		Columns: []report.Column{{Name: "step"}, {Name: "rows"}, {Name: "users"}, {Name: "items"}}}
	for _, r := range d.Ladder {
		row := []any{r.Name, r.Rows, r.Users, nil}
		if r.Items > 0 {
			row[3] = r.Items
		}
		t.Add(row...)
	}
	return t
}

// counted returns a sentence about what the means are over.
func (p Outcome) counted() string {
	text := fmt.Sprintf("means over %d pairs of %d users", p.Pairs, p.Users)
	if p.Left > 0 {
		text += fmt.Sprintf("; %d more are left out, for a repeated click or a list that ended early", p.Left)
	}
	if p.Candidates > 0 {
		text += fmt.Sprintf("; %.1f candidates a pair", p.Candidates)
	}
	return text
}

// Cutoff returns the name of a cutoff.
func Cutoff(k int) string { return fmt.Sprintf("k=%d", k) }

// cutoffs returns the cutoffs of some metrics, each once, in their order.
func cutoffs(ms []metrics.Metric) (ks []int) {
	for _, m := range ms {
		if !slices.Contains(ks, m.K) {
			ks = append(ks, m.K)
		}
	}
	return ks
}

// Figure returns curves of what is found against the number of named items. Lists of one protocol share a curve only if
// they name as many.
func (p Outcome) Figure(method string, ks []int) report.Figure {
	f := report.Figure{Title: "Found by distinct guesses, " + p.Name, X: "distinct items named for a pair",
		Y: "clicks found (percent)", LogX: true}
	ours := p.Attack
	ours.Name = method
	for _, s := range append([]experiment.Scores{ours}, p.Floors...) {
		l := report.Line{Name: s.Name}
		for _, k := range slices.Sorted(slices.Values(ks)) {
			n := s.Guesses[Cutoff(k)]
			if n > 0 {
				l.X, l.Y = append(l.X, n),
					append(l.Y, 100*s.Values[metrics.Metric{Kind: metrics.Recall, K: k}.String()])
			}
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

// readsSlates reports whether a floor reads the slate, as counts of clicks before such slates do. What it finds beyond
// floors that do not is then a leak too.
func readsSlates(floor string) bool { return strings.HasPrefix(floor, attack.FloorCooccurrence) }

// Answer returns three facts on how much slates reveal, by recall at the middle cutoff. The first is the headline: the
// most that anything tried, the trained attack or counts, finds beyond the best floor that reads no slate. Then come
// the attack by itself, and its gain over counts. Floors name as many distinct items for every pair. Among candidates
// that hold the clicks the first is a gain but no leak by itself. unfinished, if not empty, says why the attack may
// find more than it did.
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
		{Label: label, Value: headline,
			Note: fmt.Sprintf("%s in percent, less that of the best floor that reads no slate, with as many distinct "+
				"guesses; the most that %s found; %.4g %% interval, users resampled; %s",
				m, strings.Join(tried, " or "), 100*confidence, p.Name)},
		{Label: "by the trained attack", Value: own.text()},
	}
	if counting.Over != "" {
		facts = append(facts, report.Fact{Label: "beyond counting", Value: counting.text(),
			Note: "what the trained attack adds to counts, which read the slate as well"})
	}
	return facts
}

// Best returns the gain in a metric over the best of the floors that read slates, or of those that do not; empty if
// there is none.
func Best(gains []Gain, metric string, reads bool) (g Gain) {
	for _, x := range gains {
		if x.Metric == metric && readsSlates(x.Over) == reads && (g.Over == "" || x.Floor > g.Floor) {
			g = x
		}
	}
	return g
}

// stronger reports whether a gain is a stronger leak than another: it is surely above its floor and the other is not,
// or else it is larger.
func (g Gain) stronger(than Gain) bool {
	if g.Leaks() != than.Leaks() {
		return g.Leaks()
	}
	return g.Value > than.Value
}

// text returns a gain in percent, with its floor and its interval.
func (g Gain) text() string {
	s := fmt.Sprintf("%+.2f (%+.2f to %+.2f) over %s", 100*g.Value, 100*g.Interval[0], 100*g.Interval[1], g.Over)
	if !g.Leaks() {
		return "none shown: " + s
	}
	return s
}
