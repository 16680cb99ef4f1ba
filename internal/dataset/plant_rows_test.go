package dataset

import (
	"slices"
	"strings"
	"testing"
)

// lane has users with three rows each of twenty items, and one without rows.
func lane(users int) *Sequential {
	s := &Sequential{Name: "lane", Items: 20, Users: users + 1, ItemIDs: []string{""}, Times: &Times{}}
	for i := range 20 {
		s.ItemIDs = append(s.ItemIDs, string(rune('a'+i)))
	}
	for u := range users {
		first := int32(u % 15)
		s.Train, s.Test = append(s.Train, []int32{first + 1, first + 2, first + 3}), append(s.Test, []int32{first + 4})
		s.Ratings = append(s.Ratings, []float32{2, 3, 4})
		s.Times.Train, s.Times.Test = append(s.Times.Train, []int64{7, 8, 9}), append(s.Times.Test, []int64{10})
	}
	s.Train, s.Test, s.Ratings = append(s.Train, nil), append(s.Test, nil), append(s.Ratings, nil)
	s.Times.Train, s.Times.Test = append(s.Times.Train, nil), append(s.Times.Test, nil)
	s.Ratings[0][0], s.Ratings[1][1] = 1, 5
	for u := range s.Users {
		s.UserIDs = append(s.UserIDs, number(u))
	}
	return s
}

// A canary edge of a sequence is an item that the user has in no part, at the end of train where its
// coin says so. No user has two, and where models are asked there is none.
func TestCanaryEdgesOfSequences(t *testing.T) {
	s := lane(30)
	p := Planting{Unit: CanaryEdge, Canaries: 20, Seed: 5, In: even}
	out, all, err := p.IntoSequences(s)
	if err != nil || len(all) != 20 || out.Users != s.Users {
		t.Fatalf("%+v, %v", all, err)
	}
	users := map[int]bool{}
	for k, c := range all {
		item := c.Items[0]
		if users[c.At] || c.User != s.UserIDs[c.At] || c.Last != s.ItemIDs[item] || slices.Contains(s.Train[c.At], item) || slices.Contains(s.Test[c.At], item) {
			t.Errorf("canary %d: %+v", k, c)
		}
		users[c.At] = true
		rows, want := out.Train[c.At], s.Train[c.At]
		if even(k) {
			want = append(slices.Clone(want), item)
			if r, x := out.Ratings[c.At], out.Times.Train[c.At]; r[3] != 5 || x[3] != 9 {
				t.Errorf("canary %d: rating %v, time %v", k, r, x)
			}
		}
		if !slices.Equal(rows, want) || len(out.Ratings[c.At]) != len(rows) || len(out.Times.Train[c.At]) != len(rows) || len(s.Train[c.At]) != 3 || len(s.Times.Train[c.At]) != 3 {
			t.Errorf("canary %d: rows %v, want %v", k, rows, want)
		}
	}
	p.Asked = true
	asked, same, err := p.IntoSequences(s)
	if err != nil || !slices.EqualFunc(asked.Train, s.Train, slices.Equal) || same[3].User != all[3].User || same[3].Last != all[3].Last {
		t.Errorf("asked %v, %v", asked.Train, err)
	}
	p.Canaries = 31
	if _, _, err := p.IntoSequences(s); err == nil || !strings.Contains(err.Error(), "room for 30 canaries, one a user") {
		t.Errorf("too many: %v", err)
	}
	full := &Sequential{Name: "full", Items: 2, Users: 1, Train: [][]int32{{1, 2}}, Test: [][]int32{nil}, UserIDs: []string{"1"}, ItemIDs: []string{"", "a", "b"}}
	if _, _, err := (Planting{Unit: CanaryEdge, Canaries: 1, In: even}).IntoSequences(full); err == nil || !strings.Contains(err.Error(), "has all 2 items") {
		t.Errorf("no item is left: %v", err)
	}
}

