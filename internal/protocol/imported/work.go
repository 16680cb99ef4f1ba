package imported

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/lists"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
)

// work is one import. It implements run.Work and run.Answerer.
type work struct {
	env *run.Env
	*Model
}

// open reads the files. For a finished run it checks that they are the ones it recorded.
func open(ctx context.Context, env *run.Env, c Common, own func(ids *lists.IDs) (Parsed, error)) (run.Work, error) {
	defer env.Stage("load")()
	m, err := load(ctx, c, own)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct{ name, hash string }{{m.Rows.Data.Source.Title, m.Rows.Data.Source.Hash},
		{fmt.Sprintf("imported %s %.12s", m.Shown.What(), m.Shown.Hash()), m.Shown.Hash()}} {
		if err := env.RecordData(x.name, x.hash); err != nil {
			return nil, err
		}
	}
	return &work{env, m}, nil
}

// Run implements run.Work: it keeps copies of the input, and measures the model if there is truth.
func (w *work) Run(ctx context.Context) error {
	w.Counts.warn(w.env)
	a := experiment.Elsewhere()
	if _, err := w.env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	o, ranks, err := w.outcome(ctx)
	if err != nil {
		return run.Interrupted(ctx, err)
	}
	if err := w.Rows.keep(w.env); err != nil {
		return err
	}
	if err := run.Interrupted(ctx, ctx.Err()); err != nil {
		return err
	}
	if err := w.Shown.Keep(w.env); err != nil {
		return err
	}
	if err := w.perUser(ranks); err != nil {
		return err
	}
	if err := w.env.WriteMetrics(o); err != nil {
		return err
	}
	if err := w.env.WritePrivacy(&a); err != nil {
		return err
	}
	d, err := o.Document(o.Data.Level)
	if err != nil {
		return err
	}
	d.Conclusion = a.Conclusion()
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: "not known",
		Note: "another program trained the model: nothing is claimed, and privacy.json has infinity"})
	for _, open := range a.Unbounded {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %s", open.What, open.Why))
	}
	return w.env.Print(d)
}

// perUser writes the metrics of every user of the truth, for privrec compare.
func (w *work) perUser(ranks [][]int32) error {
	if ranks == nil {
		return nil
	}
	ids := dataset.IDsAt(w.Rows.Data.UserIDs, w.Rows.judged())
	return experiment.WriteSets(w.env, "scores", ids, "test_rows", ranks, w.metrics())
}

// Answer implements run.Answerer.
func (w *work) Answer(context.Context) (run.Answers, error) {
	return w.Shown.Answers(&Answers{Model: w.Model, Dir: w.env.Dir}), nil
}
