package local

import (
	"fmt"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Perturbed values of many users, which show the laws of the parts of features.

func (m Piecewise) event() privacy.PureLDP { return privacy.PureLDP{Epsilon: m.Epsilon, Unit: m.Unit} }

// PerturbPiecewise replaces every number of data, each of another unit, by an output of the
// mechanism. It first records one release. Before it records or changes anything, it fails on
// numbers outside [-1, 1].
func PerturbPiecewise[T mechanism.Float](m Piecewise, l *privacy.Ledger, s rng.Stream, data []T) error {
	if err := admit(m.Purpose, m.event(), m.Share, l); err != nil {
		return err
	}
	for i, x := range data {
		if err := inRange(m.Purpose, i, float64(x)); err != nil {
			return err
		}
	}
	if len(data) == 0 {
		return nil
	}
	if err := l.Record(m.Purpose, m.event(), 1); err != nil {
		return err
	}
	check := m.newCheck()
	for i, x := range data {
		r := s.Sub(uint64(i))
		y := m.sample(&r, float64(x))
		check.see(float64(x), y)
		data[i] = T(y)
	}
	return mechanism.CheckAll(m.Purpose, m.Share, &check.centre, &check.bias)
}

func (m UnaryEncoding) event() privacy.PureLDP {
	return privacy.PureLDP{Epsilon: m.Epsilon, Unit: m.Unit}
}

// PerturbUnary replaces every vector of data, categories values each and each of another unit,
// by an output of the mechanism. It first records one release. Before it records or changes
// anything, it fails on vectors that are neither one-hot nor zeros.
func PerturbUnary[T mechanism.Float](m UnaryEncoding, l *privacy.Ledger, s rng.Stream, data []T, categories int) error {
	if err := admit(m.Purpose, m.event(), m.Share, l); err != nil {
		return err
	}
	if categories < 1 || len(data)%categories != 0 {
		return fmt.Errorf("%s: %d values in vectors of %d", m.Purpose, len(data), categories)
	}
	for i := 0; i < len(data); i += categories {
		if err := oneHot(m.Purpose, i/categories, data[i:i+categories]); err != nil {
			return err
		}
	}
	if len(data) == 0 {
		return nil
	}
	if err := l.Record(m.Purpose, m.event(), 1); err != nil {
		return err
	}
	check := m.newCheck()
	for i := 0; i < len(data); i += categories {
		r := s.Sub(uint64(i / categories))
		perturbUnary(m, &r, data[i:i+categories], check)
	}
	return mechanism.CheckAll(m.Purpose, m.Share, &check.kept, &check.flipped)
}
