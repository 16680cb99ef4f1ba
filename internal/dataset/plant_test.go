package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// meadow has users 0..n-1, who have items u, u+1, u+2 in train and u+3 in test, modulo items.
func meadow(users, items int, id func(int) string) *Interactions {
	d := &Interactions{Name: "meadow", Users: users, Items: items, Train: make([][]int32, users), Test: make([][]int32, users), Ratings: make([][]float32, users)}
	f := &Features{Columns: []Column{{Name: "age", Kind: Numeric}, {Name: "town", Levels: []string{"a", "b"}}}}
	for u := range users {
		d.UserIDs = append(d.UserIDs, id(u))
		for k := range 3 {
			d.Train[u] = append(d.Train[u], int32((u+k)%items))
			d.Ratings[u] = append(d.Ratings[u], float32(k))
		}
		slices.Sort(d.Train[u])
		d.Test[u] = []int32{int32((u + 3) % items)}
		f.Columns[0].Numbers = append(f.Columns[0].Numbers, float64(u))
		f.Columns[1].Codes = append(f.Columns[1].Codes, int32(u%2))
	}
	for i := range items {
		d.ItemIDs = append(d.ItemIDs, fmt.Sprint(i))
	}
	f.UserIDs = d.UserIDs
	d.Features = f
	return d
}

func number(u int) string { return fmt.Sprint(u + 1) }

func even(k int) bool { return k%2 == 0 }

// Canary edges are pairs that the data have in no part, each another one. Those whose coin says so
// are in train with the highest rating, and nothing else changes.
func TestCanaryEdges(t *testing.T) {
	d := meadow(40, 30, number)
	p := Planting{Unit: CanaryEdge, Canaries: 90, Seed: 7, In: even}
	out, all, err := p.Into(d)
	if err != nil {
		t.Fatal(err)
	}
	seen, users := map[[2]int32]bool{}, map[int32]int{}
	for k, c := range all {
		if len(c.Items) != 1 || d.has(c.User, c.Items[0]) {
			t.Fatalf("canary %d is %+v", k, c)
		}
		if seen[[2]int32{c.User, c.Items[0]}] {
			t.Fatalf("canary %d again: %+v", k, c)
		}
		seen[[2]int32{c.User, c.Items[0]}] = true
		users[c.User]++
		at, in := slices.BinarySearch(out.Train[c.User], c.Items[0])
		if in != even(k) || in && out.Ratings[c.User][at] != 2 {
			t.Errorf("canary %d: in train %v", k, in)
		}
	}
	if len(all) != 90 || len(users) != 40 {
		t.Errorf("%d canaries of %d users", len(all), len(users))
	}
	for u := range d.Train {
		if len(d.Train[u]) != 3 || !slices.Equal(out.Test[u], d.Test[u]) || len(out.Ratings[u]) != len(out.Train[u]) || !slices.IsSorted(out.Train[u]) {
			t.Errorf("user %d: %v, before %v", u, out.Train[u], d.Train[u])
		}
	}
	// The coins change nothing about which canaries there are; the seed does.
	p.In = func(int) bool { return false }
	none, same, err := p.Into(d)
	if err != nil || !slices.EqualFunc(all, same, func(a, b Canary) bool { return a.User == b.User && slices.Equal(a.Items, b.Items) }) {
		t.Errorf("other coins, other canaries: %v", err)
	}
	for u := range d.Train {
		if !slices.Equal(none.Train[u], d.Train[u]) {
			t.Errorf("user %d has rows of a canary that is out", u)
		}
	}
	p.Seed = 8
	if _, other, err := p.Into(d); err != nil || slices.EqualFunc(all, other, func(a, b Canary) bool { return a.User == b.User && slices.Equal(a.Items, b.Items) }) {
		t.Errorf("another seed, the same canaries: %v", err)
	}
	p.Canaries = 40*26 + 1
	if _, _, err := p.Into(d); err == nil || !strings.Contains(err.Error(), "room for 1040 canary edges") {
		t.Errorf("too many: %v", err)
	}
}

