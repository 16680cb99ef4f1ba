package dataset

import (
	"errors"
	"fmt"

	"privrec/internal/rng"
)

// Withholding says how data are loaded without their test rows, while settings are chosen. Package registry obeys it
// before any task sees a row.
type Withholding struct {
	// Seed replaces the run's seed for generated rows and random splits, so that all trials of a study have the same
	// rows.
	Seed rng.Seed
	// Share in (0,1) of every user's training rows takes the place of test rows if the recipe holds out no validation
	// rows.
	Share float64
}

// ErrWithheld is the cause of the error for a request that needs test rows while settings are chosen.
var ErrWithheld = errors.New("test rows are withheld while settings are chosen")

// InPlace says which rows take the place of test rows.
type InPlace uint8

// The values of InPlace.
const (
	TestRows  InPlace = iota // test rows themselves: nothing is withheld
	ValidRows                // the recipe's validation rows
	CutRows                  // rows cut from train, of a recipe without validation rows
)

// Check returns an error for a share that cannot be cut.
func (w Withholding) Check() error {
	if !(w.Share > 0 && w.Share < 1) {
		return fmt.Errorf("dataset: share of rows cut from train is %v, want between 0 and 1", w.Share)
	}
	return nil
}

// Parts replaces the test rows in the parts of a log by others: the validation rows or, without any, the share of every
// user's training rows, rounded down and drawn as Lots draws about rows.
func (w Withholding) Parts(l *Log, parts []Part) InPlace {
	from := CutRows
	for row, p := range parts {
		switch p {
		case Test:
			parts[row] = dropped
		case Valid:
			from = ValidRows
		}
	}
	if from == ValidRows {
		for row, p := range parts {
			if p == Valid {
				parts[row] = Test
			}
		}
		return from
	}
	var train []int
	lots, off := NewLots(w.Seed.Stream("withhold")), l.Offsets()
	for u, id := range l.UserIDs {
		train = trainRows(train[:0], parts, off[u], off[u+1])
		for _, k := range least(lots.Rows(id, len(train), func(k int) string { return l.ItemIDs[l.Items[train[k]]] }),
			floorShare(w.Share, len(train))) {
			parts[train[k]] = Test
		}
	}
	return from
}

// Sequences removes the test rows from sequences. Their validation rows, or the samples that a protocol holds out, will
// take the place of test rows.
func (w Withholding) Sequences(s *Sequential) {
	s.Test, s.InPlace = nil, CutRows
	if s.Valid != nil {
		s.InPlace = ValidRows
	}
}
