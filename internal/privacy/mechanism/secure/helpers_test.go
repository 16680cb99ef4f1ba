package secure

import "privrec/internal/rng"

// Meter counts the words that are read.
type Meter struct {
	Src rng.Source
	N   int
}

func (m *Meter) Uint64() uint64 {
	m.N++
	return m.Src.Uint64()
}
