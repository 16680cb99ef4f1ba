package lists

import (
	"cmp"
	"fmt"
	"slices"

	"privrec/internal/dataset"
)

// trueScores returns an error if the scores of lists are places: in every list they count the rows, 1, 2, 3 or 0, 1, 2,
// in the order of the file. The largest score counts as best, so such a column would reverse every list.
func (f *File) trueScores(ids *IDs) error {
	rising, places := f.rising(len(ids.Users.IDs))
	if !rising || !places {
		return nil
	}
	first := f.Rows[0]
	return f.Fail(first, "score",
		fmt.Sprintf("the scores of every list are %v, %v, ... in the order of the rows, which looks like a rank: the "+
			"largest score is best, and would turn the lists around", first.Score, first.Score+1),
		"call the column rank if its smallest number is best; where they are scores, write the rows of each list "+
			"with the largest first")
}

// Rising reports whether the scores of every list with several rows rise with the rows of the file, and some list has
// three. Files mostly have the best item first, so such numbers are places or distances, where the smallest is best.
func (f *File) Rising(users int) bool {
	rising, _ := f.rising(users)
	return f.Scored && rising
}

// rising returns the result of Rising. places reports whether the numbers of every list count its rows, from 0 or from
// 1.
func (f *File) rising(users int) (rising, places bool) {
	n, last := make([]int32, users), make([]float64, users)
	places = true
	for _, r := range f.Rows {
		switch {
		case n[r.User] == 0:
			places = places && (r.Score == 0 || r.Score == 1)
		case !(r.Score > last[r.User]):
			return false, false
		default:
			places = places && r.Score == last[r.User]+1
		}
		n[r.User], last[r.User] = n[r.User]+1, r.Score
	}
	return slices.Max(n) >= 3, places
}

// ByUser returns the rows of a file grouped by user. users is the length of the result; a user without a row has nil.
// Rows of lists are ordered best first: by rank, by score if there are no ranks, and else in the order of the file.
// Histories are ordered by time, if they have times. Equal rows keep the order of the file.
func (f *File) ByUser(users int) [][]Row {
	n := make([]int, users)
	for _, r := range f.Rows {
		n[r.User]++
	}
	out := make([][]Row, users)
	for u, n := range n {
		if n > 0 {
			out[u] = make([]Row, 0, n)
		}
	}
	for _, r := range f.Rows {
		out[r.User] = append(out[r.User], r)
	}
	for _, rows := range out {
		switch {
		case f.Ranked || f.Timed:
			slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Rank, b.Rank) })
		case f.Scored:
			slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Score, a.Score) })
		}
	}
	return out
}

// agree returns an error if ranks and scores order a list differently: of two rows, one has the better rank and the
// other the better score.
func (f *File) agree(ids *IDs) error {
	users := len(ids.Users.IDs)
	lists, bad, against := 0, 0, 0
	var at [2]Row // of the first list that differs
	for _, rows := range f.ByUser(users) {
		if len(rows) < 2 {
			continue
		}
		lists++
		rises, falls := -1, false
		for k := 1; k < len(rows); k++ {
			if rows[k].Score > rows[k-1].Score && rises < 0 {
				rises = k
			}
			falls = falls || rows[k].Score < rows[k-1].Score
		}
		if rises < 0 {
			continue
		}
		if bad++; !falls {
			against++
		}
		if bad == 1 {
			at = [2]Row{rows[rises-1], rows[rises]}
		}
	}
	if bad == 0 {
		return nil
	}
	item := func(r Row) string { return dataset.Quote([]byte(ids.Items.IDs[r.Item])) }
	how := fmt.Sprintf("in %d of %d lists", bad, lists)
	if against == lists {
		how = "in all lists, whose scores rise with the ranks"
	}
	return f.Fail(at[1], "rank",
		fmt.Sprintf("ranks and scores order the items differently %s: of user %s, item %s has rank %d and score %v, "+
			"item %s rank %d and score %v", how,
			dataset.Quote([]byte(ids.Users.IDs[at[0].User])), item(at[0]), at[0].Rank, at[0].Score, item(at[1]),
			at[1].Rank,
			at[1].Score),
		"rank 1 is best, and so is the largest score: leave out the column that does not order the lists")
}
