package dataset

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/rng"
)

// SplitKind names a way to split rows.
type SplitKind string

// The ways to split rows.
const (
	SplitFraction    SplitKind = "fraction"      // first floor(f*m) of a user's m rows train, the rest test
	SplitLeaveOneOut SplitKind = "leave-one-out" // last row test, the one before it valid if asked, the rest train
	SplitFixed       SplitKind = "fixed"         // as the source files are split
	SplitTime        SplitKind = "time"          // rows before one moment train, rows from it on test
	// random rows of a user train, the rest test; both parts keep the order of time
	SplitRandom SplitKind = "random"
)

// Split says how to split a log into parts.
type Split struct {
	Kind     SplitKind
	Fraction float64 // train share in (0,1), for SplitFraction, SplitTime and SplitRandom
	Valid    bool    // SplitLeaveOneOut: the last row but one is for validation
	Nearest  bool    // SplitRandom: round(f*m) of a user's m rows train, though at most m-1, instead of floor(f*m)
	// ValidShare in [0,1) moves share*m random rows of every user's m rows of train to valid, rounded at random so that
	// it is right on average, and at most m-1. For SplitRandom and SplitFixed.
	ValidShare float64
	Ordered    bool     // SplitFixed: the source has the rows of a part in the order of time
	Seed       rng.Seed // seed of the random choices; registry.Load takes it from its View
	ByPlace    bool     // random choices are those of earlier programs, see View
}

// Random reports whether the parts depend on the seed.
func (s Split) Random() bool { return s.Kind == SplitRandom || s.ValidShare > 0 }

// Parts returns the part of every row.
//
// A share counts as the decimal fraction in which it is written, so 0.29*100 gives 29 rows, as the text of a paper
// means, not the 28 of binary arithmetic. SplitLeaveOneOut leaves users with too few rows (fewer than 2, with Valid 3)
// in train whole. SplitTime cuts at the time of row floor(f*n) of all rows in time order; all rows of exactly that time
// are test. Random choices are drawn about users and rows by their ids, see Lots.
func (s Split) Parts(l *Log) ([]Part, error) {
	if (s.Kind == SplitFraction || s.Kind == SplitTime || s.Kind == SplitRandom) &&
		!(s.Fraction > 0 && s.Fraction < 1) {
		return nil, fmt.Errorf("dataset: split %q needs a fraction between 0 and 1, got %v", s.Kind, s.Fraction)
	}
	if s.ValidShare != 0 && (!(s.ValidShare > 0 && s.ValidShare < 1) || s.Kind != SplitRandom && s.Kind != SplitFixed) {
		return nil, fmt.Errorf("dataset: split %q cannot hold out a share of %v of its training rows", s.Kind,
			s.ValidShare)
	}
	parts := make([]Part, l.Len())
	off := l.Offsets()
	switch s.Kind {
	case SplitFraction:
		for u := range l.UserIDs {
			cut := off[u] + floorShare(s.Fraction, off[u+1]-off[u])
			for row := cut; row < off[u+1]; row++ {
				parts[row] = Test
			}
		}
	case SplitLeaveOneOut:
		held := 1
		if s.Valid {
			held = 2
		}
		for u := range l.UserIDs {
			if end := off[u+1]; end-off[u] > held {
				parts[end-1] = Test
				if s.Valid {
					parts[end-2] = Valid
				}
			}
		}
	case SplitFixed:
		if l.Parts == nil {
			return nil, &Error{File: l.Name,
				Msg: "the recipe takes the split of the source, but the source is not split"}
		}
		copy(parts, l.Parts)
	case SplitTime:
		if l.Times == nil {
			return nil, &Error{File: l.Name, Field: "timestamp",
				Msg: "the recipe splits by time but the data have none"}
		}
		sorted := slices.Clone(l.Times)
		slices.Sort(sorted)
		if len(sorted) == 0 {
			break
		}
		cut := sorted[floorShare(s.Fraction, len(sorted))]
		for row, t := range l.Times {
			if t >= cut {
				parts[row] = Test
			}
		}
	case SplitRandom:
		lots := NewLots(s.Seed.Stream("split"))
		for u, id := range l.UserIDs {
			m := off[u+1] - off[u]
			train := floorShare(s.Fraction, m)
			if s.Nearest {
				train = min((floorShare(s.Fraction, 2*m)+1)/2, max(0, m-1))
			}
			if s.ByPlace {
				s.testByPlace(parts, u, off[u], off[u+1], train)
				continue
			}
			for _, k := range least(lots.Rows(id, m, func(k int) string { return l.ItemIDs[l.Items[off[u]+k]] }),
				m-train) {
				parts[off[u]+k] = Test
			}
		}
	default:
		return nil, fmt.Errorf("dataset: unknown split %q", s.Kind)
	}
	s.holdOut(l, parts)
	return parts, nil
}

// holdOut moves a share of every user's training rows to validation. At least one row of a user stays.
func (s Split) holdOut(l *Log, parts []Part) {
	switch {
	case s.ValidShare == 0:
		return
	case s.ByPlace:
		s.validByPlace(parts)
		return
	}
	lots, off := NewLots(s.Seed.Stream("split valid")), l.Offsets()
	var train []int
	for u, id := range l.UserIDs {
		train = trainRows(train[:0], parts, off[u], off[u+1])
		held := min(lots.share(id, s.ValidShare, len(train)), max(0, len(train)-1))
		for _, k := range least(lots.Rows(id, len(train), func(k int) string { return l.ItemIDs[l.Items[train[k]]] }),
			held) {
			parts[train[k]] = Valid
		}
	}
}

// trainRows appends the indices of the training rows among rows from to end.
func trainRows(to []int, parts []Part, from, end int) []int {
	for row := from; row < end; row++ {
		if parts[row] == Train {
			to = append(to, row)
		}
	}
	return to
}

// floorShare returns floor(f*m), below m, for the shortest decimal fraction that reads as f in
// (0,1). It computes with whole numbers: digits beyond the 19th after the point do not count.
func floorShare(f float64, m int) int {
	digits := strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "0.")
	num, den := uint64(0), uint64(1)
	for _, c := range []byte(digits[:min(len(digits), 19)]) {
		num, den = 10*num+uint64(c-'0'), 10*den
	}
	hi, lo := bits.Mul64(num, uint64(m))
	q, _ := bits.Div64(hi, lo, den)
	return int(q)
}

// Join returns one log of files that come already split. Rows of train come before rows of test, each in file order. It
// keeps values and times only if both files have them.
func Join(train, test *Log) *Log {
	b := Builder{name: train.Name}
	for _, side := range []struct {
		*Log
		part Part
	}{{train, Train}, {test, Test}} {
		for row := range side.Users {
			b.UserOf = append(b.UserOf, b.Users.ID([]byte(side.UserIDs[side.Users[row]])))
			b.ItemOf = append(b.ItemOf, b.Items.ID([]byte(side.ItemIDs[side.Items[row]])))
			b.Parts = append(b.Parts, side.part)
		}
	}
	if train.Values != nil && test.Values != nil {
		b.Values = slices.Concat(train.Values, test.Values)
	}
	if train.Times != nil && test.Times != nil {
		b.Times = slices.Concat(train.Times, test.Times)
	}
	return b.Log(SourceHash(train.Hash, test.Hash))
}
