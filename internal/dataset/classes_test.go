package dataset

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func people() *Features {
	return &Features{Source: "users", UserIDs: []string{"1", "2", "3"}, Columns: []Column{
		{Name: "gender", Codes: []int32{2, 0, 2}, Levels: []string{"F", "-", "M"}},
		{Name: "age", Kind: Numeric, Numbers: []float64{20, 60, 45}},
		{Name: "job", Codes: []int32{0, -1, 1}, Levels: []string{"a", "b"}},
		{Name: "land", Codes: []int32{1, 1, 1}, Levels: []string{"x", "y"}},
		{Name: "weight", Kind: Numeric, Numbers: []float64{60, math.NaN(), 70}},
	}}
}

func TestClasses(t *testing.T) {
	f := people()
	c, err := f.Classes("gender")
	if err != nil || !slices.Equal(c.Codes, []int32{1, 0, 1}) || !slices.Equal(c.Levels, []string{"F", "M"}) {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = f.Classes("age", 35, 50); err != nil || !slices.Equal(c.Codes, []int32{0, 2, 1}) || len(c.Levels) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = f.Classes("age", 30, 50, 55); err != nil || !slices.Equal(c.Codes, []int32{0, 2, 1}) || len(c.Levels) != 3 {
		t.Errorf("a range of no user stays: %+v, %v", c, err)
	}
}

func TestClassesThatAreNone(t *testing.T) {
	for _, c := range []struct {
		f       *Features
		name    string
		borders []float64
		want    string
	}{
		{nil, "gender", nil, "takes no user features"},
		{people(), "height", nil, "no such feature"},
		{people(), "age", nil, "is a number"},
		{people(), "job", nil, `user "2" has no value`},
		{people(), "weight", []float64{50, 65}, `user "2" has no value`},
		{people(), "land", nil, "one class of [y]"},
		{people(), "gender", []float64{1, 2}, "not a number"},
	} {
		_, err := c.f.Classes(c.name, c.borders...)
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Field != c.name || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want an error of the feature about %q", c.name, c.borders, err, c.want)
		}
	}
}
