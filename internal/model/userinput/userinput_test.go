package userinput

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
	"privrec/internal/tensor"
)

// people are three users with a number and a category, one of each missing.
func people() *dataset.Features {
	return &dataset.Features{
		UserIDs: []string{"a", "b", "c", "d"},
		Columns: []dataset.Column{
			{Name: "age", Kind: dataset.Numeric, Numbers: []float64{20, 60, math.NaN(), 30}},
			{Name: "gender", Kind: dataset.Categorical, Levels: []string{"F", "M"}, Codes: []int32{0, 1, 1, -1}},
		},
	}
}

// Numbers go to [-1,1] by the range of all users, categories to indicators, what
// is missing to zeros.
func TestClear(t *testing.T) {
	x, err := Clear(people())
	if err != nil {
		t.Fatal(err)
	}
	want := []tensor.Float{-1, 1, 0, 1, 0, 1, 0, 0, 1, -0.5, 0, 0}
	if diff := cmp.Diff(want, x.Data[:12]); diff != "" || x.Cols != 3 {
		t.Error(diff)
	}
	constant := people()
	constant.Columns[0].Numbers = []float64{5, 5, 5, 5}
	if x, err = Clear(constant); err != nil || x.Data[0] != 0 {
		t.Errorf("a constant number becomes %v (%v)", x.Data[0], err)
	}
	empty := people()
	empty.Columns[0].Numbers = []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if _, err := Clear(empty); err == nil || !strings.Contains(err.Error(), `"age" has no value`) {
		t.Errorf("a number that no user has: %v", err)
	}
	for _, none := range []*dataset.Features{nil, {}} {
		if _, err := Clear(none); err == nil || !strings.Contains(err.Error(), "model.user_input") {
			t.Errorf("no features: %v", err)
		}
	}
}
