package nextitem

import (
	"context"
	"encoding/json"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/train"
)

// Outcome is what a run measured: metrics.json. It holds no times, so that a
// resumed run writes the same bytes. Scores are shares, not percent.
type Outcome struct {
	Method      string              `json:"method"`
	Setting     string              `json:"setting"` // the profile, and what differs from it
	Data        DataSummary         `json:"data"`
	Ranking     string              `json:"ranking,omitempty"` // what the candidates are, where they are not all items
	Metrics     []metrics.Metric    `json:"metrics"`
	Definitions map[string]string   `json:"definitions"`
	Floors      []Scores            `json:"floors"`
	Evaluations []Scores            `json:"evaluations"`
	Selected    int                 `json:"selected_epoch"` // of the evaluated model, from 1
	Steps       int                 `json:"steps"`
	Stopped     bool                `json:"stopped_early"`
	Short       string              `json:"short,omitempty"`     // why the training is shorter than that of its profile, and not set against the paper
	Epochs      []train.EpochRecord `json:"epochs"`              // of the training that is reported
	Selection   []train.EpochRecord `json:"selection,omitempty"` // of the one that chose how long it lasts
}

// Scores is one row of results.
type Scores struct {
	Name   string             `json:"name"`
	Noise  string             `json:"noise,omitempty"` // on, off; empty for floors
	Values map[string]float64 `json:"values"`
	Paper  Printed            `json:"paper,omitempty"` // as the paper prints it; nil where it prints nothing, and in scores that were read
}

// Printed is what a paper prints for one row of results. It is written as it is.
type Printed interface {
	// Share is the printed value of a metric as a share, report.Missing where there is none.
	Share(m metrics.Metric) float64
}

// Table is what a paper prints.
type Table struct {
	Row  func(method, data string) Printed // of a method on a registered data set, or nil; no function: nothing is printed
	Note string                            // on what is printed
}

// UnmarshalJSON reads all but what the paper prints, whose type only the paper knows.
func (s *Scores) UnmarshalJSON(b []byte) error {
	var read struct {
		Name   string             `json:"name"`
		Noise  string             `json:"noise"`
		Values map[string]float64 `json:"values"`
	}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*s = Scores{Name: read.Name, Noise: read.Noise, Values: read.Values}
	return nil
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	Name   string        `json:"name"`
	Recipe string        `json:"recipe"`
	Level  dataset.Level `json:"evidence_level"`
	Users  int           `json:"users"`
	*PrefixCounts
	*LastItemCounts
	Source dataset.Source `json:"source"`
	Ladder dataset.Ladder `json:"ladder"`
}

// PrefixCounts are those of data whose prefixes are all samples.
type PrefixCounts struct {
	Candidates   int `json:"candidates"`
	TrainSamples int `json:"train_samples"`
	ValidSamples int `json:"valid_samples"`
	TestSamples  int `json:"test_samples"`
}

// LastItemCounts are those of data whose last items are held out.
type LastItemCounts struct {
	Items     int    `json:"items"`   // ranked: those with a training row
	Learned   int    `json:"learned"` // users with two training rows or more
	ValidRows int    `json:"valid_rows"`
	TestRows  int    `json:"test_rows"`
	Unknown   [2]int `json:"unknown"` // of validation and test, rows of items without a training row: misses
}

