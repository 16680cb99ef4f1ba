package gerai

import (
	"encoding/json"
	"errors"
	"fmt"

	gcn "privrec/internal/model/gerai"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/topn"
	"privrec/internal/tensor"
)

// Scale returns the scale of the paper's Laplace noise on every coefficient of the mean objective, Delta/(epsilon |D|)
// with Delta = d + d²/4 (lemma 4.3, Algorithm 3), for width dim and a number of training triples.
func Scale(dim int, epsilon float64, triples int) float64 {
	return channel.PaperLogisticSensitivity(dim) / (epsilon * float64(triples))
}

// stepEpsilon returns the epsilon that a step over a batch costs one triple, if only the coefficients of h were
// released and the network below h were public: epsilon |D|/B. The paper scales the noise for the mean over |D|
// triples, and a batch's mean moves |D|/B times as far.
func stepEpsilon(epsilon float64, triples, batch int) float64 {
	return epsilon * float64(triples) / float64(batch)
}

// purposeLoss names the releases in the ledger, and their stream.
const purposeLoss = "coefficients of the loss"

// lossNoise adds the noise of a run to its loss. It implements train.Extra. If noise is drawn anew in every step, a
// step releases the coefficients of its batch, in the ledger before they change. The last batch of an epoch may be
// smaller, and has a channel of its own, since its mean moves further.
type lossNoise struct {
	kind     string
	ledger   *privacy.Ledger
	perEpoch int                                // steps
	batches  []*channel.Objective[tensor.Float] // of whole batches, and of the last one where it is smaller
	once     []tensor.Float                     // noise that was drawn before training: linear, then square
	period   string
}

// openNoise returns the noise of a setting; nil for none.
func (c Config) openNoise(x *topn.Experiment, ledger *privacy.Ledger) (*lossNoise, error) {
	n := &lossNoise{kind: c.Loss.Noise, ledger: ledger}
	triples := x.Positives()
	n.perEpoch = (triples + c.Train.Batch - 1) / c.Train.Batch
	sizes := []int{min(c.Train.Batch, triples)}
	if last := triples % c.Train.Batch; last > 0 && n.perEpoch > 1 {
		sizes = append(sizes, last)
	}
	switch c.Loss.Noise {
	case NoiseOff:
		return nil, nil
	case NoiseOnce:
		var err error
		if n.ledger, err = x.Env.Once(); err != nil {
			return nil, err
		}
		sizes = sizes[len(sizes)-1:] // one draw covers the batch that moves furthest
	}
	for i, size := range sizes {
		purpose := purposeLoss
		if i > 0 {
			purpose += ", last batch"
		}
		s, err := x.Env.Noise("gerai", purpose)
		if err != nil {
			return nil, err
		}
		o, err := channel.OpenFunctional[tensor.Float](channel.Functional{
			Purpose: purpose, Epsilon: stepEpsilon(c.Loss.Epsilon, triples, size),
			Sensitivity: channel.PaperLogisticSensitivity(c.Model.Dim) / float64(size),
			Unit:        privacy.Sample, Neighbouring: privacy.Replace,
		}, n.ledger, s)
		if err != nil {
			return nil, err
		}
		n.batches = append(n.batches, o)
	}
	if c.Loss.Noise != NoiseOnce {
		return n, nil
	}
	n.once = make([]tensor.Float, c.Model.Dim*(1+c.Model.Dim))
	if err := n.batches[0].PerturbCoefficients([]uint64{0}, n.once); err != nil {
		return nil, err
	}
	return n, n.ledger.Flush("before training")
}

// into sets the noise of an objective.
func (n *lossNoise) into(o *gcn.Objective) {
	switch {
	case n == nil:
	case n.kind == NoiseScalar:
		o.Taylor = func(step int, c []tensor.Float) error { return n.step(step, c) }
	case n.kind == NoiseStep:
		o.Coefficients = func(step int, linear, square []tensor.Float) error { return n.step(step, linear, square) }
	default:
		o.Coefficients = func(_ int, linear, square []tensor.Float) error {
			tensor.Add(linear, n.once[:len(linear)])
			tensor.Add(square, n.once[len(linear):])
			return nil
		}
	}
}

// keyBits sets the number of steps that share a pass of the noise's keys. The keys of one pass are remembered, to find
// one that is used twice.
const keyBits = 10

// step adds the noise of a step, counted from 0 over all epochs.
func (n *lossNoise) step(step int, parts ...[]tensor.Float) error {
	period := fmt.Sprintf("epoch %d", step/n.perEpoch+1)
	if n.period != period && n.period != "" {
		if err := n.ledger.Flush(n.period); err != nil {
			return err
		}
	}
	n.period = period
	o := n.batches[0]
	if len(n.batches) > 1 && (step+1)%n.perEpoch == 0 {
		o = n.batches[1]
	}
	return o.PerturbCoefficients([]uint64{uint64(step) >> keyBits, uint64(step)}, parts...)
}

// finish checks all noise and ends the ledger's last period.
func (n *lossNoise) finish() error {
	if n == nil {
		return nil
	}
	for _, o := range n.batches {
		if err := o.Channel().Check(); err != nil {
			return err
		}
	}
	if n.period == "" {
		return nil
	}
	return n.ledger.Flush(n.period)
}

// noiseState holds the checkpoint's part of noise that is drawn in steps. Noise that was drawn before training is drawn
// again.
type noiseState struct {
	Period  string          `json:"period"`
	Batches []channel.State `json:"batches"`
}

// Save implements train.Extra.
func (n *lossNoise) Save() ([]byte, error) {
	s := noiseState{Batches: []channel.State{}}
	if n != nil && n.once == nil {
		s.Period = n.period
		for _, o := range n.batches {
			s.Batches = append(s.Batches, o.Channel().State())
		}
	}
	return json.Marshal(s)
}

// Load implements train.Extra.
func (n *lossNoise) Load(b []byte) error {
	var s noiseState
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("state of the noise: %w", err)
	}
	var batches []*channel.Objective[tensor.Float]
	if n != nil && n.once == nil {
		n.period, batches = s.Period, n.batches
	}
	if len(s.Batches) != len(batches) {
		return errors.New("state of the noise: it is of another setting")
	}
	for i, o := range batches {
		if err := o.Channel().Restore(s.Batches[i]); err != nil {
			return err
		}
	}
	return nil
}