// Canary users come after all others, in or out, with features of users of the data.
func TestCanaryUsers(t *testing.T) {
	for name, id := range map[string]func(int) string{"9999": number, "~canary-000000": func(u int) string { return fmt.Sprintf("u%04d", u) }} {
		d := meadow(12, 30, id)
		if name == "9999" {
			name = "13"
		}
		p := Planting{Unit: CanaryUser, Canaries: 6, Rows: 5, Seed: 3, In: even}
		out, all, err := p.Into(d)
		if err != nil {
			t.Fatal(err)
		}
		if out.Users != 18 || len(out.UserIDs) != 18 || out.UserIDs[12] != name || d.Users != 12 || len(d.UserIDs) != 12 {
			t.Errorf("%d users, %v", out.Users, out.UserIDs)
		}
		if !slices.IsSortedFunc(out.UserIDs, LessIDs(out.UserIDs)) {
			t.Errorf("names out of order: %v", out.UserIDs)
		}
		for k, c := range all {
			rows := out.Train[c.User]
			if int(c.User) != 12+k || len(c.Items) != 5 || even(k) != slices.Equal(rows, c.Items) || !even(k) && rows != nil || len(out.Test[c.User]) != 0 || len(out.Ratings[c.User]) != len(rows) {
				t.Errorf("canary %d: %+v, rows %v", k, c, rows)
			}
		}
		for _, c := range out.Features.Columns {
			if len(c.Numbers)+len(c.Codes) != 18 {
				t.Errorf("feature %s of %d users", c.Name, len(c.Numbers)+len(c.Codes))
			}
		}
		p.Rows = 31
		if _, _, err := p.Into(d); err == nil || !strings.Contains(err.Error(), "31 of the 30 items") {
			t.Errorf("too many rows: %v", err)
		}
	}
	if _, _, err := (Planting{Unit: CanaryUser, Canaries: 1, Rows: 1, In: even}).Into(meadow(3, 9, func(u int) string { return fmt.Sprintf("~~%d", u) })); err == nil || !strings.Contains(err.Error(), "come after all others") {
		t.Errorf("names after those of canaries: %v", err)
	}
}

// A view has a planting that can be carried out, with the seed of the rows; what cannot obey refuses.
func TestPlantingInView(t *testing.T) {
	for want, p := range map[string]Planting{
		"canaries are":       {Unit: "row", Canaries: 1, In: even},
		"want at least 1":    {Unit: CanaryEdge, In: even},
		"0 rows of a canary": {Unit: CanaryUser, Canaries: 1, In: even},
		"3 rows of a canary": {Unit: CanaryEdge, Canaries: 1, Rows: 3, In: even},
		"no coins":           {Unit: CanaryEdge, Canaries: 1},
	} {
		if err := (View{Planted: &p}).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	v := View{Seed: 1, Planted: &Planting{Unit: CanaryEdge, Canaries: 4, Seed: 9, In: even}}
	if err := v.Check(); err != nil || v.RowsSeed() != 9 {
		t.Fatal(err, v.RowsSeed())
	}
	if err := v.Refuse("these"); err == nil || !strings.Contains(err.Error(), "no canaries can be planted") {
		t.Errorf("%v", err)
	}
}

// Canary sequences come after all others, whole or not at all; asked, all are there without their last
// item. They have no place among pairs, and other canaries none among sequences.
func TestCanarySequences(t *testing.T) {
	s := &Sequential{Name: "lane", Items: 9, Users: 2, Train: [][]int32{{1, 2}, {3}}, Test: [][]int32{{4}, nil}, UserIDs: []string{"1", "2"},
		ItemIDs: []string{"", "a", "b", "c", "d", "e", "f", "g", "h", "i"}, Ratings: [][]float32{{1, 4}, {2}}, Times: &Times{Train: [][]int64{{70, 75}, {80}}, Test: [][]int64{{90}, nil}},
		Features: &Features{UserIDs: []string{"1", "2"}, Columns: []Column{{Name: "age", Kind: Numeric, Numbers: []float64{30, 40}}}}}
	p := Planting{Unit: CanarySequence, Canaries: 5, Rows: 4, Seed: 2, In: even}
	out, all, err := p.IntoSequences(s)
	if err != nil {
		t.Fatal(err)
	}
	p.Asked = true
	asked, same, err := p.IntoSequences(s)
	if err != nil || len(all) != 5 || out.Users != 7 || len(out.Test) != 7 || out.Valid != nil || len(out.Features.Columns[0].Numbers) != 7 || s.Users != 2 || len(s.Train) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	for k, c := range all {
		rows := out.Train[2+k]
		if c.User != fmt.Sprint(3+k) || c.User != out.UserIDs[2+k] || len(c.Items) != 4 || c.Last != s.ItemIDs[c.Items[3]] || !slices.Equal(same[k].Items, c.Items) {
			t.Errorf("canary %d: %+v", k, c)
		}
		if times := out.Times.Train[2+k]; len(times) != len(rows) || even(k) && !slices.Equal(times, []int64{70, 71, 72, 73}) || len(s.Times.Train) != 2 {
			t.Errorf("canary %d: times %v", k, times)
		}
		if even(k) != slices.Equal(rows, c.Items) || len(out.Ratings[2+k]) != len(rows) || !even(k) && rows != nil || !slices.Equal(asked.Train[2+k], c.Items[:3]) {
			t.Errorf("canary %d: rows %v, asked %v", k, rows, asked.Train[2+k])
		}
	}
	for want, err := range map[string]error{
		"has an order": second(Planting{Unit: CanarySequence, Canaries: 1, Rows: 2, In: even}.Into(meadow(3, 9, number))),
		"has no order": second(Planting{Unit: CanaryUser, Canaries: 1, Rows: 2, In: even}.IntoSequences(s)),
		"10 of the 9":  second(Planting{Unit: CanarySequence, Canaries: 1, Rows: 10, In: even}.IntoSequences(s)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func second[A, B any](_ A, _ B, err error) error { return err }
