package config

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	type inner struct {
		Rate float64 `yaml:"rate"`
		K    []int   `yaml:"k"`
	}
	type outer struct {
		Name  string  `yaml:"name"`
		Eps   float64 `yaml:"eps" config:"inf"`
		Train inner   `yaml:"train"`
	}
	base := outer{"a", 5, inner{0.01, []int{5, 10}}}
	other := outer{"a", math.Inf(1), inner{0.02, []int{5}}}
	for _, c := range []struct {
		a, b outer
		want []string
	}{
		{base, base, nil},
		{base, other, []string{"eps=.inf", "train.k=5", "train.rate=0.02"}},
		{other, base, []string{"eps=5", "train.k=5,10", "train.rate=0.01"}},
	} {
		got, err := Diff(c.a, c.b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// Items of a list that are mappings or lists are compared, and shown, by what is in them.
func TestDiffOfNestedLists(t *testing.T) {
	type item struct {
		Name  string    `yaml:"name"`
		Bands []float64 `yaml:"bands"`
	}
	type list struct {
		Of []item `yaml:"of"`
	}
	a, b := list{[]item{{"gender", nil}}}, list{[]item{{"age", []float64{35, 45}}}}
	got, err := Diff(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"of={name: age, bands: [35, 45]}"}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := Diff(b, b); err != nil || len(got) > 0 {
		t.Errorf("equal lists differ in %v, %v", got, err)
	}
}
