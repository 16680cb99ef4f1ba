package target

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Ask opens the answers of a finished run, which must show scores, with the coins that run.Serve takes. Opening a run
// sets the number of workers to that of the run's configuration; Ask restores it.
func Ask(ctx context.Context, tasks []run.Task, dir, coins string) (experiment.Scoring, error) {
	workers := tensor.Workers()
	defer tensor.SetWorkers(workers)
	answers, err := experiment.AskWith(ctx, tasks, dir, coins)
	if err != nil {
		return nil, err
	}
	scoring, ok := answers.(experiment.Scoring)
	if _, lists := answers.(experiment.Listing); lists {
		answers.Close()
		return nil, NoScores("this attack", dir)
	}
	if !ok {
		answers.Close()
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s does not show the scores of its items", dir),
			Fix: "attack a run of a top-n model, such as train ease"}
	}
	return scoring, nil
}

// NoScores returns the error for an attack that needs more than an imported model's lists. what names the attack.
func NoScores(what, dir string) error {
	return &run.UsageError{Message: fmt.Sprintf(
		"%s needs the scores of all items, and the model in %s shows lists and nothing behind them", what, dir),
		Fix: "bring its vectors with privrec import --vectors; lists alone can be attacked with attack exposure, " +
			"attack attribute, and attack membership with attack.sees=[lists]"}
}

// Scores calls visit with the scores of all items for each named user. Calls come from several goroutines, and the
// scores are valid until visit returns.
func Scores(ctx context.Context, a experiment.Scoring, release string, items int, users []string,
	visit func(user int, scores []tensor.Float)) error {
	r, err := a.Ranking(ctx, release)
	if err != nil {
		return err
	}
	if r.Items != items {
		return fmt.Errorf("the run ranks %d items, its data have %d", r.Items, items)
	}
	return r.Scores(ctx, users, visit)
}

// Cosine returns the cosine of two vectors, 0 where one of them is zero.
func Cosine(a, b []tensor.Float) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// Scores calls visit with the scores of all items for some users, given by their rows in x. Calls come from several
// goroutines, and the scores are valid until visit returns.
func (x *Attacked) Scores(ctx context.Context, users []int32, visit func(k int, scores []tensor.Float)) error {
	ids := dataset.IDsAt(x.Whole.UserIDs, users)
	answers, err := Ask(ctx, x.Tasks, x.Dir, "")
	if err != nil {
		return err
	}
	defer answers.Close()
	return Scores(ctx, answers, x.Description.Release, x.Given.Items, ids, visit)
}
