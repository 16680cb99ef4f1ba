package local

import (
	"fmt"
	"strconv"
	"strings"

	"privrec/internal/privacy/mechanism"
)

// Validate returns an error for an unknown kind and for categories for which no report can be made.
func (m Oracle) Validate() error { return m.validate() }

// Single draws single reports by choices that an audit makes, with the code that Report runs. It neither records nor
// checks them, so nothing drawn with it may be released.
type Single struct {
	m Oracle
	d mechanism.Draws
	u *unary
	r *responder
}

// Single returns a Single of the oracle with the choices of f.
func (m Oracle) Single(f mechanism.Forced) (*Single, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	s := &Single{m: m, d: mechanism.Draws{Forced: f}}
	switch m.Kind {
	case SUE, OUE:
		s.u = m.unary()
	case OLH:
		s.r = m.response(m.Hashes()).responder()
	default:
		s.r = m.response(m.Categories).responder()
	}
	return s, nil
}

// Report returns the report of a category as text: a category, bits from category 0 on, or a hash. hash is
// the function that was drawn for a report of OLH, and not used for others: it is drawn without looking at
// the category and sent with the report.
func (s *Single) Report(x uint64, hash func(x uint64) uint64) (string, error) {
	if x >= uint64(s.m.Categories) {
		return "", fmt.Errorf("category %d of %d", x, s.m.Categories)
	}
	switch s.m.Kind {
	case SUE, OUE:
		words := make([]uint64, (s.m.Categories+63)/64)
		s.u.vector(&s.d, s.m.Categories, int(x), words)
		var b strings.Builder
		for i := range s.m.Categories {
			b.WriteByte('0' + byte(words[i/64]>>(i%64)&1))
		}
		return b.String(), nil
	case OLH:
		h := hash(x)
		if h >= uint64(s.m.Hashes()) {
			return "", fmt.Errorf("hash %d of %d", h, s.m.Hashes())
		}
		x = h
	}
	return strconv.FormatUint(s.r.respond(&s.d, x), 10), nil
}
