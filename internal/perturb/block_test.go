package perturb

import (
	"testing"
)

// A block ends where its lines would be long, however few its users are: an id stands
// on every line.
func TestBlocksOfLongIDs(t *testing.T) {
	for _, c := range []struct{ length, id, users int }{{50, 8, 327}, {50, 10000, 9}, {1, 8, 512}, {1, 1 << 20, 4}, {1 << 10, 1 << 24, 1}} {
		b := NewBlock[int32](c.length, 0, 1)
		for !b.full() {
			b.Push(0, make([]byte, c.id))
		}
		if b.Len() != c.users {
			t.Errorf("rows of %d, ids of %d bytes: %d users, want %d", c.length, c.id, b.Len(), c.users)
		}
	}
}
