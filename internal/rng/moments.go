package rng

// Moments accumulates count, zeros, sum and sum of squares of values, for a check of a sampler. The zero value is
// empty. Sums of lanes are kept apart until they are read, so that the result depends only on the order of Add calls.
type Moments struct {
	N, Zeros int64
	sum, sq  [8]float64
}

// Sum returns the sum of the values.
func (m *Moments) Sum() float64 { return total(&m.sum) }

// SumSq returns the sum of the squares of the values.
func (m *Moments) SumSq() float64 { return total(&m.sq) }

func total(lanes *[8]float64) (t float64) {
	for _, v := range lanes {
		t += v
	}
	return t
}

// momentsChunk is the largest number of values that a kernel sums in single precision.
const momentsChunk = 4096

// Differences32 adds the values after[i]-before[i] for all i, computed in float32.
// The lengths must be equal.
func (m *Moments) Differences32(before, after []float32) {
	for len(after) > 0 {
		n := min(len(after), momentsChunk)
		active.moments(m, before[:n], after[:n])
		m.N += int64(n)
		before, after = before[n:], after[n:]
	}
}

// Differences64 adds the values after[i]-before[i] for all i, computed in float64.
// The lengths must be equal.
func (m *Moments) Differences64(before, after []float64) {
	before = before[:len(after)]
	for i, y := range after {
		m.one(i, y-before[i])
	}
	m.N += int64(len(after))
}

func momentsGo(m *Moments, before, after []float32) {
	before = before[:len(after)]
	for i, y := range after {
		m.one(i, float64(y-before[i]))
	}
}

func (m *Moments) one(i int, d float64) {
	m.sum[i&7] += d
	m.sq[i&7] += d * d
	if d == 0 {
		m.Zeros++
	}
}
