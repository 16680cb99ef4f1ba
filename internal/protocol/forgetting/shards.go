package forgetting

import (
	"context"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// shardsOf returns the users of each shard, ascending. A user's shard depends on the seed and the user's id alone, so
// nobody moves when somebody is forgotten.
func (s *study) shardsOf(users []int32) [][]int32 {
	lots, out := dataset.NewLots(s.env.Seed.Stream("forgetting shards")), make([][]int32, s.Shards.Number)
	for _, u := range users {
		k := int(lots.User(s.data.UserIDs[u]) * float64(len(out)))
		out[k] = append(out[k], u)
	}
	return out
}

// sharded holds a model for each shard of users. The model of a shard without users is nil.
type sharded struct {
	users  [][]int32
	models []*network
}

// close frees the memory of the models that are not those of another.
func (x *sharded) close(of *sharded) {
	for k, m := range x.models {
		if m != nil && (of == nil || m != of.models[k]) {
			m.close()
		}
	}
}

// shard trains the models of all shards of some users. It takes a model of was whose shard has the same users.
func (s *study) shard(ctx context.Context, users []int32, was *sharded) (*sharded, error) {
	x := &sharded{users: s.shardsOf(users)}
	for k, of := range x.users {
		switch {
		case was != nil && slices.Equal(of, was.users[k]):
			x.models = append(x.models, was.models[k])
		case len(of) == 0:
			x.models = append(x.models, nil)
		default:
			m, err := s.fitted(ctx, s.shardSeed(k), of)
			if err != nil {
				return nil, err
			}
			x.models = append(x.models, m)
		}
	}
	return x, nil
}

// shardSeed returns the seed of the model of a shard.
func (s *study) shardSeed(k int) rng.Seed {
	stream := s.env.Seed.Stream("forgetting shard", uint64(k))
	return rng.Seed(stream.Uint64())
}

// Request says what it costs to forget some users together with shards.
type Request struct {
	Users  int     `json:"users"`
	Shards float64 `json:"shards"` // that are trained again
	Work   float64 `json:"work"`   // pairs that are read for it, over those of training from the start
}

// requests returns the costs of forgetting so many users together, as means over the forgotten, taken in the order of
// their numbers so many at a time.
func (s *study) requests(sizes ...int) (all []Request) {
	rows := func(users []int32) (n int) {
		for _, u := range users {
			n += len(s.data.Train[u])
		}
		return n
	}
	shards := s.shardsOf(slices.Sorted(slices.Values(slices.Concat(s.forgotten, s.remaining))))
	total := rows(s.remaining)
	for _, size := range sizes {
		r, times := Request{Users: size}, 0
		for from := 0; from+size <= len(s.forgotten); from += size {
			some := s.forgotten[from : from+size]
			for _, of := range shards {
				left := slices.DeleteFunc(slices.Clone(of), func(u int32) bool { return slices.Contains(some, u) })
				if len(left) < len(of) {
					r.Shards++
					r.Work += float64(rows(left)) / float64(total)
				}
			}
			times++
		}
		if times > 0 {
			r.Shards, r.Work = r.Shards/float64(times), r.Work/float64(times)
			all = append(all, r)
		}
	}
	return all
}
