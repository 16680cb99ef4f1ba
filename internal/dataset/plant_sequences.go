package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"privrec/internal/rng"
)

// CanarySequence is a user who is not in the data, with random items in a random order.
const CanarySequence = "sequence"

// SequenceCanary is a sequence that may be planted.
type SequenceCanary struct {
	User  string  // name
	Items []int32 // ids 1..V, all different
	Last  string  // name of the last item, which models are asked for
}

// PlantSequences returns sequences with the canaries of a context; those that s holds where the
// context has none.
func PlantSequences(ctx context.Context, s *Sequential) (*Sequential, error) {
	p := Planted(ctx)
	if p == nil {
		return s, nil
	}
	out, _, err := p.IntoSequences(s)
	return out, err
}

// IntoSequences does what Into does, for sequences. Where Asked is set all canaries are in, each
// without its last item.
func (p Planting) IntoSequences(s *Sequential) (*Sequential, []SequenceCanary, error) {
	if p.Unit != CanarySequence {
		return nil, nil, &Error{File: s.Name, Msg: fmt.Sprintf("a canary %s has no order, and these data are sequences", p.Unit), Hint: "plant a " + CanarySequence}
	}
	if p.Rows > s.Items {
		return nil, nil, &Error{File: s.Name, Msg: fmt.Sprintf("canary sequences are to have %d of the %d items", p.Rows, s.Items), Hint: "give them fewer"}
	}
	ids, err := canaryIDs(s.Name, s.UserIDs, p.Canaries)
	if err != nil {
		return nil, nil, err
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
	all, best := make([]SequenceCanary, p.Canaries), highest(s.Ratings)
	for k := range all {
		stream := p.Seed.Stream("canary sequence", uint64(k))
		c := SequenceCanary{User: ids[k], Items: slices.Clone(stream.Perm(s.Items)[:p.Rows])}
		for i := range c.Items {
			c.Items[i]++
		}
		c.Last = s.ItemIDs[c.Items[p.Rows-1]]
		all[k] = c
		rows := c.Items
		if p.Asked {
			rows = rows[:len(rows)-1]
		} else if !p.In(k) {
			continue
		}
		out.Train[s.Users+k] = rows
		if s.Times != nil {
			out.Times.Train[s.Users+k] = following(s.Times.Train, len(rows))
		}
		if s.Ratings != nil {
			out.Ratings[s.Users+k] = slices.Repeat([]float32{best}, len(rows))
		}
	}
	out.Users += p.Canaries
	out.Features = s.Features.like(out.UserIDs, p.Seed.Stream("canary users' features"))
	return &out, all, nil
}

// following returns n times that follow one another, from the first of the data on.
func following(times [][]int64, n int) []int64 {
	out := make([]int64, n)
	for _, t := range times {
		if len(t) > 0 {
			out[0] = t[0]
			break
		}
	}
	for i := 1; i < n; i++ {
		out[i] = out[i-1] + 1
	}
	return out
}

// like returns features of as many users as there are names: those there are, then each of the
// others like a random one of these.
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

// canaryIDs names n canary users, so that they come after all users of the data. Numbers go on where
// names are numbers.
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
		return nil, &Error{File: data, Field: "user", Msg: fmt.Sprintf("canary users are to come after all others, and %q does not come before %q", last, out[0])}
	}
	return out, nil
}
