package run

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// TrainStore returns a store for the training loop's checkpoints in the run directory.
func (e *Env) TrainStore() train.Store { return trainStore{e} }

type trainStore struct{ env *Env }

// Save implements train.Store.
func (s trainStore) Save(c *train.Checkpoint) error {
	tensors := make([]NamedTensor, len(c.Tensors))
	for i, t := range c.Tensors {
		tensors[i] = MatrixTensor(t.Name, t.Value)
	}
	return s.env.SaveCheckpoint(Checkpoint{State: c.State, Tensors: tensors})
}

// Load implements train.Store.
func (s trainStore) Load() (*train.Checkpoint, bool, error) {
	c, ok, err := s.env.LoadCheckpoint()
	if !ok || err != nil {
		return nil, false, err
	}
	out := &train.Checkpoint{State: c.State}
	for _, t := range c.Tensors {
		m, err := t.Matrix()
		if err != nil {
			return nil, false, fmt.Errorf("load checkpoint: %w", err)
		}
		out.Tensors = append(out.Tensors, autograd.NamedTensor{Name: t.Name, Value: m})
	}
	return out, true, nil
}

// TrainHooks returns hooks that show the progress of training, one counted phase and one log event for each epoch.
func (e *Env) TrainHooks() train.Hooks {
	epoch, done := -1, 0
	return train.Hooks{
		OnStep: func(s train.StepInfo) {
			if s.Epoch != epoch {
				epoch, done = s.Epoch, 0
				e.Progress.Begin(fmt.Sprintf("epoch %d/%d", s.Epoch+1, s.Epochs), s.Batches)
			}
			e.Progress.Add(s.Batch - done)
			done = s.Batch
		},
		OnEpoch: func(i train.EpochInfo) {
			line := fmt.Sprintf("epoch %d  loss %.4f  lr %.3g", i.Epoch+1, i.Loss, i.LR)
			args := []any{"epoch", i.Epoch + 1, "loss", i.Loss, "lr", i.LR, "train_seconds", i.TrainSeconds,
				"validate_seconds", i.ValidateSeconds}
			for j, s := range i.Scores {
				// The line shows the widest cut-off of each measure, the log all.
				if j+1 == len(i.Scores) || measure(i.Scores[j+1].Name) != measure(s.Name) {
					line += fmt.Sprintf("  %s %.4f", s.Name, s.Value)
				}
				args = append(args, s.Name, s.Value)
			}
			if e.books.show() != nil { // as in AppendLog
				e.Progress.End(fmt.Sprintf("epoch %d", i.Epoch+1))
				return
			}
			e.Progress.End(fmt.Sprintf("%s  (%.1fs)", line, i.TrainSeconds+i.ValidateSeconds))
			e.AppendLog("epoch", args...)
			e.writeEvents(i)
		},
		OnSave: func(s train.SaveInfo) {
			e.AppendLog("checkpoint", "epoch", s.Epoch+1, "step", s.Step, "seconds", s.Seconds)
		},
	}
}

// writeEvents writes the results of an epoch for TensorBoard, if the run asks for that.
func (e *Env) writeEvents(i train.EpochInfo) {
	w := &e.writing
	w.events.add(e.Dir, e.books.ledger, i, e.Log)
	w.kept = w.kept || w.events.f != nil
}

// measure returns a score's name without its cut-off: "valid Recall" for "valid Recall@20".
func measure(name string) string {
	m, _, _ := strings.Cut(name, "@")
	return m
}

// MatrixTensor returns a view of a matrix as a tensor of shape (rows, cols). It copies a
// strided matrix.
func MatrixTensor(name string, m tensor.Matrix) NamedTensor {
	n := m.Rows * m.Cols
	data := m.Data
	if m.Stride == m.Cols || m.Rows <= 1 {
		data = data[:n]
	} else {
		data = make([]tensor.Float, 0, n)
		for i := range m.Rows {
			data = append(data, tensor.Row(m, i)...)
		}
	}
	return NamedTensor{Name: name, Shape: []int{m.Rows, m.Cols}, Data: data}
}

// CopyTo copies the tensor into m. It fails on a shape or element type other than m's: a
// float64 build does not continue from a float32 checkpoint.
func (t NamedTensor) CopyTo(m tensor.Matrix) error {
	got, err := t.Matrix()
	if err != nil {
		return err
	}
	if got.Rows != m.Rows || got.Cols != m.Cols {
		return fmt.Errorf("tensor %q has shape %v, want (%d, %d)", t.Name, t.Shape, m.Rows, m.Cols)
	}
	for i := range m.Rows {
		copy(tensor.Row(m, i), tensor.Row(got, i))
	}
	return nil
}

// Matrix returns a view of the tensor as a matrix, with one row where it has one dimension.
func (t NamedTensor) Matrix() (tensor.Matrix, error) {
	data, ok := t.Data.([]tensor.Float)
	if !ok {
		dtype, _, _ := layout(t.Data)
		return tensor.Matrix{}, fmt.Errorf("tensor %q holds %s, this build computes in %s", t.Name, dtype, floatName)
	}
	shape := slices.Clone(t.Shape)
	for len(shape) < 2 {
		shape = slices.Insert(shape, 0, 1)
	}
	if len(shape) != 2 {
		return tensor.Matrix{}, fmt.Errorf("tensor %q has shape %v, want a matrix", t.Name, t.Shape)
	}
	return tensor.Matrix{Rows: shape[0], Cols: shape[1], Stride: max(1, shape[1]), Data: data}, nil
}
