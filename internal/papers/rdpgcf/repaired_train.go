package rdpgcf

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// gradientsAtOnce is the number of examples whose gradients are computed at once.
const gradientsAtOnce = 64

// mapTraining holds the state of DP-SGD on a run's map, with Adam on the noisy means.
type mapTraining struct {
	r     *repairedRun
	steps descent.Run[tensor.Float]
	step  int64 // made

	mean, first, second []tensor.Float // the last gradient, and Adam's moments
	gradients           tensor.Matrix  // (gradientsAtOnce, weights)
	negatives           rng.Stream
	perEpoch            int64
}

func (r *repairedRun) newTraining() (*mapTraining, error) {
	n := r.m.size()
	var steps descent.Run[tensor.Float]
	var err error
	if x := r.split.secret; x != nil {
		steps, err = x.means(r.cfg.labelEdges(r.graph), r.ledger)
	} else {
		s, err := r.stream.noise(purposeLabels)
		if err != nil {
			return nil, err
		}
		steps, err = descent.Open[tensor.Float](descent.DPSGD{
			Purpose: purposeLabels, Clip: r.cfg.Privacy.Repaired.Clip, NoiseMultiplier: r.split.Multiplier,
			Examples: int64(r.graph.Edges()),
			Sampling: privacy.Poisson, Rate: r.split.Rate, Unit: privacy.Edge, Share: 0.4,
		}, n, r.ledger, s)
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return &mapTraining{r: r, steps: steps,
			mean: make([]tensor.Float, n), first: make([]tensor.Float, n), second: make([]tensor.Float, n),
			gradients: tensor.New(gradientsAtOnce, n),
			negatives: r.stream.draws(purposeLabels + ", negatives"),
			perEpoch:  r.split.Steps / int64(r.cfg.Train.Epochs)},
		nil
}

// advance makes the next step. A step that an earlier attempt lost, and that cannot be made again, counts as made
// without moving anything.
func (m *mapTraining) advance() error {
	r, t := m.r, m.r.cfg.Train
	epoch := m.step / m.perEpoch
	if m.steps.Skip() {
		m.step++
		return m.ended(epoch)
	}
	batch, err := m.steps.Begin(uint64(epoch), uint64(m.step))
	if err != nil {
		return err
	}
	for lo := 0; lo < len(batch); lo += gradientsAtOnce {
		some := batch[lo:min(lo+gradientsAtOnce, len(batch))]
		tensor.Parallel(len(some), 8, func(_, from, to int) {
			for k := from; k < to; k++ {
				e := r.graph.Edge(int(some[k]))
				draw := m.negatives.Sub(uint64(m.step), m.key(some[k]))
				r.gradient(tensor.Row(m.gradients, k), e, int32(draw.IntN(r.graph.Items)))
			}
		})
		for k := range some {
			if err := m.steps.Add(lo+k, tensor.Row(m.gradients, k)); err != nil {
				return err
			}
		}
	}
	if err := m.steps.Finish(m.mean); err != nil {
		return err
	}
	if stated := r.cfg.Privacy.Repaired.Edges; stated > 0 && r.split.secret == nil {
		// A mean over the batch that is expected of the stated number: how many edges there are must
		// not show in the length of a step.
		tensor.Scale(tensor.Float(float64(r.graph.Edges())/float64(r.cfg.labelEdges(r.graph))), m.mean)
	}
	m.step++
	tensor.AdamStep(r.m.weights(), m.mean, m.first, m.second, tensor.NewAdamCoef(t.Rate, 0.9, 0.999, 1e-8, t.L2,
		int(m.step)))
	return m.ended(epoch)
}

// ended closes the ledger's period after the last step of an epoch.
func (m *mapTraining) ended(epoch int64) error {
	if m.step == m.perEpoch*(epoch+1) {
		return m.r.ledger.Flush(fmt.Sprintf("epoch %d", epoch+1))
	}
	return nil
}

// key returns the key of an edge's negatives, besides the step: the edge itself. If the key were its place among the
// edges, one edge more would change the negatives of all edges after it, and so more than its own gradient.
func (m *mapTraining) key(e int32) uint64 {
	edge := m.r.graph.Edge(int(e))
	return uint64(edge.User)<<32 | uint64(edge.Item)
}

// mapState holds the part of a checkpoint beside weights and moments. Rows and counts are computed again, since the
// same keys give the same noise. Secure noise has no keys, so its checkpoints hold the releases.
type mapState struct {
	Step   int64         `json:"step"`
	Labels descent.State `json:"labels"`
}

// named returns the vectors of a checkpoint.
func (m *mapTraining) named() []run.NamedTensor {
	var out []run.NamedTensor
	for _, v := range []struct {
		name string
		x    []tensor.Float
	}{{"weights", m.r.m.weights()}, {"first", m.first}, {"second", m.second}} {
		out = append(out, run.MatrixTensor(v.name, tensor.Matrix{Rows: 1, Cols: len(v.x), Stride: len(v.x), Data: v.x}))
	}
	return append(out, m.r.kept()...)
}

// checkpoint returns the training between two steps. Its tensors are the live ones.
func (m *mapTraining) checkpoint() (run.Checkpoint, error) {
	state, err := json.Marshal(mapState{m.step, m.steps.State()})
	return run.Checkpoint{State: state, Tensors: m.named()}, err
}

// restore continues a new training from a checkpoint. It checks the whole checkpoint before anything changes.
func (m *mapTraining) restore(c run.Checkpoint) error {
	var s mapState
	if err := json.Unmarshal(c.State, &s); err != nil {
		return fmt.Errorf("checkpoint: state: %w", err)
	}
	if n := m.r.split.Steps; s.Step < 0 || s.Step > n || s.Step%2 == 1 && s.Step != n ||
		s.Step != s.Labels.Batches.Batches {
		return fmt.Errorf("checkpoint: at step %d of %d, after %d batches", s.Step, m.r.split.Steps,
			s.Labels.Batches.Batches)
	}
	own := m.named()
	if len(c.Tensors) != len(own) {
		return fmt.Errorf("checkpoint: %d tensors, want %d", len(c.Tensors), len(own))
	}
	kept := make([]tensor.Matrix, len(own))
	for i, t := range c.Tensors {
		x, err := t.Matrix()
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		if want := own[i]; t.Name != want.Name || x.Rows != want.Shape[0] || x.Cols != want.Shape[1] {
			return fmt.Errorf("checkpoint: tensor %q is %dx%d, the run has %q of %dx%d", t.Name, x.Rows, x.Cols,
				want.Name, want.Shape[0], want.Shape[1])
		}
		kept[i] = x
	}
	if err := m.steps.Restore(s.Labels); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	for i, dst := range [][]tensor.Float{m.r.m.weights(), m.first, m.second} {
		copy(dst, tensor.Row(kept[i], 0))
	}
	m.step = s.Step
	return nil
}

// train fits the map and reports the steps to done. With an env it continues from the run's checkpoint, and writes
// checkpoints.
func (r *repairedRun) train(ctx context.Context, env *run.Env, done func(steps int)) error {
	m, err := r.newTraining()
	if err != nil {
		return err
	}
	if r.fresh && env != nil {
		c, err := m.checkpoint()
		if err != nil {
			return err
		}
		if err := env.SaveCheckpoint(c); err != nil {
			return err
		}
	}
	w := run.Stepped{
		// The batches of steps are compared two by two. A checkpoint between the two would
		// lose a comparison, and with it the bytes of a run without interruption.
		Together: 2,
		Of:       r.split.Steps, Made: func() int64 { return m.step }, Advance: m.advance, Checkpoint: m.checkpoint,
		Restore: m.restore,
	}
	if err := w.Run(ctx, env, done); err != nil {
		return err
	}
	return m.steps.Check()
}

// gradient writes the gradient of softplus(-scale (s_up - s_un)) at one edge into dst.
func (r *repairedRun) gradient(dst []tensor.Float, e graph.Edge, negative int32) {
	margin := r.m.margin(dst, r.rows, e.User, e.Item, negative)
	scale := r.cfg.Model.Scale
	slope := -scale / (1 + math.Exp(scale*margin))
	tensor.Scale(tensor.Float(slope), dst)
}
