package perturb

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// bytesBlock is a block of a few bytes.
type bytesBlock struct{ values []byte }

func (b *bytesBlock) Reset()      { b.values = b.values[:0] }
func (b *bytesBlock) Empty() bool { return len(b.values) == 0 }

// Blocks are used in the order in which they were filled, whatever the workers do, and
// every kind of error ends the work.
func TestInOrder(t *testing.T) {
	boom := errors.New("boom")
	list := []*bytesBlock{{}, {}, {}}
	for _, where := range []string{"", "fill", "work", "use"} {
		var got []byte
		err := inOrder(context.Background(), 4, list, func(next func() *bytesBlock) error {
			for i := range 100 {
				b := next()
				if b == nil {
					return nil
				}
				b.values = append(b.values, byte(i))
				if where == "fill" && i == 50 {
					return boom
				}
			}
			return nil
		}, func(_ int, b *bytesBlock) error {
			if where == "work" && b.values[0] == 50 {
				return boom
			}
			return nil
		}, func(b *bytesBlock) error {
			if where == "use" && b.values[0] == 50 {
				return boom
			}
			got = append(got, b.values...)
			return nil
		})
		if (err != nil) != (where != "") || err != nil && err != boom {
			t.Errorf("%q: %v", where, err)
		}
		want := make([]byte, 100)
		for i := range want {
			want[i] = byte(i)
		}
		if !bytes.HasPrefix(want, got) || where == "" && len(got) != 100 {
			t.Errorf("%q: used %v", where, got)
		}
	}
}
