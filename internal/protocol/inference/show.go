package inference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// document returns an outcome as a report.
func (o *Outcome) document(c Config, seed uint64, standing string) *report.Document {
	d := &report.Document{
		Title:    "Attribute inference on " + o.targetNames(),
		Subtitle: fmt.Sprintf("%s; seed %d", standing, seed),
		Level:    o.Data.Level,
		Facts:    o.facts(c),
	}
	for a := range o.Attributes {
		d.Tables = append(d.Tables, o.table(a, c))
	}
	for _, score := range []metrics.ClassScore{metrics.MicroF1Score, metrics.AUCScore} {
		if text := o.counted(score, c.Eval.Confidence); text != "" {
			d.Notes = append(d.Notes, text)
		}
	}
	if c.Attack.Repeats == 1 {
		d.Notes = append(d.Notes, "one split has no interval: no gain of it can be told from chance")
	} else {
		d.Notes = append(d.Notes,
			fmt.Sprintf("intervals are Student's over %d splits, widened for the users that splits share (Nadeau and "+
				"Bengio, 2003): what other users and other trainings of the attacker would change", c.Attack.Repeats))
	}
	if slices.ContainsFunc(o.Rows, func(r Row) bool { return r.Sees == SeesBoth || r.Sees == SeesInteractions }) {
		d.Notes = append(d.Notes,
			"an attacker who sees interactions is given what the recommender was given: no protection of the "+
				"recommender covers them")
	}
	if slices.ContainsFunc(o.Targets[1:], func(t Target) bool { return t.Same == "" }) {
		for _, t := range o.Targets {
			if t.Same != "" {
				d.Notes = append(d.Notes, fmt.Sprintf("%s: its floors are those of %s, whose interactions are the same",
					t.Name, t.Same))
			}
		}
	}
	for _, row := range o.Rows {
		if row.Unsuitable != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: no values, the attacker cannot work on this: %s", row.Name,
				row.Unsuitable))
		}
	}
	for _, t := range o.Targets {
		if t.Setting != "" {
			d.Notes = append(d.Notes, t.about())
		}
		for _, text := range t.Remarks {
			d.Notes = append(d.Notes, t.Name+": "+text)
		}
		if t.Others > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %d more users have no attributes and are not attacked", t.Name,
				t.Others))
		}
		if t.Again > 0 {
			d.Notes = append(d.Notes,
				fmt.Sprintf("%s: %d of the items in lists are among their user's interactions: together with these "+
					"they count once", t.Name, t.Again))
		}
	}
	return d
}

// facts returns facts about the attacked users, the attack and the leaks.
func (o *Outcome) facts(c Config) (facts []report.Fact) {
	facts = append(facts, report.Fact{Label: "attacked", Value: fmt.Sprintf("%d users", o.Data.Users),
		Note: fmt.Sprintf("splits, the same for all rows: %d; stratified, %.4g %% of the users train the attacker; "+
			"%d items", c.Attack.Repeats, 100*c.Attack.Share, o.Data.Items)})
	for i, a := range o.Attributes {
		facts = append(facts, report.Fact{Label: a.Name, Value: fmt.Sprintf("%d classes, %d test users", len(a.Values),
			o.Data.TestUsers[i]), Note: o.spread(a)})
	}
	for _, l := range o.Leaks {
		label := map[string]string{SeesBoth: "leak", SeesLists: "lists", SeesInteractions: "interactions",
			SeesVectors: "vectors"}[l.Sees] + ", " + l.Attribute
		if len(o.Targets) > 1 {
			label += ", " + l.Target
		}
		note := l.Attacker
		if l.K > 0 {
			note = fmt.Sprintf("%s, K = %d", note, l.K)
		}
		facts = append(facts, report.Fact{Label: label, Value: l.Text, Note: note})
	}
	return facts
}

// spread lists the classes of an attribute by their numbers of users, at most four.
func (o *Outcome) spread(a *Attribute) string {
	order := make([]int, len(a.Values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return a.Users[y] - a.Users[x] })
	var texts []string
	for _, k := range order[:min(4, len(order))] {
		texts = append(texts, fmt.Sprintf("%s %d", a.Values[k], a.Users[k]))
	}
	if n := len(order) - len(texts); n > 0 {
		texts = append(texts, fmt.Sprintf("%d more", n))
	}
	return strings.Join(texts, ", ")
}

