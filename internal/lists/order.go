package lists

import (
	"cmp"
	"slices"
)

// ByUser groups the rows of a file by user. users is the length of what it returns, which is nil for a user without
// a row. Rows of lists stand best first: by rank, by score where there are no ranks, and else in the order of the
// file. Histories stand in the order of their times, where they have some. Equal rows keep the order of the file.
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
