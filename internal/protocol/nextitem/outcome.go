package nextitem

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/computed"
	"privrec/internal/report"
)

// Outcome holds the measurements of a run as metrics.json stores them.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Ranking string `json:"ranking,omitempty"` // what the candidates are, where they are not all items
}

// Table holds a paper's printed values. Without a function no printed value is shown.
type Table struct {
	// of a method on a registered data set, shares by metric name; nil: nothing
	Row  func(method, data string) map[string]float64
	From string // where it stands, and what it is
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Users int `json:"users"`
	*PrefixCounts
	*LastItemCounts
}

// PrefixCounts counts data whose prefixes are all samples.
type PrefixCounts struct {
	Candidates   int `json:"candidates"`
	TrainSamples int `json:"train_samples"`
	ValidSamples int `json:"valid_samples"`
	TestSamples  int `json:"test_samples"`
}

// LastItemCounts counts data whose last items are held out.
type LastItemCounts struct {
	Items     int    `json:"items"`   // ranked: those with a training row
	Learned   int    `json:"learned"` // users with two training rows or more
	ValidRows int    `json:"valid_rows"`
	TestRows  int    `json:"test_rows"`
	Unknown   [2]int `json:"unknown"` // of validation and test, rows of items without a training row: misses
}

// measure evaluates the selected model and the floors, and writes the scores of every user.
func (x *Experiment) measure(ctx context.Context, r *experiment.Fitted) (*Outcome, error) {
	d, ms := x.Data, x.metrics()
	o := &Outcome{Outcome: experiment.NewOutcome(x.Method, Name, x.Standing.Text, DataSummary{Users: d.Users,
		Data: experiment.DataOf(d.Name, d.Recipe, d.Source, d.Ladder, d.InPlace)}, ms)}
	o.Trained = experiment.TrainedBy(r, x.Fit.Select == SelectValidation, x.Fit.Epochs, x.Fit.Length(), x.Standing)
	x.cut.describe(x, o)
	o.Floors = append(o.Floors, experiment.NewScores("random", "", x.cut.random(x, ms)))
	popular, err := x.popular(ctx)
	if err != nil {
		return nil, err
	}
	o.Floors = append(o.Floors, experiment.NewScores("popularity", "", metrics.Summary(ms, popular)))
	strong, err := x.computed(ctx, ms)
	if err != nil {
		return nil, err
	}
	o.Floors = append(o.Floors, strong...)
	for i, mode := range x.Modes {
		ranks, err := x.rank(ctx, x.Test, mode, x.Fit.Passes().Final(i))
		if err != nil {
			return nil, err
		}
		name := x.Method
		if o.Selected > 0 {
			name = fmt.Sprintf("%s, epoch %d", name, o.Selected)
		}
		if len(x.Modes) > 1 {
			name += ", test noise " + mode
		}
		o.Evaluations = append(o.Evaluations, x.ours(o.Short, name, mode, metrics.Summary(ms, ranks)))
		if err := x.cut.perUser(x, mode, ms, ranks); err != nil {
			return nil, err
		}
	}
	if x.Eval.Every { // as DIPSGNN's published program reports its results
		best := x.ours(o.Short, x.Method+", best epoch on test, by metric", x.Modes[0], nil)
		best.Values = o.BestOnTest(ms)
		o.Evaluations = append(o.Evaluations, best)
	}
	return o, nil
}

// ours returns a row of this run's results, with the paper's printed values for this setting.
func (x *Experiment) ours(short, name, noise string, values []metrics.Value) experiment.Scores {
	if x.LastItem { // which no model adds noise to
		noise = ""
	}
	s := experiment.NewScores(name, noise, values)
	if x.Table.Row != nil && x.Standing.Printed && short == "" && x.Data.InPlace == dataset.TestRows {
		if s.Paper = x.Table.Row(x.Method, x.Data.Name); s.Paper != nil {
			s.Printed = x.Table.From
		}
	}
	return s
}

// comparison returns the evaluations beside floors and printed numbers.
func (x *Experiment) comparison(o *Outcome) report.Comparison {
	c := report.Comparison{
		Name: "ranking", Title: "Ranking of test samples, all items, seen ones included", Level: x.Data.Source.Level,
		Metrics: o.Metrics,
		Floors:  experiment.Rows(o.Floors, o.Metrics), Ours: experiment.Rows(o.Evaluations, o.Metrics),
	}
	if o.Ranking != "" {
		c.Title = "Test items among " + o.Ranking
	}
	if o.Data.InPlace != "" {
		c.Title = strings.NewReplacer("test samples", "validation samples", "Test items",
			"Validation items").Replace(c.Title)
	}
	if where := experiment.PrintedIn(o.Evaluations); where != "" {
		c.Notes = append(c.Notes, "paper: "+where)
	}
	return c
}

// document returns an outcome as a report.
func (x *Experiment) document(o *Outcome) (*report.Document, error) {
	table, err := x.comparison(o).Table()
	if err != nil {
		return nil, err
	}
	d := x.cut.document(x, o)
	d.Title, d.Level = fmt.Sprintf("%s on %s", x.Method, x.Data.Source.Title), x.Data.Source.Level
	d.Facts, d.Tables = append(d.Facts, report.ShortTraining(o.Short)...), []*report.Table{table}
	d.Notes = append(slices.Clip(x.Data.Source.Notes), computed.Better(o.Floors, o.Evaluations, o.Metrics[0])...)
	return d, nil
}
