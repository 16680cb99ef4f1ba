package dipsgnn

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/eval"
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
	Paper  *Printed           `json:"paper,omitempty"` // Table 2, in percent; nil where it prints nothing
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
func (x *experiment) measure(ctx context.Context, r *fitted) (*Outcome, error) {
	defer x.env.Stage("evaluate")()
	o := &Outcome{
		Method: x.method, Setting: x.standing, Steps: r.Steps, Stopped: r.Stopped, Epochs: r.Epochs,
		Metrics: x.metrics(), Definitions: map[string]string{},
		Data: DataSummary{
			Name: x.data.Name, Recipe: x.data.Recipe, Level: x.data.Source.Level.String(), Users: x.data.Users,
			Candidates: x.items, TrainSamples: x.train.samples.Len(), TestSamples: x.test.samples.Len(),
			Source: x.data.Source, Ladder: x.data.Ladder,
		},
	}
	if x.valid != nil {
		o.Data.ValidSamples = x.valid.samples.Len()
	}
	if r.Selection != nil {
		o.Selection, o.Stopped = r.Selection.Epochs, r.Selection.Stopped
		o.Data.TrainSamples = x.refit.samples.Len()
	}
	if o.Short = x.stated.Short(x.cfg.train.length(), len(o.Epochs), o.Stopped); o.Selection != nil {
		o.Short = x.stated.Short(x.cfg.train.length(), len(o.Selection), o.Stopped)
	}
	o.Selected = r.epoch(x.cfg.train.Select)
	ms := o.Metrics
	for _, m := range ms {
		o.Definitions[m.String()] = m.Definition()
	}
	o.Floors = append(o.Floors, scores("random", "", metrics.RandomFloor(ms, x.items)))
	popular, err := metrics.PopularityRanks(x.counts(), x.test.labels)
	if err != nil {
		return nil, err
	}
	o.Floors = append(o.Floors, scores("popularity", "", metrics.Summary(ms, popular)))
	for i, mode := range x.modes {
		ranks, err := x.rank(ctx, x.test, mode, 2*x.cfg.train.Epochs+i)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s, epoch %d", x.method, o.Selected)
		if len(x.modes) > 1 {
			name += ", test noise " + mode
		}
		o.Evaluations = append(o.Evaluations, x.ours(o, name, mode, metrics.Summary(ms, ranks)))
		if err := x.perUser("scores-noise-"+mode, ms, ranks); err != nil {
			return nil, err
		}
	}
	if x.cfg.every {
		o.Evaluations = append(o.Evaluations, x.bestOnTest(o, r))
	}
	return o, nil
}

// bestOnTest takes every metric from its own best epoch on the test set, as the
// released program reports them.
func (x *experiment) bestOnTest(o *Outcome, r *fitted) Scores {
	ms := x.metrics()
	best := make([]metrics.Value, len(ms))
	for i, m := range ms {
		best[i] = metrics.Value{Metric: m, Count: len(x.test.labels)}
		for _, e := range r.Epochs {
			for _, s := range e.Scores {
				if s.Name == onTest+m.String() {
					best[i].Value = max(best[i].Value, s.Value)
				}
			}
		}
	}
	return x.ours(o, x.method+", best epoch on test, by metric", x.modes[0], best)
}

// ours is a row of this run's results with what the paper prints for this
// setting.
func (x *experiment) ours(o *Outcome, name, noise string, values []metrics.Value) Scores {
	s := scores(name, noise, values)
	if !x.table2 || o.Short != "" {
		return s
	}
	if p, ok := Table2(x.method, paperNames[x.data.Name]); ok {
		s.Paper = &p
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

// counts is how often each item occurs in the training sequences.
func (x *experiment) counts() []int64 {
	n := make([]int64, x.items)
	for _, seq := range x.data.Train {
		for _, item := range seq {
			n[item-1]++
		}
	}
	return n
}

// paperNames maps data sets to Table 2's columns.
var paperNames = map[string]string{"ml-1m": "ML-1M", "yelp": "Yelp", "tmall": "Tmall"}

// perUser keeps each user's mean scores over their samples.
func (x *experiment) perUser(name string, ms []metrics.Metric, ranks []int32) error {
	var columns []run.Column
	for _, m := range ms {
		users, err := eval.PerUser(m.Each(ranks), x.test.samples.User, x.data.Users)
		if err != nil {
			return err
		}
		ids, samples, means := make([]string, len(users)), make([]int64, len(users)), make([]float64, len(users))
		for i, u := range users {
			ids[i], samples[i], means[i] = x.data.UserIDs[u.User], int64(u.Samples), u.Score
		}
		if columns == nil {
			columns = []run.Column{{Name: "user_id", Values: ids}, {Name: "samples", Values: samples}}
		}
		columns = append(columns, run.Column{Name: m.String(), Values: means})
	}
	return x.env.WriteScores(name, columns...)
}

// Row is the row in the order of the metrics, for a comparison.
func (s Scores) Row(ms []metrics.Metric) report.Row {
	r := report.Row{Label: s.Name}
	for _, m := range ms {
		r.Values = append(r.Values, s.Values[m.String()])
		if s.Paper != nil {
			r.Paper = append(r.Paper, s.Paper.share(m))
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
