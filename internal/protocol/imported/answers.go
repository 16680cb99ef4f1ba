package imported

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Answers answers for an imported model of any form. It implements experiment.Carrying.
type Answers struct {
	Model *Model
	Dir   string // of the run; of a model that is no run, what messages call it
}

// Close implements experiment.Answers.
func (a *Answers) Close() {}

// Rows implements experiment.Carrying.
func (a *Answers) Rows() (d *dataset.Interactions, others [][]int32) {
	return a.Model.Rows.Data, a.Model.Rows.Others
}

// Remarks implements experiment.Carrying.
func (a *Answers) Remarks() []string { return a.Model.Counts.notes() }

// Histories implements experiment.Answers: the training rows in their order.
func (a *Answers) Histories(context.Context) ([]experiment.History, string, error) {
	r := a.Model.Rows
	list := experiment.HistoriesOf(r.Data.UserIDs, func(u int) []int32 { return r.Order[u] }, r.Data.ItemIDs)
	return list, r.order(), nil
}

// Recommend implements experiment.Answers. It fails for a user without known recommendations, and for more items than
// the model shows.
func (a *Answers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	m := a.Model
	d := m.Rows.Data
	if o.Release != "" {
		return nil, experiment.NoRelease(a.Dir, o.Release)
	}
	if longest := m.Shown.Longest(); o.K < 1 || o.K > longest {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"%d items a user asked for, want 1 to %d: the imported %s have no more", o.K, longest, m.Shown.What()),
			Fix: "import longer lists: nothing is behind them to rank further"}
	}
	users := make([]int32, len(o.Users))
	for j, id := range o.Users {
		u, ok := m.Rows.User(id)
		if !ok {
			return nil, &run.UsageError{Message: fmt.Sprintf("the imported run has no user %q", id),
				Fix: "users go by the names in the files that were imported"}
		}
		users[j] = u
	}
	best, err := m.Shown.Best(ctx, users, o.K)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	r := &experiment.Recommendations{Head: a.head("Recommendations")}
	short := 0
	for j, list := range best {
		if len(list) == 0 {
			return nil, &run.UsageError{Message: fmt.Sprintf("user %q has no list among the imported %s", o.Users[j],
				m.Shown.What()), Fix: "ask for others"}
		}
		if len(list) < o.K {
			short++
		}
		l := experiment.List{User: o.Users[j]}
		for _, e := range list {
			l.Items = append(l.Items, experiment.Scored{Item: d.ItemIDs[e.Item], Score: e.Score})
		}
		r.Lists = append(r.Lists, l)
	}
	r.Notes = append(r.Notes, "as they were imported: nothing is left out and nothing is ranked again")
	if short > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of these users have fewer than %d items", short, o.K))
	}
	return r, nil
}

// Evaluate implements experiment.Answers: it measures the kept model against the truth again.
func (a *Answers) Evaluate(ctx context.Context) (*experiment.Evaluation, error) {
	o, _, err := a.Model.outcome(ctx)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	if len(o.Evaluations) == 0 {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"the run in %s was imported without truth: there is nothing to measure it against", a.Dir),
			Fix: "import again with --truth"}
	}
	t, err := o.table(o.Data.Level)
	if err != nil {
		return nil, err
	}
	e := &experiment.Evaluation{Head: a.head("Evaluation"), Tables: []*report.Table{t}, Differs: math.NaN(),
		Facts: []report.Fact{{Label: "truth", Value: fmt.Sprintf("%d rows of %d users", o.Data.TestRows,
			o.Data.TestUsers)}}}
	was, err := experiment.ReadOutcome(a.Dir)
	if err != nil {
		return nil, err
	}
	if len(was.Evaluations) == 1 {
		e.Differs = experiment.Apart(o.Evaluations[0].Values, was.Evaluations[0].Values)
	}
	return e, nil
}

// head returns the head of an answer.
func (a *Answers) head(what string) experiment.Head {
	return experiment.HeadOf(what, a.Model.Name, a.Model.Rows.Data.Source, a.Model.setting(), a.Dir)
}
