package dpsgd

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// purposeItems names the release of items in ledgers and streams.
const purposeItems = "items"

// itemsShare is the release's part of the run's false-alarm probability, beside half for gradients and a ninth for
// features.
const itemsShare = mechanism.Share(0.25)

// below keeps the length of a code at C or below in single precision.
const below = 1 - 1e-6

// items returns the mechanism that releases the items. A position with an item gets that item's code, of length C, and
// noise; one without an item gets noise alone. So one interaction more or less moves the release by C, and another item
// by 2 C.
func (c Config) items() (channel.Gaussian, error) {
	deviation, err := c.descent(1).ItemDeviation(privacy.Budget{Epsilon: c.Privacy.Epsilon, Delta: c.Privacy.Delta})
	return channel.Gaussian{
		Purpose: purposeItems, Sigma: deviation * c.Model.Norm, Sensitivity: c.Model.Norm,
		Unit: privacy.Interaction, Neighbouring: privacy.AddRemove, Share: itemsShare,
	}, err
}

// codes returns a vector of length C for every item (items+1, d), row 0 unused. Their directions are random, and so
// nearly orthogonal. They do not depend on the data.
func codes(items, d int, norm float64, s rng.Stream) tensor.Matrix {
	x := tensor.New(items+1, d)
	z := make([]float64, d)
	for i := 1; i <= items; i++ {
		of := s.Sub(uint64(i))
		of.Normals64(z)
		sq := 0.0
		for _, v := range z {
			sq += v * v
		}
		for k, v := range z {
			tensor.Row(x, i)[k] = tensor.Float(v * norm * below / math.Sqrt(sq))
		}
	}
	return x
}

// released holds the noisy codes of all positions of the training and test sequences, and where each sequence begins.
// The network reads nothing else of the items.
type released struct {
	rows        tensor.Matrix // (positions, d)
	train, test []int
	scale       tensor.Float
}

// release releases the items of all positions, training and test, each once.
func release(x *nextitem.Experiment, c Config, once *privacy.Ledger, env *run.Env) (*released, error) {
	law, err := c.items()
	if err != nil {
		return nil, err
	}
	if err := once.Bound(purposeItems, 1); err != nil {
		return nil, err
	}
	noise, err := env.Noise("dpsgd", purposeItems)
	if err != nil {
		return nil, err
	}
	ch, err := channel.Open[tensor.Float](law, once, noise)
	if err != nil {
		return nil, err
	}
	code := codes(x.Items, c.Model.Dim, c.Model.Norm, env.Seed.Stream("dpsgd.codes"))
	r, positions := lay(x.Data.Train, x.Data.Test, code)
	r.scale = scaleOf(c.Model.Norm, law.Sigma, c.Model.Dim)
	rel, err := ch.Start(positions.sequence, r.rows.Rows, r.rows.Cols, 0)
	if err != nil {
		return nil, err
	}
	tensor.Parallel(r.rows.Rows, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			rel.RowAt(i, tensor.Row(r.rows, i), int(positions.part[i]), uint64(positions.at[i]))
		}
	})
	if err := rel.Finish(); err != nil {
		return nil, err
	}
	if err := ch.Check(); err != nil {
		return nil, err
	}
	return r, once.Flush("before training")
}

// scaleOf returns the factor that divides by the mean length of a released row. This is post-processing.
func scaleOf(norm, sigma float64, d int) tensor.Float {
	return tensor.Float(norm / math.Sqrt(norm*norm+sigma*sigma*float64(d)))
}

// places locates every row: sequence holds the index of its sequence, training sequences first, and position its place
// there.
type places struct {
	sequence []int32
	part, at []int32
}

// lay writes the codes of all positions one after another.
func lay(train, test [][]int32, code tensor.Matrix) (*released, places) {
	r, p, n := &released{}, places{}, 0
	for k, part := range [][][]int32{train, test} {
		for u, s := range part {
			if k == 0 {
				r.train = append(r.train, n)
			} else {
				r.test = append(r.test, n)
			}
			if len(s) == 0 {
				continue
			}
			p.sequence = append(p.sequence, int32(k*len(train)+u))
			for at := range s {
				p.part, p.at = append(p.part, int32(len(p.sequence)-1)), append(p.at, int32(at))
			}
			n += len(s)
		}
	}
	r.rows = tensor.New(n, code.Cols)
	n = 0
	for _, part := range [][][]int32{train, test} {
		for _, s := range part {
			for _, item := range s {
				copy(tensor.Row(r.rows, n), tensor.Row(code, int(item)))
				n++
			}
		}
	}
	return r, p
}

// states implements dipsgnn.Inputs: the released row of every position of the sessions. The nodes of a session are its
// positions, in their order.
func (r *released) states(t *autograd.Tape, s *nextitem.Step) *autograd.Node {
	start := r.train
	if s.Part.Name == "test" {
		start = r.test
	}
	x := t.Buffer(len(s.Graph.Node), r.rows.Cols)
	for i, b := range s.Graph.SampleOf {
		from := tensor.Row(r.rows, start[s.Graph.User[b]]+i-int(s.Graph.NodeOff[b]))
		to := tensor.Row(x, i)
		for k, v := range from {
			to[k] = v * r.scale
		}
	}
	return t.Const(x)
}
