package inference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/tensor"
)

// digest returns a hash of a source's interactions and recommendations.
func (s *source) digest() string {
	sum := sha256.New()
	for _, user := range slices.Sorted(maps.Keys(s.had)) {
		fmt.Fprintf(sum, "%q %q %q\n", user, s.had[user], s.lists[user])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// number turns a source into a target for the users of t, with items as columns. It fails on a user of the table whom
// the source lacks, or whose list is too short.
func (s *source) number(t *table, columns map[string]int32, a asked) (*target, error) {
	out := &target{Target: s.Target}
	known, what := s.had, "interactions"
	if known == nil {
		known, what = s.lists, "recommendations"
	}
	missing, first := 0, -1
	for i, user := range t.users {
		if _, ok := known[user]; !ok {
			if missing++; first < 0 {
				first = i
			}
		}
	}
	if missing == len(t.users) {
		return nil, &dataset.Error{File: t.from, Field: "user",
			Msg: fmt.Sprintf("none of its %d users is a user of %s: the attributes are of other users", missing,
				s.Name), Hint: "users go by the names in the data files"}
	}
	if missing > 0 {
		return nil, t.fail(first, "user", fmt.Sprintf("user %q, one of %d, has no %s in %s", t.users[first], missing,
			what, s.Name), "the table says who is attacked: leave users without "+what+" out of it")
	}
	out.Others = len(known) - len(t.users)
	number := func(items []string) []int32 {
		row := make([]int32, len(items))
		for i, item := range items {
			row[i] = columns[item]
		}
		return row
	}
	if s.had != nil {
		out.had = make([][]int32, len(t.users))
		for i, user := range t.users {
			row := number(s.had[user])
			slices.Sort(row)
			out.had[i] = slices.Compact(row)
			out.Had += len(out.had[i])
		}
	}
	if a.depth > 0 {
		out.lists = make([][]int32, len(t.users))
		for i, user := range t.users {
			list := s.lists[user]
			if len(list) == 0 {
				return nil, t.fail(i, "user", fmt.Sprintf("user %q has no recommendations in %s", user, s.Name),
					"the table says who is attacked: leave users without recommendations out of it")
			}
			if len(list) < a.depth {
				return nil, t.fail(i, "user",
					fmt.Sprintf("user %q is recommended %d items in %s, and attack.k asks for %d", user, len(list),
						s.Name, a.depth), "leave that length out of attack.k")
			}
			out.lists[i] = number(list[:a.depth])
			for _, c := range out.lists[i] {
				if s.had != nil {
					if _, again := slices.BinarySearch(out.had[i], c); again {
						out.Again++
					}
				}
			}
		}
		out.Lists = len(out.lists)
	}
	if s.rows != nil {
		out.vectors = tensor.New(len(t.users), s.vectors.Cols)
		for i, user := range t.users {
			row, ok := s.rows[user]
			if !ok {
				return nil, t.fail(i, "user", fmt.Sprintf("user %q has no vector in %s", user, s.Name), "")
			}
			copy(tensor.Row(out.vectors, i), tensor.Row(s.vectors, int(row)))
		}
		out.Width = out.vectors.Cols
	}
	return out, nil
}