// A canary rating is a row that the data have, with the highest rating or the lowest as its coin says,
// of pairs and of sequences. Nothing else changes.
func TestCanaryRatings(t *testing.T) {
	p := Planting{Unit: CanaryRating, Canaries: 20, Seed: 5, In: even}
	rating := func(k int, least, most float32) float32 {
		if even(k) {
			return most
		}
		return least
	}
	s := lane(30)
	out, all, err := p.IntoSequences(s)
	if err != nil || !slices.EqualFunc(out.Train, s.Train, slices.Equal) {
		t.Fatal(err)
	}
	users := map[int]bool{}
	for k, c := range all {
		at := slices.Index(s.Train[c.At], c.Items[0])
		for i, r := range out.Ratings[c.At] {
			if want := s.Ratings[c.At][i]; i == at && r != rating(k, 1, 5) || i != at && r != want {
				t.Errorf("canary %d: %v, before %v", k, out.Ratings[c.At], s.Ratings[c.At])
			}
		}
		if users[c.At] || at < 0 {
			t.Errorf("canary %d: %+v", k, c)
		}
		users[c.At] = true
	}
	d := meadow(40, 30, number)
	pairs, canaries, err := p.Into(d)
	if err != nil || len(canaries) != 20 {
		t.Fatal(err)
	}
	for k, c := range canaries {
		at := slices.Index(d.Train[c.User], c.Items[0])
		for i, r := range pairs.Ratings[c.User] {
			if want := d.Ratings[c.User][i]; i == at && r != rating(k, 0, 2) || i != at && r != want {
				t.Errorf("canary %d: %v, before %v", k, pairs.Ratings[c.User], d.Ratings[c.User])
			}
		}
	}
	if !slices.EqualFunc(pairs.Train, d.Train, slices.Equal) {
		t.Error("rows changed")
	}
	s.Ratings, d.Ratings = nil, nil
	for _, err := range []error{second(p.IntoSequences(s)), second(p.Into(d))} {
		if err == nil || !strings.Contains(err.Error(), "these data have none") {
			t.Errorf("without ratings: %v", err)
		}
	}
}

// A canary interaction has one of two items as its last, and a canary order two of its items in one of
// two orders, neither of them the last that a model is given nor the label.
func TestCanariesOfTwoSides(t *testing.T) {
	s := lane(4)
	sides := func(unit string, asked bool) (in, out *Sequential, all []SequenceCanary) {
		p := Planting{Unit: unit, Canaries: 6, Rows: 5, Seed: 2, Asked: asked, In: func(int) bool { return true }}
		in, all, err := p.IntoSequences(s)
		if err != nil {
			t.Fatal(err)
		}
		p.In = func(int) bool { return false }
		out, _, err = p.IntoSequences(s)
		if err != nil {
			t.Fatal(err)
		}
		return in, out, all
	}
	in, out, all := sides(CanaryInteraction, false)
	asked, _, _ := sides(CanaryInteraction, true)
	for k, c := range all {
		a, b := in.Train[c.At], out.Train[c.At]
		if !slices.Equal(a, c.Items) || !slices.Equal(a[:4], b[:4]) || a[4] == b[4] || slices.Contains(a, b[4]) || s.ItemIDs[a[4]] != c.Last || s.ItemIDs[b[4]] != c.Other || !slices.Equal(asked.Train[c.At], a[:4]) {
			t.Errorf("canary interaction %d: %v or %v, %+v", k, a, b, c)
		}
	}
	in, out, all = sides(CanaryOrder, false)
	first, other, _ := sides(CanaryOrder, true)
	for k, c := range all {
		a, b := in.Train[c.At], out.Train[c.At]
		if !slices.Equal(a, c.Items) || !slices.Equal(b, []int32{a[0], a[2], a[1], a[3], a[4]}) || s.ItemIDs[a[4]] != c.Last || !slices.Equal(first.Train[c.At], a[:4]) || !slices.Equal(other.Train[c.At], b[:4]) {
			t.Errorf("canary order %d: %v or %v, %+v", k, a, b, c)
		}
	}
	for want, p := range map[string]Planting{
		"want at least 4": {Unit: CanaryOrder, Canaries: 1, Rows: 3, In: even},
		"want at least 2": {Unit: CanaryInteraction, Canaries: 1, Rows: 1, In: even},
		"is one row":      {Unit: CanaryRating, Canaries: 1, Rows: 1, In: even},
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	if _, _, err := (Planting{Unit: CanaryInteraction, Canaries: 1, Rows: 20, In: even}).IntoSequences(s); err == nil || !strings.Contains(err.Error(), "21 of the 20") {
		t.Errorf("no second item: %v", err)
	}
	if _, _, err := (Planting{Unit: CanaryOrder, Canaries: 1, Rows: 4, In: even}).Into(meadow(3, 9, number)); err == nil || !strings.Contains(err.Error(), "has an order") {
		t.Errorf("an order of pairs: %v", err)
	}
}
