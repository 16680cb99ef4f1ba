package dataset

import (
	"context"

	"privrec/internal/rng"
)

type byPlaceKey struct{}

// DrawnByPlace returns a context under which random splits are drawn as programs did before draws were keyed by ids: a
// user by their place in the log, and validation rows by one draw over all rows. It serves attacks on finished runs of
// such programs.
func DrawnByPlace(ctx context.Context) context.Context {
	return context.WithValue(ctx, byPlaceKey{}, true)
}

// ByPlace reports whether a context asks for the draws of earlier programs.
func ByPlace(ctx context.Context) bool { return ctx.Value(byPlaceKey{}) != nil }

// testByPlace marks the test rows of a user as earlier programs drew them. The user's rows are from to end, and train
// of them stay.
func (s Split) testByPlace(parts []Part, u, from, end, train int) {
	stream := s.Seed.Stream("split", uint64(u))
	for _, row := range stream.Perm(end - from)[train:] {
		parts[from+int(row)] = Test
	}
}

// validByPlace moves round(share*n) random rows of the n training rows to valid, over all users together.
func (s Split) validByPlace(parts []Part) {
	train := trainRows(nil, parts, 0, len(parts))
	held := (floorShare(s.ValidShare, 2*len(train)) + 1) / 2
	stream := s.Seed.Stream("split valid")
	for _, i := range stream.Perm(len(train))[:held] {
		parts[train[i]] = Valid
	}
}

// negativesByPlace returns the stream that draws the items against which a user's held-out row is ranked, as earlier
// programs did.
func negativesByPlace(seed rng.Seed, domain string, u int) rng.Stream {
	return seed.Stream("dataset.cross.negatives/"+domain, uint64(u))
}
