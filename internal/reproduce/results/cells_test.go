package results

import (
	"testing"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// The highest floor is taken over the rows of the same protocol: those with equal floors, where
// more than one can be compared.
func TestHighestFloor(t *testing.T) {
	row := func(floors ...map[string]float64) *summary {
		s := &summary{entry: &grid.Entry{Name: "d"}, results: []*roster.Result{{Seed: 1}}}
		for _, f := range floors {
			s.cells = append(s.cells, Cell{Floors: f})
		}
		return s
	}
	a := row(map[string]float64{"random": 1, "popularity": 4})
	same := row(map[string]float64{"random": 1, "popularity": 4, "last item": 6})
	other := row(map[string]float64{"random": 1, "popularity": 5, "last item": 9})
	little := row(map[string]float64{"random": 1, "oracle": 20})
	seeds := row(map[string]float64{"random": 1, "popularity": 4, "last item": 8})
	seeds.results[0].Seed = 2
	if name, f := highestFloor(a, []*summary{a, same, other, little, seeds}, 0); name != "last item" || *f != 6 {
		t.Errorf("%s %v, want last item 6", name, f)
	}
	if name, f := highestFloor(row(nil), []*summary{same}, 0); name != "" || f != nil {
		t.Errorf("%s %v without floors", name, f)
	}
}
