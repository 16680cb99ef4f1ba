package topn

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
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

	note string // about what is printed
}

// Scores is one row of results.
type Scores struct {
	Name    string             `json:"name"`
	Release string             `json:"release,omitempty"` // kind of the vectors; empty for floors and methods with a single one
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
func (x *Experiment) summary() DataSummary {
	d := x.Data
	s := DataSummary{
		Name: d.Name, Recipe: d.Recipe, Level: d.Source.Level.String(), Users: d.Users, Items: d.Items,
		TrainRows: x.Graph.Edges(), TestRows: x.test.rows(), TestUsers: len(x.test.users), Source: d.Source, Ladder: d.Ladder,
	}
	if x.valid != nil {
		s.ValidRows = x.valid.rows()
	}
	s.UnseenUsers, s.UnseenItems = d.Only()
	return s
}

// blank is an outcome without scores.
func (x *Experiment) blank() *Outcome {
	o := &Outcome{Method: x.Method.Name, Setting: x.Method.Standing.Text, Data: x.summary(), Metrics: x.metrics(), note: x.Method.Tables.Note}
	if published := x.Method.Tables.Published; published != nil {
		o.Published = published(x.Data.Name, x.Data.Source.Level)
	}
	return o
}

// addFloors ranks by what is no model.
func (x *Experiment) addFloors(ctx context.Context, o *Outcome) error {
	random, popular, err := x.floors(ctx, o.Metrics)
	if err != nil {
		return err
	}
	o.Floors = []Scores{scores("random", "", random), scores("popularity", "", popular)}
	return nil
}

// outcome is one without evaluations, of a training; f is nil where there was none by epochs.
func (x *Experiment) outcome(ctx context.Context, f *experiment.Fitted) (*Outcome, error) {
	o, t := x.blank(), x.Method.Train
	o.Cap, o.Definitions = t.Epochs, map[string]string{}
	if f != nil {
		o.Steps, o.Stopped, o.Epochs, o.Selected = f.Steps, f.Stopped, f.Epochs, f.Epoch(t.Select == SelectValidation)
		o.Short = x.Method.Standing.Stated.Short(t.Length(), len(f.Epochs), f.Stopped)
	}
	for _, m := range o.Metrics {
		o.Definitions[m.String()] = m.Definition()
	}
	return o, x.addFloors(ctx, o)
}

// add ranks the test rows by a scorer and enters the result. It keeps each user's scores.
func (x *Experiment) add(ctx context.Context, o *Outcome, s eval.Scorer, name, release string) error {
	ranks, err := x.rank(ctx, s, x.test, depth(o.Metrics))
	if err != nil {
		return err
	}
	row := scores(name, release, metrics.SummarySet(o.Metrics, ranks))
	if printed := x.Method.Tables.Printed; printed != nil && x.Method.Standing.Printed && o.Short == "" {
		if p, ok := printed(x.Method.Name, x.Data.Name, release, x.Method.Shape); ok {
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
func (x *Experiment) perUser(name string, ms []metrics.Metric, ranks [][]int32) error {
	ids, rows := make([]string, len(ranks)), make([]int64, len(ranks))
	for k, u := range x.test.users {
		ids[k], rows[k] = x.Data.UserIDs[u], int64(len(x.test.find[k]))
	}
	columns := []run.Column{{Name: "user_id", Values: ids}, {Name: "test_rows", Values: rows}}
	for _, m := range ms {
		values := make([]float64, len(ranks))
		for k, r := range ranks {
			values[k] = m.OfSet(r)
		}
		columns = append(columns, run.Column{Name: m.String(), Values: values})
	}
	return x.Env.WriteScores(name, columns...)
}

// ofRelease is the name of a row, the release after it where it has a name.
func ofRelease(name, kind string) string {
	if kind == "" {
		return name
	}
	return fmt.Sprintf("%s, release %s", name, kind)
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
