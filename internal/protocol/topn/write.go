package topn

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
)

// write writes metrics and account, and shows both.
func (x *Experiment) write(o *Outcome, p Account) error {
	if err := x.Env.WriteMetrics(o); err != nil {
		return err
	}
	source := x.Data.Source
	table, err := o.comparison(source.Level).Table()
	if err != nil {
		return err
	}
	d := &report.Document{
		Title:    fmt.Sprintf("%s on %s", x.Method.Name, source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d", x.Method.Standing.Text, uint64(x.Env.Seed)),
		Level:    source.Level,
		Facts:    o.facts(),
		Tables:   append([]*report.Table{table}, o.published()...),
		Figures:  experiment.Curves(o.Method, x.Method.loss(), o.Epochs),
		Notes:    source.Notes,
	}
	if err := x.Env.WritePrivacy(p); err != nil {
		return err
	}
	p.Show(d)
	return x.Env.Print(d)
}

// facts say what was ranked and how long training lasted.
func (o *Outcome) facts() []report.Fact {
	d := o.Data
	facts := []report.Fact{
		{Label: "ranked", Value: fmt.Sprintf("%d items for %d users", d.Items, d.TestUsers),
			Note: fmt.Sprintf("%d items and %d users have no training row and are kept; training items are masked, validation items too", d.UnseenItems, d.UnseenUsers)},
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

// comparison lays the evaluations out beside floors and printed numbers.
func (o *Outcome) comparison(level dataset.Level) report.Comparison {
	c := report.Comparison{
		Name: "ranking", Title: "Ranking of test rows among all items not seen in training", Level: level, Metrics: o.Metrics,
		Floors: experiment.Rows(o.Floors, o.Metrics), Ours: experiment.Rows(o.Evaluations, o.Metrics),
	}
	if where := experiment.PrintedIn(o.Evaluations); where != "" {
		c.Notes = append(c.Notes, fmt.Sprintf("paper: %s, %s", where, o.note))
	}
	return c
}

// published makes the table of others' results on the same split. Nil: there are none.
func (o *Outcome) published() []*report.Table {
	if len(o.Published) == 0 {
		return nil
	}
	t := &report.Table{
		Name: "published", Title: "Published on this split",
		Columns: append([]report.Column{{Name: "model"}}, append(report.Columns("%.2f", Primary.String(), Second.String()), report.Column{Name: "from"})...),
	}
	for _, r := range o.Published {
		t.Add(r.Method, 100*r.Recall20, 100*r.NDCG20, r.From)
	}
	t.Notes = append(t.Notes, "values in percent; trained on all training rows, where a recipe that holds out validation rows trains on a tenth less")
	return []*report.Table{t}
}
