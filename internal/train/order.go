package train

import "privrec/internal/rng"

// order holds the sequence of samples of one epoch, in one buffer that each epoch fills again.
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

// of returns the samples of an epoch in the order in which they are visited. The order depends only on seed and
// epoch: each epoch starts from the unshuffled list, so that a run can be resumed at any epoch.
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
