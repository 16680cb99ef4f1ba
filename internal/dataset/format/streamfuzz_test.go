package format

import (
	"bytes"
	"context"
	"testing"
)

// For any bytes: an error or rows of users and items without a separator in them.
func FuzzStream(f *testing.F) {
	for _, s := range []string{"user_id\titem_id\na\tb\n", "user_id,item_id\n\"a\",b\n", "a 1 2\n", "user_id:token\titem_id:token\na\tb\n"} {
		for i := range Forms() {
			f.Add(i, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, form int, text []byte) {
		in, err := NewInput(context.Background(), "fuzz", bytes.NewReader(text))
		if err != nil {
			return
		}
		defer in.Close()
		s := &Stream{cursor: cursor{in: in, form: Forms()[((form%4)+4)%4]}}
		if s.header() != nil {
			return
		}
		first := true
		for s.Next() {
			if len(s.User) == 0 || first && !s.Starts || bytes.ContainsAny(s.User, "\n") {
				t.Fatalf("user %q, starts %t", s.User, s.Starts)
			}
			if len(s.Item) == 0 && (s.form != Lines || s.Item != nil) {
				t.Fatalf("item %q", s.Item)
			}
			first = false
		}
	})
}
