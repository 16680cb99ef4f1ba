package pricdsr

import (
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/model/dasl"
	"privrec/internal/rng"
	"privrec/internal/train"
)

// sample is a cell to be foretold from the columns before it.
type sample struct{ user, col int32 }

// trainer is one training: an epoch is all batches of the target domain, all of the
// auxiliary one, and steps on the alignment. To the training loop a batch is a sample.
type trainer struct {
	model   *dasl.Model
	part    *part
	cfg     Config
	seed    rng.Seed
	domains int // 2, or 1 for DASL-single
	samples [2][]sample
	items   [2][]int32 // that occur in the rows, ascending: the negatives
	order   [2]order

	batch   dasl.Batch
	aligned bool // the last loss was the alignment
}

// order is the order of a domain's samples in an epoch.
type order struct {
	epoch int // -1: none yet
	perm  []int32
}

func newTrainer(m *dasl.Model, p *part, c Config, seed rng.Seed) (*trainer, error) {
	t := &trainer{model: m, part: p, cfg: c, seed: seed, domains: 2}
	if c.Single() {
		t.domains = 1
	}
	for d := range t.domains {
		t.order[d].epoch = -1
		in := make([]bool, m.Items(d)+1)
		for at, i := range p.rows[d] {
			if i == 0 {
				continue
			}
			in[i] = true
			if col := at % p.cols; col >= c.Model.Window {
				t.samples[d] = append(t.samples[d], sample{int32(at / p.cols), int32(col)})
			}
		}
		for i, ok := range in {
			if ok {
				t.items[d] = append(t.items[d], int32(i))
			}
		}
		if len(t.samples[d]) == 0 {
			return nil, fmt.Errorf("the rows of domain %d hold nothing to be foretold behind a window of %d", d+1, c.Model.Window)
		}
	}
	return t, nil
}

// batches is the number of batches of a domain an epoch.
func (t *trainer) batches(domain int) int {
	n := (len(t.samples[domain]) + t.cfg.Train.Batch - 1) / t.cfg.Train.Batch
	if most := t.cfg.Train.AuxiliarySteps; domain == 1 && most > 0 {
		return min(n, most)
	}
	return n
}

// steps is the number of steps an epoch.
func (t *trainer) steps() int {
	n := t.batches(0)
	if t.domains == 2 {
		n += t.batches(1) + t.cfg.Train.AlignSteps
	}
	return n
}

// Params implements train.Model.
func (t *trainer) Params() []*autograd.Param { return t.model.Params() }

// Loss implements train.Model.
func (t *trainer) Loss(tape *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	t.aligned = false
	at := int(b.Samples[0])
	for d := range t.domains {
		if at < t.batches(d) {
			if err := t.fill(d, b.Epoch, b.Step, at); err != nil {
				return nil, err
			}
			return t.model.Loss(tape, d, b.Step, &t.batch), nil
		}
		at -= t.batches(d)
	}
	t.aligned = true
	return t.model.Alignment(tape), nil
}

// fill lays batch number at of an epoch out, with negatives of the step.
func (t *trainer) fill(domain, epoch, step, at int) error {
	if t.cfg.Train.Shuffle == shuffleOnce {
		epoch = 0
	}
	o := &t.order[domain]
	if o.epoch != epoch {
		s := t.seed.Stream("pricdsr.order", uint64(domain), uint64(epoch))
		o.epoch, o.perm = epoch, s.Perm(len(t.samples[domain]))
	}
	from := at * t.cfg.Train.Batch
	chosen := o.perm[from:min(from+t.cfg.Train.Batch, len(o.perm))]
	b, n, w := &t.batch, len(chosen), t.cfg.Model.Window
	b.User, b.Pos, b.Neg = b.User[:0], b.Pos[:0], b.Neg[:0]
	b.Own, b.Cross = slices.Grow(b.Own[:0], n*w)[:n*w], slices.Grow(b.Cross[:0], n*w)[:n*w]
	stream := t.seed.Stream("pricdsr.negative", uint64(domain), uint64(step))
	for i, k := range chosen {
		s := t.samples[domain][k]
		row := t.part.row(domain, s.user)
		neg, err := t.negative(domain, row, &stream)
		if err != nil {
			return fmt.Errorf("user %d: %w", s.user, err)
		}
		b.User, b.Pos, b.Neg = append(b.User, s.user), append(b.Pos, row[s.col]), append(b.Neg, neg)
		t.window(domain, s.user, int(s.col), i, n)
	}
	return nil
}

// window writes the columns before col as those of sample i of n.
func (t *trainer) window(domain int, user int32, col, i, n int) {
	w := t.cfg.Model.Window
	own := t.part.row(domain, user)
	for k := range w {
		t.batch.Own[k*n+i] = own[col-w+k]
		if t.domains == 2 {
			t.batch.Cross[k*n+i] = t.part.row(1-domain, user)[col-w+k]
		} else {
			t.batch.Cross[k*n+i] = 0
		}
	}
}

// negative draws an item of the domain's rows that is not in the user's own.
func (t *trainer) negative(domain int, row []int32, s *rng.Stream) (int32, error) {
	items := t.items[domain]
	for range 10_000 {
		if i := items[s.IntN(len(items))]; !slices.Contains(row, i) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("has all %d items of the rows of domain %d: there is no negative to draw", len(items), domain+1)
}

// last lays out, for users, the windows at the end of their rows.
func (t *trainer) last(users []int32) *dasl.Batch {
	n, w := len(users), t.cfg.Model.Window
	b := &t.batch
	b.User = append(b.User[:0], users...)
	b.Own, b.Cross = slices.Grow(b.Own[:0], n*w)[:n*w], slices.Grow(b.Cross[:0], n*w)[:n*w]
	for i, u := range users {
		t.window(0, u, t.part.cols, i, n)
	}
	return b
}
