package descent

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

// lateStream is the stream of deferred noise, beside those of batches and of noise at once.
const lateStream = batchStream + 1

// Move says what a step of gradient descent does to a table: it takes the share Decay of it off, and adds Rate times
// the noisy mean. Both are the same for all steps. Rate is negative where gradients point uphill.
type Move struct{ Rate, Decay float64 }

// Blend is a function that overwrites y with a x + b y. tensor.ScaleAdd is one.
type Blend[T mechanism.Float] func(a T, x []T, b T, y []T)

// Deferred runs DP-SGD on a table with gradient descent, and adds the noise of a row only when the row is read (Lim et
// al., "LazyDP: Co-designing algorithm-software for scalable training of differentially private recommendation models",
// ASPLOS 2024). Noise is due on every row in every step. A row that nothing reads gets what it missed in one draw, so
// that a step costs what its batch touches, not what the table holds. For each step call Begin, Read for all rows that
// gradients are computed from, Add for every example of the batch, Finish. Flush comes before anything else reads the
// table: a ranking, a measurement, a release.
//
//	v_t = (1-decay) v_(t-1) + c (s_t + n_t),  c = rate/expected batch,  n_t ~ N(0, sigma²) independent
//
// A row without gradients in the steps s+1..t has at t the value (1-decay)^(t-s) v_s, plus c times the sum of
// (1-decay)^(t-i) n_i. This sum is normal with variance sigma² times the sum of (1-decay)^(2(t-i)), and independent of
// all that was read before ([channel.Late]). So rows that are read, and the flushed table, have the law that [RowSteps]
// gives them, and what is computed from them has its guarantee. The ledger is the same. The numbers are not: noise is
// drawn in other pieces, and it is rounded once where the other way rounds it in every step.
//
// Adam, momentum, and means over steps have no such form: they read the noise of every step, each with its own weight.
//
// Between reads the table lacks noise. It even holds gradients of the last batches that touched a row as they are, so
// nobody may see it, nor a checkpoint of it, before Flush. State says which noise each row has: a run that continues
// from a checkpoint of table and state has the bytes of one that never stopped.
type Deferred[T mechanism.Float] struct {
	RowSteps[T]
	from *deferred[T]
}

// OpenDeferred opens DP-SGD with deferred noise on a table of rows of cols values, which it moves with blend. It draws
// noise and batches from stream s and records in ledger l. Its batches are those of OpenRows.
func OpenDeferred[T mechanism.Float](d DPSGD, m Move, blend Blend[T], table []T, cols int, l *privacy.Ledger,
	s rng.Stream) (*Deferred[T], error) {
	if cols < 1 || len(table) == 0 || len(table)%cols != 0 {
		return nil, fmt.Errorf("%s: a table of %d values in rows of %d", d.Purpose, len(table), cols)
	}
	if math.IsNaN(m.Rate) || math.IsInf(m.Rate, 0) || m.Rate == 0 || !(m.Decay >= 0 && m.Decay < 1) {
		return nil, fmt.Errorf("%s: rate %v and decay %v, want a finite rate that is not 0, and a decay in [0, 1)",
			d.Purpose, m.Rate, m.Decay)
	}
	rows := len(table) / cols
	own, err := newSeeded[T](d, rows, cols, l, s)
	if err != nil {
		return nil, err
	}
	from := &deferred[T]{seeded: own, table: table, move: m, by: m.Rate / d.ExpectedBatch(), blend: blend}
	if from.late, err = own.noise.Late(rows, cols, channel.Weighted(m.Decay), s.Sub(lateStream)); err != nil {
		return nil, err
	}
	if m.Decay > 0 {
		from.moved = make([]int32, rows)
	}
	steps := &Deferred[T]{RowSteps[T]{*newRows(d, rows, cols, seededPiece, from), own}, from}
	steps.late = true
	return steps, nil
}

// Read gives rows of the table all noise that they missed in the steps before this one. The rows may be given more than
// once, in any order. Between Begin and Finish every row must be read that Add is given, before gradients are computed
// from it: Add fails for others. Nothing else may use the table meanwhile.
func (s *Deferred[T]) Read(parallel Parallel, rows []int32) error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.from.read(parallel, rows); err != nil {
		return s.fail(err)
	}
	return nil
}

// AddAll is that of [RowSteps]. It needs the values until Finish.
func (s *Deferred[T]) AddAll(parallel Parallel, ends []int, rows []int32, values []T) error {
	link := func(rows []int32) error {
		if err := s.from.link(rows); err != nil {
			return s.fail(err)
		}
		return nil
	}
	err := s.takeAll(parallel, ends, rows, values, link)
	s.from.values = values
	return err
}

// Finish moves the rows that the batch touched along the sum of its gradients, and checks the batches. The noise of the
// step is due on all rows from then on. It fails unless every example of the batch was added.
func (s *Deferred[T]) Finish(parallel Parallel) error {
	if err := s.ready(); err != nil {
		return err
	}
	s.from.finish(parallel)
	return s.ended()
}

// Flush gives every row of the table all noise of the steps made. It may not be called within a step. When a run
// flushes changes its numbers, not their law.
func (s *Deferred[T]) Flush(parallel Parallel) error {
	if s.failed == nil && s.open {
		return s.fail(fmt.Errorf("%s: the table was flushed within a step", s.d.Purpose))
	}
	all := make([]int32, s.rows)
	for r := range all {
		all[r] = int32(r)
	}
	return s.Read(parallel, all)
}

