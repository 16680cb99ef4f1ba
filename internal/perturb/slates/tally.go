package slates

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash"
	"hash/fnv"
)

// Remembered is how many users, or slates, are kept apart at a time: 16 bytes of each.
const Remembered = 1 << 18

// ascent says of ids that come one after the other whether each is larger than the one
// before, by bytes or, as numbers are, by length and then bytes: then none comes twice.
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

// restart begins ids that are not compared with those before.
func (a *ascent) restart() { a.begun = false }

func (a *ascent) holds() bool { return a.bytewise || a.sized }

// digest is 128 bits of a hash of ids; ids of one hash are taken for one id.
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

// Users counts the slates of users in bounded memory: of any number of users whose ids
// ascend, of Room in another order.
type Users struct {
	Room int

	digest digest
	order  ascent
	run    int64 // slates in a row of the user at hand
	most   int64 // of all runs
	counts map[[16]byte]int64
	over   bool // there were more users than counts has room for
}

// Add counts a slate of a user.
func (t *Users) Add(user []byte) {
	if t.run == 0 || !bytes.Equal(user, t.order.last) {
		t.order.next(user)
		t.run = 0
	}
	t.run++
	t.most = max(t.most, t.run)
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

// Most is the most slates of one user; not known where users came in no order and there
// were too many.
func (t *Users) Most() (n int64, known bool) {
	if t.order.holds() {
		return t.most, true
	}
	for _, c := range t.counts {
		n = max(n, c)
	}
	return n, !t.over
}

// slateTally finds slates that come twice, in bounded memory: see complete.
type slateTally struct {
	room          int
	digest        digest
	users, slates ascent // slates: of the user at hand
	keys, older   map[[16]byte]struct{}
	forgot        bool // some were let go to make room
}

// add is false of a slate whose ids are among those remembered, the last half of
// room at least.
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

// complete is true where no slate can have come twice unnoticed: all are remembered, or
// users ascend, and the slates of each.
func (t *slateTally) complete() bool {
	return !t.forgot || t.users.holds() && t.slates.holds()
}
