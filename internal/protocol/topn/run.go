package topn

import (
	"context"
	"fmt"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Made holds a model that was computed at once, and not trained by epochs.
type Made struct {
	Name    string              // of its row; empty: that of the method
	Scorer  eval.Scorer         // a Close method, if it has one, frees its memory
	Vectors *experiment.Vectors // to be kept; nil: the model can be made again from the same rows
	Steps   int                 // of its training, if it had one
}

// Run implements run.Work. It makes the model, ranks the test rows by every release, accounts
// for privacy, and shows the result.
func (x *Experiment) Run(ctx context.Context) error {
	s := experiment.Steps[*Outcome]{Fit: x.training().Run, Measure: x.measure, Document: x.document}
	if x.Compute != nil {
		m, err := x.Compute(ctx)
		if err := run.Interrupted(ctx, err); err != nil {
			return err
		}
		defer experiment.Free(m.Scorer)
		s.Fit = nil
		s.Measure = func(ctx context.Context, _ *experiment.Fitted) (*Outcome, error) { return x.measureMade(ctx, m) }
	}
	return s.Run(ctx, &x.Core)
}

// measure ranks the test rows by every release of the trained model, beside the floors. It
// writes the vectors.
func (x *Experiment) measure(ctx context.Context, f *experiment.Fitted) (*Outcome, error) {
	o, err := x.outcome(ctx, f)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s, epoch %d", x.Method.Name, o.Selected)
	var kept []experiment.Vectors
	for k, kind := range x.Method.releases() {
		v, err := x.release(kind, callAtEnd(x.Method.Train.Epochs, k))
		if err != nil {
			return nil, err
		}
		if len(x.Method.releases()) > 1 { // the next one overwrites them
			for _, m := range []*tensor.Matrix{&v.Users, &v.Items, &v.Output} {
				*m = copied(*m)
				defer tensor.Free(*m)
			}
		}
		kept = append(kept, v)
		s, err := x.scorer(v)
		if err != nil {
			return nil, err
		}
		if err := x.add(ctx, o, s, ofRelease(name, kind), kind); err != nil {
			return nil, err
		}
	}
	return o, experiment.KeepVectors(x.Env, kept)
}

// copied returns a new table with the values of m.
func copied(m tensor.Matrix) tensor.Matrix {
	c := tensor.NewTable(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(tensor.Row(c, i), tensor.Row(m, i))
	}
	return c
}

// measureMade is measure for a model that was computed at once.
func (x *Experiment) measureMade(ctx context.Context, m *Made) (*Outcome, error) {
	o, err := x.outcome(ctx, nil)
	if err != nil {
		return nil, err
	}
	o.Steps = m.Steps
	name, kind := m.Name, ""
	if name == "" {
		name = x.Method.Name
	}
	if m.Vectors != nil {
		kind = m.Vectors.Release
		if err := experiment.KeepVectors(x.Env, []experiment.Vectors{*m.Vectors}); err != nil {
			return nil, err
		}
	}
	return o, x.add(ctx, o, m.Scorer, name, kind)
}
