package nextitem

import (
	"context"
	"encoding/json"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Outcome is what a run measured: metrics.json. It holds no times, so that a
// resumed run writes the same bytes. Scores are shares, not percent.
type Outcome struct {
	Method      string              `json:"method"`
	Setting     string              `json:"setting"` // the profile, and what differs from it
	Data        DataSummary         `json:"data"`
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

// Table finds what a paper prints for a method on a data set, by its registered name; nil:
// nothing.
type Table func(method, data string) Printed

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
	Name         string         `json:"name"`
	Recipe       string         `json:"recipe"`
	Level        string         `json:"evidence_level"`
	Users        int            `json:"users"`
	Candidates   int            `json:"candidates"`
	TrainSamples int            `json:"train_samples"`
	ValidSamples int            `json:"valid_samples"`
	TestSamples  int            `json:"test_samples"`
	Source       dataset.Source `json:"source"`
	Ladder       dataset.Ladder `json:"ladder"`
}

// measure makes the evaluations of the selected model, the floors, and keeps
// the per-user scores.
func (x *Experiment) measure(ctx context.Context, r *experiment.Fitted) (*Outcome, error) {
	defer x.Env.Stage("evaluate")()
	o := &Outcome{
		Method: x.Method, Setting: x.Standing.Text, Steps: r.Steps, Stopped: r.Stopped, Epochs: r.Epochs,
		Metrics: x.metrics(), Definitions: map[string]string{},
		Data: DataSummary{
			Name: x.Data.Name, Recipe: x.Data.Recipe, Level: x.Data.Source.Level.String(), Users: x.Data.Users,
			Candidates: x.Items, TrainSamples: x.Train.Samples.Len(), TestSamples: x.Test.Samples.Len(),
			Source: x.Data.Source, Ladder: x.Data.Ladder,
		},
	}
	if x.Valid != nil {
		o.Data.ValidSamples = x.Valid.Samples.Len()
	}
	if r.Selection != nil {
		o.Selection, o.Stopped = r.Selection.Epochs, r.Selection.Stopped
		o.Data.TrainSamples = x.Refit.Samples.Len()
	}
	o.Short = x.Standing.Stated.Short(x.Fit.Length(), len(r.Chose().Epochs), o.Stopped)
	o.Selected = r.Epoch(x.Fit.Select == SelectValidation)
	ms := o.Metrics
	for _, m := range ms {
		o.Definitions[m.String()] = m.Definition()
	}
	o.Floors = append(o.Floors, scores("random", "", metrics.RandomFloor(ms, x.Items)))
	popular, err := metrics.PopularityRanks(x.counts(), x.Test.Labels)
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
		if err := x.perUser("scores-noise-"+mode, ms, ranks); err != nil {
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
	s := scores(name, noise, values)
	if x.Table != nil && x.Standing.Printed && o.Short == "" {
		s.Paper = x.Table(x.Method, x.Data.Name)
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

// perUser keeps each user's mean scores over their samples.
func (x *Experiment) perUser(name string, ms []metrics.Metric, ranks []int32) error {
	var columns []run.Column
	for _, m := range ms {
		users, err := eval.PerUser(m.Each(ranks), x.Test.Samples.User, x.Data.Users)
		if err != nil {
			return err
		}
		ids, samples, means := make([]string, len(users)), make([]int64, len(users)), make([]float64, len(users))
		for i, u := range users {
			ids[i], samples[i], means[i] = x.Data.UserIDs[u.User], int64(u.Samples), u.Score
		}
		if columns == nil {
			columns = []run.Column{{Name: "user_id", Values: ids}, {Name: "samples", Values: samples}}
		}
		columns = append(columns, run.Column{Name: m.String(), Values: means})
	}
	return x.Env.WriteScores(name, columns...)
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
func (o *Outcome) comparison(level dataset.Level) report.Comparison {
	c := report.Comparison{
		Name: "ranking", Title: "Ranking of test samples, all items, seen ones included", Level: level, Metrics: o.Metrics,
	}
	for _, f := range o.Floors {
		c.Floors = append(c.Floors, f.Row(o.Metrics))
	}
	printed := false
	for _, e := range o.Evaluations {
		c.Ours, printed = append(c.Ours, e.Row(o.Metrics)), printed || e.Paper != nil
	}
	if printed {
		c.Notes = append(c.Notes, "paper: Table 2, mean of five seeds without spread, epoch chosen on the test set by the released program")
	}
	return c
}
