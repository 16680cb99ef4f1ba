package stream

import (
	"fmt"
	"math"

	"privrec/internal/private/release"
	"privrec/internal/rng"
)

// Simulation is a stream of the rows of a data set: every user comes on one day with all rows.
type Simulation struct {
	Settings
	Days, Day int     // users come on days 1 to Days; what is released after Day is asked for
	Known     float64 // share of the users who come on day 1, and whose counts choose the matrix
	Copies    int     // how often each user is counted: a stand-in for a service with so many times the users
	Most      int     // items of the matrix
	Power     float64 // an item has a weight of its count to the power -Power
}

// Release returns what the stream releases after the day. rows are users' items, below a number of items. Only the
// noise of that day is drawn. Its law is that of the stream, which draws the noise of all days.
func (m Simulation) Release(users []string, rows [][]int32, items int,
	noise func(purpose string) (rng.Stream, error)) (*Released, error) {
	terms, err := m.Terms()
	if err != nil {
		return nil, err
	}
	c := &Catalogue{IDs: make([]string, items)}
	known := NewSums(m.Settings, c)
	m.come(users, rows, func(id string, day float64, row []int32) {
		if day < 0 {
			known.Add(id, row)
		}
	})
	counts := release.Exact(known.Counts)
	if err := normal(counts, StartPurpose, terms.Start.Deviation(), noise); err != nil {
		return nil, err
	}
	c.Choose(counts, m.Most, terms.Start.Deviation(), m.Power)
	x := NewSums(m.Settings, c)
	m.come(users, rows, func(id string, day float64, row []int32) {
		if day < float64(m.Day) {
			x.Add(id, row)
		}
	})
	r := &Released{Statement: Statement{Step: min(m.Day, m.Horizon), Settings: m.Settings}, Catalogue: *c,
		Counts: release.Exact(x.Counts), Matrix: release.Exact(x.Matrix)}
	for k := range r.Matrix {
		r.Matrix[k] *= grid
	}
	for _, s := range []struct {
		noise Noise
		to    []float64
	}{{terms.Counts, r.Counts}, {terms.Matrix, r.Matrix}} {
		deviation, err := s.noise.At(r.Step)
		if err != nil {
			return nil, err
		}
		if err := normal(s.to, s.noise.Purpose, deviation, noise); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// come calls a function with every user who comes, and the time in days: below 0 for those who are known at the start.
func (m Simulation) come(users []string, rows [][]int32, do func(id string, day float64, row []int32)) {
	when := rng.Seed(m.Seed).Stream("private.stream.arrivals")
	for u, id := range users {
		for copy := range m.Copies {
			of := when.Of(id).Sub(uint64(copy))
			day := -1.0
			if of.Float64() >= m.Known {
				day = of.Float64() * float64(m.Days)
			}
			name := id
			if m.Copies > 1 {
				name = fmt.Sprintf("%s #%d", id, copy+1)
			}
			do(name, day, rows[u])
		}
	}
}

// normal adds normal noise to values.
func normal(x []float64, purpose string, deviation float64, noise func(purpose string) (rng.Stream, error)) error {
	if !(deviation > 0) || math.IsInf(deviation, 1) {
		return fmt.Errorf("%s: the deviation of the noise is %v, want positive and finite", purpose, deviation)
	}
	s, err := noise(purpose)
	if err != nil {
		return err
	}
	z := make([]float64, len(x))
	s.Normals64(z)
	for k, v := range z {
		x[k] += deviation * v
	}
	return nil
}
