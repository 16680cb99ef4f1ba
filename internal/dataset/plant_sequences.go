package dataset

import (
	"fmt"
	"slices"
	"strconv"

	"privrec/internal/rng"
)

// Kinds of sequence canaries: users who are not in the data, with random items in a random order.
const (
	CanarySequence    = "sequence"    // all of it, or nothing
	CanaryInteraction = "interaction" // with one of two items as the last
	// CanaryOrder has one of two orders: two neighbouring items are exchanged. Neither is one of the last two items, a
	// model's last input and its label.
	CanaryOrder = "order"
)

// leastOrder is the least number of rows of an order canary.
const leastOrder = 4

// SequenceCanary describes a sequence that may be planted.
type SequenceCanary struct {
	User  string  // name
	At    int     // number of the user
	Items []int32 // ids 1..V, all different; of an edge or a rating the one
	Last  string  // name of the last item, which models are asked for
	Other string  // of an interaction, the item that is the last where the coin says out
}

// IntoSequences returns sequences with canaries, like Into. If Asked is set they are the inputs for questions about the
// last items: a canary with rows of its own is in without its last item, as its coin says, and a canary edge is out.
func (p Planting) IntoSequences(s *Sequential) (*Sequential, []SequenceCanary, error) {
	switch p.Unit {
	case CanaryUser:
		return nil, nil, &Error{File: s.Name, Msg: fmt.Sprintf("a canary %s has no order, and these data are sequences",
			p.Unit), Hint: "plant a " + CanarySequence}
	case CanaryEdge, CanaryRating:
		return p.amongRows(s)
	}
	drawn := p.Rows
	if p.Unit == CanaryInteraction {
		drawn++
	}
	if drawn > s.Items {
		return nil, nil, &Error{File: s.Name, Msg: fmt.Sprintf("canary sequences are to have %d of the %d items", drawn,
			s.Items), Hint: "give them fewer"}
	}
	out, err := p.addSequences(s)
	if err != nil {
		return nil, nil, err
	}
	all, best := make([]SequenceCanary, p.Canaries), highest(s.Ratings)
	for k := range all {
		stream := p.Seed.Stream("canary sequence", uint64(k))
		items := slices.Clone(stream.Perm(s.Items)[:drawn])
		for i := range items {
			items[i]++
		}
		c := SequenceCanary{User: out.UserIDs[s.Users+k], At: s.Users + k, Items: items[:p.Rows:p.Rows],
			Last: s.ItemIDs[items[p.Rows-1]]}
		if p.Unit == CanaryInteraction {
			c.Other = s.ItemIDs[items[p.Rows]]
		}
		all[k] = c
		rows := p.rowsOf(k, items)
		out.Train[c.At] = rows
		if s.Times != nil {
			out.Times.Train[c.At] = following(s.Times.Train, len(rows))
		}
		if s.Ratings != nil {
			out.Ratings[c.At] = slices.Repeat([]float32{best}, len(rows))
		}
	}
	return out, all, nil
}

// rowsOf returns the rows of canary k with rows of its own, as its coin says. items are the drawn ones.
func (p Planting) rowsOf(k int, items []int32) []int32 {
	in, n := p.In(k), p.Rows
	rows := slices.Clone(items[:n])
	switch {
	case p.Unit == CanarySequence && !in && !p.Asked:
		return nil
	case p.Unit == CanaryInteraction && !in:
		rows[n-1] = items[n]
	case p.Unit == CanaryOrder && !in:
		rows[n-4], rows[n-3] = rows[n-3], rows[n-4]
	}
	if p.Asked {
		return rows[:n-1]
	}
	return rows
}

// addSequences adds users without rows, each with the features of a random user of the data.
func (p Planting) addSequences(s *Sequential) (*Sequential, error) {
	ids, err := canaryIDs(s.Name, s.UserIDs, p.Canaries)
	if err != nil {
		return nil, err
	}
	out := *s
	out.UserIDs = slices.Concat(s.UserIDs, ids)
	for _, part := range []*[][]int32{&out.Train, &out.Valid, &out.Test} {
		if *part != nil {
			*part = append(slices.Clone(*part), make([][]int32, p.Canaries)...)
		}
	}
	if s.Ratings != nil {
		out.Ratings = append(slices.Clone(s.Ratings), make([][]float32, p.Canaries)...)
	}
	if t := s.Times; t != nil {
		grown := func(x [][]int64) [][]int64 {
			if x == nil {
				return nil
			}
			return append(slices.Clone(x), make([][]int64, p.Canaries)...)
		}
		out.Times = &Times{Train: grown(t.Train), Valid: grown(t.Valid), Test: grown(t.Test)}
	}
	out.Users += p.Canaries
	out.Features = s.Features.like(out.UserIDs, p.Seed.Stream("canary users' features"))
	return &out, nil
}

// following returns n consecutive times, starting with the first of the data.
func following(times [][]int64, n int) []int64 {
	out := make([]int64, n)
	for _, t := range times {
		if len(t) > 0 && n > 0 {
			out[0] = t[0]
			break
		}
	}
	for i := 1; i < n; i++ {
		out[i] = out[i-1] + 1
	}
	return out
}

// like returns features for all ids: those of f, then for each further id those of a random user of f.
func (f *Features) like(ids []string, s rng.Stream) *Features {
	if f == nil {
		return nil
	}
	out := *f
	n := len(f.UserIDs)
	out.UserIDs, out.Columns = ids, slices.Clone(f.Columns)
	for range ids[n:] {
		u := s.IntN(n)
		for c := range out.Columns {
			col := &out.Columns[c]
			if col.Kind == Numeric {
				col.Numbers = append(slices.Clip(col.Numbers), col.Numbers[u])
			} else {
				col.Codes = append(slices.Clip(col.Codes), col.Codes[u])
			}
		}
	}
	return &out
}

// canaryIDs returns ids for n canary users that sort after all users of the data. If the ids are numbers, so are these.
func canaryIDs(data string, users []string, n int) ([]string, error) {
	out := make([]string, n)
	last := users[len(users)-1]
	at, err := strconv.ParseInt(last, 10, 64)
	for k := range out {
		out[k] = fmt.Sprintf("~canary-%06d", k)
		if err == nil {
			out[k] = strconv.FormatInt(at+1+int64(k), 10)
		}
	}
	less := LessIDs(slices.Concat(users, out))
	if less(last, out[0]) >= 0 {
		return nil, &Error{File: data, Field: "user",
			Msg: fmt.Sprintf("canary users are to come after all others, and %q does not come before %q", last, out[0])}
	}
	return out, nil
}
