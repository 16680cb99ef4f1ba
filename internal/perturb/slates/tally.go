package slates

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash"
	"hash/fnv"
)

// Remembered is the number of users, or slates, told apart at a time, at 16 bytes each.
const Remembered = 1 << 18

// ascent tracks whether each id of a sequence is larger than the one before, by bytes, or by length and then bytes, as
// numbers are. If so, no id occurs twice.
type ascent struct {
	last            []byte
	begun           bool
	bytewise, sized bool // false: no longer; set by the first
}

func (a *ascent) next(id []byte) {
	switch {
	case a.last == nil:
		a.bytewise, a.sized = true, true
	case a.begun:
		order := bytes.Compare(a.last, id)
		a.bytewise = a.bytewise && order < 0
		a.sized = a.sized && cmp.Or(cmp.Compare(len(a.last), len(id)), order) < 0
	}
	a.last, a.begun = append(a.last[:0], id...), true
}

// restart starts a new sequence of ids.
func (a *ascent) restart() { a.begun = false }

func (a *ascent) holds() bool { return a.bytewise || a.sized }

// digest returns 128 bits of a hash of ids. Ids with the same hash count as one id.
type digest struct {
	h hash.Hash
	b []byte
}

func (d *digest) of(ids ...[]byte) (key [16]byte) {
	if d.h == nil {
		d.h = fnv.New128a()
	}
	d.h.Reset()
	d.b = d.b[:0]
	for _, id := range ids {
		d.b = append(binary.LittleEndian.AppendUint64(d.b, uint64(len(id))), id...)
	}
	d.h.Write(d.b)
	d.b = d.h.Sum(d.b[:0])
	copy(key[:], d.b)
	return key
}

// Users counts the slates of users in bounded memory: for any number of users if their ids ascend, otherwise for Room
// users.
type Users struct {
	Room int

	digest digest
	order  ascent
	streak int64 // consecutive slates of the current user
	most   int64 // the largest of these
	counts map[[16]byte]int64
	over   bool // there were more users than Room
}

// Add counts a slate of a user.
func (t *Users) Add(user []byte) {
	if t.streak == 0 || !bytes.Equal(user, t.order.last) {
		t.order.next(user)
		t.streak = 0
	}
	t.streak++
	t.most = max(t.most, t.streak)
	if t.over {
		return
	}
	if t.counts == nil {
		t.counts = map[[16]byte]int64{}
	}
	key := t.digest.of(user)
	if _, known := t.counts[key]; !known && len(t.counts) == t.Room {
		t.over, t.counts = true, nil
		return
	}
	t.counts[key]++
}

// Most returns the largest number of slates of one user. known is false if the ids did not ascend and there were too
// many users.
func (t *Users) Most() (n int64, known bool) {
	if t.order.holds() {
		return t.most, true
	}
	for _, c := range t.counts {
		n = max(n, c)
	}
	return n, !t.over
}

// slateTally finds repeated slates, in bounded memory: see complete.
type slateTally struct {
	room          int
	digest        digest
	users, slates ascent // slates: of the current user
	keys, older   map[[16]byte]struct{}
	forgot        bool // some were forgotten to make room
}

// add reports whether the ids of a slate are new among those remembered, which are at least the
// last half of room.
func (t *slateTally) add(user, slate []byte) bool {
	if !t.users.begun || !bytes.Equal(user, t.users.last) {
		t.users.next(user)
		t.slates.restart()
	}
	t.slates.next(slate)
	if len(t.keys) == t.room/2 {
		t.forgot = t.forgot || t.older != nil
		t.older, t.keys = t.keys, nil
	}
	if t.keys == nil {
		t.keys = map[[16]byte]struct{}{}
	}
	key := t.digest.of(user, slate)
	_, again := t.keys[key]
	_, before := t.older[key]
	t.keys[key] = struct{}{}
	return !again && !before
}

// complete reports whether certainly no slate came twice: all are remembered, or the ids of users, and of each user's
// slates, ascend.
func (t *slateTally) complete() bool {
	return !t.forgot || t.users.holds() && t.slates.holds()
}
