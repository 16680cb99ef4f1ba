package rdpgcf

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

// Outcome is what a run measured: metrics.json. It holds no times, so that a resumed
// run writes the same bytes. Scores are shares, not percent.
type Outcome struct {
	Method      string              `json:"method"`
	Setting     string              `json:"setting"` // the profile, and what differs from it
	Data        DataSummary         `json:"data"`
	Metrics     []metrics.Metric    `json:"metrics"`
	Definitions map[string]string   `json:"definitions"`
	Floors      []Scores            `json:"floors"`
	Evaluations []Scores            `json:"evaluations"` // on test, by release
	Published   []Reference         `json:"published,omitempty"`
	Selected    int                 `json:"selected_epoch"` // of the evaluated model, from 1; 0: nothing was trained by epochs
	Cap         int                 `json:"epoch_cap"`
	Steps       int                 `json:"steps"`
	Stopped     bool                `json:"stopped_early"`
	Short       string              `json:"short,omitempty"` // why the training is shorter than that of its profile, and not set against the paper
	Epochs      []train.EpochRecord `json:"epochs"`
}

// Scores is one row of results.
type Scores struct {
	Name    string             `json:"name"`
	Release string             `json:"release,omitempty"` // noisy, avg, clean; empty for floors and models without noise
	Values  map[string]float64 `json:"values"`
	Paper   *Printed           `json:"paper,omitempty"` // nil where the paper prints nothing
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	Name        string         `json:"name"`
	Recipe      string         `json:"recipe"`
	Level       string         `json:"evidence_level"`
	Users       int            `json:"users"`
	Items       int            `json:"items"` // ranked, all of them
	TrainRows   int            `json:"train_rows"`
	ValidRows   int            `json:"valid_rows"`
	TestRows    int            `json:"test_rows"`
	TestUsers   int            `json:"test_users"`   // with a test row: means are over these
	UnseenUsers int            `json:"unseen_users"` // without a training row, ranked for all the same
	UnseenItems int            `json:"unseen_items"` // without a training row, ranked all the same
	Source      dataset.Source `json:"source"`
	Ladder      dataset.Ladder `json:"ladder"`
}

// summary describes the data.
func (x *experiment) summary() DataSummary {
	s := DataSummary{
		Name: x.data.Name, Recipe: x.data.Recipe, Level: x.data.Source.Level.String(), Users: x.data.Users, Items: x.data.Items,
		TrainRows: x.graph.Edges(), TestRows: x.test.rows(), TestUsers: len(x.test.users), Source: x.data.Source, Ladder: x.data.Ladder,
	}
	if x.valid != nil {
		s.ValidRows = x.valid.rows()
	}
	s.UnseenUsers, s.UnseenItems = x.data.Only()
	return s
}

// measure ranks the test rows by every release of the trained model, beside the
// floors, and keeps the per-user scores and the vectors. r is nil for a model that is
// not trained by epochs.
func (x *experiment) measure(ctx context.Context, r *train.Result, epsilon float64) (*Outcome, error) {
	defer x.env.Stage("evaluate")()
	o, err := x.outcome(ctx, r)
	if err != nil {
		return nil, err
	}
	for i, kind := range x.cfg.releases {
		users, items, err := x.model.Release(kind, 2*x.cfg.train.Epochs+i)
		if err != nil {
			return nil, err
		}
		if err := x.keep(kind, users, items); err != nil {
			return nil, err
		}
		name := x.method
		if o.Selected > 0 {
			name = fmt.Sprintf("%s, epoch %d", name, o.Selected)
		}
		if kind != "" {
			name += ", release " + kind
		}
		if err := x.add(ctx, o, x.scorer(users, items), name, kind, epsilon); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// outcome is one without evaluations.
func (x *experiment) outcome(ctx context.Context, r *train.Result) (*Outcome, error) {
	o := &Outcome{
		Method: x.method, Setting: x.standing.text, Data: x.summary(), Metrics: x.metrics(), Definitions: map[string]string{},
		Published: References(x.data.Name, x.data.Source.Level), Cap: x.cfg.train.Epochs,
	}
	if r != nil {
		o.Steps, o.Stopped, o.Epochs, o.Selected = r.Steps, r.Stopped, r.Epochs, len(r.Epochs)
		o.Short = x.standing.stated.Short(x.cfg.train.length(), len(r.Epochs), r.Stopped)
		if x.cfg.train.Select == SelectValidation {
			o.Selected = r.Best + 1
		}
	}
	for _, m := range o.Metrics {
		o.Definitions[m.String()] = m.Definition()
	}
	random, popular, err := x.floors(ctx, o.Metrics)
	if err != nil {
		return nil, err
	}
	o.Floors = []Scores{scores("random", "", random), scores("popularity", "", popular)}
	return o, nil
}

// add ranks the test rows by a scorer and enters the result.
func (x *experiment) add(ctx context.Context, o *Outcome, s eval.Scorer, name, release string, epsilon float64) error {
	ranks, err := x.rank(ctx, s, x.test, depth(o.Metrics))
	if err != nil {
		return err
	}
	row := scores(name, release, metrics.SummarySet(o.Metrics, ranks))
	if x.standing.printed && o.Short == "" && release != ReleaseClean {
		if p, ok := PaperValue(x.method, paperNames[x.data.Name], x.cfg.dim, x.cfg.layers, epsilon); ok {
			row.Paper = &p
		}
	}
	o.Evaluations = append(o.Evaluations, row)
	file := "scores"
	if release != "" {
		file += "-" + release
	}
	return x.perUser(file, o.Metrics, ranks)
}

func scores(name, release string, values []metrics.Value) Scores {
	s := Scores{Name: name, Release: release, Values: map[string]float64{}}
	for _, v := range values {
		s.Values[v.Metric.String()] = v.Value
	}
	return s
}

// perUser keeps each user's scores.
func (x *experiment) perUser(name string, ms []metrics.Metric, ranks [][]int32) error {
	ids, rows := make([]string, len(ranks)), make([]int64, len(ranks))
	for k, u := range x.test.users {
		ids[k], rows[k] = x.data.UserIDs[u], int64(len(x.test.find[k]))
	}
	columns := []run.Column{{Name: "user_id", Values: ids}, {Name: "test_rows", Values: rows}}
	for _, m := range ms {
		values := make([]float64, len(ranks))
		for k, r := range ranks {
			values[k] = m.OfSet(r)
		}
		columns = append(columns, run.Column{Name: m.String(), Values: values})
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