// table returns the rows of an attribute as a table.
func (o *Outcome) table(a int, c Config) *report.Table {
	attribute := o.Attributes[a]
	level := fmt.Sprintf("%.4g %%", 100*c.Eval.Confidence)
	t := &report.Table{Name: "attack-" + attribute.Name,
		Title: fmt.Sprintf("Inference of %s, percent; gains in points of micro F1", attribute.Name)}
	several := len(o.Targets) > 1
	if several {
		t.Columns = append(t.Columns, report.Column{Name: "target"})
	}
	paper := o.printed(attribute) && report.AllowsDelta(o.Data.Level)
	t.Columns = append(t.Columns, report.Columns("", "sees", "K", "attacker")...)
	for _, s := range metrics.ClassScores() {
		t.Columns = append(t.Columns, report.Column{Name: s.String(), Format: "%.1f"})
	}
	if paper {
		t.Columns = append(t.Columns, report.Column{Name: "paper", Format: "%.1f"})
	}
	t.Columns = append(t.Columns, report.Columns("%+.1f", "over majority", "over interactions")...)
	t.Columns = append(t.Columns, report.Column{Name: level + " interval"})
	for i, row := range o.Rows {
		s := o.scores(i)
		var cells []any
		if several {
			cells = append(cells, row.Target)
		}
		sees, k := row.Sees, any(nil)
		if sees == "" {
			sees = "nothing"
		}
		if i < len(o.Floors) {
			sees += " (floor)"
		}
		if row.K > 0 {
			k = row.K
		}
		cells = append(cells, sees, k, row.Attacker)
		for _, score := range metrics.ClassScores() {
			v, ok := s.Values[metricName(score, attribute.Name)]
			if !ok {
				v = math.NaN()
			}
			cells = append(cells, 100*v)
		}
		if paper {
			v, ok := s.Paper[metricName(metrics.MicroF1Score, attribute.Name)]
			if cells = append(cells, any(nil)); ok {
				cells[len(cells)-1] = 100 * v
			}
		}
		for _, over := range []string{OverMajority, OverInteractions} {
			if g, ok := o.gain(i, a, metrics.MicroF1Score, over); ok {
				cells = append(cells, 100*g.Value)
			} else {
				cells = append(cells, nil)
			}
		}
		if g, ok := o.gain(i, a, metrics.MicroF1Score, OverInteractions); ok && g.Interval != nil {
			cells = append(cells, fmt.Sprintf("%+.1f to %+.1f", 100*g.Interval[0], 100*g.Interval[1]))
		}
		t.Add(cells...)
	}
	t.Notes = append(t.Notes,
		fmt.Sprintf("over interactions: paired with the same attacker on interactions alone, the primary measure, "+
			"with its interval; evidence level %v: %s", o.Data.Level, o.Data.Level.Meaning()))
	if where := experiment.PrintedIn(o.Evaluations); where != "" {
		if paper {
			t.Notes = append(t.Notes, "paper: "+where)
		} else {
			t.Notes = append(t.Notes, fmt.Sprintf("level %v allows no comparison with the paper's printed numbers",
				o.Data.Level))
		}
	}
	return t
}

// scores returns the means of a row.
func (o *Outcome) scores(row int) experiment.Scores {
	if row < len(o.Floors) {
		return o.Floors[row]
	}
	return o.Evaluations[row-len(o.Floors)]
}

// gain returns the gain of a row in a metric.
func (o *Outcome) gain(row, attribute int, score metrics.ClassScore, over string) (Gain, bool) {
	for _, g := range o.Gains {
		if g.row == row && g.attribute == attribute && g.score == score && g.Over == over {
			return g, true
		}
	}
	return Gain{}, false
}

// printed reports whether a paper prints any value of an attribute.
func (o *Outcome) printed(a *Attribute) bool {
	return slices.ContainsFunc(o.Evaluations,
		func(s experiment.Scores) bool { _, ok := s.Paper[metricName(metrics.MicroF1Score, a.Name)]; return ok })
}

// levelOf returns the weakest level of evidence of some targets.
func levelOf(targets []*target) (level dataset.Level) {
	for _, t := range targets {
		level = max(level, t.Level)
	}
	return level
}

// about returns a sentence about a target, as far as it is known: the lists of another program have neither method nor
// recipe.
func (t *Target) about() string {
	var of []string
	for _, x := range [][2]string{{"", t.Method}, {"on ", t.Data}} {
		if x[1] != "" {
			of = append(of, x[0]+x[1])
		}
	}
	text := strings.Join(of, " ")
	if t.Recipe != "" {
		text += ", recipe " + t.Recipe
	}
	return t.Name + ": " + strings.TrimPrefix(text+"; "+t.Setting, "; ")
}