// deferred is the source of Deferred. It holds the gradients of a step until they are summed, row by row.
type deferred[T mechanism.Float] struct {
	*seeded[T]
	late  *channel.Late[T]
	table []T // (rows, cols)
	move  Move
	by    float64 // what a step multiplies sums by
	blend Blend[T]
	made  int64   // steps that were finished
	moved []int32 // of a row: the steps whose decay it has; nil without decay

	values []T     // the rows of all gradients of the step, one after another
	held   []T     // memory for those from add
	first  []int32 // of a touched row, by its slot: its first place in values
	last   []int32 // and its last one
	next   []int32 // of each place: the next one of the same row, or -1
}

// begin implements source.
func (s *deferred[T]) begin(key []uint64, batch []int32) ([]int32, error) {
	s.values, s.held, s.next = nil, s.held[:0], s.next[:0]
	s.first, s.last = s.first[:0], s.last[:0]
	if err := s.late.Record(key...); err != nil {
		return nil, err
	}
	return s.draw(key, batch)
}

// add implements source.
func (s *deferred[T]) add(_ int32, rows []int32, values []T) error {
	if err := s.link(rows); err != nil {
		return err
	}
	if err := s.shorten(values); err != nil {
		return err
	}
	s.held = append(s.held, values...)
	s.values = s.held
	return nil
}

// link lists the rows of an example as the next places of the step's gradients. It fails for rows that Add refuses, and
// for one that lacks noise.
func (s *deferred[T]) link(rows []int32) error {
	from := len(s.next)
	for _, r := range rows {
		if uint(r) >= uint(len(s.slot)) {
			return fmt.Errorf("%s: gradient of row %d, the table has %d", s.d.Purpose, r, len(s.slot))
		}
		if s.late.Has(r) != s.made {
			return fmt.Errorf("%s: gradient of row %d, which was not read in this step", s.d.Purpose, r)
		}
		place := int32(len(s.next))
		s.next = append(s.next, -1)
		slot := s.slot[r] - 1
		if slot < 0 {
			s.touched = append(s.touched, r)
			s.slot[r] = int32(len(s.touched))
			s.first, s.last = append(s.first, place), append(s.last, place)
			continue
		}
		if s.last[slot] >= int32(from) {
			return fmt.Errorf("%s: a gradient has row %d twice, want distinct rows", s.d.Purpose, r)
		}
		s.next[s.last[slot]], s.last[slot] = place, place
	}
	return nil
}

// rowsAtOnce is the number of rows whose noise is drawn before any of them is changed. The rows of a large table come
// slowly from memory, but several come at once.
const rowsAtOnce = 16

// read gives rows all noise that they missed, and the decay.
func (s *deferred[T]) read(parallel Parallel, rows []int32) error {
	rows, err := s.late.Begin(rows, s.made)
	if err != nil {
		return err
	}
	log := math.Log1p(-s.move.Decay)
	parallel((len(rows)+rowsAtOnce-1)/rowsAtOnce, 4, func(_, lo, hi int) {
		noise := make([]T, rowsAtOnce*s.cols)
		for at := lo * rowsAtOnce; at < min(hi*rowsAtOnce, len(rows)); at += rowsAtOnce {
			some := rows[at:min(at+rowsAtOnce, len(rows))]
			for i := range some {
				s.late.Row(at+i, noise[i*s.cols:(i+1)*s.cols])
			}
			for i, r := range some {
				keep := T(1)
				if s.moved != nil {
					keep = T(math.Exp(float64(int32(s.made)-s.moved[r]) * log))
					s.moved[r] = int32(s.made)
				}
				s.blend(T(s.by), noise[i*s.cols:(i+1)*s.cols], keep, s.rowOf(r))
			}
		}
	})
	return s.late.Finish()
}

// rowOf returns a row of the table.
func (s *deferred[T]) rowOf(r int32) []T { return s.table[int(r)*s.cols : (int(r)+1)*s.cols] }

// finish moves the touched rows along the sums of their gradients, each in the order of the examples.
func (s *deferred[T]) finish(parallel Parallel) {
	parallel(len(s.touched), 64, func(_, lo, hi int) {
		exact, rounded := make([]float64, s.cols), make([]T, s.cols)
		for slot := lo; slot < hi; slot++ {
			at := s.first[slot]
			sum := s.place(at)
			if s.next[at] >= 0 {
				clear(exact)
				for ; at >= 0; at = s.next[at] {
					addTo(exact, s.place(at))
				}
				for j, x := range exact {
					rounded[j] = T(x)
				}
				sum = rounded
			}
			r := s.touched[slot]
			s.blend(T(s.by), sum, T(1-s.move.Decay), s.rowOf(r))
			if s.moved != nil {
				s.moved[r] = int32(s.made) + 1
			}
		}
	})
	s.made++
}

// place returns the values of a place among the step's gradients.
func (s *deferred[T]) place(at int32) []T { return s.values[int(at)*s.cols : (int(at)+1)*s.cols] }

// end implements source. Noise is checked when it is drawn.
func (s *deferred[T]) end() error { return nil }

// state implements source.
func (s *deferred[T]) state(st *State) {
	s.seeded.state(st)
	st.Noised, st.Moved = slices.Clone(s.late.Since()), slices.Clone(s.moved)
}

// restore implements source.
func (s *deferred[T]) restore(st *State) error {
	made := st.Batches.Batches
	if len(st.Noised) != len(s.slot) || len(st.Moved) != len(s.moved) {
		return fmt.Errorf("the state has the noise of %d rows and the decay of %d, want %d and %d", len(st.Noised),
			len(st.Moved), len(s.slot), len(s.moved))
	}
	for r, n := range st.Moved {
		if n != st.Noised[r] && n != st.Noised[r]+1 || int64(n) > made {
			return errors.New("the state contradicts itself")
		}
	}
	if err := s.resume(st); err != nil {
		return err
	}
	if err := s.late.Restore(made, st.Noised); err != nil {
		return err
	}
	s.made = made
	copy(s.moved, st.Moved)
	return nil
}
