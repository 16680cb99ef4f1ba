package crossdomain

import (
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Held-out rows that are not ranked are named with their number and their reason.
func TestNotRanked(t *testing.T) {
	f := notRanked("toys", dataset.LeftOut{ValidRows: 5000, TestRows: 4474, ValidItem: 900, TestItem: 700, TestByValid: 485})
	for _, want := range []string{"1185 of 4474 test rows of toys, 26.5 %", "700 ask for an item", "485 for a known one", "only because the validation row", "900 of 5000 validation rows"} {
		if !strings.Contains(f.Value+"; "+f.Note, want) {
			t.Errorf("does not say %q: %s; %s", want, f.Value, f.Note)
		}
	}
	if f := notRanked("toys", dataset.LeftOut{ValidRows: 5, TestRows: 5}); f.Value != "0 of 5 test rows of toys" || f.Note != "" {
		t.Errorf("nothing is left out: %+v", f)
	}
}
