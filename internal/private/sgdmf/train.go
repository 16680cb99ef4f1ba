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
	steps  rowSteps
	end    func() error                    // finishes a step: V moves
	late   *descent.Deferred[tensor.Float] // steps, where noise is deferred
	step   int64                           // made
	of     int64
	epoch  int64 // steps of an epoch of random allocation; 0: users are drawn anew for every step
	secure bool  // noise from cryptographic bits

	first, second tensor.Matrix // Adam's moments
	mean          tensor.Matrix // of V over the later half of the steps, so far
	draws         release.Draw
	negatives     rng.Stream
	parts         []part
	reads, own    []int32 // rows that a step reads, where noise is deferred
}

// rowSteps is DP-SGD on V: [descent.Rows] or [descent.Deferred], whose ways to finish a step differ.
type rowSteps interface {
	Skip() bool
	Begin(key ...uint64) ([]int32, error)
	Add(k int, rows []int32, values []tensor.Float) error
	ExpectedBatch() float64
	Check() error
	State() descent.State
	Restore(st descent.State) error
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
	if err := t.open(b, l, noise); err != nil {
		return nil, err
	}
	m, d := t.f.v.Rows, t.f.v.Cols
	t.first, t.second, t.mean = tensor.New(m, d), tensor.New(m, d), tensor.New(m, d)
	return t, nil
}

// open opens the steps of a budget.
func (t *training) open(b budget, l *privacy.Ledger, noise func(purpose string) (rng.Stream, error)) error {
	m, d := t.f.v.Rows, t.f.v.Cols
	at := func(rows *descent.Rows[tensor.Float]) {
		t.steps, t.end = rows, func() error { return rows.Finish(tensor.Parallel, t.descend()) }
	}
	if b.secure {
		rows, err := descent.OpenSecretRows[tensor.Float](b.sgd, m, d, l)
		at(rows)
		return err
	}
	s, err := noise(purposeGradients)
	if err != nil {
		return err
	}
	if c := t.cfg.Train; c.Noise == Deferred {
		t.late, err = descent.OpenDeferred(b.sgd, descent.Move{Rate: c.Rate, Decay: c.Decay}, tensor.ScaleAdd,
			t.f.v.Data, d, l, s)
		t.steps, t.end = t.late, func() error { return t.late.Finish(tensor.Parallel) }
		return err
	}
	seeded, err := descent.OpenRows[tensor.Float](b.sgd, m, d, l, s)
	if err != nil {
		return err
	}
	at(&seeded.Rows)
	return nil
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
	if t.cfg.Train.Others == Drawn {
		if err := t.read(users, negatives, times); err != nil {
			return err
		}
	}
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
	if err := t.end(); err != nil {
		return err
	}
	if t.late == nil { // else V lacks noise, and is joined where it is read
		t.join()
		t.average()
	}
	if t.epoch == 0 {
		return t.ledger.Flush(fmt.Sprintf("step %d", t.step))
	}
	return t.ended()
}

// join brings the factors up to a new V. Where rows stand for all, the equations of a step are made of them in read.
func (t *training) join() {
	if t.cfg.Train.Others != Drawn {
		t.f.join()
		return
	}
	for r := range t.f.p {
		t.f.refresh(int32(r))
	}
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
	if t.cfg.Train.Others == Drawn {
		return subset(s, m, n), float64(m) / float64(n)
	}
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

// finish brings the vectors to rank by into the factors, with all noise.
func (t *training) finish() error {
	if t.late != nil {
		if err := t.late.Flush(tensor.Parallel); err != nil {
			return err
		}
	}
	if t.cfg.Train.Average {
		copy(t.f.v.Data, t.mean.Data)
	}
	t.f.join()
	return nil
}
