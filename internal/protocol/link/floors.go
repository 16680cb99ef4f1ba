package link

import (
	"privrec/internal/attack/detect"
	"privrec/internal/dataset"
)

// floors are the attacks that see no model: a random guess, the degree of the user, the popularity
// of the item, and their product. They count all interactions, those that the model was not given
// too, since the edges themselves are what is asked.
func floors(on *pairs, d *dataset.Interactions) []way {
	popular := make([]float64, d.Items)
	degree := make([]float64, d.Users)
	for u := range d.Train {
		for _, i := range known(d, int32(u)) {
			popular[i]++
			degree[u]++
		}
	}
	n := on.count()
	of, by, both := make([]float64, 0, n), make([]float64, 0, n), make([]float64, 0, n)
	for k, u := range on.users {
		for _, i := range on.items[k] {
			of, by, both = append(of, degree[u]), append(by, popular[i]), append(both, degree[u]*popular[i])
		}
	}
	var out []way
	for _, a := range []detect.Attack{
		{Name: "random guess", Score: make([]float64, n)},
		{Name: "degree of the user", Score: of},
		{Name: "popularity of the item", Score: by},
		{Name: "popularity times degree", Score: both},
	} {
		a.Floor = true
		out = append(out, way{a, "no model", "floor"})
	}
	return out
}
