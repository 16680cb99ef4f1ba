package pricdsr

import (
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// sequence returns the mechanism of a setting for a catalogue of so many items.
func (c Config) sequence(items int) sequence.Mechanism {
	return sequence.Mechanism{
		Purpose: purposeRows, Variant: sequence.Variant(c.Auxiliary.Mechanism), Epsilon: c.Auxiliary.Epsilon,
		Items: items, Length: c.Data.Length, Limits: true,
	}
}

const purposeRows = "auxiliary rows"

// release replaces rows by an output of the mechanism, which it records. It is the only
// place that calls it.
func release(m sequence.Mechanism, l *privacy.Ledger, s rng.Stream, rows []int32) error {
	return sequence.Perturb(m, l, mechanism.Keyed(s), nil, rows, tensor.Workers())
}

// auxiliaryRows returns the data matrix of the auxiliary domain, train and validation items,
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
