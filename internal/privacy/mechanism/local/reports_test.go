package local

import (
	"fmt"
	"math/bits"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
)

// Reports of many users at once, which show the laws and the variances that oracles state.

// Reports holds the reports of an oracle.
type Reports struct {
	m      Oracle
	n      int
	values []int64  // for GRR the values; for OLH the hashes
	hashes []hash   // for OLH the function of each report
	bits   []uint64 // for SUE and OUE the vectors one after the other, each in whole words
	words  int      // words of one vector
}

// Report turns every value, each of another unit, into a report. It first records one release.
// With Keyed bits report i depends on the stream and on i. It fails, before it records
// anything, on values outside [0, Categories).
func Report[T Category](m Oracle, l *privacy.Ledger, b mechanism.Bits, values []T) (*Reports, error) {
	if err := b.Admit(m.Purpose, m.Event(), m.Share, l); err != nil {
		return nil, err
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	if err := inCategories(m.Purpose, int64(m.Categories), values); err != nil {
		return nil, err
	}
	r := &Reports{m: m, n: len(values)}
	if len(values) == 0 {
		return r, nil
	}
	if err := l.Record(m.Purpose, m.Event(), 1); err != nil {
		return nil, err
	}
	d := b.Draws()
	switch m.Kind {
	case SUE, OUE:
		u := m.unary()
		r.words = (m.Categories + 63) / 64
		r.bits = make([]uint64, r.words*r.n)
		for i, x := range values {
			d.Row(uint64(i))
			u.vector(&d, m.Categories, int(x), r.bits[i*r.words:(i+1)*r.words])
		}
		return r, mechanism.CheckAll(m.Purpose, m.Share, &u.ones, &u.zeros)
	case OLH:
		a := m.response(m.Hashes()).responder()
		r.values, r.hashes = make([]int64, r.n), make([]hash, r.n)
		for i, x := range values {
			d.Row(uint64(i))
			r.hashes[i] = drawHash(&d)
			r.values[i] = int64(a.respond(&d, r.hashes[i].of(uint64(x), m.Hashes())))
		}
		return r, mechanism.CheckAll(m.Purpose, m.Share, a.checks()...)
	}
	a := m.response(m.Categories).responder()
	r.values = make([]int64, r.n)
	for i, x := range values {
		d.Row(uint64(i))
		r.values[i] = int64(a.respond(&d, uint64(x)))
	}
	return r, mechanism.CheckAll(m.Purpose, m.Share, a.checks()...)
}

// Len returns the number of reports.
func (r *Reports) Len() int { return r.n }

// Counts returns how many reports support each category.
func (r *Reports) Counts() []int64 {
	counts := make([]int64, r.m.Categories)
	switch r.m.Kind {
	case GRR:
		for _, v := range r.values {
			counts[v]++
		}
	case OLH:
		g := r.m.Hashes()
		for i, v := range r.values {
			h := r.hashes[i]
			for x := range counts {
				if h.of(uint64(x), g) == uint64(v) {
					counts[x]++
				}
			}
		}
	default:
		for i, w := range r.bits {
			at := i % r.words * 64
			for ; w != 0; w &= w - 1 {
				counts[at+bits.TrailingZeros64(w)]++
			}
		}
	}
	return counts
}

// Frequencies returns the unbiased estimates (c/n - Q)/(P - Q) of the shares of all categories. They may be negative or
// above 1 and need not sum to 1. It fails if there are no reports.
func (r *Reports) Frequencies() ([]float64, error) {
	if r.n == 0 {
		return nil, fmt.Errorf("%s: no reports to estimate from", r.m.Purpose)
	}
	q, gap := r.m.Q(), r.m.Gap()
	f := make([]float64, r.m.Categories)
	for i, c := range r.Counts() {
		f[i] = (float64(c)/float64(r.n) - q) / gap
	}
	return f, nil
}

// hash is a function x -> (a x + b mod 2^61-1) mod g of a pairwise independent
// family (Carter and Wegman, 1979), to within g/2^61.
type hash struct{ a, b uint64 }

const mersenne61 = 1<<61 - 1

func drawHash(d *mechanism.Draws) hash { return hash{d.Below(mersenne61), d.Below(mersenne61)} }

func (h hash) of(x uint64, g int) uint64 {
	hi, lo := bits.Mul64(h.a, x)
	s := lo&mersenne61 + (lo>>61 | hi<<3) + h.b // below 3 (2^61-1)
	s = s&mersenne61 + s>>61
	if s >= mersenne61 {
		s -= mersenne61
	}
	return s % uint64(g)
}
