// Package dasl trains DASL under the protocol of two domains: in every epoch all batches of
// the target domain, then all of the auxiliary one, then steps on the alignment of users.
package dasl

import (
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/experiment"
	"privrec/internal/model/dasl"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/rng"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// sample identifies a cell to predict from the columns before it.
type sample struct{ user, col int32 }

// Trainer holds the state of one training. To the training loop a batch is a sample.
type Trainer struct {
	model   *dasl.Model
	rows    *crossdomain.Rows
	cfg     Train
	seed    rng.Seed
	width   int // of the window before a cell
	domains int // 2, or 1 for DASL-single
	samples [2][]sample
	items   [2][]int32 // that occur in the rows, ascending: the negatives
	order   [2]order

	batch   dasl.Batch
	aligned bool // the last loss was the alignment
}

// order holds the order of a domain's samples in an epoch.
type order struct {
	epoch int // -1: none yet
	perm  []int32
}

// New returns a training of a new model of the rows. items are those of the target and the auxiliary domain; single
// leaves the latter out. c.Model and c must have been checked.
func New(rows *crossdomain.Rows, users int, items [2]int, model dasl.Config, single bool, c Train,
	seed rng.Seed) (*Trainer, error) {
	t := &Trainer{model: dasl.New(users, items, model, single, seed), rows: rows, cfg: c, seed: seed,
		width: model.Window, domains: 2}
	if single {
		t.domains = 1
	}
	if err := t.list(); err != nil {
		experiment.Free(t.model)
		return nil, err
	}
	return t, nil
}

// list finds the samples and the items of the rows.
func (t *Trainer) list() error {
	for d := range t.domains {
		t.order[d].epoch = -1
		in := make([]bool, t.model.Items(d)+1)
		for at, i := range t.rows.Cells[d] {
			if i == 0 {
				continue
			}
			in[i] = true
			if col := at % t.rows.Cols; col >= t.width {
				t.samples[d] = append(t.samples[d], sample{int32(at / t.rows.Cols), int32(col)})
			}
		}
		for i, ok := range in {
			if ok {
				t.items[d] = append(t.items[d], int32(i))
			}
		}
		if len(t.samples[d]) == 0 {
			return fmt.Errorf("the rows of domain %d hold nothing to predict behind a window of %d", d+1, t.width)
		}
	}
	return nil
}

// batches returns the number of batches of a domain in an epoch.
func (t *Trainer) batches(domain int) int {
	n := (len(t.samples[domain]) + t.cfg.Batch - 1) / t.cfg.Batch
	if most := t.cfg.AuxiliarySteps; domain == 1 && most > 0 {
		return min(n, most)
	}
	return n
}

// Steps implements crossdomain.Model.
func (t *Trainer) Steps() int {
	n := t.batches(0)
	if t.domains == 2 {
		n += t.batches(1) + t.cfg.AlignSteps
	}
	return n
}

// Params implements train.Model.
func (t *Trainer) Params() []*autograd.Param { return t.model.Params() }

// Loss implements train.Model.
func (t *Trainer) Loss(tape *autograd.Tape, b train.Batch) (*autograd.Node, error) {
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

// fill writes batch number at of an epoch, with negatives of the step.
func (t *Trainer) fill(domain, epoch, step, at int) error {
	if t.cfg.Shuffle == ShuffleOnce {
		epoch = 0
	}
	o := &t.order[domain]
	if o.epoch != epoch {
		s := t.seed.Stream("pricdsr.order", uint64(domain), uint64(epoch))
		o.epoch, o.perm = epoch, s.Perm(len(t.samples[domain]))
	}
	from := at * t.cfg.Batch
	chosen := o.perm[from:min(from+t.cfg.Batch, len(o.perm))]
	b, n, w := &t.batch, len(chosen), t.width
	b.User, b.Pos, b.Neg = b.User[:0], b.Pos[:0], b.Neg[:0]
	b.Own, b.Cross = slices.Grow(b.Own[:0], n*w)[:n*w], slices.Grow(b.Cross[:0], n*w)[:n*w]
	stream := t.seed.Stream("pricdsr.negative", uint64(domain), uint64(step))
	for i, k := range chosen {
		s := t.samples[domain][k]
		row := t.rows.Row(domain, s.user)
		neg, err := t.negative(domain, row, &stream)
		if err != nil {
			return fmt.Errorf("user %d: %w", s.user, err)
		}
		b.User, b.Pos, b.Neg = append(b.User, s.user), append(b.Pos, row[s.col]), append(b.Neg, neg)
		t.window(t.rows, domain, s.user, int(s.col), i, n)
	}
	return nil
}

// window writes the columns before col as the window of sample i of n.
func (t *Trainer) window(rows *crossdomain.Rows, domain int, user int32, col, i, n int) {
	w := t.width
	own := rows.Row(domain, user)
	for k := range w {
		t.batch.Own[k*n+i] = own[col-w+k]
		if t.domains == 2 {
			t.batch.Cross[k*n+i] = rows.Row(1-domain, user)[col-w+k]
		} else {
			t.batch.Cross[k*n+i] = 0
		}
	}
}

// negative draws an item of the domain's rows that is not in the user's own.
func (t *Trainer) negative(domain int, row []int32, s *rng.Stream) (int32, error) {
	items := t.items[domain]
	for range 10_000 {
		if i := items[s.IntN(len(items))]; !slices.Contains(row, i) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("has all %d items of the rows of domain %d: there is no negative to draw", len(items),
		domain+1)
}

// Samples implements crossdomain.Model.
func (t *Trainer) Samples() [2]int { return [2]int{len(t.samples[0]), len(t.samples[1])} }

// Rehearsed implements crossdomain.Model: steps of both domains in turn.
func (t *Trainer) Rehearsed(i int) int32 {
	if i%2 == 1 && t.domains == 2 {
		return int32(t.batches(0) + i/2%t.batches(1))
	}
	return int32(i / 2 % t.batches(0))
}

// Items implements crossdomain.Model.
func (t *Trainer) Items() int { return t.model.Items(0) }

// Sampled implements crossdomain.Model.
func (t *Trainer) Sampled(tape *autograd.Tape, rows *crossdomain.Rows, users, items, of []int32) []tensor.Float {
	return t.model.Sampled(tape, 0, t.last(rows, users), items, of)
}

// All implements crossdomain.Model.
func (t *Trainer) All(tape *autograd.Tape, rows *crossdomain.Rows, users []int32, scores tensor.Matrix) {
	t.model.All(tape, 0, t.last(rows, users), scores)
}

// last writes the windows at the end of users' rows.
func (t *Trainer) last(rows *crossdomain.Rows, users []int32) *dasl.Batch {
	n, w := len(users), t.width
	b := &t.batch
	b.User = append(b.User[:0], users...)
	b.Own, b.Cross = slices.Grow(b.Own[:0], n*w)[:n*w], slices.Grow(b.Cross[:0], n*w)[:n*w]
	for i, u := range users {
		t.window(rows, 0, u, rows.Cols, i, n)
	}
	return b
}
