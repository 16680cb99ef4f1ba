package pricdsr

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// part is both domains' rows as one training sees them: cols columns a user, 0 where
// there is no item. Columns of the two domains stand beside each other by their number,
// not by time, which the mechanism destroys: a window of the auxiliary domain may hold
// what came after the item asked for.
type part struct {
	name string
	cols int
	rows [2][]int32
	// known marks the items of the target domain that are in its rows.
	known []bool
}

// row is a user's row of a domain.
func (p *part) row(domain int, user int32) []int32 {
	return p.rows[domain][int(user)*p.cols : (int(user)+1)*p.cols]
}

// sequence is the mechanism of a setting for a catalogue of so many items.
func (c Config) sequence(items int) mechanism.Sequence {
	return mechanism.Sequence{
		Purpose: purposeRows, Variant: mechanism.Variant(c.Auxiliary.Mechanism), Epsilon: c.Auxiliary.Epsilon,
		Items: items, Length: c.Data.Length, Limits: true,
	}
}

const purposeRows = "auxiliary rows"

// release replaces rows by an output of the mechanism, which it records. It is the only
// place that calls it.
func release(m mechanism.Sequence, l *privacy.Ledger, s rng.Stream, rows []int32) error {
	return mechanism.PerturbSequences(m, l, mechanism.Keyed(s), nil, rows, tensor.Workers())
}

// auxiliaryRows is the data matrix of the auxiliary domain, train and validation items,
// as the setting has it. The items are those of the whole domain: its catalogue.
func (c Config) auxiliaryRows(d *dataset.Domain, l *privacy.Ledger, seed rng.Seed, tag string) ([]int32, error) {
	rows := d.Matrix(c.Data.Length, true)
	a := c.Auxiliary
	if a.Kind == AuxiliaryPermuted || a.Kind == AuxiliaryPlacebo {
		s := seed.Stream("pricdsr.permute")
		from, n := slices.Clone(rows), c.Data.Length
		for u, v := range s.Perm(len(d.Train)) {
			copy(rows[u*n:(u+1)*n], from[int(v)*n:(int(v)+1)*n])
		}
	}
	if a.released() || a.Kind == AuxiliaryUniform {
		if err := release(c.sequence(d.Items), l, seed.Stream("pricdsr."+tag+".rows"), rows); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// cut takes one column away: the last one, where validation items stand, for the
// training that validation rows measure, the first one for the training on all. It is
// the same column for every user, so that it tells nothing beyond the rows released.
func cut(rows []int32, length int, first bool) []int32 {
	out := make([]int32, 0, len(rows)/length*(length-1))
	lo, hi := 0, length-1
	if first {
		lo, hi = 1, length
	}
	for at := 0; at < len(rows); at += length {
		out = append(out, rows[at+lo:at+hi]...)
	}
	return out
}

// newPart is the rows of the tuning (without validation items) or of the final training.
// Of the target domain only a validation item is left out, not the last training item of
// users without one.
func (c Config) newPart(name string, d *dataset.Cross, auxiliary []int32, final bool) *part {
	target := &d.Domains[0]
	p := &part{name: name, cols: c.Data.Length - 1}
	p.rows[0] = target.Matrix(p.cols, final)
	if auxiliary != nil {
		p.rows[1] = cut(auxiliary, c.Data.Length, final)
	}
	p.known = make([]bool, target.Items+1)
	for _, i := range p.rows[0] {
		p.known[i] = true
	}
	p.known[0] = false
	return p
}

// loadCross reads the data and checks that they can be ranked.
func (c Config) loadCross(ctx context.Context, seed rng.Seed) (*dataset.Cross, error) {
	d, err := dataset.LoadCross(ctx, c.Data.Name, c.Data.Target, c.Data.Auxiliary, dataset.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	for _, v := range []struct {
		what string
		rows []int32
	}{{"test", d.Domains[0].Test}, {"validation", d.Domains[0].Valid}} {
		if !slices.ContainsFunc(v.rows, func(i int32) bool { return i != 0 }) {
			return nil, &dataset.Error{File: d.Name, Msg: fmt.Sprintf("the split leaves no %s rows of %s", v.what, d.Domains[0].Name)}
		}
	}
	return d, nil
}
