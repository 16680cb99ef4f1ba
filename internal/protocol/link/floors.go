package link

import (
	"privrec/internal/dataset"
	"privrec/internal/protocol/target"
)

// floors returns the attacks that see no model: a random guess, the degree of the user, the popularity of the item, and
// their product. They count all interactions, also those that the model was not given, since the attack asks for the
// edges themselves.
func floors(on *pairs, d *dataset.Interactions) []target.Way {
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
	return []target.Way{
		target.Floor("random guess", make([]float64, n)),
		target.Floor("degree of the user", of),
		target.Floor("popularity of the item", by),
		target.Floor("popularity times degree", both),
	}
}
