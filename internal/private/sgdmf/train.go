package sgdmf

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// training holds the state of DP-SGD on the items' vectors.
type training struct {
	cfg    Config
	ids    []string  // of users, which key their draws
	train  [][]int32 // their items
	counts []float64 // released
	f      *factors
	ledger *privacy.Ledger
	steps  *descent.Rows[tensor.Float]
	step   int64 // made
	of     int64
	epoch  int64 // steps of an epoch of random allocation; 0: users are drawn anew for every step
	secure bool  // noise from cryptographic bits

	first, second tensor.Matrix // Adam's moments
	mean          tensor.Matrix // of V over the later half of the steps, so far
	draws         release.Draw
	negatives     rng.Stream
	parts         []part
}

// usersHeld is the number of users whose gradients are in memory at once.
const usersHeld = 128

// newTraining returns the training of a budget, which records its steps in l. stream gives random choices that need no
// secret, and noise the others if they are seeded.
func newTraining(c Config, b budget, ids []string, train [][]int32, counts []float64, l *privacy.Ledger,
	stream func(purpose string) rng.Stream,
	noise func(purpose string) (rng.Stream, error)) (*training, error) {
	floor := b.counts.Deviation()
	t := &training{cfg: c, ids: ids, train: train, counts: counts, ledger: l, of: b.steps, epoch: b.sgd.Steps,
		secure: b.secure, f: newFactors(c.Model, counts, floor, stream("first vectors")),
		negatives: stream("negatives"), parts: make([]part, usersHeld)}
	t.draws = release.Draw{Items: c.Privacy.Items, Weights: release.Weights(counts, t.f.items, floor, c.Privacy.Prefer),
		Stream: stream("contributions to steps")}
	m, d := t.f.v.Rows, t.f.v.Cols
	var err error
	if b.secure {
		t.steps, err = descent.OpenSecretRows[tensor.Float](b.sgd, m, d, l)
	} else {
		var s rng.Stream
		if s, err = noise(purposeGradients); err != nil {
			return nil, err
		}
		var seeded *descent.RowSteps[tensor.Float]
		if seeded, err = descent.OpenRows[tensor.Float](b.sgd, m, d, l, s); err == nil {
			t.steps = &seeded.Rows
		}
	}
	if err != nil {
		return nil, err
	}
	t.first, t.second, t.mean = tensor.New(m, d), tensor.New(m, d), tensor.New(m, d)
	return t, nil
}

// advance makes the next step. A step that an earlier attempt lost, and that cannot be made again, counts as made
// without moving anything.
func (t *training) advance() error {
	if t.steps.Skip() {
		t.step++
		t.average()
		return t.ended()
	}
	users, err := t.steps.Begin(0, uint64(t.step))
	if err != nil {
		return err
	}
	negatives, times := t.drawNegatives()
	draws := t.draws
	draws.Stream = draws.Stream.Sub(uint64(t.step))
	for lo := 0; lo < len(users); lo += usersHeld {
		some := users[lo:min(lo+usersHeld, len(users))]
		tensor.Parallel(len(some), usersAtOnce, func(_, from, to int) {
			w := newWorker(t.f)
			for k := from; k < to; k++ {
				u := some[k]
				w.gradient(&t.parts[k], t.train[u], draws.Of(t.ids[u], t.train[u]), negatives, times)
			}
		})
		for k := range some {
			p := &t.parts[k]
			if err := t.steps.Add(lo+k, p.rows, p.values); err != nil {
				return err
			}
		}
	}
	t.step++
	if err := t.steps.Finish(tensor.Parallel, t.descend()); err != nil {
		return err
	}
	t.f.join()
	t.average()
	if t.epoch == 0 {
		return t.ledger.Flush(fmt.Sprintf("step %d", t.step))
	}
	return t.ended()
}

// ended closes the ledger's period after the last step of an epoch of random allocation.
func (t *training) ended() error {
	if t.epoch == 0 || t.step%t.epoch != 0 && t.step != t.of {
		return nil
	}
	return t.ledger.Flush(fmt.Sprintf("epoch %d", (t.step+t.epoch-1)/t.epoch))
}

// average adds V to the mean over the later half of the steps.
func (t *training) average() {
	if n := t.step - t.of/2; n > 0 {
		tensor.ScaleAdd(1/tensor.Float(n), t.f.v.Data, 1-1/tensor.Float(n), t.mean.Data)
	}
}

// drawNegatives returns the rows of a step's negatives, ascending, and the ratio of all rows to them. They are the same
// for all users, and do not depend on data.
func (t *training) drawNegatives() (rows []int32, times float64) {
	m, n := len(t.f.items), t.cfg.Train.Negatives
	if n == 0 || n > m {
		n = m
	}
	s := t.negatives.Sub(uint64(t.step))
	left := n
	for r := range m { // each subset of n rows alike
		if s.IntN(m-r) < left {
			rows = append(rows, int32(r))
			left--
		}
	}
	return rows, float64(m) / float64(n)
}

// descend returns the update that a step makes with the noisy sum of the users' descent directions.
func (t *training) descend() func(at int, sum []tensor.Float) {
	c, per := t.cfg.Train, tensor.Float(1/t.steps.ExpectedBatch())
	keep := tensor.Float(1 - c.Decay)
	coef := tensor.NewAdamCoef(c.Rate, 0.9, 0.999, 1e-8, 0, int(t.step))
	return func(at int, sum []tensor.Float) {
		v := t.f.v.Data[at : at+len(sum)]
		if c.Optimizer == SGD {
			tensor.ScaleAdd(tensor.Float(c.Rate)*per, sum, keep, v)
			return
		}
		tensor.Scale(-per, sum)
		tensor.Scale(keep, v)
		tensor.AdamStep(v, sum, t.first.Data[at:at+len(sum)], t.second.Data[at:at+len(sum)], coef)
	}
}

// finish copies the vectors to rank by into the factors.
func (t *training) finish() {
	if t.cfg.Train.Average {
		copy(t.f.v.Data, t.mean.Data)
		t.f.join()
	}
}
