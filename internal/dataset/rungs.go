package dataset

import (
	"fmt"
	"strconv"
)

// minRung names the rung of rows whose user or item has at least k.
func minRung(what string, k int) string { return fmt.Sprintf("%s >= %d rows", what, k) }

// ratingRung names the rung of rows with at least a rating.
func ratingRung(least float32) string {
	return "rating >= " + strconv.FormatFloat(float64(least), 'g', -1, 32)
}

// countRung returns the counts of users, items and rows that keep leaves of l.
func countRung(name string, keep []bool, l *Log) Rung {
	r := Rung{Name: name}
	users, items := make([]bool, len(l.UserIDs)), make([]bool, len(l.ItemIDs))
	for row, alive := range keep {
		if !alive {
			continue
		}
		r.Rows++
		if u := l.Users[row]; !users[u] {
			users[u] = true
			r.Users++
		}
		if i := l.Items[row]; !items[i] {
			items[i] = true
			r.Items++
		}
	}
	return r
}

// partRung returns the counts of one part before unknown items are removed.
func partRung(l *Log, parts []Part, p Part) Rung {
	keep := make([]bool, len(parts))
	perUser := make([]int, len(l.UserIDs))
	for row, q := range parts {
		if keep[row] = q == p; keep[row] {
			perUser[l.Users[row]]++
		}
	}
	r := countRung(p.String(), keep, l)
	for _, n := range perUser {
		r.Samples += max(0, n-1)
	}
	return r
}
