package dataset

import "privrec/internal/rng"

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
