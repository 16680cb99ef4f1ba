package train

import "privrec/internal/rng"

// order is the sequence of samples of one epoch, kept in one buffer that each epoch refills.
type order struct {
	list    []int32 // the caller's samples, nil for 0..n-1
	buffer  []int32
	seed    rng.Seed
	shuffle bool
	epoch   int // what buffer holds, -1 for nothing
}

func newOrder(o *Options) *order {
	return &order{list: o.List, buffer: make([]int32, o.samples()), seed: o.Seed, shuffle: o.Shuffle, epoch: -1}
}

// of returns the samples of an epoch in the order they are visited. It depends on seed and epoch alone:
// each epoch starts over from the unshuffled list, so that a run can be resumed at any of them.
func (s *order) of(epoch int) []int32 {
	if s.epoch == epoch || (s.epoch >= 0 && !s.shuffle) {
		s.epoch = epoch
		return s.buffer
	}
	if s.list != nil {
		copy(s.buffer, s.list)
	} else {
		for i := range s.buffer {
			s.buffer[i] = int32(i)
		}
	}
	if s.shuffle {
		stream := s.seed.Stream("train.shuffle", uint64(epoch))
		stream.Shuffle(len(s.buffer), func(i, j int) {
			s.buffer[i], s.buffer[j] = s.buffer[j], s.buffer[i]
		})
	}
	s.epoch = epoch
	return s.buffer
}
