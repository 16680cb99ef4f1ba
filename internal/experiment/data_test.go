package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// TestDecide: what the rows decide is open, and the epsilon infinite; what is stated, published or generated is named
// as public, by its file.
func TestDecide(t *testing.T) {
	list := &dataset.Stated{File: "items.txt", IDs: 7, SHA256: strings.Repeat("ab", 32)}
	whole := Taken{Items: true, Users: true, HowMany: []Number{{Of: "users", Sets: "the rate", Key: "data.sizes.users"}}}
	counted := dataset.Decisions{Filters: []string{"10-core"}}
	for _, c := range []struct {
		name   string
		source dataset.Source
		taken  Taken
		open   []string
		says   []string
	}{
		{"all from the rows", dataset.Source{Decided: counted}, whole, []string{"catalogue", "users", "filter", "number of users"}, nil},
		{"items alone", dataset.Source{}, Taken{Items: true}, []string{"catalogue"}, nil},
		{"items stated", dataset.Source{Items: list}, Taken{Items: true}, nil, []string{"the 7 ids of items.txt (SHA-256 abababababab), stated beforehand"}},
		{"items stated, filtered", dataset.Source{Items: list, Decided: counted}, Taken{Items: true}, []string{"filter"}, nil},
		{"users stated too", dataset.Source{Items: list, Users: list}, whole, nil, []string{"which users there are"}},
		{"a number stated", dataset.Source{}, Taken{HowMany: []Number{{Of: "samples", Sets: "the rate", Key: "data.sizes.rows", Stated: 40}}}, nil, []string{"that there are 40 samples: stated beforehand; it sets the rate"}},
		{"published", dataset.Source{Hash: strings.Repeat("cd", 32), Decided: dataset.Decisions{Filters: []string{"10-core"}, Published: true}}, whole, nil, []string{"SHA-256 of the files cdcdcdcdcdcd"}},
		{"generated", dataset.Source{StandIn: true, Decided: counted}, whole, nil, []string{"no person is in them"}},
	} {
		a := Protected()
		if err := a.Decide(run.Rehearse(1), c.source, c.taken); err != nil {
			t.Fatal(err)
		}
		a.Add("user", "add-remove", 1e-6, 1)
		if got := Names(a.Unbounded); !slices.Equal(got, c.open) || math.IsInf(float64(a.Total), 1) != (len(c.open) > 0) || a.Noised() != 1 {
			t.Errorf("%s: open %v, want %v; total %v", c.name, got, c.open, a.Total)
		}
		for _, want := range append(c.says, "how rows were split") {
			if !strings.Contains(a.PublicText(), want) {
				t.Errorf("%s: %q lacks %q", c.name, a.PublicText(), want)
			}
		}
		for _, o := range a.Unbounded {
			if o.What != OpenFilter && !strings.Contains(o.Why, "data.") {
				t.Errorf("%s: %s does not say what states it: %s", c.name, o.What, o.Why)
			}
		}
		b := Protected()
		b.Add("edge", "add-remove", 1e-6, 2)
		b.Adopt(a)
		if math.IsInf(float64(b.Total), 1) != (len(c.open) > 0) || b.Noised() != 2 || len(b.Units[0].Unbounded) != len(c.open) || len(b.Public) != len(a.Public) {
			t.Errorf("%s: adopted %+v", c.name, b)
		}
	}
}
