package descent

import "fmt"

// distinctRows checks that the rows of every example are distinct rows of a table. Its time depends on the number of
// rows given, not on the size of the table.
type distinctRows struct {
	seen    []uint32 // of a row: the last example that touched it, by its number
	example uint32
}

// newDistinct returns a check for a table of the given number of rows.
func newDistinct(rows int) distinctRows { return distinctRows{seen: make([]uint32, rows)} }

// Check returns an error for a row that is not in the table, and for a row that is given twice.
func (d *distinctRows) Check(rows []int32) error {
	if d.example++; d.example == 0 { // after 2^32 examples the numbers start again
		clear(d.seen)
		d.example = 1
	}
	for _, r := range rows {
		if uint(r) >= uint(len(d.seen)) {
			return fmt.Errorf("gradient of row %d, the table has %d", r, len(d.seen))
		}
		if d.seen[r] == d.example {
			return fmt.Errorf("a gradient has row %d twice, want distinct rows", r)
		}
		d.seen[r] = d.example
	}
	return nil
}
