package sequence

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
)

// Sampler perturbs rows for one goroutine, in constant time per cell and without allocation. A Run makes samplers.
type Sampler struct {
	run  *Run
	d    mechanism.Draws
	odds []mechanism.Odds // by the number of ids written
	from uint64           // users of the sampler
	next uint64           // the least user that may still come
	to   uint64           // the first user beyond them

	claims *userClaims // for users with ids
	came   []claim     // not yet passed to claims

	size    int      // number of ids or tokens, counted from 0
	special int32    // the index of padding, which may be drawn again; -1: none
	work    []int32  // the row as indices into the universe
	marks   []uint32 // of each index: base+1+place in work, base+1+length of work once written, else at most base
	base    uint32

	pool   []int32 // indices that may be drawn, in no order; nil: by rejection
	place  []int32 // place of each index in the pool
	tokens []int32 // 0, 1, 2, ... of the universe
	drawn  []int32 // of Set: what was drawn of the row

	watch watch
}

// rejects reports whether another id is found by rejection, which takes at most (m+1)/(m-L) draws on average. Otherwise
// it comes from a pool of the ids that may be drawn, which takes O(m) to set up.
func (m Mechanism) rejects() bool { return m.Items >= 4*m.Length }

func newSampler(r *Run, rejects bool) *Sampler {
	m := r.m
	s := &Sampler{run: r, d: r.bits.Draws(), odds: r.table, size: m.Items + 1, special: 0}
	switch m.Variant {
	case SDPFixed, SDPUser:
		s.size, s.special = m.Items+m.Length, -1
	case SDPLengths, Set:
		s.size, s.special = m.Items, -1
	}
	if m.Variant != RR {
		s.work, s.marks = make([]int32, m.Length), make([]uint32, s.size)
		if !rejects && m.Variant != Set {
			s.pool, s.place, s.tokens = make([]int32, s.size), make([]int32, s.size), make([]int32, s.size)
			for i := range s.tokens {
				s.tokens[i] = int32(i)
			}
		}
	}
	s.watch = newWatch(s.size, s.odds)
	return s
}

// Row perturbs the row of a user in place. Users strictly ascend and are in the sampler's range. Row fails on a row
// that violates definition 1 and leaves it as it is.
func (s *Sampler) Row(user uint64, row []int32) error {
	m := &s.run.m
	if user < s.next || user >= s.to {
		return fmt.Errorf("%s: user %d, want at least %d and below %d: no user comes twice", m.Purpose, user, s.next,
			s.to)
	}
	if err := s.load(m, row); err != nil {
		return fmt.Errorf("%s: user %d: %w", m.Purpose, user, err)
	}
	s.next = user + 1
	if math.IsInf(m.Epsilon, 1) {
		return nil
	}
	s.d.Row(user)
	s.perturbed(m, user, row)
	return nil
}

// perturbed perturbs the row that was loaded last, and tells an observing test.
func (s *Sampler) perturbed(m *Mechanism, user uint64, row []int32) {
	if s.run.observed == nil {
		s.perturb(m, row)
		return
	}
	before := slices.Clone(row)
	s.perturb(m, row)
	observe.Row(s.run.observed, -1, user, before, row)
}

// perturb perturbs the row that was loaded last.
func (s *Sampler) perturb(m *Mechanism, row []int32) {
	s.watch.rows++
	switch m.Variant {
	case RR:
		s.respond(row)
	case SDPPaper:
		s.draw()
		copy(row, s.work)
	case Set:
		s.list(row)
	case SDPLengths:
		s.draw()
		s.fill(row)
	default: // tokens become zeros again
		s.draw()
		for i, t := range s.work {
			if row[i] = 0; int(t) < m.Items {
				row[i] = t + 1
			}
		}
	}
}

// load checks a row and stores it, with its marks, as indices. The zeros of SDPFixed and SDPUser
// become the tokens that follow the items, from the left. Those of SDPLengths and Set are left out.
func (s *Sampler) load(m *Mechanism, row []int32) error {
	if len(row) != m.Length {
		return fmt.Errorf("a row of %d cells, want %d", len(row), m.Length)
	}
	if s.work == nil {
		for c, id := range row {
			if id < 0 || int(id) > m.Items {
				return fmt.Errorf("cell %d holds %d, want 0 to %d", c, id, m.Items)
			}
		}
		return nil
	}
	step := uint32(m.Length) + 2
	if s.base > math.MaxUint32-2*step {
		clear(s.marks)
		s.base = 0
	}
	s.base += step
	shift, token := int32(0), int32(m.Items) // from an id to its index; of the next zero
	if s.special < 0 {
		shift = 1
	}
	bare := m.Variant == SDPLengths || m.Variant == Set
	s.work = s.work[:0]
	for c, id := range row {
		if id < 0 || int(id) > m.Items {
			return fmt.Errorf("cell %d holds %d, want 0 to %d", c, id, m.Items)
		}
		at := id - shift
		if id == 0 {
			if bare {
				continue
			}
			if s.special == 0 {
				s.work = append(s.work, 0)
				continue
			}
			at = token
			token++
		}
		s.work = append(s.work, at)
		mark := &s.marks[at]
		if *mark > s.base {
			return fmt.Errorf("cells %d and %d hold the same item %d", slices.Index(row, id), c, id)
		}
		*mark = s.base + uint32(len(s.work))
	}
	return nil
}

// draw runs the mechanism over the cells.
func (s *Sampler) draw() {
	if s.pool != nil {
		copy(s.pool, s.tokens)
		copy(s.place, s.tokens)
	}
	length := uint32(len(s.work))
	written := s.base + 1 + length
	size := s.size // number of indices that may still be drawn
	for c, cur := range s.work {
		o := &s.odds[s.size-size]
		id := cur
		if o.Others > 0 && !s.d.Keep(o) {
			id = s.other(cur, size, written)
			if at := s.marks[id] - s.base - 1; at < length { // it is in a later cell
				s.work[at] = cur
				if cur != s.special {
					s.marks[cur] = s.base + 1 + at
				}
			} else if cur != s.special {
				s.marks[cur] = s.base // overwritten: it may come again
			}
			s.work[c] = id
		}
		s.watch.see(s.size-size, o, cur, id)
		if id != s.special {
			s.marks[id] = written
			s.watch.sum -= int64(id)
			size--
			if s.pool != nil {
				at, last := s.place[id], s.pool[size]
				s.pool[at], s.place[last] = last, at
			}
		}
	}
	s.watch.sum = s.watch.all
}

// other returns an index that may be drawn and is not cur.
func (s *Sampler) other(cur int32, size int, written uint32) int32 {
	if s.pool != nil {
		i := s.d.Below(uint64(size - 1))
		if i >= uint64(s.place[cur]) {
			i++
		}
		return s.pool[i]
	}
	for {
		if id := int32(s.d.Below(uint64(s.size))); id != cur && s.marks[id] != written {
			return id
		}
		s.d.Again()
	}
}

// respond perturbs every cell separately.
func (s *Sampler) respond(row []int32) {
	o := &s.odds[0]
	for c, cur := range row {
		id := cur
		if !s.d.Keep(o) {
			if id = int32(s.d.Below(o.Others)); id >= cur {
				id++
			}
		}
		s.watch.see(0, o, cur, id)
		row[c] = id
	}
}
