package calculator

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// The sentences about every relation, unit and method.
func TestStatement(t *testing.T) {
	for _, c := range []struct {
		r    accountant.Result
		want []string
	}{
		{accountant.Result{Unit: privacy.Record, Neighbouring: privacy.AddRemove, Epsilon: 1, Delta: 1e-5, Method: "exact"}, []string{"Adding or removing one record changes", "e^1 (2.72), plus 1e-5", "exact, rounded up"}},
		{accountant.Result{Unit: privacy.User, Neighbouring: privacy.Replace, Epsilon: 20, Delta: 1e-5, Method: "rdp"}, []string{"Exchanging one user for any other changes", "e^20, plus", "an upper bound"}},
		{accountant.Result{Unit: privacy.Feature, Neighbouring: privacy.ZeroOut, Epsilon: 2, Lower: 1.5, Delta: 1e-5, Method: "pld"}, []string{"Blanking one feature vector changes", "between 1.5 and 2"}},
		{accountant.Result{Unit: privacy.Cell, Neighbouring: privacy.Replace, Epsilon: 3, Method: "pure"}, []string{"who knows all other cells of sequences, can", "The same holds for the order of two cells", "a group of all its cells"}},
		{accountant.Result{Unit: privacy.Position, Neighbouring: privacy.Replace, Epsilon: 2, Method: "pure"}, []string{"Exchanging one position of a slate for any other", "who knows all other positions of slates, can", "a whole slate is a group of all its positions"}},
		{accountant.Result{Unit: privacy.Cell, Neighbouring: privacy.Replace, Epsilon: math.Inf(1), Method: "exact"}, []string{"Nothing is guaranteed about one cell of a sequence"}},
	} {
		s := statement("5 releases", c.r)
		for _, want := range append(c.want, "5 releases") {
			if !strings.Contains(s, want) {
				t.Errorf("%+v: the statement lacks %q: %s", c.r, want, s)
			}
		}
	}
	a := &page{}
	a.guarantee(accountant.Result{Epsilon: 1, Delta: 0.5, Order: math.Inf(1)})
	a.judge(accountant.Result{Epsilon: 11, Delta: 0.5, Order: 7, AtEnd: true, Notes: []string{"a note"}})
	b, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(b), `"order":"infinity"`) {
		t.Errorf("%s, %v", b, err)
	}
	for _, want := range []string{"a note", "the best Rényi order, 7, is at an end of the grid", "above 10 rules out little", "too much for any data"} {
		if !strings.Contains(strings.Join(a.warnings, "\n"), want) {
			t.Errorf("no warning %q in %q", want, a.warnings)
		}
	}
	if _, err := json.Marshal(&page{fields: []field{{key: "x", value: math.NaN()}}}); err == nil {
		t.Error("NaN was written")
	}
}
