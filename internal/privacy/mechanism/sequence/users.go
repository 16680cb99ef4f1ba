package sequence

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// UserKey is the noise key of a user who has an id instead of a number: half of the SHA-256 of the id. Two of 10^9 ids
// share a key with probability 10^-21, and nobody can construct ids that do. If it happens, Finish reports them as one
// user who came twice, since their noise would be the same.
type UserKey [2]uint64

// KeyOf returns the key of the bytes of an id.
func KeyOf(id []byte) UserKey {
	sum := sha256.Sum256(id)
	return UserKey{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])}
}

// OpenUsers opens a run like Open, for a stream of users with ids, who come in any order, each once. Only at the end is
// it known whether a user came twice: Finish then fails with a *RepeatedUser, and no output of the run may be used.
// Until then the run remembers 24 bytes a user, up to claimsHeld users in memory and the others in the storage from
// spill; it calls spill at most once.
func (m Mechanism) OpenUsers(l *privacy.Ledger, b mechanism.Bits, spill func() (Spill, error)) (*Run, error) {
	if spill == nil {
		return nil, errors.New(m.Purpose + ": no storage for the keys of users")
	}
	r, err := m.prepare(l, b)
	if err != nil {
		return nil, err
	}
	r.claims = &userClaims{spill: spill, most: claimsHeld}
	if err := m.record(l); err != nil {
		return nil, err
	}
	r.begin()
	return r, nil
}

// UserSampler returns a sampler for any users of a run from OpenUsers.
func (r *Run) UserSampler() (*Sampler, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.done:
		return nil, fmt.Errorf("%s: the run is finished", r.m.Purpose)
	case r.claims == nil:
		return nil, fmt.Errorf("%s: a run of numbered users has samplers of ranges", r.m.Purpose)
	}
	s := newSampler(r, r.m.rejects())
	s.claims, s.came = r.claims, make([]claim, 0, claimsAtOnce)
	r.samplers = append(r.samplers, s)
	return s, nil
}

// RowOf perturbs in place the row of the user with the given key. at is a place that the caller chooses, such as a line
// number; the error names it if the user comes again. RowOf fails on a row that violates definition 1 and leaves it as
// it is. The output depends only on the stream, the key and the row.
func (s *Sampler) RowOf(user UserKey, at int64, row []int32) error {
	m := &s.run.m
	if s.claims == nil {
		return fmt.Errorf("%s: not a sampler of users with ids, or the run is finished", m.Purpose)
	}
	if err := s.load(m, row); err != nil {
		return fmt.Errorf("%s: %w", m.Purpose, err)
	}
	s.came = append(s.came, claim{user, at})
	if len(s.came) == claimsAtOnce {
		if err := s.settle(); err != nil {
			return err
		}
	}
	if math.IsInf(m.Epsilon, 1) {
		return nil
	}
	of := mechanism.Content(row)
	s.d.Row(user[0], user[1], of[0], of[1])
	s.perturbed(m, user[0], row)
	return nil
}

// settle passes the users of the last rows to the run.
func (s *Sampler) settle() error {
	err := s.claims.add(s.came)
	s.came = s.came[:0]
	if err != nil {
		return fmt.Errorf("%s: %w", s.run.m.Purpose, err)
	}
	return nil
}

// distinct returns an error if a user came twice.
func (r *Run) distinct() error {
	if r.claims == nil {
		return nil
	}
	var errs []error
	for _, s := range r.samplers {
		errs = append(errs, s.settle())
		s.claims = nil // takes no more rows
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, r.claims.close())
	}
	if err := errors.Join(r.claims.check(), r.claims.close()); err != nil {
		return fmt.Errorf("%s: %w", r.m.Purpose, err)
	}
	return nil
}

// Retained holds how many cells a run kept and how many it should have kept.
type Retained struct {
	Rows, Cells int64
	Kept        int64   // cells that kept their id
	Mean        float64 // expected value of Kept, given the ids that were written: the sum of Keep over the cells
	Variance    float64 // variance of Kept, given the ids that were written
}

// Watched holds a run's counts of its rows as whole numbers, so that the counts of several runs can be added.
type Watched struct {
	Rows, Kept int64
	Cells      []int64 // by the number of ids written before
}

// Add adds the counts of a run of the same mechanism.
func (w *Watched) Add(o Watched) {
	w.Rows += o.Rows
	w.Kept += o.Kept
	if len(w.Cells) < len(o.Cells) {
		w.Cells = append(w.Cells, make([]int64, len(o.Cells)-len(w.Cells))...)
	}
	for k, n := range o.Cells {
		w.Cells[k] += n
	}
}

// Watched returns the counts of a finished run. With Epsilon +Inf nothing was drawn, and all are 0.
// Kept is counted from the data, and the mechanism does not protect it.
func (r *Run) Watched() (w Watched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		return w
	}
	for _, s := range r.samplers {
		// of all samplers: chance decides which has which rows, and rounding must not show it
		w.Add(Watched{s.watch.rows, s.watch.kept, s.watch.cells})
	}
	return w
}

// Retained returns the counts of the run with their expected values.
func (r *Run) Retained() Retained { return r.m.retained(r.Watched(), r.table) }

// Retained returns counts of runs of the mechanism with their expected values.
func (m Mechanism) Retained(w Watched) (Retained, error) {
	if err := m.Validate(); err != nil {
		return Retained{}, err
	}
	table := m.table()
	if len(w.Cells) > len(table) {
		return Retained{}, fmt.Errorf("%s: counts of %d cells, want at most %d", m.Purpose, len(w.Cells), len(table))
	}
	return m.retained(w, table), nil
}

func (m Mechanism) retained(w Watched, table []mechanism.Odds) Retained {
	x, cells := Retained{Rows: w.Rows, Kept: w.Kept}, w.Cells
	if m.Variant == Set && len(cells) > 0 {
		cells = cells[:1] // items of rows, not those of the catalogue
	}
	for k, n := range cells {
		x.Cells += n
		p, q := 1.0, 0.0
		if o := &table[k]; o.Others > 0 {
			p, q = o.P, m.Replace(k)
		}
		x.Mean += float64(n) * p
		x.Variance += float64(n) * p * q
	}
	return x
}
