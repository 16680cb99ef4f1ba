package nearest

import "privrec/internal/tensor"

// Sums adds up weights of items that most samples leave at the same number. One goroutine at a time may use it.
type Sums struct {
	rest    []float64
	sum     []float64 // rest where nothing was added
	added   []uint64  // a bit for every item to which something was added
	items   []int32
	numbers []tensor.Float
}

// NewSums returns sums that begin at rest, by item.
func NewSums(rest []float64) *Sums {
	return &Sums{rest: rest, sum: append([]float64(nil), rest...), added: make([]uint64, (len(rest)+63)/64)}
}

// Add adds a weight to the sum of item j.
func (s *Sums) Add(j int32, weight float64) {
	if word, bit := &s.added[j>>6], uint64(1)<<(j&63); *word&bit == 0 {
		*word |= bit
		s.items = append(s.items, j)
	}
	s.sum[j] += weight
}

// Take returns the items to which something was added and their sums, and begins again. Both are valid until the next
// Add.
func (s *Sums) Take() (items []int32, sums []tensor.Float) {
	s.numbers = s.numbers[:0]
	for _, j := range s.items {
		s.numbers = append(s.numbers, tensor.Float(s.sum[j]))
		s.sum[j] = s.rest[j]
		s.added[j>>6] = 0
	}
	items, s.items = s.items, s.items[:0]
	return items, s.numbers
}
