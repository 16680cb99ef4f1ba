package sgdmf

import (
	"context"
	"encoding/json"
	"fmt"

	"privrec/internal/privacy/descent"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// trainingState holds the part of a checkpoint beside its matrices. Counts are computed again, since the same keys give
// the same noise. Secure noise has no keys, so its checkpoints hold the counts too.
type trainingState struct {
	Step  int64         `json:"step"`
	Noise descent.State `json:"noise"`
}

// matrices lists the matrices of a checkpoint.
func (t *training) matrices() map[string]tensor.Matrix {
	return map[string]tensor.Matrix{"vectors": t.f.v, "first": t.first, "second": t.second, "mean": t.mean}
}

// names lists the names of matrices, in the order of a checkpoint.
var names = []string{"vectors", "first", "second", "mean"}

func (t *training) checkpoint() (run.Checkpoint, error) {
	state, err := json.Marshal(trainingState{t.step, t.steps.State()})
	c := run.Checkpoint{State: state}
	for _, name := range names {
		c.Tensors = append(c.Tensors, run.MatrixTensor(name, t.matrices()[name]))
	}
	if t.secure {
		c.Tensors = append(c.Tensors, run.NamedTensor{Name: countsName, Shape: []int{len(t.counts)}, Data: t.counts})
	}
	return c, err
}

// countsName names the counts in a checkpoint.
const countsName = "counts"

// countsOf returns the counts in a checkpoint of secure noise, for a number of items.
func countsOf(c run.Checkpoint, items int) ([]float64, error) {
	for _, t := range c.Tensors {
		if counts, ok := t.Data.([]float64); ok && t.Name == countsName && len(counts) == items {
			return counts, nil
		}
	}
	return nil, fmt.Errorf("checkpoint: it has no counts of %d items", items)
}

// restore continues a new training from a checkpoint.
func (t *training) restore(c run.Checkpoint) error {
	var s trainingState
	if err := json.Unmarshal(c.State, &s); err != nil {
		return fmt.Errorf("checkpoint: state: %w", err)
	}
	if s.Step < 0 || s.Step > t.of || s.Step%2 == 1 && s.Step != t.of || s.Step != s.Noise.Batches.Batches {
		return fmt.Errorf("checkpoint: at step %d of %d, after %d batches", s.Step, t.of, s.Noise.Batches.Batches)
	}
	want := len(names)
	if t.secure {
		want++ // counts
	}
	if len(c.Tensors) != want {
		return fmt.Errorf("checkpoint: %d tensors, want %d", len(c.Tensors), want)
	}
	for i, name := range names {
		if got := c.Tensors[i]; got.Name != name {
			return fmt.Errorf("checkpoint: tensor %q, want %q", got.Name, name)
		} else if err := got.CopyTo(t.matrices()[name]); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	if err := t.steps.Restore(s.Noise); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	t.step = s.Step
	t.f.join()
	return nil
}

// run makes the remaining steps and reports them to done. With an env it continues from the run's checkpoint, and
// writes checkpoints.
func (t *training) run(ctx context.Context, env *run.Env, done func(steps int)) error {
	w := run.Stepped{
		// The samples of steps are compared two by two. A checkpoint between the two would
		// lose a comparison, and with it the bytes of a run without interruption.
		Together: 2,
		Of:       t.of, Made: func() int64 { return t.step }, Advance: t.advance, Checkpoint: t.checkpoint,
		Restore: t.restore,
	}
	if err := w.Run(ctx, env, done); err != nil {
		return err
	}
	if err := t.finish(); err != nil {
		return err
	}
	return t.steps.Check()
}
