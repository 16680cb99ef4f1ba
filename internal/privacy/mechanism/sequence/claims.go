package sequence

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Spill is storage to append to and to read at any offset, such as a temporary file.
type Spill interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// RepeatedUser is the error for a user who came twice, with both places.
type RepeatedUser struct {
	Key           UserKey
	First, Second int64 // places, First <= Second
}

// Error implements error: it names both places.
func (e *RepeatedUser) Error() string {
	return fmt.Sprintf("the user at %d comes again at %d: the noise of a user is drawn once", e.First, e.Second)
}

// claim records that a user came.
type claim struct {
	user UserKey
	at   int64
}

const (
	claimBytes   = 24
	claimsAtOnce = 256     // by a sampler, before it takes the lock
	claimsHeld   = 1 << 17 // in memory, 3 MiB
)

func (c claim) compare(d claim) int {
	return cmp.Or(cmp.Compare(c.user[0], d.user[0]), cmp.Compare(c.user[1], d.user[1]), cmp.Compare(c.at, d.at))
}

// userClaims finds users who come twice in a stream, by sorting the keys of all users in pieces that fit memory, which
// are spilled and merged at the end.
// The merge reads through buffers that together take as much memory as a piece, with at least 16 keys each: 2^30 users
// in the same 3 MiB.
type userClaims struct {
	spill func() (Spill, error)
	most  int // most claims in memory

	mu     sync.Mutex
	held   []claim
	to     Spill
	end    int64
	pieces []piece
}

// piece is a sorted section of the spill.
type piece struct{ from, to int64 }

func (u *userClaims) add(list []claim) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held == nil { // at full size: growing would leave as much garbage
		u.held = make([]claim, 0, u.most)
	}
	for _, c := range list {
		if len(u.held) == u.most {
			if err := u.flush(); err != nil {
				return fmt.Errorf("users who came: %w", err)
			}
		}
		u.held = append(u.held, c)
	}
	return nil
}

// flush writes the claims in memory as a piece.
func (u *userClaims) flush() (err error) {
	if u.to == nil {
		if u.to, err = u.spill(); err != nil {
			return err
		}
	}
	slices.SortFunc(u.held, claim.compare)
	w := bufio.NewWriter(u.to)
	var b [claimBytes]byte
	for _, c := range u.held {
		binary.LittleEndian.PutUint64(b[:], c.user[0])
		binary.LittleEndian.PutUint64(b[8:], c.user[1])
		binary.LittleEndian.PutUint64(b[16:], uint64(c.at))
		w.Write(b[:])
	}
	from := u.end
	u.end += int64(claimBytes * len(u.held))
	u.pieces = append(u.pieces, piece{from, u.end})
	u.held = u.held[:0]
	return w.Flush()
}

// check merges the pieces and returns an error for the first user, by key, who came twice.
func (u *userClaims) check() error {
	if u.to == nil {
		slices.SortFunc(u.held, claim.compare)
		for i := 1; i < len(u.held); i++ {
			if err := twice(u.held[i-1], u.held[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := u.flush(); err != nil {
		return fmt.Errorf("users who came: %w", err)
	}
	u.held = nil
	var m claimMerge
	size := claimBytes * max(16, u.most/len(u.pieces))
	for _, p := range u.pieces {
		r := &claimReader{r: bufio.NewReaderSize(io.NewSectionReader(u.to, p.from, p.to-p.from), size)}
		if ok, err := r.next(); err != nil {
			return err
		} else if ok {
			m = append(m, r)
		}
	}
	heap.Init(&m)
	for last, first := (claim{}), true; len(m) > 0; first = false {
		c := m[0].now
		if !first {
			if err := twice(last, c); err != nil {
				return err
			}
		}
		last = c
		if ok, err := m[0].next(); err != nil {
			return err
		} else if ok {
			heap.Fix(&m, 0)
		} else {
			heap.Pop(&m)
		}
	}
	return nil
}

func twice(a, b claim) error {
	if a.user != b.user {
		return nil
	}
	return &RepeatedUser{Key: a.user, First: a.at, Second: b.at}
}

func (u *userClaims) close() error {
	u.held = nil
	if u.to == nil {
		return nil
	}
	to := u.to
	u.to = nil
	return to.Close()
}

// claimReader reads the claims of a piece.
type claimReader struct {
	r   *bufio.Reader
	now claim
}

func (r *claimReader) next() (ok bool, err error) {
	var b [claimBytes]byte
	switch _, err := io.ReadFull(r.r, b[:]); {
	case errors.Is(err, io.EOF):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("users who came: %w", err)
	}
	r.now = claim{
		UserKey{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])},
		int64(binary.LittleEndian.Uint64(b[16:])),
	}
	return true, nil
}

// claimMerge is a heap of pieces, with the least next claim on top.
type claimMerge []*claimReader

// Len implements heap.Interface.
func (m claimMerge) Len() int { return len(m) }

// Less implements heap.Interface.
func (m claimMerge) Less(i, j int) bool { return m[i].now.compare(m[j].now) < 0 }

// Swap implements heap.Interface.
func (m claimMerge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }

// Push adds a piece.
func (m *claimMerge) Push(x any) { *m = append(*m, x.(*claimReader)) }

// Pop removes the last piece.
func (m *claimMerge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
