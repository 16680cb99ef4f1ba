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
