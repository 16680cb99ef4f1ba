package pricdsr

import (
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// printedRow is a setting of tables II and III with the paper's means of three runs:
// HR and NDCG at 5 and 10.
type printedRow struct {
	target, auxiliary, method string
	epsilon                   float64 // 0: no mechanism
	hr5, hr10, ndcg5, ndcg10  float64
}

// printedRows are those of both tables; rows that stand in both are equal.
var printedRows = [...]printedRow{
	{"movies", "books", "DASL-single", 0, 0.1754, 0.2701, 0.1164, 0.1468},
	{"movies", "books", "DASL", 0, 0.1903, 0.2860, 0.1269, 0.1578},
	{"movies", "books", "PriCDSR-DASL", 10, 0.1791, 0.2755, 0.1174, 0.1484},
	{"movies", "cds", "DASL-single", 0, 0.1763, 0.2686, 0.1170, 0.1467},
	{"movies", "cds", "DASL", 0, 0.1942, 0.2858, 0.1286, 0.1580},
	{"movies", "cds", "PriCDSR-DASL", 10, 0.1823, 0.2750, 0.1202, 0.1500},
	{"books", "movies", "DASL-single", 0, 0.1759, 0.2681, 0.1171, 0.1466},
	{"books", "movies", "DASL", 0, 0.1860, 0.2788, 0.1235, 0.1533},
	{"books", "movies", "PriCDSR-DASL", 10, 0.1839, 0.2821, 0.1211, 0.1527},
	{"books", "cds", "DASL-single", 0, 0.1759, 0.2685, 0.1160, 0.1459},
	{"books", "cds", "DASL", 0, 0.1830, 0.2803, 0.1216, 0.1529},
	{"books", "cds", "PriCDSR-DASL", 10, 0.1832, 0.2802, 0.1210, 0.1520},
	{"cds", "movies", "DASL-single", 0, 0.1833, 0.2824, 0.1225, 0.1542},
	{"cds", "movies", "DASL", 0, 0.1991, 0.2990, 0.1322, 0.1642},
	{"cds", "movies", "PriCDSR-DASL", 10, 0.2025, 0.3084, 0.1348, 0.1688},
	{"cds", "books", "DASL-single", 0, 0.1615, 0.2488, 0.1066, 0.1346},
	{"cds", "books", "DASL", 0, 0.1875, 0.2851, 0.1239, 0.1552},
	{"cds", "books", "PriCDSR-DASL", 10, 0.2052, 0.3054, 0.1381, 0.1703},
	{"movies", "books", "PriCDSR-DASL", 1, 0.1713, 0.2659, 0.1123, 0.1426},
	{"movies", "books", "PriCDSR-DASL", 2, 0.1761, 0.2751, 0.1160, 0.1478},
	{"movies", "books", "PriCDSR-DASL", 5, 0.1750, 0.2680, 0.1155, 0.1453},
	{"movies", "books", "PriCDSR-DASL", 20, 0.1920, 0.2886, 0.1277, 0.1587},
	{"movies", "books", "PriCDSR-DASL", 50, 0.1856, 0.2815, 0.1239, 0.1548},
	{"cds", "books", "PriCDSR-DASL", 1, 0.1995, 0.3046, 0.1321, 0.1659},
	{"cds", "books", "PriCDSR-DASL", 2, 0.1999, 0.3022, 0.1330, 0.1659},
	{"cds", "books", "PriCDSR-DASL", 5, 0.1904, 0.2944, 0.1231, 0.1566},
	{"cds", "books", "PriCDSR-DASL", 20, 0.1906, 0.2913, 0.1278, 0.1602},
	{"cds", "books", "PriCDSR-DASL", 50, 0.1804, 0.2822, 0.1204, 0.1532},
}

// printedFor returns the paper's row for a setting, by metric; nil where it prints none.
func printedFor(c Config) map[string]float64 {
	for _, r := range printedRows {
		if c.Data.Name == paperData && r.target == c.Data.Target && r.auxiliary == c.Data.Auxiliary && r.method == c.Method() && r.epsilon == c.Auxiliary.Epsilon {
			return map[string]float64{"HR@5": r.hr5, "HR@10": r.hr10, "NDCG@5": r.ndcg5, "NDCG@10": r.ndcg10}
		}
	}
	return nil
}

// paperData are the domains of the paper.
const paperData = "cd-amazon-movie-cd-book"

// sequence returns the mechanism of a setting for a catalogue of so many items.
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

// release replaces rows of length cells by an output of the mechanism, which it records. It is the
// only place that calls it. Of longer rows than the mechanism's the last cells are released and
// moved one column to the front, since training leaves out the first column or the last. The others
// become padding.
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

// auxiliaryRows returns the data matrix of the auxiliary domain, train and validation items,
// as the setting has it. items is the size of the catalogue.
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
