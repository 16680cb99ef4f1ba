package dataset

import (
	"fmt"
)

// Dedupe names what to do with repeated (user, item) pairs.
type Dedupe uint8

// The choices for repeated pairs. First and last are in the row order of the log.
const (
	KeepRepeats Dedupe = iota
	KeepFirst
	KeepLast
)

// Names of the rungs of every recipe.
const (
	RungRaw       = "raw"
	RungTrain     = "train"
	RungValid     = "valid"
	RungTest      = "test"
	RungKnownTest = "test, known items" // test rows whose item occurs in train
)

// MinRating returns the rows with a value of at least least. It fails on a log without values.
func (l *Log) MinRating(least float32) (*Log, error) {
	if l.Values == nil {
		return nil, &Error{File: l.Name, Field: "rating", Msg: "the recipe filters by rating but the data have none"}
	}
	keep := make([]bool, l.Len())
	for row, v := range l.Values {
		keep[row] = v >= least
	}
	return l.nonEmpty(keep, ratingRung(least))
}

// MinItem returns the rows of items with at least k rows, in one pass.
func (l *Log) MinItem(k int) (*Log, error) { return l.minRows(l.Items, len(l.ItemIDs), "items", k) }

// MinUser returns the rows of users with at least k rows, in one pass.
func (l *Log) MinUser(k int) (*Log, error) { return l.minRows(l.Users, len(l.UserIDs), "users", k) }

func (l *Log) minRows(col []int32, ids int, what string, k int) (*Log, error) {
	keep := make([]bool, l.Len())
	counts := count(col, ids)
	for row, i := range col {
		keep[row] = counts[i] >= k
	}
	return l.nonEmpty(keep, minRung(what, k))
}

// Dedupe returns the log with one row of each (user, item) pair, or with all rows.
func (l *Log) Dedupe(how Dedupe) *Log {
	if how == KeepRepeats {
		return l
	}
	keep := make([]bool, l.Len())
	lastOf := make([]int, len(l.ItemIDs)) // row+1 of the pair's kept row, among the current user's
	off := l.Offsets()
	for u := range l.UserIDs {
		for row := off[u]; row < off[u+1]; row++ {
			item := l.Items[row]
			if before := lastOf[item] - 1; before >= off[u] && before < row {
				if how == KeepFirst {
					continue
				}
				keep[before] = false
			}
			keep[row], lastOf[item] = true, row+1
		}
	}
	return l.Keep(keep)
}

// LastN returns the last n rows of each user. It does not filter again afterwards, so an item may have fewer rows than
// an earlier k-core kept.
func (l *Log) LastN(n int) *Log {
	keep := make([]bool, l.Len())
	off := l.Offsets()
	for u := range l.UserIDs {
		for row := max(off[u], off[u+1]-n); row < off[u+1]; row++ {
			keep[row] = true
		}
	}
	return l.Keep(keep)
}

// Core returns the k-core: it drops users with fewer than k rows, then items with fewer than k of the remaining rows,
// and repeats until nothing changes. It counts rows, not distinct pairs. The ladder has one rung for each round that
// dropped something and a last one named "k-core".
func (l *Log) Core(k int) (*Log, Ladder, error) {
	keep := make([]bool, l.Len())
	for row := range keep {
		keep[row] = true
	}
	var ladder Ladder
	users, items := make([]int, len(l.UserIDs)), make([]int, len(l.ItemIDs))
	name := fmt.Sprintf("%d-core", k)
	for round := 1; ; round++ {
		dropped := dropRare(keep, l.Users, users, k) + dropRare(keep, l.Items, items, k)
		if dropped == 0 {
			break
		}
		r := countRung(fmt.Sprintf("%s round %d", name, round), keep, l)
		ladder = append(ladder, r)
		if r.Rows == 0 {
			break // the error below names the filter
		}
	}
	out, err := l.nonEmpty(keep, name)
	if err != nil {
		return nil, ladder, err
	}
	return out, append(ladder, out.Rung(name)), nil
}

// dropRare clears keep for rows whose id in col has 1..k-1 kept rows and returns how many rows it cleared. count is
// scratch space with one entry per id.
func dropRare(keep []bool, col []int32, count []int, k int) int {
	clear(count)
	for row, alive := range keep {
		if alive {
			count[col[row]]++
		}
	}
	dropped := 0
	for row, alive := range keep {
		if alive && count[col[row]] < k {
			keep[row] = false
			dropped++
		}
	}
	return dropped
}

// nonEmpty returns the rows of Keep, and fails with the name of the filter if no row is left.
func (l *Log) nonEmpty(keep []bool, filter string) (*Log, error) {
	out := l.Keep(keep)
	if out.Len() == 0 {
		return nil, &Error{File: l.Name,
			Msg: fmt.Sprintf("no rows left after filter %q (%d rows of %d users before it)", filter, l.Len(),
				len(l.UserIDs)),
			Hint: "loosen that filter, or check that the data are the ones the recipe is for"}
	}
	return out, nil
}
