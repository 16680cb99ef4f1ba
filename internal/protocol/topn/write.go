package topn

import (
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/computed"
	"privrec/internal/report"
)

// document returns an outcome as a report.
func (x *Experiment) document(o *Outcome) (*report.Document, error) {
	source := x.Data.Source
	tables, err := o.tables(source.Level)
	if err != nil {
		return nil, err
	}
	return &report.Document{
		Title:    fmt.Sprintf("%s on %s", x.Method.Name, source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", x.Method.Standing.Text, uint64(x.Env.Seed)),
		Level:    source.Level,
		Facts:    o.facts(),
		Tables:   append(tables, o.published()...),
		Figures:  experiment.Curves(o.Method, x.Method.loss(), o.Epochs),
		Notes:    append(slices.Clip(source.Notes), computed.Better(o.Floors, o.Evaluations, o.Metrics[0])...),
	}, nil
}

// facts returns facts about the ranking and the length of training.
func (o *Outcome) facts() []report.Fact {
	d := o.Data
	facts := []report.Fact{
		{Label: "ranked", Value: fmt.Sprintf("%d items for %d users", d.Items, d.TestUsers),
			Note: fmt.Sprintf("%d items and %d users have no training row and are kept; training items are masked, "+
				"validation items too", d.UnseenItems, d.UnseenUsers)},
	}
	if d.Candidates > 0 {
		facts = append(facts, report.Fact{Label: "ranked among sampled items",
			Value: fmt.Sprintf("%d %s rows, each alone among %d items", d.TestRows, d.Measured(), d.Candidates),
			Note: "drawn once a seed, alike for all methods, outside the user's training and validation items; an " +
				"equal score counts against the row"})
	}
	if o.Selected == 0 {
		return facts
	}
	ended := "all of them run"
	if o.Stopped {
		ended = fmt.Sprintf("stopped early after %d", len(o.Epochs))
	}
	facts = append(facts, report.Fact{Label: "epochs", Value: fmt.Sprintf("cap %d, %s", o.Cap, ended),
		Note: fmt.Sprintf("epoch %d is the one reported, %d steps in all", o.Selected, o.Steps)})
	return append(facts, report.ShortTraining(o.Short)...)
}

// tables returns the evaluations beside floors and printed numbers, among all items, and among sampled ones if they
// were ranked so.
func (o *Outcome) tables(level dataset.Level) ([]*report.Table, error) {
	full := slices.IndexFunc(o.Metrics, metrics.Metric.Sampled)
	if full < 0 {
		full = len(o.Metrics)
	}
	all := []report.Comparison{o.comparison("ranking",
		fmt.Sprintf("Ranking of %s rows among all items not seen in training", o.Data.Measured()), level,
		o.Metrics[:full])}
	if full < len(o.Metrics) {
		c := o.comparison("sampled", fmt.Sprintf("Ranking of each %s row alone among %d sampled items",
			o.Data.Measured(), o.Data.Candidates), level, o.Metrics[full:])
		c.Notes = append(c.Notes, "means over "+o.Data.Measured()+" rows; "+WhySampled)
		all = append(all, c)
	}
	var tables []*report.Table
	for _, c := range all {
		t, err := c.Table()
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// comparison returns some metrics of the evaluations for a table.
func (o *Outcome) comparison(name, title string, level dataset.Level, ms []metrics.Metric) report.Comparison {
	c := report.Comparison{
		Name: name, Title: title, Level: level, Metrics: ms,
		Floors: experiment.Rows(o.Floors, ms), Ours: experiment.Rows(o.Evaluations, ms),
	}
	if len(ms) < len(o.Metrics) { // one of two tables has no line for what is printed of the other
		for i, e := range o.Evaluations {
			if !slices.ContainsFunc(ms, func(m metrics.Metric) bool { _, ok := e.Paper[m.String()]; return ok }) {
				c.Ours[i].Paper = nil
			}
		}
	}
	printed := slices.ContainsFunc(c.Ours, func(r report.Row) bool { return r.Paper != nil })
	if where := experiment.PrintedIn(o.Evaluations); where != "" && printed {
		c.Notes = append(c.Notes, fmt.Sprintf("paper: %s, %s", where, o.note))
	}
	return c
}

// published returns the table of others' results on the same split. Nil: there are none.
func (o *Outcome) published() []*report.Table {
	if len(o.Published) == 0 {
		return nil
	}
	t := &report.Table{
		Name: "published", Title: "Published on this split",
		Columns: append([]report.Column{{Name: "model"}},
			append(report.Columns("%.2f", Primary.String(), Second.String()), report.Column{Name: "from"})...),
	}
	for _, r := range o.Published {
		t.Add(r.Method, 100*r.Recall20, 100*r.NDCG20, r.From)
	}
	t.Notes = append(t.Notes,
		"values in percent; trained on all training rows, where a recipe that holds out validation rows trains on a "+
			"tenth less")
	return []*report.Table{t}
}
