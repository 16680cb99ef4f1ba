package dataset

import (
	"testing"
)

// Rows that are left out are counted by their reason: a new item of their own, or only the
// validation row of their user. A test item that is known from a ranked validation row stays.
func TestLeftOut(t *testing.T) {
	l := logOf(
		[4]int{1, 1, 1, 1}, [4]int{1, 2, 2, 1}, [4]int{1, 3, 3, 1}, // valid 2, test 3: ranked, 3 by user 4's validation row
		[4]int{2, 2, 1, 1}, [4]int{2, 1, 2, 1}, [4]int{2, 8, 3, 1}, // test 8 is new
		[4]int{3, 1, 1, 1}, [4]int{3, 7, 2, 1}, [4]int{3, 2, 3, 1}, // valid 7 is new, test 2 falls with it
		[4]int{4, 3, 1, 1}, [4]int{4, 3, 2, 1}, [4]int{4, 1, 3, 1}, // ranked
		[4]int{5, 1, 1, 1}, [4]int{5, 6, 2, 1}, [4]int{5, 9, 3, 1}, // both are new
		[4]int{6, 1, 1, 1}, [4]int{6, 2, 2, 1}, // too few rows to hold any out
	)
	d := leaveOneOut("x", l, l.UserIDs)
	if want := (LeftOut{ValidRows: 5, TestRows: 5, ValidItem: 2, TestItem: 2, TestByValid: 1}); d.Left != want || d.Left.Test() != 3 {
		t.Errorf("%+v, want %+v", d.Left, want)
	}
	valid, test := 0, 0
	for u := range d.Valid {
		valid, test = valid+min(1, int(d.Valid[u])), test+min(1, int(d.Test[u]))
	}
	if valid != d.Left.ValidRows-d.Left.ValidItem || test != d.Left.TestRows-d.Left.Test() {
		t.Errorf("%d validation and %d test rows are left, which do not add up: %+v", valid, test, d.Left)
	}
}
