package stream

import (
	"fmt"

	"privrec/internal/privacy/correlated"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
)

// series releases a sum of whole steps of a unit after every step of a stream.
//
// Without secure noise what is released is the sum plus the noise so far. In a secure series it is computed from the
// whole numbers C x + z: C^-1 of them, added up.
type series struct {
	noise Noise
	unit  float64
	gen   *correlated.Generator
	// total is what is added to the sums: all noise so far, and in a secure series the sums themselves too.
	total []float64
	// past holds what a secure series needs of earlier steps, oldest first: what each of them added, in units.
	past [][]int64

	column []int64 // of a secure series, in parts
}

// newSeries returns a series of a number of values that goes on from a state; a zero state is the start.
func newSeries(n Noise, unit float64, width int, st seriesState) (*series, error) {
	s := &series{noise: n, unit: unit, total: st.Total, past: st.Past}
	strategy, err := n.design.Strategy()
	if err != nil {
		return nil, err
	}
	s.gen, err = strategy.Generator(correlated.State{Step: st.Step, Width: width, Memory: st.Memory})
	if err != nil {
		return nil, err
	}
	if s.total == nil {
		s.total = make([]float64, width)
	}
	if n.Step > 0 {
		for _, v := range strategy.Column() {
			s.column = append(s.column, int64(v/part))
		}
	}
	want := 0
	if n.Step > 0 {
		want = min(st.Step, len(s.column)-1)
	}
	if len(s.total) != width || len(s.past) != want {
		return nil, fmt.Errorf("%s: %d values and %d earlier steps, want %d and %d", n.Purpose, len(s.total),
			len(s.past), width, want)
	}
	for _, row := range s.past {
		if len(row) != width {
			return nil, fmt.Errorf("%s: an earlier step of %d values, want %d", n.Purpose, len(row), width)
		}
	}
	return s, nil
}

// seriesState is what a series needs to go on.
type seriesState struct {
	Step          int
	Memory, Total []float64
	Past          [][]int64
}

// state returns what a series needs to go on.
func (s *series) state() seriesState { return seriesState{s.gen.Step, s.gen.Memory, s.total, s.past} }

// next ends a step and returns what is released of it. exact are all contributions so far, in units; in a secure series
// those of the step alone. draw is the stream of normal noise.
func (s *series) next(exact []int64, draw *rng.Stream) ([]float64, error) {
	row := make([]float64, len(s.total))
	if s.noise.Step > 0 {
		if err := s.mask(row, exact); err != nil {
			return nil, err
		}
	} else {
		draw.Normals64(row)
		for j := range row {
			row[j] *= s.noise.Deviation
		}
	}
	if err := s.gen.Next(row); err != nil {
		return nil, err
	}
	out := make([]float64, len(row))
	for j, v := range row {
		s.total[j] += v
		out[j] = s.total[j]
		if s.noise.Step == 0 {
			out[j] += float64(exact[j]) * s.unit
		}
	}
	return out, nil
}

// mask fills row with C x + z of a step. Both are whole steps of noise.Step, z is discrete normal noise from
// cryptographic bits.
func (s *series) mask(row []float64, added []int64) error {
	sampler, err := secure.NewGaussianSampler(secure.Ratio{Num: uint64(s.noise.Deviation / s.noise.Step), Den: 1})
	if err != nil {
		return fmt.Errorf("%s: %w", s.noise.Purpose, err)
	}
	bits := rng.Crypto()
	for j := range row {
		sum := s.column[0] * added[j]
		for k := range s.past { // the step before is the last
			sum += s.column[k+1] * s.past[len(s.past)-1-k][j]
		}
		row[j] = float64(sum+sampler.Sample(bits)) * s.noise.Step
	}
	s.past = append(s.past, append([]int64(nil), added...))
	s.past = s.past[max(0, len(s.past)-(len(s.column)-1)):]
	return nil
}
