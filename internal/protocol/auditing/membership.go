package auditing

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/privacy/audit"
	"privrec/internal/protocol/membership"
	"privrec/internal/run"
)

// levels maps the units of an audit to their names in the attack and to the keys that hold half of them out.
var levels = map[string]struct{ level, key string }{
	Edge: {membership.LevelInteraction, "run.hold_out.rows"},
	User: {membership.LevelUser, "run.hold_out.users"},
}

// membership audits with the membership attack. A fair coin holds out every row, or every user with all rows, so real
// data serve as canaries. The negative control was trained under other coins.
func (w *work) membership(ctx context.Context) (*finding, error) {
	audited := model{dir: folder("audited", false, 1), seed: uint64(w.env.Seed)}
	if err := w.holdOut(ctx, audited, 0); err != nil {
		return nil, err
	}
	s, err := w.subject(w.dir(audited.dir))
	if err != nil {
		return nil, err
	}
	f, err := w.holds(&finding{subject: s}, audited.dir)
	if err != nil {
		return nil, err
	}
	seen, err := w.observe(ctx, f, audited)
	if err != nil {
		return nil, err
	}
	coins, err := audit.Flipped(seen.Positive)
	if err != nil {
		return nil, err
	}
	s.canaries = make([]dataset.Canary, len(seen.Positive))
	row := func(r Row, o *membership.Observed) (Row, error) {
		var scores [][]float64
		for _, a := range o.Attacks {
			scores = append(scores, a.Score)
		}
		r, err := w.Audit.oneRun(r, coins, scores, f.delta)
		r.By = o.Attacks[r.Attack].Name
		return r, err
	}
	without := "training without"
	if h := s.manifest.HoldOut; h != nil && h.Labels {
		without = "training with all rows in its graph, and a loss without"
	}
	r, err := row(Row{Name: Audited,
		What: fmt.Sprintf("one "+without+
			" a random half of %d %ss, by the membership attack with the largest bound of %d", len(seen.Positive),
			levels[w.Audit.Unit].level, len(seen.Attacks))}, seen)
	if err != nil {
		return nil, err
	}
	f.rows = append(f.rows, r)
	other := func(m model, draw uint64) (*membership.Observed, error) {
		if err := w.holdOut(ctx, m, draw); err != nil {
			return nil, err
		}
		return w.observe(ctx, f, m)
	}
	if err := w.positive(ctx, f, func() (Row, error) {
		o, err := other(model{dir: folder("audited", true, 1), seed: uint64(w.env.Seed), off: true}, 0)
		if err != nil {
			return Row{}, err
		}
		return row(Row{}, o)
	}); err != nil {
		return nil, err
	}
	o, err := other(model{dir: folder("negative-control", false, 1), seed: uint64(w.env.Seed) + 1}, 1)
	if err != nil {
		return nil, err
	}
	r, err = row(Row{Name: Negative, What: "one training under other coins, held against those of the first"}, o)
	f.rows = append(f.rows, r)
	return f, err
}

// holdOut trains a model of the target with half of the units held out, by the coins of a draw.
func (w *work) holdOut(ctx context.Context, m model, draw uint64) error {
	return w.fit(ctx, m, levels[w.Audit.Unit].key+"=0.5", fmt.Sprintf("run.hold_out.draw=%d", draw),
		fmt.Sprintf("run.hold_out.seed=%d", w.plant.Seed))
}

// observe returns the attack scores of every unit from a model.
func (w *work) observe(ctx context.Context, f *finding, m model) (*membership.Observed, error) {
	c := membership.Default()
	c.On.Run, c.On.Release = w.dir(m.dir), f.release
	c.Attack.Level, c.Attack.Sees, c.Attack.K = levels[w.Audit.Unit].level, []string{w.Audit.Sees}, w.Audit.K
	coins := ""
	if f.joint {
		if w.Audit.Sees == SeesVectors {
			return nil, &run.UsageError{Message: fmt.Sprintf(
				"audit.sees: the membership attack reads users' vectors, which the promise of %s leaves to them",
				w.task), Fix: "audit.method=" + OneRun}
		}
		if err := w.ownScores(c.On.Run); err != nil {
			return nil, err
		}
		coins = run.CoinsOut
	}
	f.models++
	o, err := membership.Observe(ctx, w.env, c, w.tasks, coins)
	return o, run.Interrupted(ctx, err)
}
