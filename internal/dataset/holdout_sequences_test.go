package dataset

import (
	"slices"
	"testing"
)

// Sequences lack the rows and the users that are held out, with their ratings and times, and nothing
// else. What a draw holds out is what its swap keeps.
func TestHoldOutSequences(t *testing.T) {
	s := lane(200)
	h := HoldOut{Users: 0.3, Rows: 0.5, Seed: 4}
	out := h.Sequences(s)
	users := h.UsersHeld(s.UserIDs)
	rows, kept, gone := 0, 0, 0
	for u := range s.Train {
		if users[u] {
			gone++
			if len(out.Train[u])+len(out.Test[u])+len(out.Times.Train[u])+len(out.Times.Test[u])+len(out.Ratings[u]) != 0 {
				t.Fatalf("user %d is held out and has %v", u, out.Train[u])
			}
			continue
		}
		if !slices.Equal(out.Test[u], s.Test[u]) || !slices.Equal(out.Times.Test[u], s.Times.Test[u]) {
			t.Fatalf("user %d: test %v, before %v", u, out.Test[u], s.Test[u])
		}
		rows += len(s.Train[u])
		kept += len(out.Train[u])
		for k, item := range out.Train[u] {
			at := slices.Index(s.Train[u], item)
			if at < 0 || out.Ratings[u][k] != s.Ratings[u][at] || out.Times.Train[u][k] != s.Times.Train[u][at] {
				t.Fatalf("user %d: %v of %v", u, out.Train[u], s.Train[u])
			}
		}
	}
	// 6.2 deviations of fair coins, and of coins of 0.3
	if 4*(2*kept-rows)*(2*kept-rows) > 4*39*rows || (10*gone-3*s.Users)*(10*gone-3*s.Users) > 39*21*s.Users {
		t.Errorf("%d of %d rows are kept, %d of %d users held out", kept, rows, gone, s.Users)
	}
	if len(s.Train[0]) != 3 || len(s.Test[0]) != 1 || out.Users != s.Users || out.Items != s.Items {
		t.Error("the whole sequences were changed, or users and items renumbered")
	}
	h = HoldOut{Rows: 0.5, Seed: 4}
	a := h.Sequences(s)
	h.Swap = true
	b := h.Sequences(s)
	for u := range s.Train {
		both := slices.Sorted(slices.Values(slices.Concat(a.Train[u], b.Train[u])))
		if !slices.Equal(both, s.Train[u]) {
			t.Fatalf("user %d: %v and %v of %v", u, a.Train[u], b.Train[u], s.Train[u])
		}
	}
}

// Models that lacked something are asked for users' last rows; others have all rows.
func TestAskedForLastRows(t *testing.T) {
	s := lane(5)
	s.Train[4], s.Ratings[4], s.Times.Train[4] = []int32{9}, []float32{3}, []int64{1}
	if whole, err := (View{}).Sequences(s); whole != s || err != nil {
		t.Errorf("nothing is held out: %v", err)
	}
	out, err := View{Seed: 3, Asked: true}.Sequences(s)
	if err != nil {
		t.Fatal(err)
	}
	for u := range s.Train {
		want := s.Train[u]
		if len(want) > 1 {
			want = want[:len(want)-1]
		}
		if !slices.Equal(out.Train[u], want) || len(out.Ratings[u]) != len(want) || len(out.Times.Train[u]) != len(want) || !slices.Equal(out.Test[u], s.Test[u]) {
			t.Errorf("user %d: %v, want %v", u, out.Train[u], want)
		}
	}
	h := HoldOut{Rows: 0.5, Seed: 9}
	got, err := (View{HoldOut: &h}).Sequences(s)
	if err != nil || !slices.EqualFunc(got.Train, h.Sequences(s).Train, slices.Equal) {
		t.Errorf("what a view holds out is not held out: %v", err)
	}
}

// Pairs are what sequences have, each once and in order, with items counted from 0.
func TestPairsOfSequences(t *testing.T) {
	s := lane(2)
	s.Train[0] = []int32{7, 2, 7}
	d := s.Pairs()
	if !slices.Equal(d.Train[0], []int32{1, 6}) || !slices.Equal(d.Test[0], []int32{3}) || d.Items != 20 || d.ItemIDs[6] != s.ItemIDs[7] || d.Valid != nil || d.Users != 3 {
		t.Errorf("%+v", d)
	}
}
