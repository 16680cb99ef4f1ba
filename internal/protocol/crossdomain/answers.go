package crossdomain

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Answer implements run.Answerer: it loads the parameters that the run kept.
func (x *Experiment) Answer(context.Context) (run.Answers, error) {
	if err := x.Load(x.Env.Dir, x.final); err != nil {
		return nil, err
	}
	return &answers{x}, nil
}

// answers answers questions about a finished run.
type answers struct{ x *Experiment }

// Close implements experiment.Answers: it frees the tables.
func (a *answers) Close() { a.x.Close() }

// Histories implements experiment.Answers: the items of the target domain before the test item,
// which recommendations leave out.
func (a *answers) Histories(context.Context) ([]experiment.History, string, error) {
	d := a.x.Data
	return experiment.HistoriesOf(d.UserIDs, func(u int) []int32 { return a.x.test.seen[u] }, d.Domains[0].ItemIDs),
		"behaviours are in the order of time", nil
}

// Recommend implements experiment.Answers: items of the target domain that a user has in train
// or validation are left out.
func (a *answers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	return o.By(ctx, a.ranking)
}

func (a *answers) ranking(_ context.Context, release string) (experiment.Ranking, error) {
	x, target := a.x, &a.x.Data.Domains[0]
	_, err := experiment.Release(x.Env.Dir, release, nil, "")
	return experiment.Ranking{
		Head: a.head("Recommendations"), Notes: []string{experiment.HiddenNote},
		Data: x.Data.Name, Scorer: x.on(x.Model, x.rankedOn()), Items: target.Items,
		Options: eval.Options{Tape: x.tape, Exclude: func(user int32) []int32 {
			seen := make([]int32, len(x.test.seen[user]))
			for i, item := range x.test.seen[user] {
				seen[i] = item - 1
			}
			return seen
		}},
		Item:   func(i int32) string { return target.ItemIDs[i+1] },
		Sample: experiment.Numbered(x.Data.UserIDs),
	}, err
}

// Score implements eval.Scorer, for users of the data.
func (t ranking) Score(tape *autograd.Tape, users []int32, scores tensor.Matrix) error {
	t.model.All(tape, t.rows, users, scores)
	return nil
}

// Items implements eval.Scorer.
func (t ranking) Items() int { return t.model.Items() }

// Evaluate implements experiment.Answers: it ranks the test rows again and compares the scores with those that the run
// reported.
func (a *answers) Evaluate(ctx context.Context) (*experiment.Evaluation, error) {
	x := a.x
	was, err := experiment.ReadOutcome(x.Env.Dir)
	if err != nil {
		return nil, err
	}
	t := x.on(x.Model, x.rankedOn())
	r, _, err := t.sampled(ctx, x.test)
	if err != nil {
		return nil, err
	}
	ms := x.metrics()
	floors, _ := x.floors(t.rows)
	c := report.Comparison{Name: "sampled", Title: fmt.Sprintf("Test rows among %d items drawn by popularity",
		x.eval.Negatives), Level: x.Data.Source.Level, Metrics: ms, Floors: experiment.Rows(floors, ms)}
	now := newScores(was.Method, ms, r)
	c.Ours = append(c.Ours, now.Row(ms))
	table, err := c.Table()
	if err != nil {
		return nil, err
	}
	return &experiment.Evaluation{
		Head: a.head("Evaluation"), Tables: []*report.Table{table},
		Facts:   []report.Fact{notRanked(x.Data.Domains[0].Name, x.Data.Domains[0].Left)},
		Differs: experiment.Differ([]experiment.Scores{now}, was.Evaluations),
	}, nil
}

// head returns the head of an answer.
func (a *answers) head(what string) experiment.Head {
	return experiment.HeadOf(what, a.x.Method, a.x.Data.Source, a.x.Standing.Text, a.x.Env.Dir)
}
