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

// UserKey is what the bits of a user are keyed by who is known by an id and not by
// a number: half of the SHA-256 of the id. Two ids of 10^9 share a key with
// probability 10^-21, and cannot be made to; if they do the run refuses them as one
// user who comes twice, since their noise would be the same.
type UserKey [2]uint64

// KeyOf is the key of an id, byte for byte.
func KeyOf(id []byte) UserKey {
	sum := sha256.Sum256(id)
	return UserKey{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])}
}

// OpenUsers is Open for a stream of users who come in any order, each once, and are
// known by ids. Whether one comes twice is known in the end: Finish says so, with a
// *RepeatedUser, and nothing that the run made may be used then. Until then the run
// remembers 24 bytes a user, up to claimsHeld of them in memory; the others go to
// what spill returns, which is called at most once.
func (m Mechanism) OpenUsers(l *privacy.Ledger, b mechanism.Bits, spill func() (Spill, error)) (*Run, error) {
	if spill == nil {
		return nil, errors.New(m.Purpose + ": no place for the users who came")
	}
	r, err := m.prepare(l, b)
	if err != nil {
		return nil, err
	}
	r.claims = &userClaims{spill: spill, most: claimsHeld}
	if err := m.record(l); err != nil {
		return nil, err
	}
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

// RowOf perturbs in place the row of the user of this key, who stands at a place of
// the caller's choice, such as a line, that is named if the user comes again. A row
// that is not one of definition 1 is refused and left as it is. What comes out
// depends on the stream, the key and the row.
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
	s.d.Row(user[0], user[1])
	s.perturb(m, row)
	return nil
}

// settle hands the users of the last rows to the run.
func (s *Sampler) settle() error {
	err := s.claims.add(s.came)
	s.came = s.came[:0]
	if err != nil {
		return fmt.Errorf("%s: %w", s.run.m.Purpose, err)
	}
	return nil
}

// distinct refuses a run in which a user came twice.
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

// Retained is what a run kept, beside what it should have.
type Retained struct {
	Rows, Cells int64
	Kept        int64   // cells that kept the id which stood there when they were reached
	Mean        float64 // of Kept, given the ids that were written: the sum of Keep over the cells
	Variance    float64 // likewise
}

// Retained sums up a finished run. Where Epsilon is +Inf nothing was drawn and all
// is 0. Kept is counted on the data and not protected by the mechanism.
func (r *Run) Retained() (x Retained) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		return x
	}
	cells := make([]int64, len(r.table)) // of all samplers: which of them has which rows is chance, and rounding must not show it
	for _, s := range r.samplers {
		x.Rows += s.watch.rows
		x.Kept += s.watch.kept
		for k, n := range s.watch.cells {
			cells[k] += n
		}
	}
	for k, n := range cells {
		x.Cells += n
		p, q := 1.0, 0.0
		if o := &r.table[k]; o.Others > 0 {
			p, q = o.P, r.m.Replace(k)
		}
		x.Mean += float64(n) * p
		x.Variance += float64(n) * p * q
	}
	return x
}
