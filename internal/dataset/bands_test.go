package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestBands(t *testing.T) {
	years := Column{Name: "age", Kind: Numeric, Numbers: []float64{7, 34, 34.5, 35, 40, 45, 45.5, 46, 73, math.NaN()}}
	codes := Column{Name: "age", Levels: []string{"1", "18", "25", "35", "45", "50", "56"}, Codes: []int32{0, 1, 2, 3, 4, 5, 6, -1}}
	for _, c := range []struct {
		name    string
		column  *Column
		borders []float64
		levels  []string
		want    []int32
	}{
		{"years", &years, []float64{35, 45}, []string{"<35", "35-45", ">45"}, []int32{0, 0, 0, 1, 1, 1, 2, 2, 2, -1}},
		{"lower ends", &codes, []float64{35, 45}, []string{"<35", "35-45", ">45"}, []int32{0, 0, 0, 1, 2, 2, 2, -1}},
		{"a band of no user", &codes, []float64{-2, -1, 50}, []string{"<-2", "-2--1", "-1-50", ">50"}, []int32{2, 2, 2, 2, 2, 3, 3, -1}},
		{"three borders", &years, []float64{30, 40, 45}, []string{"<30", "30-40", "40-45", ">45"}, []int32{0, 1, 1, 1, 1, 2, 3, 3, 3, -1}},
	} {
		got, err := c.column.Bands("age group", c.borders...)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != "age group" || got.Kind != Categorical || !slices.Equal(got.Levels, c.levels) || !slices.Equal(got.Codes, c.want) {
			t.Errorf("%s: %+v, want %v of %v", c.name, got, c.want, c.levels)
		}
	}
	if !slices.Equal(codes.Codes, []int32{0, 1, 2, 3, 4, 5, 6, -1}) {
		t.Error("the column itself changed")
	}
}

func TestBandsRefuse(t *testing.T) {
	words := Column{Name: "gender", Levels: []string{"1", "F"}, Codes: []int32{0, 1}}
	years := Column{Name: "age", Kind: Numeric, Numbers: []float64{7}}
	for _, c := range []struct {
		column  *Column
		borders []float64
		want    string
	}{
		{&words, []float64{35, 45}, `field "gender": value "F" is not a number`},
		{&years, []float64{35}, `field "age": bands need at least two borders, got [35]`},
		{&years, []float64{45, 35}, "ascend, got [45 35]"},
		{&years, []float64{35, 35}, "ascend"},
		{&years, []float64{35, math.Inf(1)}, "finite"},
		{&years, []float64{math.NaN(), 35}, "finite"},
	} {
		if _, err := c.column.Bands("band", c.borders...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v of %s: error %v, want %q", c.borders, c.column.Name, err, c.want)
		}
	}
}
