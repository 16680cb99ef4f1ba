package standin

import (
	"fmt"
	"math"
	"strconv"

	"privrec/internal/dataset"
)

// Aggregates describes sequences after a recipe.
type Aggregates struct {
	Users, Items, Rows int        // in all parts, items unseen in train left out
	TestItems          int        // distinct, of known items
	Gini               float64    // of rows per item
	AtCap              float64    // share of users whose rows the recipe cut, or who have exactly as many as it keeps
	Lengths            [7]float64 // rows per user at StatsQuantiles
}

// AggregatesOf returns the aggregates of sequences. lastN is the number of last rows per user that their recipe keeps,
// 0 for all.
func AggregatesOf(s *dataset.Sequential, lastN int) Aggregates {
	st := s.Stats()
	a := Aggregates{Users: st.Users, Items: st.Items, Rows: st.Rows, Gini: st.Gini, Lengths: st.Lengths}
	if test, ok := s.Ladder.Get(dataset.RungKnownTest); ok {
		a.TestItems = test.Items
	}
	for u := range s.Users {
		n := 0
		for _, part := range [][][]int32{s.Train, s.Valid, s.Test} {
			if part != nil {
				n += len(part[u])
			}
		}
		if lastN > 0 && n >= lastN {
			a.AtCap += 1 / float64(s.Users)
		}
	}
	return a
}

// Match compares one statistic of a stand-in with its target.
type Match struct {
	What string  `json:"what"`
	Want float64 `json:"want"`
	Got  float64 `json:"got"`
}

// Within reports whether the difference is at most share of the target, or at most one for a statistic that is a whole
// number of rows, users or items.
func (m Match) Within(share float64) bool {
	off := math.Abs(m.Got - m.Want)
	return off <= share*math.Abs(m.Want) || m.Want == math.Trunc(m.Want) && off <= 1
}

// Off returns the difference as a share of the target, 0 if both are 0.
func (m Match) Off() float64 {
	if m.Got == m.Want {
		return 0
	}
	return (m.Got - m.Want) / m.Want
}

// String returns one line of a card.
func (m Match) String() string {
	return fmt.Sprintf("%-44s %12.6g %12.6g %+8.2f %%", m.What, m.Want, m.Got, 100*m.Off())
}

// Matches returns the comparison of generated rows with their profile: counts, curves, ratings, attributes and, if the
// profile has them, the aggregates after the recipe r.
func (p Profile) Matches(l *dataset.Log, f *dataset.Features, r dataset.Recipe) ([]Match, error) {
	var out []Match
	add := func(what string, want, got float64) { out = append(out, Match{what, want, got}) }
	counts := func(of string, want, got Aggregates) {
		for _, c := range []struct {
			what      string
			want, got int
		}{{"users", want.Users, got.Users}, {"items", want.Items, got.Items}, {"rows", want.Rows, got.Rows},
			{"distinct test items", want.TestItems, got.TestItems}} {
			if c.want > 0 {
				add(c.what+of, float64(c.want), float64(c.got))
			}
		}
	}
	counts("", Aggregates{Users: p.Users, Items: p.Items, Rows: p.Rows},
		Aggregates{Users: len(l.UserIDs), Items: len(l.ItemIDs), Rows: l.Len()})
	users, items := l.Counts()
	add("mean rows per user", float64(p.Rows)/float64(p.Users), float64(l.Len())/float64(len(users)))
	ratings := make([]int, 5)
	userLikes, itemLikes := make([]int, len(users)), make([]int, len(items))
	if p.Implicit != (l.Values == nil) {
		return nil, fmt.Errorf("dataset: %s has ratings: %v, want %v", l.Name, l.Values != nil, !p.Implicit)
	}
	for row, v := range l.Values {
		if v < 1 || v > 5 {
			return nil, fmt.Errorf("dataset: row %d of %s has rating %g, want 1 to 5", row, l.Name, v)
		}
		ratings[int(v)-1]++
		if v >= 4 {
			userLikes[l.Users[row]]++
			itemLikes[l.Items[row]]++
		}
	}
	upTo := 0
	for r, bound := range p.ratingBounds() {
		if p.Implicit {
			break
		}
		add("rows of rating "+strconv.Itoa(r+1), float64(bound-upTo), float64(ratings[r]))
		upTo = bound
	}
	for k, c := range []struct {
		what       string
		curve      []Quantile
		total, low int
		got        []int
	}{{"rows per user", p.Lengths, p.Rows, min(p.MinLength, p.Rows/p.Users), users},
		{"rows per item", p.Popularity, p.Rows, max(1, p.MinItem), items},
		{"likes per user", p.Likes, p.liked(), 0, userLikes}, {"likes per item", p.ItemLikes, p.liked(), 0,
			itemLikes}} {
		if c.curve == nil {
			continue
		}
		want, err := spread(c.curve, len(c.got), c.total, c.low, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		d := dataset.Describe(want, want)
		target, index := d.Lengths, d.Gini
		if p.Gini[k] > 0 { // the size of the real data: their own index, not that of the scaled curve
			index = p.Gini[k]
			for i, q := range dataset.StatsQuantiles {
				target[i] = at(c.curve, q)
			}
		}
		d = dataset.Describe(c.got, c.got)
		add("gini index of "+c.what, index, d.Gini)
		got := d.Lengths
		for i, q := range dataset.StatsQuantiles {
			add(fmt.Sprintf("%s at %g %%", c.what, 100*q), target[i], got[i])
		}
	}
	for _, attr := range p.Attributes {
		c, err := f.Column(attr.Name)
		if err != nil {
			return nil, err
		}
		got := map[string]int{}
		for _, code := range c.Codes {
			got[c.Levels[code]]++
		}
		for _, x := range c.Numbers {
			got[strconv.FormatFloat(x, 'g', -1, 64)]++
		}
		for v, n := range share(p.Users, attr.Counts) {
			add("users of "+attr.Name+" "+attr.label(v), float64(n), float64(got[attr.label(v)]))
		}
	}
	if p.After.Users == 0 {
		return out, nil
	}
	s, err := r.Apply(l, f)
	if err != nil {
		return nil, err
	}
	got, of := AggregatesOf(s, r.LastN), " after recipe "+r.Name
	counts(of, p.After, got)
	if p.After.Gini > 0 {
		add("gini index of items"+of, p.After.Gini, got.Gini)
	}
	if p.After.AtCap > 0 {
		add(fmt.Sprintf("share of users at %d rows", r.LastN)+of, p.After.AtCap, got.AtCap)
	}
	add("mean rows per user"+of, float64(p.After.Rows)/float64(p.After.Users), float64(got.Rows)/float64(got.Users))
	for i, q := range dataset.StatsQuantiles {
		if p.After.Lengths[6] > 0 {
			add(fmt.Sprintf("rows per user at %g %%%s", 100*q, of), p.After.Lengths[i], got.Lengths[i])
		}
	}
	return out, nil
}
