package slates

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Sampled returns a set with the validation and test pairs of the measured users. The choice of a user depends on the
// seed and the user's name alone. Training pairs stay.
func (e Eval) Sampled(set *slate.Set, seed rng.Seed) (*slate.Set, error) {
	if e.Sample == 0 {
		return set, nil
	}
	some, lots := *set, dataset.NewLots(seed.Stream("slates.sample"))
	for _, part := range []struct {
		name string
		p    **slate.Pairs
	}{{"validation", &some.Valid}, {"test", &some.Test}} {
		var rows []int32
		all := *part.p
		for i, u := range all.Users {
			if lots.User(set.Users[u]) < e.Sample {
				rows = append(rows, int32(i))
			}
		}
		if len(rows) == 0 && all.Len() > 0 {
			return nil, &run.UsageError{Message: fmt.Sprintf(
				"eval.sample: a chance of %v leaves no user of the %d %s pairs of %s", e.Sample, all.Len(), part.name,
				set.Name),
				Fix: "raise eval.sample, or leave it out to measure all"}
		}
		*part.p = all.Select(rows)
	}
	return &some, nil
}
