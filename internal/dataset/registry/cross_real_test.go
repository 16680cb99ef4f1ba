package registry

import (
	"context"
	"errors"
	"testing"

	"privrec/internal/dataset"
)

// The real tables: counts of every step, and lists of a hundred for every held-out row.
func TestCrossReal(t *testing.T) {
	for _, c := range []struct {
		name         string
		domains      [2]string
		items, valid [2]int
		tests        [2]int
	}{
		{"cd-amazon-toy-game", [2]string{"toys", "games"}, [2]int{37868, 11735}, [2]int{6004, 7544}, [2]int{4414, 6942}},
		{"cd-amazon-food-kitchen", [2]string{"food", "kitchen"}, [2]int{11837, 16258}, [2]int{6660, 6628}, [2]int{6120, 6022}},
	} {
		x, err := LoadCross(context.Background(), c.name, c.domains[0], c.domains[1], dataset.View{},
			Options{NoCache: true})
		if errors.Is(err, dataset.ErrNotFound) {
			t.Skipf("%v", err) // names PRIVREC_DATA, with which .ci/run fails where the data are
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range x.Source.Checks {
			if !check.OK() {
				t.Errorf("%s: %v", c.name, check)
			}
		}
		for k := range x.Domains {
			d := &x.Domains[k]
			valid, test := 0, 0
			for u := range d.Valid {
				valid += min(1, int(d.Valid[u]))
				test += min(1, int(d.Test[u]))
			}
			if valid != d.Left.ValidRows-d.Left.ValidItem || test != d.Left.TestRows-d.Left.Test() || d.Left.TestByValid == 0 {
				t.Errorf("%s: %d validation and %d test rows are left of %+v", d.Name, valid, test, d.Left)
			}
			if d.Items != c.items[k] || valid != c.valid[k] || test != c.tests[k] {
				t.Errorf("%s: %d items, %d validation and %d test rows, want %d, %d, %d", d.Name, d.Items, valid, test, c.items[k], c.valid[k], c.tests[k])
			}
			if _, err := d.Lists(100, 1, x.UserIDs); err != nil {
				t.Error(err)
			}
		}
	}
}
