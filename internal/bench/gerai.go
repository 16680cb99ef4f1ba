package bench

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/model/gerai"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// geraiSizes holds the sizes of GERAI on a graph and of its batches.
type geraiSizes struct {
	Sizes
	features int
	batches  []int
}

// movies returns the sizes of ML-100K's training part and of GERAI's paper.
func movies() geraiSizes {
	return geraiSizes{Sizes{Users: 943, Items: 1682, Edges: 80000, Dim: 60, Layers: 1, Batch: 64}, 44, []int{64, 1024}}
}

// GERAI measures a training step on a power-law graph of ML-100K's size: drawing triples,
// forward, backward and dense Adam. It measures GERAI, with noise drawn for the coefficients of
// every step's polynomial, and the same network with the exact loss (gcn). The shape of a case
// ends with the loss of fixed weights that scripts/bench/gerai.py also computes.
func GERAI(ctx context.Context, o Options) ([]Result, error) { return geraiOf(ctx, o, movies()) }

func geraiOf(ctx context.Context, o Options, s geraiSizes) ([]Result, error) {
	var cases []Case
	for _, batch := range s.batches {
		for _, name := range []string{"gerai", "gcn"} {
			exact := name == "gcn"
			loss, err := geraiCheck(exact)
			if err != nil {
				return nil, err
			}
			shape := fmt.Sprintf("users=%d items=%d edges=%d dim=%d batch=%d loss=%.6f", s.Users, s.Items, s.Edges,
				s.Dim, batch, loss)
			cases = append(cases, Case{fmt.Sprintf("%s_step_%d", name, batch), shape, func() (func() error, error) {
				t, err := newGERAIStep(s, batch, exact)
				if err != nil {
					return nil, err
				}
				return t.run, nil
			}})
		}
	}
	return Run(ctx, o, cases)
}

// geraiStep makes training steps on edges at random.
type geraiStep struct {
	model     *gerai.Model
	objective gerai.Objective
	sampler   *bpr.Sampler
	tape      *autograd.Tape
	adam      *optim.Adam
	params    []*autograd.Param
	samples   []int32
	order     rng.Stream
	steps     int
}

func newGERAIStep(s geraiSizes, batch int, exact bool) (*geraiStep, error) {
	g, err := powerLaw(s.Sizes, graphSeed)
	if err != nil {
		return nil, err
	}
	x := tensor.New(s.Users, s.features)
	nn.Uniform(graphSeed, 1)(x, "features")
	c := gerai.Default()
	c.Dim = s.Dim
	m, err := gerai.New(g, x, c, graphSeed, c.Initial(graphSeed))
	if err != nil {
		return nil, err
	}
	sampler, err := bpr.NewSampler(g, bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: batch,
		Seed: graphSeed})
	if err != nil {
		return nil, err
	}
	t := &geraiStep{model: m, sampler: sampler, tape: autograd.NewTape(), adam: optim.NewAdam(0), params: m.Params(),
		samples: make([]int32, batch), order: graphSeed.Stream("bench.order"),
		objective: gerai.Objective{Exact: exact, Gamma: 0.01, Sum: float64(g.Edges())}}
	if exact {
		return t, nil
	}
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	noise, err := channel.OpenFunctional[tensor.Float](channel.Functional{
		Purpose: "bench loss", Epsilon: 0.4 * float64(g.Edges()) / float64(batch),
		Sensitivity: channel.PaperLogisticSensitivity(s.Dim) / float64(batch),
		Unit:        privacy.Sample, Neighbouring: privacy.Replace,
	}, l, graphSeed.Stream("bench.loss"))
	t.objective.Coefficients = func(step int, linear, square []tensor.Float) error {
		return noise.PerturbCoefficients([]uint64{uint64(step), 0}, linear, square)
	}
	return t, err
}

func (t *geraiStep) run() error {
	for k := range t.samples {
		t.samples[k] = int32(t.order.IntN(t.model.Graph.Edges()))
	}
	t.tape.Reset()
	loss, err := t.model.Loss(t.tape, t.steps, t.sampler.Draw(t.steps, t.samples), t.objective)
	if err != nil {
		return err
	}
	t.tape.Backward(loss)
	t.steps++
	return t.adam.Step(t.params, t.tape.Grads(), 1e-3)
}

// geraiCheck returns the loss of fixedTriples on fixedGraph, without noise and penalty. Weights are
// those of fillFixed, between -1.2 and 1.2, in the order of Params, and so are the features, as
// parameter 20.
func geraiCheck(exact bool) (float64, error) {
	const features, d = 5, 8
	g, err := fixedGraph()
	if err != nil {
		return 0, err
	}
	x := tensor.New(fixedUsers, features)
	fillFixed(x, 20, 2.4)
	c := gerai.Default()
	c.Dim = d
	m, err := gerai.New(g, x, c, graphSeed, nn.Zeros)
	if err != nil {
		return 0, err
	}
	for p, q := range m.Params() {
		fillFixed(q.Value, p, 2.4)
	}
	loss, err := m.Loss(autograd.NewTape(), 0, fixedTriples(), gerai.Objective{Exact: exact})
	if err != nil {
		return 0, err
	}
	return loss.Scalar(), nil
}