// measure makes the evaluations of the selected model, the floors, and keeps
// the per-user scores.
func (x *Experiment) measure(ctx context.Context, r *experiment.Fitted) (*Outcome, error) {
	defer x.Env.Stage("evaluate")()
	o := &Outcome{
		Method: x.Method, Setting: x.Standing.Text, Steps: r.Steps, Stopped: r.Chose().Stopped, Epochs: r.Epochs,
		Metrics: x.metrics(), Definitions: map[string]string{},
		Data: DataSummary{
			Name: x.Data.Name, Recipe: x.Data.Recipe, Level: x.Data.Source.Level, Users: x.Data.Users,
			Source: x.Data.Source, Ladder: x.Data.Ladder,
		},
	}
	x.cut.describe(x, o)
	if r.Selection != nil {
		o.Selection = r.Selection.Epochs
	}
	o.Short = x.Standing.Stated.Short(x.Fit.Length(), len(r.Chose().Epochs), o.Stopped)
	o.Selected = r.Epoch(x.Fit.Select == SelectValidation)
	ms := o.Metrics
	for _, m := range ms {
		o.Definitions[m.String()] = m.Definition()
	}
	o.Floors = append(o.Floors, scores("random", "", x.cut.random(x, ms)))
	popular, err := x.popular(ctx)
	if err != nil {
		return nil, err
	}
	o.Floors = append(o.Floors, scores("popularity", "", metrics.Summary(ms, popular)))
	for i, mode := range x.Modes {
		ranks, err := x.rank(ctx, x.Test, mode, x.Fit.Passes().Final(i))
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s, epoch %d", x.Method, o.Selected)
		if len(x.Modes) > 1 {
			name += ", test noise " + mode
		}
		o.Evaluations = append(o.Evaluations, x.ours(o, name, mode, metrics.Summary(ms, ranks)))
		if err := x.cut.perUser(x, mode, ms, ranks); err != nil {
			return nil, err
		}
	}
	if x.Eval.Every {
		o.Evaluations = append(o.Evaluations, x.bestOnTest(o, r))
	}
	return o, nil
}

// bestOnTest takes every metric from its own best epoch on the test set, as the
// released program reports them.
func (x *Experiment) bestOnTest(o *Outcome, r *experiment.Fitted) Scores {
	ms := x.metrics()
	best := make([]metrics.Value, len(ms))
	for i, m := range ms {
		best[i] = metrics.Value{Metric: m, Count: len(x.Test.Labels)}
		for _, e := range r.Epochs {
			for _, s := range e.Scores {
				if s.Name == onTest+m.String() {
					best[i].Value = max(best[i].Value, s.Value)
				}
			}
		}
	}
	return x.ours(o, x.Method+", best epoch on test, by metric", x.Modes[0], best)
}

// ours is a row of this run's results with what the paper prints for this
// setting.
func (x *Experiment) ours(o *Outcome, name, noise string, values []metrics.Value) Scores {
	if x.LastItem { // which no model adds noise to
		noise = ""
	}
	s := scores(name, noise, values)
	if x.Table.Row != nil && x.Standing.Printed && o.Short == "" {
		s.Paper = x.Table.Row(x.Method, x.Data.Name)
	}
	return s
}

func scores(name, noise string, values []metrics.Value) Scores {
	s := Scores{Name: name, Noise: noise, Values: map[string]float64{}}
	for _, v := range values {
		s.Values[v.Metric.String()] = v.Value
	}
	return s
}

// Row is the row in the order of the metrics, for a comparison.
func (s Scores) Row(ms []metrics.Metric) report.Row {
	r := report.Row{Label: s.Name}
	for _, m := range ms {
		r.Values = append(r.Values, s.Values[m.String()])
		if s.Paper != nil {
			r.Paper = append(r.Paper, s.Paper.Share(m))
		}
	}
	return r
}

// comparison sets the evaluations beside floors and printed numbers.
func (x *Experiment) comparison(o *Outcome) report.Comparison {
	c := report.Comparison{
		Name: "ranking", Title: "Ranking of test samples, all items, seen ones included", Level: x.Data.Source.Level, Metrics: o.Metrics,
	}
	if o.Ranking != "" {
		c.Title = "Test items among " + o.Ranking
	}
	for _, f := range o.Floors {
		c.Floors = append(c.Floors, f.Row(o.Metrics))
	}
	printed := false
	for _, e := range o.Evaluations {
		c.Ours, printed = append(c.Ours, e.Row(o.Metrics)), printed || e.Paper != nil
	}
	if printed {
		c.Notes = append(c.Notes, x.Table.Note)
	}
	return c
}
