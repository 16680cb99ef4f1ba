package topn

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/computed"
)

// Outcome holds the measurements of a run as metrics.json stores them. Its evaluations are on test, one for each
// release.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Published []Reference `json:"published,omitempty"`

	note string // about what is printed
}

// DataSummary identifies the data of a run and counts them.
type DataSummary struct {
	experiment.Data
	Users       int `json:"users"`
	Items       int `json:"items"` // ranked, all of them
	TrainRows   int `json:"train_rows"`
	ValidRows   int `json:"valid_rows"`
	TestRows    int `json:"test_rows"`
	TestUsers   int `json:"test_users"`   // with a test row: means are over these
	UnseenUsers int `json:"unseen_users"` // without a training row, ranked for all the same
	UnseenItems int `json:"unseen_items"` // without a training row, ranked all the same
}

// summary returns the identity and the counts of the data.
func (x *Experiment) summary() DataSummary {
	d := x.Data
	s := DataSummary{
		Data:  experiment.DataOf(d.Name, d.Recipe, d.Source, d.Ladder, d.InPlace),
		Users: d.Users, Items: d.Items, TrainRows: x.Graph.Edges(), TestRows: x.test.rows(),
		TestUsers: len(x.test.users),
	}
	if x.valid != nil {
		s.ValidRows = x.valid.rows()
	}
	s.UnseenUsers, s.UnseenItems = d.Only()
	s.Candidates = x.Method.Eval.Candidates
	return s
}

// blank returns an outcome without scores.
func (x *Experiment) blank() *Outcome {
	ms := append(x.metrics(), x.sampledMetrics()...)
	o := &Outcome{note: x.Method.Tables.Note,
		Outcome: experiment.NewOutcome(x.Method.Name, Name, x.Method.Standing.Text, x.summary(), ms)}
	if published := x.Method.Tables.Published; published != nil && x.Data.InPlace == dataset.TestRows {
		o.Published = published(x.Data.Name, x.Data.Source.Level)
	}
	return o
}

// addFloors adds the scores of random order, of popularity, and of models beside them.
func (x *Experiment) addFloors(ctx context.Context, o *Outcome) error {
	random, popular, err := x.floors(ctx)
	if err != nil {
		return err
	}
	o.Floors = []experiment.Scores{experiment.NewScores("random", "", random),
		experiment.NewScores("popularity", "", popular)}
	var models []computed.Model
	if x.Beside != nil {
		models = x.Beside(x.Graph)
	}
	if computed.Wanted(x.Method.Data.Floor, x.Data.Name) {
		models = append(models, computed.Models(x.Graph, x.Method.Name)...)
	}
	strong, err := computed.Scores(ctx, models, func(s eval.Scorer) ([]metrics.Value, error) {
		ranks, err := x.rankTest(ctx, s)
		return x.values(ranks), err
	})
	o.Floors = append(o.Floors, strong...)
	return err
}

// outcome returns the outcome of a training, without evaluations. f is nil if nothing was trained by epochs.
func (x *Experiment) outcome(ctx context.Context, f *experiment.Fitted) (*Outcome, error) {
	o, t := x.blank(), x.Method.Train
	o.Cap = t.Epochs
	if f != nil {
		o.Trained = experiment.TrainedBy(f, t.Select == SelectValidation, t.Epochs, t.Length(), x.Method.Standing)
	}
	return o, x.addFloors(ctx, o)
}

// add ranks the test rows by a scorer and adds the scores to the outcome. It writes the scores of every user.
func (x *Experiment) add(ctx context.Context, o *Outcome, s eval.Scorer, name, release string) error {
	ranks, err := x.rankTest(ctx, s)
	if err != nil {
		return err
	}
	row := experiment.NewScores(name, release, x.values(ranks))
	if printed := x.Method.Tables.Printed; printed != nil && x.Method.Standing.Printed && o.Short == "" &&
		x.Data.InPlace == dataset.TestRows {
		if p, ok := printed(x.Method.Name, x.Data.Name, release, x.Method.Shape); ok {
			row.Paper, row.Printed = p.Values, p.Table
		}
	}
	o.Evaluations = append(o.Evaluations, row)
	ids := dataset.IDsAt(x.Data.UserIDs, x.test.users)
	err = experiment.WriteSets(x.Env, fileOf("scores", release), ids, "test_rows", ranks.full, x.metrics())
	if err != nil || ranks.sampled == nil {
		return err
	}
	return x.writeSampled(release, ids, ranks.sampled)
}

// ofRelease returns the name of a row, followed by the name of the release if it has one.
func ofRelease(name, kind string) string {
	if kind == "" {
		return name
	}
	return fmt.Sprintf("%s, release %s", name, kind)
}
