package pricdsr

import (
	"slices"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/printed"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// printedDomains maps domains to the paper's names.
var printedDomains = map[string]string{"movies": "Movie", "books": "Book", "cds": "CD"}

// printedFor returns the means that Tables II and III print for a setting, by metric; nil if they print none. Rows in
// both tables are equal.
func printedFor(c Config) map[string]float64 {
	if c.Data.Name != paperData {
		return nil
	}
	var setting printed.Setting
	if e := c.Auxiliary.Epsilon; e != 0 {
		setting = printed.Setting{"eps": printed.Word(strconv.FormatFloat(e, 'g', -1, 64))}
	}
	for _, table := range []int{2, 3} {
		data := printedDomains[c.Data.Target] + "<-" + printedDomains[c.Data.Auxiliary]
		if found := printed.Find("pricdsr", table, c.Method(), data, setting); len(found) > 0 {
			return printed.Shares(found, "")
		}
	}
	return nil
}

// paperData names the domains of the paper.
const paperData = "cd-amazon-movie-cd-book"

// sequence returns the mechanism of a setting for a catalogue of items.
func (c Config) sequence(items int) sequence.Mechanism {
	m := sequence.Mechanism{
		Purpose: purposeRows, Variant: sequence.Variant(c.Auxiliary.Mechanism), Epsilon: c.Auxiliary.Epsilon,
		Items: items, Length: c.Data.Length, Limits: true,
	}
	if c.Auxiliary.Columns > 0 {
		m.Length = c.Auxiliary.Columns
	}
	return m
}

const purposeRows = "auxiliary rows"

// release replaces rows of length cells by an output of the mechanism, and records it. No other function calls the
// mechanism. If rows are longer than the mechanism's, the last cells are released and moved one column to the front,
// since training leaves out the first column or the last. The others become padding.
func release(m sequence.Mechanism, l *privacy.Ledger, s rng.Stream, rows []int32, length int) error {
	bits := mechanism.Keyed(s)
	if m.Length == length {
		return sequence.Perturb(m, l, bits, nil, rows, tensor.Workers())
	}
	users, front := len(rows)/length, length-m.Length
	last := make([]int32, 0, users*m.Length)
	for u := range users {
		last = append(last, rows[u*length+front:(u+1)*length]...)
	}
	if err := sequence.Perturb(m, l, bits, nil, last, tensor.Workers()); err != nil {
		return err
	}
	clear(rows)
	for u := range users {
		copy(rows[u*length+front-1:(u+1)*length-1], last[u*m.Length:])
	}
	return nil
}

// auxiliaryRows returns the data matrix of the auxiliary domain, train and validation items, perturbed as the setting
// says. items is the size of the catalogue.
func (c Config) auxiliaryRows(d *dataset.Domain, items int, l *privacy.Ledger, env *run.Env) ([]int32, error) {
	rows := d.Matrix(c.Data.Length, true)
	a := c.Auxiliary
	if a.Kind == AuxiliaryPermuted || a.Kind == AuxiliaryPlacebo {
		s := env.Seed.Stream("pricdsr.permute")
		from, n := slices.Clone(rows), c.Data.Length
		for u, v := range s.Perm(len(d.Train)) {
			copy(rows[u*n:(u+1)*n], from[int(v)*n:(int(v)+1)*n])
		}
	}
	if a.released() || a.Kind == AuxiliaryUniform {
		noise, err := env.Noise("pricdsr", "rows")
		if err != nil {
			return nil, err
		}
		if err := release(c.sequence(items), l, noise, rows, c.Data.Length); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
