package dataset

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"privrec/internal/rng"
)

// Withholding says how data are loaded without their test rows, while settings are chosen. Package registry obeys it
// before any task sees a row. See Withhold.
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

type withholdingKey struct{}

// withholding counts the withholdings of this process that have not ended.
var withholding atomic.Int32

// Withhold returns a context under which test rows cannot be loaded. Until end is called, data can be loaded only under
// such contexts: one made from nothing is refused too.
func Withhold(ctx context.Context, w Withholding) (_ context.Context, end func(), err error) {
	if !(w.Share > 0 && w.Share < 1) {
		return nil, nil, fmt.Errorf("dataset: share of rows cut from train is %v, want between 0 and 1", w.Share)
	}
	withholding.Add(1)
	var ended atomic.Bool
	return context.WithValue(ctx, withholdingKey{}, w), func() {
		if !ended.Swap(true) {
			withholding.Add(-1)
		}
	}, nil
}

// Withheld returns how data are to be loaded under a context, nil for whole. It fails with ErrWithheld if settings are
// being chosen and the context does not withhold test rows.
func Withheld(ctx context.Context) (*Withholding, error) {
	if w, ok := ctx.Value(withholdingKey{}).(Withholding); ok {
		return &w, nil
	}
	if withholding.Load() > 0 {
		return nil, ErrWithheld
	}
	return nil, nil
}

// RefuseWithheld returns an error for data that have no rows to take the place of test rows, while settings are chosen.
// what names the data.
func RefuseWithheld(ctx context.Context, what string) error {
	w, err := Withheld(ctx)
	if err != nil || w != nil {
		return &Error{File: what, Msg: "these data cannot be read without their test rows", Err: ErrWithheld,
			Hint: "settings can be chosen under the protocols top-n and next-item"}
	}
	return nil
}

// dropped marks a row that belongs to no part.
const dropped Part = 255

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
